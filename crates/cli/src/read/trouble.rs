//! Why a file has no tag.

use std::fmt;
use std::io;

use tagmac::Error;

use crate::error::{self, Exit, why};

/// Why there is no tag.
#[derive(Debug)]
pub enum Trouble {
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
    /// It is over the limit of the MAC.
    TooLong {
        /// The most bytes that the MAC takes.
        most: u64,
        /// The bytes that there are, as far as is known.
        found: Option<u64>,
    },
    /// The MAC cannot take it for another reason.
    Mac(Error),
    /// The output goes there.
    Output,
    /// Standard input serves for something else.
    Stdin(&'static str),
    /// It is no regular file.
    Irregular,
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
    /// What was saved of the run before cannot be used; why.
    State(error::Error),
}

impl Trouble {
    /// The exit code where nothing else went wrong.
    pub fn exit(&self) -> Exit {
        match self {
            Trouble::State(error) => error.exit(),
            _ => Exit::Io,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Missing(error) | Trouble::Io(error) => f.write_str(&why(error)),
            Trouble::Directory => f.write_str("expected a file, found a directory"),
            Trouble::Changed { before, after } => write!(
                f,
                "expected {before} bytes, found {after}: the file changed while it was read"
            ),
            Trouble::Written => {
                f.write_str("expected a file that stays, found that it changed while it was read")
            }
            Trouble::TooLong { most, found: None } => {
                write!(f, "expected at most {most} bytes, the algorithm's limit, found more")
            }
            Trouble::TooLong { most, found: Some(found) } => {
                write!(f, "expected at most {most} bytes, the algorithm's limit, found {found}")
            }
            Trouble::Mac(error) => error.fmt(f),
            Trouble::Output => f.write_str("expected a file to read, found the output itself"),
            Trouble::Stdin(user) => {
                write!(f, "expected standard input to be free, found that it serves for {user}")
            }
            Trouble::Irregular => f.write_str("expected a regular file, found something else"),
            Trouble::Pipe => f.write_str(
                "expected a file, found a named pipe; '< PIPE' gives it as standard input",
            ),
            Trouble::Sizeless => f.write_str(
                "expected a file that tells its size, found one that is made as it is read, as in \
                 /proc; 'tagmac tag' reads it to its end",
            ),
            Trouble::Link => f.write_str("expected the file itself, found a symbolic link"),
            Trouble::Busy => {
                f.write_str("expected to be the only run with this file, found another at work")
            }
            Trouble::Short { expected, found } => {
                write!(f, "expected at least {expected} bytes, found {found}")
            }
            Trouble::State(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        match error.kind() {
            io::ErrorKind::NotFound => Trouble::Missing(error),
            io::ErrorKind::IsADirectory => Trouble::Directory,
            _ => Trouble::Io(error),
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        match error {
            Error::TooLong { limit_bits } => Trouble::TooLong { most: limit_bits / 8, found: None },
            _ => Trouble::Mac(error),
        }
    }
}

impl From<error::Error> for Trouble {
    fn from(error: error::Error) -> Trouble {
        Trouble::State(error)
    }
}
