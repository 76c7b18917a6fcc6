//! `tagmac combine`: an object's tag from its partials.

use tagmac_files::Error;
use tagmac_files::partial::{self, Expected};
use tagmac_files::sys::OsStrExt;

use crate::args::CombineArgs;
use crate::exit::Exit;
use crate::mac;
use crate::names;
use crate::tag_line::{self, Form};

/// Prints the tag of the object that the partials make.
pub fn run(args: &CombineArgs) -> Result<Option<Exit>, Error> {
    for partial in &args.partials {
        if partial.as_os_str() == "-" {
            return Err(Error::usage(
                "partials cannot come from standard input ('-'); give a file for each",
            ));
        }
        names::file(partial)?;
    }
    let key = mac::open(&args.key.options(), false)?;
    key.parts()?;
    let nonce = match mac::given_nonce(&key, args.nonce_hex.as_deref(), None)? {
        Some(given) => given.to_vec(),
        None => key.mac.algorithm().random_nonce().map_err(Error::io)?,
    };
    let expected = match &args.object {
        Some(object) => Expected::Name(object.as_bytes()),
        None => Expected::Any,
    };
    let combined = partial::combine(&key, expected, &args.partials, &nonce)?;
    let name = args.name.as_ref().map_or(&*combined.object, |name| name.as_bytes());
    let form = Form { json: args.json, ..Form::default() };
    tag_line::print(form, &key, name, &nonce, &combined.tagged)?;
    Ok(None)
}
