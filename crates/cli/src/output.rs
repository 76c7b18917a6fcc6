//! Standard output, and new files. Each line is written at once and whole; a failure is an error,
//! not a panic.

use std::fs::Permissions;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;

use crate::error::{Error, Shown, why};
use crate::progress;

/// Whether a bar could be where the output goes.
static TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());

/// Writes bytes to standard output.
pub fn write(bytes: &[u8]) -> Result<(), Error> {
    let put = || {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush())
    };
    let done = if *TERMINAL { progress::aside(put) } else { put() };
    done.map_err(|error| Error::io(format_args!("standard output: {}", why(&error))))
}

/// Writes a JSON object and a line feed.
pub fn json(object: &impl serde::Serialize) -> Result<(), Error> {
    let mut line = serde_json::to_vec(object).expect("strings and numbers only");
    line.push(b'\n');
    write(&line)
}

/// Writes a file that appears whole or not at all, and never in another's place. `mode` is as the
/// umask leaves it.
pub fn new_file(path: &Path, mode: u32, bytes: &[u8]) -> Result<(), Error> {
    // Said before a directory that cannot be written to is: the file is what the user asks about.
    refuse_existing(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let write = || {
        let mut file = tempfile::Builder::new()
            .prefix(".tagmac-")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => Error::io(format_args!("{}: {}", Shown::name(path), why(&error))),
    })
}

/// Refuses a name that is taken.
pub fn refuse_existing(path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_ok() { Err(exists(path)) } else { Ok(()) }
}

fn exists(path: &Path) -> Error {
    let name = Shown::name(path);
    Error::io(format_args!("{name}: expected a new file, found one that exists"))
}
