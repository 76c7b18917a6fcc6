//! Key files as files: who may have written one, and what is in it. `docs/key-file.md` has the format.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{self, Path};

use tagmac::dynamic::{Algorithm, KeyFile, KeyFileError};
use zeroize::Zeroizing;

use crate::diagnostic::diagnostic;
use crate::escaped::Escaped;

/// What the caller's users have to write, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// What names the algorithm.
    pub algorithm: &'static str,
    /// What says that a key is raw, in hex or in base64.
    pub format: &'static str,
    /// What takes a key file that somebody else could have written.
    pub anyway: &'static str,
}

/// The key in a key file, which is one for `asked` if that is given.
pub fn parse(text: &[u8], asked: Option<Algorithm>, terms: Terms) -> Result<KeyFile, String> {
    let file = KeyFile::parse(text).map_err(|error| match error {
        KeyFileError::NotAKeyFile if text.is_empty() => {
            "expected a key file made by 'tagmac keygen', found nothing".to_string()
        }
        KeyFileError::NotAKeyFile => format!(
            "expected a key file made by 'tagmac keygen', found something else; for other keys \
             give {} raw, hex or base64",
            terms.format
        ),
        other => other.to_string(),
    })?;
    match asked.filter(|asked| *asked != file.algorithm()) {
        Some(asked) => {
            let (option, found) = (terms.algorithm, file.algorithm());
            Err(format!("expected a key for {asked} ({option}), found one for {found}"))
        }
        None => Ok(file),
    }
}

/// Remarks on a key file that others can read.
pub fn warn_of_readers(path: &Path, file: &Metadata) {
    let mode = file.mode();
    if file.is_file() && mode & 0o044 != 0 {
        let name = Escaped::name(path);
        diagnostic(format_args!(
            "warning: key file {name}: expected mode 0600, found {:04o}: others can read the key",
            mode & 0o7777
        ));
    }
}

/// Refuses a key file that somebody else could have written: who chooses the key makes tags that
/// pass. Root could do so anyway. `anyway` is what takes it all the same.
pub fn check_owner(path: &Path, file: &Metadata, anyway: &str) -> Result<(), String> {
    let (mode, own) = (file.mode() & 0o7777, rustix::process::geteuid().as_raw());
    // Everybody writes to some devices, and reads there what is their own.
    let kind = file.file_type();
    let device = kind.is_char_device() || kind.is_block_device() || kind.is_socket();
    if mode & 0o022 != 0 && !device {
        return Err(format!(
            "expected mode 0600, found {mode:04o}: others can write the key; after a look at who \
             did, 'chmod go-w' keeps them out"
        ));
    }
    let owner = file.uid();
    if owner != own && owner != 0 {
        return Err(format!(
            "expected a file of yours (user {own}) or of root, found one of user {owner}, who can \
             write the key; {anyway} takes it all the same"
        ));
    }
    // Others could put another file in its place, or a link in that of a folder on the way. What has
    // no folder, such as a pipe of the shell's `<(...)`, is nobody's to replace.
    let (Ok(named), Ok(file)) = (path::absolute(path), fs::canonicalize(path)) else {
        return Ok(());
    };
    file.ancestors().skip(1).try_for_each(|folder| nobody_elses(folder, own))?;
    for folder in named.ancestors().skip(1) {
        let Ok(folder) = fs::canonicalize(folder) else { continue };
        folder.ancestors().try_for_each(|folder| nobody_elses(folder, own))?;
    }
    Ok(())
}

/// Refuses a folder in which others can replace what is not theirs.
fn nobody_elses(folder: &Path, own: u32) -> Result<(), String> {
    let Ok(facts) = fs::metadata(folder) else { return Ok(()) };
    let (mode, group) = (facts.mode() & 0o7777, facts.gid());
    // By custom a user's own group has the user's number, and nobody else is in it.
    let shared = mode & 0o020 != 0 && group != own && group != 0;
    if (mode & 0o002 != 0 || shared) && mode & 0o1000 == 0 {
        let folder = Escaped::name(folder);
        return Err(format!(
            "expected a folder that others cannot write to, found {folder} of mode {mode:04o}: they \
             can put another key there; 'chmod go-w' on it keeps them out"
        ));
    }
    Ok(())
}

/// Reads up to one byte more than a key can have, into a buffer that never moves: a vector that
/// grows would leave copies of the key behind.
pub fn read(input: impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(KeyFile::MAX_BYTES + 64));
    input.take(KeyFile::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
