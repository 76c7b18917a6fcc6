//! A manifest that cannot be read or written as a file.

use std::io;

use crate::error::{Error, io_reason};

/// What went wrong with the manifest of that name.
pub fn unreadable(name: &str, error: &io::Error) -> Error {
    let what = format_args!("{name}: {}", io_reason(error));
    match error.kind() {
        // What can be read and is none.
        io::ErrorKind::InvalidData => Error::mismatch(what),
        _ => Error::io(what),
    }
}
