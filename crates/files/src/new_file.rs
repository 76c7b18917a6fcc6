//! Writes a file in one step.

use std::io::{self, Write};
use std::path::Path;

use crate::atomic::AtomicFile;
use crate::error::{Error, io_reason};
use crate::escaped::Escaped;
use crate::overwrite::Overwrite;

/// Writes a file that appears complete or not at all. `mode` is subject to the umask.
pub fn write(path: &Path, mode: u32, over: Overwrite, bytes: &[u8]) -> Result<(), Error> {
    let made = || {
        let mut file = AtomicFile::new(path, mode, over)?;
        file.write_all(bytes)?;
        file.finish()
    };
    made().map(drop).map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => Error::io(format_args!("{}: {}", Escaped::name(path), io_reason(&error))),
    })
}

/// Fails if the path exists.
pub fn refuse_existing(path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_ok() { Err(exists(path)) } else { Ok(()) }
}

fn exists(path: &Path) -> Error {
    Error::io(format_args!("{}: the file exists", Escaped::name(path)))
}
