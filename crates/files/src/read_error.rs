//! Why a file cannot be read, so that it has no tag.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use tagmac::Error;
use tagmac::hazmat::PartError;
use tagmac::save::SaveError;

use crate::error_kind::{ErrorKind, io_reason};

/// Why a file cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file.
    Missing(io::Error),
    /// It cannot be opened or read.
    Io(io::Error),
    /// It is a directory.
    Directory,
    /// Its length was another afterwards.
    Changed {
        /// The length before, in bytes.
        before: u64,
        /// The length after, in bytes.
        after: u64,
    },
    /// It was written to, and its length stayed.
    Written,
    /// It may have been written to: the time of its last change is another.
    Touched,
    /// Its name is another file's by now, or nobody's.
    Replaced,
    /// It is over the limit of the MAC.
    TooLong {
        /// The most bytes that the MAC takes.
        most: u64,
        /// The bytes that there are, as far as is known.
        found: Option<u64>,
    },
    /// The MAC cannot take it for another reason.
    Mac(Box<dyn StdError + Send + Sync>),
    /// The output goes there.
    Output,
    /// Standard input serves for something else.
    Stdin(&'static str),
    /// It is no regular file, but this.
    Irregular(Irregular),
    /// It is a pipe with a name.
    Pipe,
    /// It has no size before it is read.
    Sizeless,
    /// It is a link, and the name itself is to be replaced or removed.
    Link,
    /// Another run has it.
    Busy,
    /// The range is not in it.
    Short {
        /// Where the range has to end in the file.
        expected: u64,
        /// The file's length.
        found: u64,
    },
    /// What was saved of the run before cannot be used: the kind of the [`Error`](crate::Error), and the
    /// error.
    Checkpoint(ErrorKind, Box<dyn StdError + Send + Sync>),
    /// The caller asked for the work to end.
    Stopped,
}

/// What is no regular file, and no directory either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// A named pipe.
    Pipe,
    /// A character or block device.
    Device,
    /// A socket, or a kind that is not known here.
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
    /// What kind of error it is where nothing else went wrong.
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
                write!(f, "expected at most {most} bytes, the algorithm's limit, found more")
            }
            ReadError::TooLong { most, found: Some(found) } => {
                write!(f, "expected at most {most} bytes, the algorithm's limit, found {found}")
            }
            ReadError::Mac(error) => error.fmt(f),
            ReadError::Output => f.write_str("expected a file to read, found the output itself"),
            ReadError::Stdin(user) => {
                write!(f, "standard input is already used for {user}")
            }
            ReadError::Irregular(found) => write!(f, "expected a regular file, found {found}"),
            ReadError::Pipe => f.write_str("expected a file, found a named pipe"),
            ReadError::Sizeless => {
                f.write_str("expected a file with a known size, found a generated one, as in /proc")
            }
            ReadError::Link => f.write_str("expected the file itself, found a symbolic link"),
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
            // A file is on the way, so nothing can be below it.
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
