//! What any call of a MAC can refuse, as facts with numbers. What only some calls refuse has an error
//! of its own beside them: parts, edits, what is saved, meters, NH, parsimony.

use core::fmt;

/// A request that a MAC cannot serve.
// So aligned, it leaves a tag beside it in a `Result` at a multiple of 8 bytes, and not at 2, where
// each move of it could cross a line of cache.
#[cfg_attr(target_pointer_width = "64", repr(align(16)))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The key has the wrong number of bytes.
    KeyLength {
        /// The fewest bytes that the MAC takes.
        min: usize,
        /// The most bytes that the MAC takes.
        max: usize,
        /// The bytes given.
        found: usize,
    },
    /// The nonce has the wrong number of bytes.
    NonceLength {
        /// The fewest bytes that the MAC takes.
        min: usize,
        /// The most bytes that the MAC takes.
        max: usize,
        /// The bytes given.
        found: usize,
    },
    /// The nonce is below the next one of its sequence, so it may have been used.
    NonceReused,
    /// A sequence has used every nonce of its length.
    NoncesUsedUp {
        /// The length of the sequence's nonces.
        bytes: usize,
    },
    /// The system gives no random bytes.
    NoRandomBytes,
    /// No such tag length.
    TagBits {
        /// The shortest tag.
        min: usize,
        /// The longest tag.
        max: usize,
        /// Lengths go up in steps of this many bits.
        step: usize,
        /// The bits asked for.
        found: usize,
    },
    /// A tag's bytes are not as many as its bits need.
    TagBytes {
        /// The bytes that the bits need.
        expected: usize,
        /// The bytes given.
        found: usize,
    },
    /// A bit of a tag's last byte is set that does not belong to the tag.
    UnusedTagBits,
    /// A bit string's bytes are not as many as its bits need.
    MessageBits {
        /// The bytes given.
        bytes: usize,
        /// The bits asked for.
        found: usize,
    },
    /// The message ends within a byte, and the MAC takes whole bytes.
    PartialByte {
        /// The bits given.
        found: u64,
    },
    /// LightMAC has no counter of that length.
    CounterBits {
        /// The most bits: half a block.
        max: usize,
        /// The bits asked for.
        found: usize,
    },
    /// The message is longer than the MAC's definition allows.
    TooLong {
        /// The most bits of a message.
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
                write!(f, "expected no nonce, found one of {found} bytes")
            }
            Error::NonceLength { min, max, found } if min == max => {
                write!(f, "expected a nonce of {min} bytes, found {found}")
            }
            Error::NonceLength { min, max, found } => {
                write!(f, "expected a nonce of {min} to {max} bytes, found {found}")
            }
            Error::NonceReused => {
                f.write_str("expected an unused nonce, found one that may have been used")
            }
            Error::NoncesUsedUp { bytes } => write!(
                f,
                "expected an unused nonce of {bytes} bytes, found none left: take a new key"
            ),
            Error::NoRandomBytes => {
                f.write_str("expected random bytes from the system, found none")
            }
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
            Error::UnusedTagBits => {
                f.write_str("expected zeros after the tag's last bit, found a one")
            }
            Error::MessageBits { bytes, found } => write!(
                f,
                "expected a bit string that ends in the last of its {bytes} bytes, found {found} bits"
            ),
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

/// Lets a module's error hold one of a MAC.
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

/// What [`PartError`](crate::hazmat::PartError) and `SaveError` say of a part of another MAC or key.
pub(crate) const FOREIGN_PART: &str = "the part belongs to another MAC or key";

/// Writes a type's name and nothing of what it holds.
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

/// The tag is wrong. There is nothing more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch;

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tag does not match the message")
    }
}

impl core::error::Error for Mismatch {}
