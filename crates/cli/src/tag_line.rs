//! The line of a tag that was made, as text or as JSON.

use tagmac_files::Error;
use tagmac_files::line::{End, Line};
use tagmac_files::mac::Mac;
use tagmac_files::read::Tagged;

use crate::output;
use crate::record::Record;

/// How the line is written.
#[derive(Clone, Copy, Default)]
pub struct Form {
    /// As a JSON object.
    pub json: bool,
    /// With a zero byte at its end.
    pub zero: bool,
    /// As `HEX  NAME`.
    pub untagged: bool,
}

/// Prints the line of a file's tag. `nonce` is empty for deterministic MACs.
pub fn print(
    form: Form,
    mac: &Mac,
    name: &[u8],
    nonce: &[u8],
    tagged: &Tagged,
) -> Result<(), Error> {
    let line = Line {
        algorithm: (!form.untagged).then_some(mac.mac.algorithm().name()),
        nonce: Some(nonce.to_vec()).filter(|nonce| !nonce.is_empty()),
        name: name.into(),
        tag: tagged.tag.as_bytes().to_vec(),
    };
    if form.json {
        let bytes = Some(tagged.bytes);
        return output::json(&Record { bytes, ..Record::of_line(&line, mac, "tagged") });
    }
    output::line(&line, End::new(form.zero))
}
