//! What ends the command early: one line on standard error and an exit code.

use std::fmt;
use std::io;

/// Exit codes other than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A tag does not match, a file is missing, a line is malformed, or nothing was verified.
    Mismatch = 1,
    /// The command line asks for what there is not.
    Usage = 2,
    /// The key cannot be used.
    Key = 3,
    /// Input or output failed, so there is no verdict.
    Io = 4,
}

/// Why the command ends.
#[derive(Debug)]
pub struct Error {
    exit: Exit,
    message: String,
}

impl Error {
    /// What is there is not what was vouched for.
    pub fn mismatch(message: impl fmt::Display) -> Error {
        Error { exit: Exit::Mismatch, message: message.to_string() }
    }

    /// The command line asks for what there is not.
    pub fn usage(message: impl fmt::Display) -> Error {
        Error { exit: Exit::Usage, message: message.to_string() }
    }

    /// The key cannot be used.
    pub fn key(message: impl fmt::Display) -> Error {
        Error { exit: Exit::Key, message: message.to_string() }
    }

    /// Input or output failed.
    pub fn io(message: impl fmt::Display) -> Error {
        Error { exit: Exit::Io, message: message.to_string() }
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What the system says, without its number.
pub fn io_reason(error: &io::Error) -> String {
    // A temporary file's error ends with the name that the file was to have.
    let text = error.to_string();
    let end = text.find(" (os error ").unwrap_or(text.len());
    text[..end].into()
}
