//! Kinds of errors, and the text of the system's errors.

use std::io;

/// The kind of an error, which determines the exit status or the type of an exception. The enum is
/// exhaustive, so that programs which map it fail to compile when a kind is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A tag or seal does not match.
    Mismatch,
    /// Parts are missing or duplicated.
    Incomplete,
    /// An object or version differs from the one expected.
    Foreign,
    /// An argument is invalid.
    Usage,
    /// The key cannot be used.
    Key,
    /// Input or output failed, so the question stays open.
    Io,
}

/// Returns the system's text for an error, without its number.
pub fn io_reason(error: &io::Error) -> String {
    // Errors of temporary files append the final name after the number.
    let text = error.to_string();
    let end = text.find(" (os error ").unwrap_or(text.len());
    text[..end].into()
}
