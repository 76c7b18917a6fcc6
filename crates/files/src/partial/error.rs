//! Errors of hashing a range to a partial and of combining partials.

use std::fmt;
use std::path::PathBuf;

use tagmac::hazmat::PartError;
use tagmac_any::{Algorithm, KeyId, Partial, PartialError};

use crate::error_kind::ErrorKind;
use crate::escaped::Escaped;
use crate::partial::version::split_version;
use crate::read_error::ReadError;

/// The reason why a range could not be hashed to a partial.
#[derive(Debug)]
#[non_exhaustive]
pub enum RangeError {
    /// The object's name is empty.
    NoObject,
    /// The object's version is empty.
    NoVersion,
    /// The version contains `@`, which separates it from the name.
    VersionWithAt {
        /// The version.
        found: Vec<u8>,
    },
    /// The name is empty or too long.
    NameLength {
        /// The contents of the name.
        name: Named,
        /// The length in bytes.
        found: usize,
    },
    /// A position in the object is not at a block boundary.
    Unaligned {
        /// The position.
        edge: Edge,
        /// The algorithm.
        algorithm: Algorithm,
        /// The block length in bytes.
        block: u64,
        /// The position in bytes.
        found: u64,
    },
    /// A range that is not the last needs a length.
    NoLength,
    /// The length is 0, and the object is not empty.
    LengthZero,
    /// The range hashed in pieces is empty, and the object is not.
    Empty,
    /// The last range does not end with the file.
    BeforeEnd {
        /// The file's length.
        expected: u64,
        /// The end of the range in the file.
        found: u64,
    },
    /// The last range does not end with the stream that it is read from.
    StreamGoesOn {
        /// The length of the range in bytes.
        expected: u64,
    },
    /// An offset in the file was given for a stream.
    StreamPlace,
    /// The file could not be read.
    Read {
        /// The file.
        file: PathBuf,
        /// True if the range was expected at the same offset in the file as in the object.
        in_place: bool,
        /// The reason.
        error: ReadError,
    },
    /// The MAC cannot hash the range.
    Mac {
        /// The algorithm.
        algorithm: Algorithm,
        /// The reason.
        error: PartError,
    },
    /// The partial could not be sealed.
    Seal(PartialError),
}

/// The contents of the name in a partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The whole name.
    Object,
    /// The object's name and its version.
    ObjectAndVersion,
}

/// A position in an object that must be at a block boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The start of a range.
    Start,
    /// The length given for a range that is not the last.
    Length,
    /// The number of bytes hashed for a range that is not the last.
    Hashed,
}

impl RangeError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            RangeError::Read { error, .. } => error.kind(),
            RangeError::Seal(_) => ErrorKind::Io,
            _ => ErrorKind::Usage,
        }
    }

    /// Returns the multiples of the block next to `found`, as text.
    pub fn nearest(block: u64, found: u64) -> String {
        let below = found / block * block;
        let above = below.checked_add(block).map_or(String::new(), |above| format!(" and {above}"));
        format!("{below}{above}")
    }
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RangeError::NoObject => f.write_str("object: the name is empty"),
            RangeError::NoVersion => f.write_str(
                "version: the version is empty; expected a version ID, an ETag or an upload ID",
            ),
            RangeError::VersionWithAt { found } => {
                write!(
                    f,
                    "version: a version must not contain '@', found {}",
                    Escaped::bytes(found)
                )
            }
            RangeError::NameLength { name, found } => {
                let most = Partial::MAX_OBJECT;
                write!(f, "{name}: expected a name of 1 to {most} bytes, found {found}")
            }
            RangeError::Unaligned { edge, algorithm, block, found } => write!(
                f,
                "{edge}: expected a multiple of {algorithm}'s block of {block} bytes, found {found}; \
                 the nearest: {}",
                RangeError::nearest(*block, *found)
            ),
            RangeError::NoLength => {
                f.write_str("a range that is not the object's last needs a length")
            }
            RangeError::LengthZero | RangeError::Empty => {
                f.write_str("the range is empty; expected at least 1 byte")
            }
            RangeError::BeforeEnd { expected, found } => write!(
                f,
                "the object's last range must end with the file, at byte {expected}; it ends at \
                 {found}"
            ),
            RangeError::StreamGoesOn { expected } => write!(
                f,
                "the stream continues after the {expected} bytes of the object's last range"
            ),
            RangeError::StreamPlace => {
                f.write_str("a stream has no offsets; its next byte is the first of the range")
            }
            RangeError::Read { file, error, .. } => write!(f, "{}: {error}", Escaped::name(file)),
            RangeError::Mac { algorithm, error } => write!(f, "{algorithm}: {error}"),
            RangeError::Seal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RangeError {}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Named::Object => "object",
            Named::ObjectAndVersion => "object and version",
        })
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Edge::Start => "start",
            Edge::Length => "length",
            Edge::Hashed => "a range that is not the object's last",
        })
    }
}

/// The reason why partials could not be combined.
#[derive(Debug)]
#[non_exhaustive]
pub enum CombineError {
    /// There are no partials.
    NoPartials,
    /// A partial belongs to another object or version.
    OtherObject {
        /// The partial's name.
        partial: String,
        /// The expected object.
        expected: Wanted,
        /// The object's name in the partial.
        found: Vec<u8>,
    },
    /// A partial was made with another algorithm or key.
    OtherKey {
        /// The partial's name.
        partial: String,
        /// The expected algorithm.
        algorithm: Algorithm,
        /// The expected key ID.
        expected: KeyId,
        /// The algorithm's name in the partial.
        found_algorithm: String,
        /// The key ID in the partial.
        found: KeyId,
    },
    /// A partial is damaged, or is not one.
    Refused {
        /// The partial's name.
        partial: String,
        /// The reason.
        error: PartialError,
    },
    /// Two ranges do not adjoin.
    Apart {
        /// The relation of the two ranges.
        between: Between,
        /// The first range.
        left: Located,
        /// The second range.
        right: Located,
    },
    /// The first range does not start with the object.
    NoFirst {
        /// The first range present.
        found: Located,
    },
    /// The object's last range is missing.
    NoLast {
        /// The last range present.
        found: Located,
    },
    /// The MAC cannot join the parts.
    Mac(PartError),
}

/// The object that a partial was expected to belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The object with this name, from the caller.
    Name(Vec<u8>),
    /// An object with this name and any version, from the caller.
    Object(Vec<u8>),
    /// An object of this version, from the caller.
    Version(Vec<u8>),
    /// The object of the first partial.
    First {
        /// Its name.
        name: Vec<u8>,
        /// The first partial's name.
        partial: String,
    },
}

/// The relation of two ranges that do not adjoin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// A gap of this many bytes.
    Gap(u64),
    /// The ranges overlap.
    Overlap,
    /// The left range is the object's last.
    End,
}

/// A range and the name of its partial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
    /// The partial's name.
    pub partial: String,
}

impl CombineError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CombineError::NoPartials
            | CombineError::Apart { .. }
            | CombineError::NoFirst { .. }
            | CombineError::NoLast { .. } => ErrorKind::Incomplete,
            CombineError::OtherObject { .. } => ErrorKind::Foreign,
            CombineError::OtherKey { .. } => ErrorKind::Key,
            CombineError::Refused { .. } | CombineError::Mac(_) => ErrorKind::Mismatch,
        }
    }
}

impl fmt::Display for CombineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CombineError::NoPartials => f.write_str("there are no partials to combine"),
            CombineError::OtherObject { partial, expected, found } => write!(
                f,
                "{partial}: the partial is of {}, not of {expected}",
                expected.found(found)
            ),
            CombineError::OtherKey { partial, algorithm, expected, found_algorithm, found } => {
                write!(
                    f,
                    "{partial}: made with {} and key id {found}; expected {algorithm} and key id \
                     {expected}",
                    Escaped::bytes(found_algorithm.as_bytes())
                )
            }
            CombineError::Refused { partial, error } => write!(f, "{partial}: {error}"),
            CombineError::Apart { between, left, right } => {
                write!(f, "{left} and {right} do not adjoin: {between}")
            }
            CombineError::NoFirst { found } => {
                write!(f, "the range from byte 0 is missing; no range precedes {found}")
            }
            CombineError::NoLast { found } => {
                write!(f, "the object's last range is missing; no range follows {found}")
            }
            CombineError::Mac(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CombineError {}

impl Wanted {
    /// Returns how to call the object that was found instead.
    pub fn found(&self, name: &[u8]) -> String {
        let (object, version) = split_version(name);
        match (self, version) {
            (Wanted::Object(_), _) => format!("object {}", Escaped::bytes(object)),
            (Wanted::Version(_), Some(version)) => format!("version {}", Escaped::bytes(version)),
            (Wanted::Version(_), None) => "no version".into(),
            (Wanted::Name(_) | Wanted::First { .. }, _) => Escaped::bytes(name).to_string(),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Name(name) => Escaped::bytes(name).fmt(f),
            Wanted::Object(object) => write!(f, "object {}", Escaped::bytes(object)),
            Wanted::Version(version) => write!(f, "version {}", Escaped::bytes(version)),
            Wanted::First { name, partial } => write!(f, "{} ({partial})", Escaped::bytes(name)),
        }
    }
}

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Between::Gap(bytes) => write!(f, "there is a gap of {bytes} bytes"),
            Between::Overlap => f.write_str("they overlap"),
            Between::End => f.write_str("the first is the object's last range"),
        }
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {} to {} ({})", self.start, self.end, self.partial)
    }
}
