//! Errors of reading a file.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use tagmac::Error;
use tagmac::hazmat::PartError;
use tagmac::save::SaveError;

use crate::error_kind::{ErrorKind, io_reason};

/// The reason why a file could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The file does not exist.
    Missing(io::Error),
    /// The file could not be opened or read.
    Io(io::Error),
    /// The file is a directory.
    Directory,
    /// The file's length changed while it was read.
    Changed {
        /// The length before, in bytes.
        before: u64,
        /// The length after, in bytes.
        after: u64,
    },
    /// The file was written to while it was read; its length is unchanged.
    Written,
    /// The file may have been written to: its status change time differs.
    Touched,
    /// The file's name denotes another file now, or does not exist any more.
    Replaced,
    /// The file is longer than the MAC's limit.
    TooLong {
        /// The MAC's limit in bytes.
        most: u64,
        /// The file's length in bytes, if known.
        found: Option<u64>,
    },
    /// The MAC cannot hash the file for another reason.
    Mac(Box<dyn StdError + Send + Sync>),
    /// The file is also the output.
    Output,
    /// Standard input is already used for something else.
    Stdin(&'static str),
    /// The file is not a regular one.
    Irregular(Irregular),
    /// The file is a named pipe.
    Pipe,
    /// The file's size is unknown before it is read.
    Sizeless,
    /// The name is a symbolic link, and the file must be replaced or removed by that name.
    Link,
    /// Another run has locked the file.
    Busy,
    /// The store has archived the object and must restore it first.
    Archived(String),
    /// The file ends before the range does.
    Short {
        /// The end of the range in the file.
        expected: u64,
        /// The file's length.
        found: u64,
    },
    /// The checkpoint cannot be used: the kind of the [`Error`](crate::Error), and the error.
    Checkpoint(ErrorKind, Box<dyn StdError + Send + Sync>),
    /// The caller asked to stop.
    Stopped,
}

/// A kind of file other than regular files and directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// A named pipe.
    Pipe,
    /// A character or block device.
    Device,
    /// A socket, or an unknown kind.
    Other,
}

impl fmt::Display for Irregular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Irregular::Pipe => "a named pipe",
            Irregular::Device => "a device",
            Irregular::Other => "something else",
        })
    }
}

impl ReadError {
    /// Returns the kind of this error if nothing else went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ReadError::Checkpoint(kind, _) => *kind,
            _ => ErrorKind::Io,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Missing(error) | ReadError::Io(error) => f.write_str(&io_reason(error)),
            ReadError::Directory => f.write_str("expected a file, found a directory"),
            ReadError::Changed { before, after } => write!(
                f,
                "expected {before} bytes, found {after}: the file changed while it was read"
            ),
            ReadError::Written => f.write_str("the file changed while it was read"),
            ReadError::Touched => {
                f.write_str("the file, its mode, owner or names changed while it was read")
            }
            ReadError::Replaced => {
                f.write_str("the file was removed or replaced while it was read")
            }
            ReadError::TooLong { most, found: None } => {
                write!(f, "longer than {most} bytes, the algorithm's limit")
            }
            ReadError::TooLong { most, found: Some(found) } => {
                write!(f, "expected at most {most} bytes, the algorithm's limit, found {found}")
            }
            ReadError::Mac(error) => error.fmt(f),
            ReadError::Output => f.write_str("this file is also the output"),
            ReadError::Stdin(user) => {
                write!(f, "standard input is already used for {user}")
            }
            ReadError::Irregular(found) => write!(f, "expected a regular file, found {found}"),
            ReadError::Pipe => f.write_str("expected a file, found a named pipe"),
            ReadError::Sizeless => {
                f.write_str("the file's size is unknown, as with generated files in /proc")
            }
            ReadError::Link => f.write_str("this is a symbolic link; name the file itself"),
            ReadError::Archived(what) => f.write_str(what),
            ReadError::Busy => f.write_str("another run is using this file"),
            ReadError::Short { expected, found } => {
                write!(f, "expected at least {expected} bytes, found {found}")
            }
            ReadError::Checkpoint(_, error) => error.fmt(f),
            ReadError::Stopped => f.write_str("stopped on request"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        match error.kind() {
            // A directory on the path is a file, so nothing can exist below it.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::Missing(error),
            io::ErrorKind::IsADirectory => ReadError::Directory,
            _ => ReadError::Io(error),
        }
    }
}

impl From<Error> for ReadError {
    fn from(error: Error) -> ReadError {
        match error {
            Error::TooLong { limit_bits } => {
                ReadError::TooLong { most: limit_bits / 8, found: None }
            }
            _ => ReadError::Mac(error.into()),
        }
    }
}

impl From<PartError> for ReadError {
    fn from(error: PartError) -> ReadError {
        match error {
            PartError::Mac(error) => error.into(),
            _ => ReadError::Mac(error.into()),
        }
    }
}

impl From<SaveError> for ReadError {
    fn from(error: SaveError) -> ReadError {
        match error {
            SaveError::Mac(error) => error.into(),
            _ => ReadError::Mac(error.into()),
        }
    }
}
