//! Exit codes.

use tagmac_files::ErrorKind;

/// Exit codes other than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A tag does not match, a file is missing, a line is malformed, or nothing was verified.
    Mismatch = 1,
    /// Invalid argument.
    Usage = 2,
    /// The key cannot be used.
    Key = 3,
    /// Input or output failed, so there is no verdict.
    Io = 4,
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Exit {
        match kind {
            ErrorKind::Mismatch | ErrorKind::Incomplete | ErrorKind::Foreign => Exit::Mismatch,
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Key => Exit::Key,
            ErrorKind::Io => Exit::Io,
        }
    }
}
