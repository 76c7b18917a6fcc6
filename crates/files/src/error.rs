//! What ends a piece of work: its kind, and one line for whoever asked for it.

use std::fmt;
use std::io;

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something does not match its tag or seal.
    Mismatch,
    /// Pieces do not make a whole: one is missing, or there twice.
    Incomplete,
    /// Something belongs to another object or version.
    Foreign,
    /// The caller asks for what there is not.
    Usage,
    /// The key cannot be used.
    Key,
    /// Input or output failed, so there is no verdict.
    Io,
}

/// Why a piece of work ended. It displays as one line, which names what it is about first.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error of this kind.
    pub fn new(kind: ErrorKind, message: impl fmt::Display) -> Error {
        Error { kind, message: message.to_string() }
    }

    /// Something does not match its tag or seal.
    pub fn mismatch(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Mismatch, message)
    }

    /// Pieces do not make a whole.
    pub fn incomplete(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Incomplete, message)
    }

    /// Something belongs to another object or version.
    pub fn foreign(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Foreign, message)
    }

    /// The caller asks for what there is not.
    pub fn usage(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// The key cannot be used.
    pub fn key(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Key, message)
    }

    /// Input or output failed.
    pub fn io(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Io, message)
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// What the system says, without its number.
pub fn io_reason(error: &io::Error) -> String {
    // A temporary file's error ends with the name that the file was to have.
    let text = error.to_string();
    let end = text.find(" (os error ").unwrap_or(text.len());
    text[..end].into()
}
