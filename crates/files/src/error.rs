//! The error type: facts that each program turns into a line in its users' words.

use std::fmt;
use std::path::{Path, PathBuf};

use tagmac_any::Algorithm;

pub use crate::error_kind::{ErrorKind, io_reason};
use crate::escaped::Escaped;
use crate::manifest::error::ManifestError;
use crate::partial::error::{CombineError, RangeError};
use crate::read_error::ReadError;
use crate::sidecar::error::UpdateError;

/// The reason why an operation failed.
///
/// Displays as one line that begins with the name of the object concerned. It mentions no options
/// or arguments of a program; a program that wants these in its lines matches on the variant.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file and its sidecar could not be updated.
    Update(Box<UpdateError>),
    /// A range of an object could not be hashed to a partial.
    Range(Box<RangeError>),
    /// Partials could not be combined.
    Combine(Box<CombineError>),
    /// A manifest could not be written, or is not one.
    Manifest(Box<ManifestError>),
    /// The algorithm cannot hash ranges.
    NoParts(NoParts),
    /// A file could not be opened or read.
    File(Box<FileError>),
    /// A listing has too many objects.
    TooManyObjects(Box<TooManyObjects>),
    /// Any other error: its kind and its line.
    Other(ErrorKind, String),
}

impl Error {
    /// An error that is only a kind and a line.
    pub fn new(kind: ErrorKind, message: impl fmt::Display) -> Error {
        Error::Other(kind, message.to_string())
    }

    /// A tag or seal does not match.
    pub fn mismatch(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Mismatch, message)
    }

    /// Parts are missing or duplicated.
    pub fn incomplete(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Incomplete, message)
    }

    /// An object or version differs from the one expected.
    pub fn foreign(message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Foreign, message)
    }

    /// An argument is invalid.
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

    /// A file could not be opened or read.
    pub fn file(path: &Path, error: impl Into<ReadError>) -> Error {
        Error::File(Box::new(FileError { path: path.into(), error: error.into() }))
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Update(error) => error.kind(),
            Error::Range(error) => error.kind(),
            Error::Combine(error) => error.kind(),
            Error::Manifest(error) => error.kind(),
            Error::NoParts(_) => ErrorKind::Usage,
            Error::File(error) => error.error.kind(),
            Error::TooManyObjects(_) => ErrorKind::Io,
            Error::Other(kind, _) => *kind,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Update(error) => error.fmt(f),
            Error::Range(error) => error.fmt(f),
            Error::Combine(error) => error.fmt(f),
            Error::Manifest(error) => error.fmt(f),
            Error::NoParts(error) => error.fmt(f),
            Error::File(error) => error.fmt(f),
            Error::TooManyObjects(error) => error.fmt(f),
            Error::Other(_, message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

/// Wraps an error of a checkpoint.
impl From<Error> for ReadError {
    fn from(error: Error) -> ReadError {
        ReadError::Checkpoint(error.kind(), Box::new(error))
    }
}

impl From<UpdateError> for Error {
    fn from(error: UpdateError) -> Error {
        Error::Update(Box::new(error))
    }
}

impl From<RangeError> for Error {
    fn from(error: RangeError) -> Error {
        Error::Range(Box::new(error))
    }
}

impl From<CombineError> for Error {
    fn from(error: CombineError) -> Error {
        Error::Combine(Box::new(error))
    }
}

impl From<ManifestError> for Error {
    fn from(error: ManifestError) -> Error {
        Error::Manifest(Box::new(error))
    }
}

impl From<TooManyObjects> for Error {
    fn from(error: TooManyObjects) -> Error {
        Error::TooManyObjects(Box::new(error))
    }
}

impl From<NoParts> for Error {
    fn from(error: NoParts) -> Error {
        Error::NoParts(error)
    }
}

/// The algorithm cannot hash ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoParts(pub Algorithm);

impl fmt::Display for NoParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot hash ranges", self.0)
    }
}

impl std::error::Error for NoParts {}

/// A file could not be opened or read.
#[derive(Debug)]
pub struct FileError {
    /// The file's name.
    pub path: PathBuf,
    /// The reason.
    pub error: ReadError,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Escaped::name(&self.path), self.error)
    }
}

impl std::error::Error for FileError {}

/// A listing has too many objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManyObjects {
    /// The URL of the listing.
    pub url: String,
    /// The maximum.
    pub max: u64,
}

impl fmt::Display for TooManyObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (url, max) = (Escaped::bytes(self.url.as_bytes()), self.max);
        write!(f, "{url}: the listing has more than {max} objects")
    }
}

impl std::error::Error for TooManyObjects {}
