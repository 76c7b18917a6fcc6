//! The errors of verified reads.

use std::error::Error as StdError;
use std::fmt;
use std::ops::Range;

use object_store::Error;
use object_store::path::Path;
use tagmac_files::escaped::Escaped;
use tagmac_files::manifest::ManifestError;

/// The name of the store in its errors.
pub const STORE: &str = "VerifiedStore";

/// An object that is not the sealed file. Nothing of the part that differs was returned.
///
/// It is the source of an [`object_store::Error::Generic`], which programs often wrap:
/// [`find`](NotSealed::find) looks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSealed {
    /// The bytes of a leaf differ.
    Bytes {
        /// The path in the manifest.
        path: Path,
        /// The bytes of the leaf.
        range: Range<u64>,
    },
    /// The size differs.
    Size {
        /// The path in the manifest.
        path: Path,
        /// The size in the manifest.
        expected: u64,
        /// The size that the store reports.
        found: u64,
    },
}

impl NotSealed {
    /// Returns the first error of this type among an error and its sources.
    pub fn find<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a NotSealed> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }
}

impl fmt::Display for NotSealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotSealed::Bytes { path, range: Range { start, end } } => {
                let path = Escaped::bytes(path.as_ref().as_bytes());
                write!(f, "{path}: bytes {start} to {end} differ from those sealed")
            }
            NotSealed::Size { path, expected, found } => {
                let path = Escaped::bytes(path.as_ref().as_bytes());
                write!(f, "{path}: expected {expected} bytes, found {found}")
            }
        }
    }
}

impl StdError for NotSealed {}

impl From<NotSealed> for Error {
    fn from(error: NotSealed) -> Error {
        generic(error)
    }
}

/// Returns an error with this source.
pub fn generic(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
    Error::Generic { store: STORE, source: source.into() }
}

/// Returns the error of an operation that writes.
pub fn read_only() -> Error {
    Error::NotSupported { source: "a verified store can only be read".into() }
}

/// Returns the error for a path without a file in the manifest.
pub fn missing(path: &Path) -> Error {
    let source = "the manifest has no such file".into();
    Error::NotFound { path: path.to_string(), source }
}

/// Returns the error of a lookup in the manifest.
pub fn lookup(path: &Path, error: tagmac_files::Error) -> Error {
    match &error {
        tagmac_files::Error::Manifest(manifest) => match **manifest {
            ManifestError::NoEntry { .. } | ManifestError::NoFile { .. } => missing(path),
            _ => generic(error),
        },
        _ => generic(error),
    }
}

/// Returns the error of a request for an object. Only the manifest decides about conditions, so the
/// store cannot claim that the reader's copy of a file is current.
pub fn request(path: &Path, error: Error) -> Error {
    match error {
        Error::NotFound { source, .. } => Error::NotFound { path: path.to_string(), source },
        Error::NotModified { .. } | Error::Precondition { .. } | Error::AlreadyExists { .. } => {
            generic(error)
        }
        error => error,
    }
}
