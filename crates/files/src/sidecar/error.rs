//! Why an update ended.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tagmac::hazmat::PartError;
use tagmac_any::{Algorithm, KeyId};

use crate::error_kind::ErrorKind;
use crate::escaped::Escaped;
use crate::read_error::ReadError;

/// Why an update ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum UpdateError {
    /// The MAC cannot follow edits.
    NoEdits {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// There is no sidecar to follow an edit in.
    NoSidecar {
        /// Where it should be.
        sidecar: PathBuf,
    },
    /// There is a sidecar, and one was to be created.
    SidecarExists {
        /// Where it is.
        sidecar: PathBuf,
    },
    /// The length of a leaf was given, and the sidecar has one already.
    LeafFixed,
    /// The length given for a leaf is over the limit.
    LeafTooLong {
        /// The limit, in bytes.
        max: u64,
        /// The length given.
        found: u64,
    },
    /// A tag was expected of a sidecar that is only created now, under a new nonce.
    NothingToExpect,
    /// The expected tag is no tag of the MAC.
    ExpectedTag {
        /// The algorithm.
        algorithm: Algorithm,
        /// What is wrong with the tag.
        error: tagmac::Error,
    },
    /// The last state's tag is not the expected one.
    OtherTag {
        /// The file.
        file: PathBuf,
    },
    /// The last state's tag is the expected one, but an edit of it was interrupted. Only the caller can
    /// know whether that was an edit of theirs.
    ExpectedInterrupted {
        /// The file.
        file: PathBuf,
        /// The edit.
        edit: Interrupted,
    },
    /// The sidecar is that of a file with another name.
    OtherFile {
        /// The sidecar.
        sidecar: PathBuf,
        /// The file's name.
        expected: Vec<u8>,
        /// The name in the sidecar.
        found: Vec<u8>,
        /// Whether an edit was interrupted: then the sidecar has the only copy of the old bytes.
        interrupted: bool,
    },
    /// The file has grown or shrunk since the last update.
    OtherLength {
        /// The file.
        file: PathBuf,
        /// Its length at the last update.
        expected: u64,
        /// Its length now.
        found: u64,
    },
    /// Bytes have changed since the last update, so the edit was not made.
    Changed {
        /// The file.
        file: PathBuf,
        /// From the first leaf that has changed to the last.
        bytes: Range<u64>,
    },
    /// Bytes have changed since the last update, and nothing is left to do but to accept them.
    Unaccepted {
        /// The file.
        file: PathBuf,
        /// From the first leaf that has changed to the last.
        bytes: Range<u64>,
        /// Whether the file has grown, too. What was added can be accepted after these bytes.
        grew: bool,
        /// Whether an interrupted edit was finished or undone before.
        settled: bool,
    },
    /// A patch starts after the end of the file.
    PatchStart {
        /// The file.
        file: PathBuf,
        /// Its length.
        length: u64,
        /// Where the patch starts.
        found: u64,
    },
    /// A patch ends after the end of the file.
    PatchEnd {
        /// The file.
        file: PathBuf,
        /// Its length.
        length: u64,
    },
    /// A patch of this file has more bytes than a sidecar has room for, which are so many.
    PatchTooLong(PathBuf, u64),
    /// The length to cut the file off at is over its own.
    TruncateEnd {
        /// The file.
        file: PathBuf,
        /// Its length.
        length: u64,
        /// The length given.
        found: u64,
    },
    /// A range to accept ends after the end of the file.
    RangeEnd {
        /// The file.
        file: PathBuf,
        /// Its length.
        length: u64,
        /// Where the range ends.
        found: u64,
    },
    /// There is no interrupted edit to undo.
    NotInterrupted {
        /// The file.
        file: PathBuf,
    },
    /// An edit was interrupted, and the file is not as the edit can have left it. Only the caller can
    /// say how to go on.
    Stuck {
        /// The file.
        file: PathBuf,
        /// The edit.
        edit: Interrupted,
        /// What is in the file.
        found: Interference,
    },
    /// The file could not be written. The edit is known, and can be finished or undone.
    Unfinished {
        /// The file.
        file: PathBuf,
        /// What the edit is called.
        edit: &'static str,
        /// Whether a tag was expected: then the next update does not go on by itself.
        expects: bool,
        /// Why.
        error: ReadError,
    },
    /// The file's name leads to another file by now, or to none.
    FileReplaced {
        /// The file.
        file: PathBuf,
    },
    /// The sidecar's name leads to another file by now, or to none.
    SidecarReplaced {
        /// The sidecar.
        sidecar: PathBuf,
    },
    /// It is no sidecar.
    NotASidecar {
        /// What should be one.
        sidecar: PathBuf,
    },
    /// It is a sidecar of another version.
    Version {
        /// The sidecar.
        sidecar: PathBuf,
    },
    /// The sidecar is sealed under another key.
    OtherKey {
        /// The sidecar.
        sidecar: PathBuf,
        /// The id of the key.
        expected: KeyId,
        /// The id in the sidecar.
        found: KeyId,
    },
    /// The sidecar is not as it was sealed.
    Altered {
        /// The sidecar.
        sidecar: PathBuf,
    },
    /// The file has fewer bytes than it had when the update began.
    Shrunk {
        /// The file.
        file: PathBuf,
        /// How many bytes it should have at least.
        expected: u64,
    },
    /// The MAC cannot hash this file, and why.
    Mac(PathBuf, PartError),
}

/// An edit that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// A patch.
    Patch {
        /// Its first byte.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// A truncation.
    Truncation {
        /// The file's length before it.
        from: u64,
        /// The file's length after it.
        to: u64,
        /// Whether bytes are gone that were there before it, so that it cannot be undone.
        gone: bool,
    },
}

/// What an interrupted edit cannot have left in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interference {
    /// Another length than that of before the edit, or than that of after it.
    Length {
        /// The length after the edit.
        expected: u64,
        /// The length before a truncation, which is as good.
        before: Option<u64>,
        /// The length found.
        found: u64,
    },
    /// Leaves beside the edit that are not as they were.
    Changed(Range<u64>),
    /// Bytes in the place of a patch that are neither the old ones nor the new ones.
    Foreign(Range<u64>),
}

impl UpdateError {
    /// What kind of error it is.
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
    /// The file or the sidecar that it is about, if it is about one.
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

    /// Why, without the place.
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

/// Displays all but the place.
struct Reason<'a>(&'a UpdateError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            UpdateError::NoEdits { algorithm } => write!(f, "{algorithm} cannot follow edits"),
            UpdateError::NoSidecar { .. } => {
                f.write_str("expected the file's sidecar, found none")
            }
            UpdateError::SidecarExists { .. } => f.write_str("the sidecar exists"),
            UpdateError::LeafFixed => {
                f.write_str("the sidecar exists and keeps the size of its leaves")
            }
            UpdateError::LeafTooLong { max, found } => {
                write!(f, "expected a leaf of at most {max} bytes (64 MiB), found {found}")
            }
            UpdateError::NothingToExpect => {
                f.write_str("expected a sidecar, found none, and a new tag has a new nonce")
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
                "the tag is the expected one, but {edit} was interrupted; if that was no update of \
                 yours, this is an old sidecar, and the edit has to be undone"
            ),
            UpdateError::OtherFile { expected, found, interrupted, .. } => {
                let [expected, found] = [expected, found].map(|name| Escaped::bytes(name));
                write!(f, "expected the sidecar of {expected}, found that of {found}")?;
                if !interrupted {
                    return Ok(());
                }
                write!(
                    f,
                    ", with an interrupted edit: keep it, rename both back to {found} and \
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
                write!(f, "expected bytes within the file's {length}, found some past them")
            }
            UpdateError::PatchTooLong(_, max) => {
                write!(f, "expected at most {max} bytes, found more")
            }
            UpdateError::TruncateEnd { length, found, .. } => {
                write!(f, "expected at most the file's {length} bytes, found {found}")
            }
            UpdateError::RangeEnd { length, found, .. } => {
                write!(f, "expected a range within the file's {length} bytes, found one up to {found}")
            }
            UpdateError::NotInterrupted { .. } => {
                f.write_str("expected an interrupted edit, found none")
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
                f.write_str("expected a sidecar, found something else")
            }
            UpdateError::Version { .. } => f.write_str(
                "expected a sidecar of version 3, found another: the file was not checked; check it \
                 against a tag that you trust before you move this away and create a new one",
            ),
            UpdateError::OtherKey { expected, found, .. } => write!(
                f,
                "expected a sidecar sealed under this key (id {expected}), found one sealed under the \
                 key with id {found}"
            ),
            UpdateError::Altered { .. } => {
                f.write_str("expected what this key sealed, found it altered")
            }
            UpdateError::Shrunk { expected, .. } => write!(
                f,
                "expected {expected} bytes, found fewer: the file changed while it was read"
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
                write!(
                    f,
                    "expected bytes {start} to {end} as before or after the patch, found others"
                )
            }
        }
    }
}
