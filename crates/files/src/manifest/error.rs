//! Errors of writing and opening manifests.

use std::fmt;
use std::path::PathBuf;

use crate::error_kind::ErrorKind;
use crate::escaped::Escaped;

/// The reason why a manifest could not be written or opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum ManifestError {
    /// The path to write the manifest to does not name a file.
    NoFileName {
        /// The path.
        manifest: PathBuf,
    },
    /// The manifest cannot continue the chain of the one that it would replace.
    NoChain {
        /// The reason why that one cannot be used.
        why: String,
        /// Its kind.
        kind: ErrorKind,
    },
    /// Another program replaced or removed the manifest in the meantime.
    OtherRun {
        /// The manifest.
        manifest: PathBuf,
    },
    /// The manifest was not written, because entries could not be read.
    Unsealed {
        /// The manifest.
        manifest: PathBuf,
        /// The number of entries.
        entries: u64,
    },
    /// The manifest has no entry at or below a path.
    NoEntry {
        /// The path.
        path: Vec<u8>,
    },
    /// An entry is not a file.
    NoFile {
        /// The entry's name in messages.
        file: String,
        /// Its kind, as manifests name it.
        kind: &'static str,
    },
    /// A file is too long to be verified as a whole, and the manifest has no leaf tags.
    NoLeafTags {
        /// The file's name in messages.
        file: String,
    },
    /// Readers have rejected more wrong leaves than the key allows.
    WrongReads {
        /// The manifest's name in messages.
        manifest: String,
        /// The number allowed.
        max: u64,
    },
    /// The path of the manifest is a directory.
    Directory {
        /// The manifest's name in messages.
        manifest: String,
    },
    /// The file is not a manifest.
    NotAManifest {
        /// The manifest's name in messages.
        manifest: String,
        /// True if the file ends within the header.
        cut_off: bool,
    },
    /// The tags in the manifest have another length.
    TagBits {
        /// The manifest's name in messages.
        manifest: String,
        /// The length of the MAC's tags, in bits.
        expected: usize,
        /// The length of the tags in the manifest, in bits.
        found: usize,
    },
}

impl ManifestError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ManifestError::NoFileName { .. }
            | ManifestError::NoEntry { .. }
            | ManifestError::NoFile { .. }
            | ManifestError::NoLeafTags { .. }
            | ManifestError::TagBits { .. } => ErrorKind::Usage,
            ManifestError::Unsealed { .. }
            | ManifestError::OtherRun { .. }
            | ManifestError::Directory { .. } => ErrorKind::Io,
            ManifestError::NotAManifest { .. } | ManifestError::WrongReads { .. } => {
                ErrorKind::Mismatch
            }
            ManifestError::NoChain { kind, .. } => *kind,
        }
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestError::NoFileName { manifest } => {
                write!(
                    f,
                    "a manifest must be written to a file, not to '{}'",
                    Escaped::name(manifest)
                )
            }
            ManifestError::NoChain { why, .. } => {
                write!(f, "the new manifest cannot continue the old one: {why}")
            }
            ManifestError::OtherRun { manifest } => {
                let manifest = Escaped::name(manifest);
                write!(
                    f,
                    "{manifest}: not written, as another program replaced or removed it meanwhile"
                )
            }
            ManifestError::Unsealed { manifest, entries } => {
                let manifest = Escaped::name(manifest);
                let word = if *entries == 1 { "entry" } else { "entries" };
                write!(f, "{manifest}: not written, as {entries} {word} could not be sealed")
            }
            ManifestError::NoEntry { path } => {
                write!(f, "{}: the manifest has no entry with this path", Escaped::bytes(path))
            }
            ManifestError::NoFile { file, kind } => {
                write!(f, "{file}: expected a file, found a {kind}")
            }
            ManifestError::NoLeafTags { file } => {
                write!(f, "{file}: the manifest has no leaf tags, which a file of this size needs")
            }
            ManifestError::WrongReads { manifest, max } => {
                write!(
                    f,
                    "{manifest}: the limit of wrong reads under this key is {max}, and more were \
                     rejected; repair the files, and use another algorithm"
                )
            }
            ManifestError::Directory { manifest } => {
                write!(f, "{manifest}: this is a directory, not a manifest")
            }
            ManifestError::NotAManifest { manifest, cut_off } => {
                let what =
                    if *cut_off { "the manifest ends within its header" } else { "not a manifest" };
                write!(f, "{manifest}: {what}")
            }
            ManifestError::TagBits { manifest, expected, found } => {
                write!(f, "{manifest}: expected tags of {expected} bits, found {found}")
            }
        }
    }
}

impl std::error::Error for ManifestError {}
