//! Errors of updates.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tagmac::hazmat::PartError;
use tagmac_any::{Algorithm, KeyId};

use crate::error_kind::ErrorKind;
use crate::escaped::Escaped;
use crate::read_error::ReadError;

/// The reason why an update failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum UpdateError {
    /// The MAC does not support edits.
    NoEdits {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The edit needs a sidecar, which does not exist.
    NoSidecar {
        /// The sidecar's path.
        sidecar: PathBuf,
    },
    /// A new sidecar was requested, and one exists.
    SidecarExists {
        /// The sidecar's path.
        sidecar: PathBuf,
    },
    /// A leaf length was given, but an existing sidecar keeps its own.
    LeafFixed,
    /// The leaf length given is over the limit.
    LeafTooLong {
        /// The limit in bytes.
        max: u64,
        /// The length given.
        found: u64,
    },
    /// A tag was expected, but a new sidecar gets a new nonce.
    NothingToExpect,
    /// The expected tag is not a valid tag of the MAC.
    ExpectedTag {
        /// The algorithm.
        algorithm: Algorithm,
        /// The error of the tag.
        error: tagmac::Error,
    },
    /// The tag of the last state is not the expected one.
    OtherTag {
        /// The file.
        file: PathBuf,
    },
    /// The tag of the last state is the expected one, but an edit of that state was interrupted.
    /// Only the caller knows whether the edit was theirs.
    ExpectedInterrupted {
        /// The file.
        file: PathBuf,
        /// The interrupted edit.
        edit: Interrupted,
    },
    /// The sidecar belongs to a file with another name.
    OtherFile {
        /// The sidecar.
        sidecar: PathBuf,
        /// The file's name.
        expected: Vec<u8>,
        /// The name in the sidecar.
        found: Vec<u8>,
        /// True if an edit was interrupted. Then the sidecar has the only copy of the old bytes.
        interrupted: bool,
    },
    /// The file has grown or shrunk since the last update.
    OtherLength {
        /// The file.
        file: PathBuf,
        /// The file's length at the last update.
        expected: u64,
        /// The file's length now.
        found: u64,
    },
    /// Bytes have changed since the last update, so the edit was not made.
    Changed {
        /// The file.
        file: PathBuf,
        /// From the first changed leaf to the last.
        bytes: Range<u64>,
    },
    /// Bytes have changed since the last update. The only way to continue is to accept them.
    Unaccepted {
        /// The file.
        file: PathBuf,
        /// From the first changed leaf to the last.
        bytes: Range<u64>,
        /// True if the file has grown, too. The new bytes can be accepted after these.
        grew: bool,
        /// True if an interrupted edit was finished or undone first.
        settled: bool,
    },
    /// A patch starts after the end of the file.
    PatchStart {
        /// The file.
        file: PathBuf,
        /// The file's length.
        length: u64,
        /// The start of the patch.
        found: u64,
    },
    /// A patch ends after the end of the file.
    PatchEnd {
        /// The file.
        file: PathBuf,
        /// The file's length.
        length: u64,
    },
    /// A patch of this file is over the maximum length, given in bytes.
    PatchTooLong(PathBuf, u64),
    /// The length to truncate to is over the file's length.
    TruncateEnd {
        /// The file.
        file: PathBuf,
        /// The file's length.
        length: u64,
        /// The length given.
        found: u64,
    },
    /// A range to accept ends after the end of the file.
    RangeEnd {
        /// The file.
        file: PathBuf,
        /// The file's length.
        length: u64,
        /// The end of the range.
        found: u64,
    },
    /// There is no interrupted edit to undo.
    NotInterrupted {
        /// The file.
        file: PathBuf,
    },
    /// An edit was interrupted, and the file is in a state that the edit cannot have left. Only the
    /// caller can decide how to continue.
    Stuck {
        /// The file.
        file: PathBuf,
        /// The interrupted edit.
        edit: Interrupted,
        /// The unexpected state of the file.
        found: Interference,
    },
    /// The file could not be written. The edit is recorded, and can be finished or undone.
    Unfinished {
        /// The file.
        file: PathBuf,
        /// The word for the edit.
        edit: &'static str,
        /// True if a tag was expected. Then the next update does not continue by itself.
        expects: bool,
        /// The reason.
        error: ReadError,
    },
    /// The file's name denotes another file now, or does not exist any more.
    FileReplaced {
        /// The file.
        file: PathBuf,
    },
    /// The sidecar's name denotes another file now, or does not exist any more.
    SidecarReplaced {
        /// The sidecar.
        sidecar: PathBuf,
    },
    /// The file is not a sidecar.
    NotASidecar {
        /// The file's path.
        sidecar: PathBuf,
    },
    /// The sidecar is of another version.
    Version {
        /// The sidecar.
        sidecar: PathBuf,
    },
    /// The sidecar is sealed under another key.
    OtherKey {
        /// The sidecar.
        sidecar: PathBuf,
        /// The expected key ID.
        expected: KeyId,
        /// The key ID in the sidecar.
        found: KeyId,
    },
    /// The sidecar's seal does not match, or the sidecar is truncated.
    Altered {
        /// The sidecar.
        sidecar: PathBuf,
    },
    /// The file is shorter than it was when the update began.
    Shrunk {
        /// The file.
        file: PathBuf,
        /// The minimum length expected.
        expected: u64,
    },
    /// The MAC cannot hash this file, for this reason.
    Mac(PathBuf, PartError),
}

/// An interrupted edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// A patch.
    Patch {
        /// The first byte.
        offset: u64,
        /// The length in bytes.
        length: u64,
    },
    /// A truncation.
    Truncation {
        /// The file's length before the truncation.
        from: u64,
        /// The file's length after the truncation.
        to: u64,
        /// True if bytes were already removed, so that it cannot be undone.
        gone: bool,
    },
}

/// A state of the file that an interrupted edit cannot have left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interference {
    /// The file has another length than before or after the edit.
    Length {
        /// The length after the edit.
        expected: u64,
        /// The length before a truncation, which is valid too.
        before: Option<u64>,
        /// The length found.
        found: u64,
    },
    /// Leaves outside the edit have changed.
    Changed(Range<u64>),
    /// Bytes within a patch are neither the old ones nor the new ones.
    Foreign(Range<u64>),
}

impl UpdateError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            UpdateError::NoEdits { .. }
            | UpdateError::NoSidecar { .. }
            | UpdateError::SidecarExists { .. }
            | UpdateError::LeafFixed
            | UpdateError::LeafTooLong { .. }
            | UpdateError::NothingToExpect
            | UpdateError::ExpectedTag { .. }
            | UpdateError::PatchStart { .. }
            | UpdateError::PatchEnd { .. }
            | UpdateError::PatchTooLong(..)
            | UpdateError::TruncateEnd { .. }
            | UpdateError::RangeEnd { .. }
            | UpdateError::NotInterrupted { .. } => ErrorKind::Usage,
            UpdateError::OtherTag { .. }
            | UpdateError::ExpectedInterrupted { .. }
            | UpdateError::OtherFile { .. }
            | UpdateError::OtherLength { .. }
            | UpdateError::Changed { .. }
            | UpdateError::Unaccepted { .. }
            | UpdateError::Stuck { .. }
            | UpdateError::NotASidecar { .. }
            | UpdateError::Version { .. }
            | UpdateError::Altered { .. } => ErrorKind::Mismatch,
            UpdateError::OtherKey { .. } => ErrorKind::Key,
            UpdateError::Unfinished { .. }
            | UpdateError::FileReplaced { .. }
            | UpdateError::SidecarReplaced { .. }
            | UpdateError::Shrunk { .. }
            | UpdateError::Mac(..) => ErrorKind::Io,
        }
    }
    /// Returns the path of the file or the sidecar concerned, if any.
    pub fn place(&self) -> Option<&Path> {
        match self {
            UpdateError::NoEdits { .. }
            | UpdateError::LeafFixed
            | UpdateError::LeafTooLong { .. }
            | UpdateError::NothingToExpect
            | UpdateError::ExpectedTag { .. } => None,
            UpdateError::OtherTag { file }
            | UpdateError::ExpectedInterrupted { file, .. }
            | UpdateError::OtherLength { file, .. }
            | UpdateError::Changed { file, .. }
            | UpdateError::Unaccepted { file, .. }
            | UpdateError::PatchStart { file, .. }
            | UpdateError::PatchEnd { file, .. }
            | UpdateError::PatchTooLong(file, _)
            | UpdateError::TruncateEnd { file, .. }
            | UpdateError::RangeEnd { file, .. }
            | UpdateError::NotInterrupted { file }
            | UpdateError::Stuck { file, .. }
            | UpdateError::Unfinished { file, .. }
            | UpdateError::FileReplaced { file }
            | UpdateError::Shrunk { file, .. }
            | UpdateError::Mac(file, _) => Some(file),
            UpdateError::NoSidecar { sidecar }
            | UpdateError::SidecarExists { sidecar }
            | UpdateError::OtherFile { sidecar, .. }
            | UpdateError::SidecarReplaced { sidecar }
            | UpdateError::NotASidecar { sidecar }
            | UpdateError::Version { sidecar }
            | UpdateError::OtherKey { sidecar, .. }
            | UpdateError::Altered { sidecar } => Some(sidecar),
        }
    }

    /// Returns the message without the path.
    pub fn reason(&self) -> impl fmt::Display + '_ {
        Reason(self)
    }
}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place() {
            write!(f, "{}: ", Escaped::name(place))?;
        }
        self.reason().fmt(f)
    }
}

impl std::error::Error for UpdateError {}

/// Displays the message without the path.
struct Reason<'a>(&'a UpdateError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            UpdateError::NoEdits { algorithm } => write!(f, "{algorithm} cannot follow edits"),
            UpdateError::NoSidecar { .. } => {
                f.write_str("the sidecar does not exist")
            }
            UpdateError::SidecarExists { .. } => f.write_str("the sidecar exists"),
            UpdateError::LeafFixed => {
                f.write_str("the sidecar exists and keeps the size of its leaves")
            }
            UpdateError::LeafTooLong { max, found } => {
                write!(f, "expected a leaf of at most {max} bytes (64 MiB), found {found}")
            }
            UpdateError::NothingToExpect => {
                f.write_str("no tag can be expected of a new sidecar, as it gets a new nonce")
            }
            UpdateError::ExpectedTag { algorithm, error } => {
                write!(f, "the expected tag: {algorithm}: {error}")
            }
            UpdateError::OtherTag { .. } => f.write_str(
                "the tag is not the expected one: the file or its sidecar was rolled back, or was \
                 updated since",
            ),
            UpdateError::ExpectedInterrupted { edit, .. } => write!(
                f,
                "the tag is the expected one, but {edit} was interrupted; unless that was an update of \
                 yours, this is an old sidecar: undo the edit",
            ),
            UpdateError::OtherFile { expected, found, interrupted, .. } => {
                let [expected, found] = [expected, found].map(|name| Escaped::bytes(name));
                write!(f, "the sidecar belongs to {found}, not to {expected}")?;
                if !interrupted {
                    return Ok(());
                }
                write!(
                    f,
                    "; an edit was interrupted: keep the sidecar, rename both back to {found} and \
                     {found}.tagmac, and finish or undo the edit there"
                )
            }
            UpdateError::OtherLength { expected, found, .. } => {
                write!(f, "expected {expected} bytes, found {found}")?;
                f.write_str(if found < expected {
                    ": what is left cannot be checked without the missing bytes; restore the file, \
                     or, to accept what is left, move the sidecar away and create a new one"
                } else {
                    ""
                })
            }
            UpdateError::Changed { bytes, .. } => Interference::Changed(bytes.clone()).fmt(f),
            UpdateError::Unaccepted { bytes, settled, .. } => {
                Interference::Changed(bytes.clone()).fmt(f)?;
                f.write_str(if *settled { "; the interrupted edit is settled" } else { "" })
            }
            UpdateError::PatchStart { length, found, .. } => {
                write!(f, "expected an offset within the file's {length} bytes, found {found}")
            }
            UpdateError::PatchEnd { length, .. } => {
                write!(f, "the patch ends after the file's {length} bytes")
            }
            UpdateError::PatchTooLong(_, max) => {
                write!(f, "the patch is longer than {max} bytes")
            }
            UpdateError::TruncateEnd { length, found, .. } => {
                write!(f, "expected at most the file's {length} bytes, found {found}")
            }
            UpdateError::RangeEnd { length, found, .. } => {
                write!(f, "the range ends at byte {found}, after the file's {length} bytes")
            }
            UpdateError::NotInterrupted { .. } => {
                f.write_str("no edit was interrupted")
            }
            UpdateError::Stuck { edit, found, .. } => write!(f, "{found}; {edit} was interrupted"),
            UpdateError::Unfinished { edit, error, .. } => {
                write!(f, "{error}; the {edit} was interrupted; free space if the disk is full")
            }
            UpdateError::FileReplaced { .. } => {
                f.write_str("the file was removed or replaced while this run was using it")
            }
            UpdateError::SidecarReplaced { .. } => f.write_str(
                "the sidecar was removed or replaced while this run was using it; the file may have \
                 been edited",
            ),
            UpdateError::NotASidecar { .. } => {
                f.write_str("not a sidecar")
            }
            UpdateError::Version { .. } => f.write_str(
                "not a sidecar of version 3, so the file was not checked; check it against a tag that you \
                 trust before you move the sidecar away and create a new one",
            ),
            UpdateError::OtherKey { expected, found, .. } => write!(
                f,
                "the sidecar is sealed under another key: expected key id {expected}, found {found}"
            ),
            UpdateError::Altered { .. } => {
                f.write_str("the sidecar is damaged: it is not as this key sealed it")
            }
            UpdateError::Shrunk { expected, .. } => write!(
                f,
                "the file has fewer than {expected} bytes: it changed while it was read"
            ),
            UpdateError::Mac(_, error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interrupted::Patch { offset, length } => {
                write!(f, "a patch of {length} bytes at byte {offset}")
            }
            Interrupted::Truncation { from, to, .. } => {
                write!(f, "a truncation from {from} to {to} bytes")
            }
        }
    }
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interference::Length { expected, before: None, found } => {
                write!(f, "expected {expected} bytes, found {found}")
            }
            Interference::Length { expected, before: Some(before), found } => write!(
                f,
                "expected {expected} bytes, or {before} as before the truncation, found {found}"
            ),
            Interference::Changed(Range { start, end }) => {
                write!(f, "bytes {start} to {end} have changed since the last update")
            }
            Interference::Foreign(Range { start, end }) => {
                write!(f, "bytes {start} to {end} are neither as before the patch nor as after it")
            }
        }
    }
}
