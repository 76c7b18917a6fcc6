//! Errors of reading or writing a manifest as a file.

use std::io;

use crate::error::{Error, io_reason};

/// Returns the error for the manifest `name`.
pub fn unreadable(name: &str, error: &io::Error) -> Error {
    let what = format_args!("{name}: {}", io_reason(error));
    match error.kind() {
        // It can be read but is not a manifest.
        io::ErrorKind::InvalidData => Error::mismatch(what),
        _ => Error::io(what),
    }
}
