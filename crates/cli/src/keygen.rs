//! `tagmac keygen`: a new key in a new file.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

use tagmac::any::KeyFile;

use crate::args::Keygen;
use crate::bounds::{Allowance, THRESHOLD};
use crate::error::{Error, Shown, say, why};
use crate::number::{show_chance, show_count, show_size};
use crate::output;

/// Makes a key, writes its file, prints its id.
pub fn run(args: &Keygen) -> Result<(), Error> {
    let name = Shown::name(&args.output);
    if args.output.as_os_str() == "-" {
        return Err(Error::usage("-o: expected a file to make, found '-'"));
    }
    let key = KeyFile::generate(args.algorithm, SystemTime::now())
        .map_err(|error| Error::key(format_args!("no random bytes for a key: {error}")))?;
    write(&args.output, key.to_text().as_bytes()).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Error::io(format_args!("{name}: expected a new file, found one that exists"))
        }
        _ => Error::io(format_args!("{name}: {}", why(&error))),
    })?;
    say(format_args!("wrote a key for {} to {name}", args.algorithm));
    if let Some(theorem) = args.algorithm.theorem() {
        say(budget(&Allowance::usual(theorem)));
    }
    output::write(format!("{}\n", base16ct::lower::encode_string(&key.id())).as_bytes())
}

/// What the key may do, in a line.
fn budget(allowance: &Allowance) -> String {
    format!(
        "it may tag {} messages of {}, or let {} wrong tags be tried, until a forger's chance is {}; \
         see 'tagmac bounds'",
        show_count(allowance.messages),
        show_size(allowance.length.into(), f64::floor),
        show_count(allowance.guesses),
        show_chance(THRESHOLD),
    )
}

/// The file appears whole or not at all, and never in another's place.
fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    // Said before a directory that cannot be written to is: the file is what the user asks about.
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(".tagmac-")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}
