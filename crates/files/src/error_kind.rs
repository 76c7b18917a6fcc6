//! Kinds of errors, and what the system says of its own.

use std::io;

/// What kind of error it is: what an exit status or the type of an exception goes by. The kinds are
/// closed, so that a program which maps them does not compile before it knows a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something does not match its tag or seal.
    Mismatch,
    /// Pieces do not make a whole: one is missing, or there twice.
    Incomplete,
    /// Something belongs to another object or version.
    Foreign,
    /// An argument is invalid.
    Usage,
    /// The key cannot be used.
    Key,
    /// Input or output failed, so there is no verdict.
    Io,
}

/// What the system says, without its number.
pub fn io_reason(error: &io::Error) -> String {
    // A temporary file's error ends with the name that the file was to have.
    let text = error.to_string();
    let end = text.find(" (os error ").unwrap_or(text.len());
    text[..end].into()
}
