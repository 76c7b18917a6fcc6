//! Why a manifest could not be written, or is none.

use std::fmt;
use std::path::PathBuf;

use crate::error_kind::ErrorKind;
use crate::escaped::Escaped;

/// Why a manifest could not be written, or is none.
#[derive(Debug)]
#[non_exhaustive]
pub enum ManifestError {
    /// The name to write the manifest to is not that of a file.
    NoFileName {
        /// The name.
        manifest: PathBuf,
    },
    /// The manifest was not written, as there are entries that could not be read.
    Unsealed {
        /// The manifest.
        manifest: PathBuf,
        /// How many entries.
        entries: u64,
    },
    /// A directory has the manifest's name.
    Directory {
        /// What messages call the manifest.
        manifest: String,
    },
    /// It is no manifest.
    NotAManifest {
        /// What messages call the manifest.
        manifest: String,
        /// Whether it ends where its header should go on.
        cut_off: bool,
    },
    /// The tags in the manifest have another length.
    TagBits {
        /// What messages call the manifest.
        manifest: String,
        /// The length of the MAC's tags, in bits.
        expected: usize,
        /// That in the manifest.
        found: usize,
    },
}

impl ManifestError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ManifestError::NoFileName { .. } | ManifestError::TagBits { .. } => ErrorKind::Usage,
            ManifestError::Unsealed { .. } | ManifestError::Directory { .. } => ErrorKind::Io,
            ManifestError::NotAManifest { .. } => ErrorKind::Mismatch,
        }
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestError::NoFileName { manifest } => {
                write!(f, "expected a file to write, found '{}'", Escaped::name(manifest))
            }
            ManifestError::Unsealed { manifest, entries } => {
                let manifest = Escaped::name(manifest);
                let word = if *entries == 1 { "entry" } else { "entries" };
                write!(f, "{manifest}: not written, as {entries} {word} could not be sealed")
            }
            ManifestError::Directory { manifest } => {
                write!(f, "{manifest}: expected a manifest, found a directory")
            }
            ManifestError::NotAManifest { manifest, cut_off } => {
                let found =
                    if *cut_off { "the end of the file in its header" } else { "something else" };
                write!(f, "{manifest}: expected a manifest, found {found}")
            }
            ManifestError::TagBits { manifest, expected, found } => {
                write!(f, "{manifest}: expected tags of {expected} bits, found {found}")
            }
        }
    }
}

impl std::error::Error for ManifestError {}
