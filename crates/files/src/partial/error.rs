//! Why a range has no partial, and why partials make no object.

use std::fmt;
use std::path::PathBuf;

use tagmac::hazmat::PartError;
use tagmac_any::{Algorithm, KeyId, Partial, PartialError};

use crate::error_kind::ErrorKind;
use crate::escaped::Escaped;
use crate::partial::version::split_version;
use crate::read_error::ReadError;

/// Why a range has no partial.
#[derive(Debug)]
#[non_exhaustive]
pub enum RangeError {
    /// The object has no name.
    NoObject,
    /// The version of the object is empty.
    NoVersion,
    /// The version has the character that separates it from the name.
    VersionWithAt {
        /// The version.
        found: Vec<u8>,
    },
    /// The name is empty, or longer than a partial has room for.
    NameLength {
        /// What the name is made of.
        name: Named,
        /// Its length in bytes.
        found: usize,
    },
    /// A place in the object is not where a block begins or ends.
    Unaligned {
        /// What should be a multiple of the block.
        edge: Edge,
        /// The algorithm.
        algorithm: Algorithm,
        /// Its block, in bytes.
        block: u64,
        /// Bytes.
        found: u64,
    },
    /// A range that is not the last has no length.
    NoLength,
    /// The length given for a range is 0, and it is not that of an empty object.
    LengthZero,
    /// A range that was hashed piece by piece is empty, and is not that of an empty object.
    Empty,
    /// A range that is the last does not end with the file.
    BeforeEnd {
        /// The file's length.
        expected: u64,
        /// Where the range ends in the file.
        found: u64,
    },
    /// A range that is the last does not end with the stream that it is read from.
    StreamGoesOn {
        /// How many bytes the range has.
        expected: u64,
    },
    /// A place in the file was given for a stream, which has none.
    StreamPlace,
    /// The file could not be read.
    Read {
        /// The file.
        file: PathBuf,
        /// Whether the range should be at its place in the object in the file, too.
        in_place: bool,
        /// Why.
        error: ReadError,
    },
    /// The MAC cannot hash the range.
    Mac {
        /// The algorithm.
        algorithm: Algorithm,
        /// Why.
        error: PartError,
    },
    /// The partial could not be sealed.
    Seal(PartialError),
}

/// What the name in a partial is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The whole name.
    Object,
    /// The name of the object and its version.
    ObjectAndVersion,
}

/// A place in an object where a block begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Where a range starts.
    Start,
    /// The length given for a range that is not the last.
    Length,
    /// The number of bytes hashed of a range that is not the last.
    Hashed,
}

impl RangeError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            RangeError::Read { error, .. } => error.kind(),
            RangeError::Seal(_) => ErrorKind::Io,
            _ => ErrorKind::Usage,
        }
    }

    /// The multiples of the block next to a number of bytes that is none, as text.
    pub fn nearest(block: u64, found: u64) -> String {
        let below = found / block * block;
        let above = below.checked_add(block).map_or(String::new(), |above| format!(" and {above}"));
        format!("{below}{above}")
    }
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RangeError::NoObject => f.write_str("object: expected a name, found an empty one"),
            RangeError::NoVersion => f.write_str(
                "version: expected a version id, an ETag or an upload's id, found an empty one",
            ),
            RangeError::VersionWithAt { found } => {
                write!(f, "version: expected one without '@', found {}", Escaped::bytes(found))
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
            RangeError::NoLength => f.write_str(
                "expected a length of a range that is not the object's last, found none",
            ),
            RangeError::LengthZero | RangeError::Empty => {
                f.write_str("expected a range of at least 1 byte, found an empty one")
            }
            RangeError::BeforeEnd { expected, found } => write!(
                f,
                "expected the object's last range to end with the file, at byte {expected}, found its \
                 end at {found}"
            ),
            RangeError::StreamGoesOn { expected } => write!(
                f,
                "expected the stream of the object's last range to end after {expected} bytes, found \
                 more"
            ),
            RangeError::StreamPlace => {
                f.write_str("expected a file, found a stream, whose next byte is the range's first")
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

/// Why partials make no object.
#[derive(Debug)]
#[non_exhaustive]
pub enum CombineError {
    /// There are no partials.
    NoPartials,
    /// A partial is of another object or version.
    OtherObject {
        /// What the partial is called.
        partial: String,
        /// What was expected, and of whom.
        expected: Wanted,
        /// The object's name in the partial.
        found: Vec<u8>,
    },
    /// A partial is of another algorithm or key.
    OtherKey {
        /// What the partial is called.
        partial: String,
        /// The algorithm.
        algorithm: Algorithm,
        /// The id of the key.
        expected: KeyId,
        /// The algorithm's name in the partial.
        found_algorithm: String,
        /// The id in the partial.
        found: KeyId,
    },
    /// A partial is damaged, or is none.
    Refused {
        /// What the partial is called.
        partial: String,
        /// Why.
        error: PartialError,
    },
    /// Two ranges do not adjoin.
    Apart {
        /// What is between them.
        between: Between,
        /// The first one.
        left: Located,
        /// The second one.
        right: Located,
    },
    /// The first range does not start with the object.
    NoFirst {
        /// The range that is the first.
        found: Located,
    },
    /// The last range is not the object's last.
    NoLast {
        /// The range that is the last.
        found: Located,
    },
    /// The MAC cannot join the parts.
    Mac(PartError),
}

/// The object whose partials were expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The one with this name, which the caller has given.
    Name(Vec<u8>),
    /// One with this name before the version, which the caller has given.
    Object(Vec<u8>),
    /// One of this version, which the caller has given.
    Version(Vec<u8>),
    /// That of the first partial.
    First {
        /// Its name.
        name: Vec<u8>,
        /// What the first partial is called.
        partial: String,
    },
}

/// What is between two ranges that should adjoin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// A gap of so many bytes.
    Gap(u64),
    /// Less than nothing: they overlap.
    Overlap,
    /// The end of the object: the left one is its last.
    End,
}

/// A range, and the partial that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
    /// What the partial is called.
    pub partial: String,
}

impl CombineError {
    /// What kind of error it is.
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
            CombineError::NoPartials => f.write_str("expected at least one partial, found none"),
            CombineError::OtherObject { partial, expected, found } => write!(
                f,
                "{partial}: expected a partial of {expected}, found one of {}",
                expected.found(found)
            ),
            CombineError::OtherKey { partial, algorithm, expected, found_algorithm, found } => {
                write!(
                    f,
                    "{partial}: expected a partial of {algorithm} under this key (id {expected}), found one \
                 of {} under the key with id {found}",
                    Escaped::bytes(found_algorithm.as_bytes())
                )
            }
            CombineError::Refused { partial, error } => write!(f, "{partial}: {error}"),
            CombineError::Apart { between, left, right } => {
                write!(f, "expected adjoining ranges, found {between}: {left} and {right}")
            }
            CombineError::NoFirst { found } => {
                write!(f, "expected a first range from byte 0, found {found} before all others")
            }
            CombineError::NoLast { found } => {
                write!(f, "expected the object's last range, found {found} after all others")
            }
            CombineError::Mac(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CombineError {}

impl Wanted {
    /// What to call the object that was found instead.
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
            Between::Gap(bytes) => write!(f, "a gap of {bytes} bytes"),
            Between::Overlap => f.write_str("an overlap"),
            Between::End => f.write_str("the last one before"),
        }
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {} to {} ({})", self.start, self.end, self.partial)
    }
}
