//! The errors that any call of a MAC can return, for one message or many. Errors of particular calls
//! are in their own modules: parts, edits, saved state, meters, NH and parsimony.

use core::fmt;

/// An error of a MAC.
// The alignment puts a tag next to it in a `Result` at a multiple of 8 bytes. At a multiple of 2, a
// move of the tag could cross a cache line.
#[cfg_attr(target_pointer_width = "64", repr(align(16)))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The key has the wrong number of bytes.
    KeyLength {
        /// The minimum in bytes.
        min: usize,
        /// The maximum in bytes.
        max: usize,
        /// The length of the key in bytes.
        found: usize,
    },
    /// The nonce has the wrong number of bytes.
    NonceLength {
        /// The minimum in bytes.
        min: usize,
        /// The maximum in bytes.
        max: usize,
        /// The length of the nonce in bytes.
        found: usize,
    },
    /// The nonce is smaller than the next nonce of the sequence, so it may have been used.
    NonceReused,
    /// The sequence has used every nonce of its length.
    NoncesUsedUp {
        /// The length of the sequence's nonces in bytes.
        bytes: usize,
    },
    /// The system's random generator failed.
    NoRandomBytes,
    /// The MAC has no tags of this length.
    TagBits {
        /// The minimum in bits.
        min: usize,
        /// The maximum in bits.
        max: usize,
        /// Lengths are in steps of this many bits.
        step: usize,
        /// The length that was requested, in bits.
        found: usize,
    },
    /// The number of bytes of a tag does not fit its length in bits.
    TagBytes {
        /// The number of bytes that the bits need.
        expected: usize,
        /// The number of bytes of the tag.
        found: usize,
    },
    /// A bit after the end of the tag is set in its last byte.
    UnusedTagBits,
    /// The number of bytes of a bit string does not fit its length in bits.
    MessageBits {
        /// The number of bytes.
        bytes: usize,
        /// The length that was requested, in bits.
        found: usize,
    },
    /// The message ends within a byte, and the MAC accepts only whole bytes.
    PartialByte {
        /// The length of the message in bits.
        found: u64,
    },
    /// LightMAC does not allow a counter of this length.
    CounterBits {
        /// The maximum in bits: half a block.
        max: usize,
        /// The length that was requested, in bits.
        found: usize,
    },
    /// The message is longer than the MAC's definition allows.
    TooLong {
        /// The maximum length of a message in bits.
        limit_bits: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::KeyLength { min, max, found } if min == max => {
                write!(f, "expected a key of {min} bytes, found {found}")
            }
            Error::KeyLength { min, max, found } => {
                write!(f, "expected a key of {min} to {max} bytes, found {found}")
            }
            Error::NonceLength { max: 0, found, .. } => {
                write!(f, "this MAC does not use a nonce, found {found} bytes")
            }
            Error::NonceLength { min, max, found } if min == max => {
                write!(f, "expected a nonce of {min} bytes, found {found}")
            }
            Error::NonceLength { min, max, found } => {
                write!(f, "expected a nonce of {min} to {max} bytes, found {found}")
            }
            Error::NonceReused => f.write_str(
                "the nonce may have been used; use the sequence's next one or a larger one",
            ),
            Error::NoncesUsedUp { bytes } => {
                write!(f, "all {bytes}-byte nonces are used; use a new key")
            }
            Error::NoRandomBytes => f.write_str("the system's random generator failed"),
            Error::TagBits { min, max, found, .. } if min == max => {
                write!(f, "expected a tag length of {min} bits, found {found}")
            }
            Error::TagBits { min, max, step: 1, found } => {
                write!(f, "expected a tag length of {min} to {max} bits, found {found}")
            }
            Error::TagBits { min, max, step, found } => write!(
                f,
                "expected a tag length of {min} to {max} bits in steps of {step}, found {found}"
            ),
            Error::TagBytes { expected, found } => {
                write!(f, "expected a tag of {expected} bytes, found {found}")
            }
            Error::UnusedTagBits => f.write_str("the bits after the end of the tag must be zero"),
            Error::MessageBits { bytes, found } => {
                write!(f, "a string of {found} bits does not end in the last of its {bytes} bytes")
            }
            Error::PartialByte { found } => {
                write!(f, "expected a message of whole bytes, found {found} bits")
            }
            Error::CounterBits { max, found } => {
                write!(f, "expected a counter length s of 1 to {max} bits, found {found}")
            }
            Error::TooLong { limit_bits } => write!(
                f,
                "the message is over this MAC's limit of {limit_bits} bits ({} bytes)",
                limit_bits / 8
            ),
        }
    }
}

impl core::error::Error for Error {}

/// Implements `Error` and `From<Error>` for error types with a variant `Mac(Error)`.
macro_rules! holds_mac_error {
    ($($name:ident),+) => {$(
        impl core::error::Error for $name {
            fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
                match self {
                    $name::Mac(error) => Some(error),
                    _ => None,
                }
            }
        }

        impl From<crate::error::Error> for $name {
            fn from(error: crate::error::Error) -> $name {
                $name::Mac(error)
            }
        }
    )+};
}
pub(crate) use holds_mac_error;

/// The message of [`PartError`](crate::hazmat::PartError) and `SaveError` for a foreign part.
pub(crate) const FOREIGN_PART: &str = "the part belongs to another MAC or key";

/// Implements `Debug` with the type's name only, so that no secret is printed.
macro_rules! silent {
    ($($name:ident $(<$($parameter:ident: $bound:path),+>)?),+ $(,)?) => {$(
        impl $(<$($parameter: $bound),+>)? core::fmt::Debug for $name $(<$($parameter),+>)? {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    )+};
}
pub(crate) use silent;

/// The tag is wrong. The error carries no further information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch;

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tag does not match the message")
    }
}

impl core::error::Error for Mismatch {}

/// A message of a batch that was refused. The messages before it have their tags. The contents of
/// the later tags are unspecified: do not use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchError {
    /// The message's index, from 0.
    pub index: usize,
    /// The error that refused it.
    pub error: Error,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: {}", self.index, self.error)
    }
}

impl core::error::Error for BatchError {}
