//! Errors of NH and its variants, and of the UMAC of 1999, which is built from them.

use core::fmt;

/// An error of NH's parameters, keys or blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NhError {
    /// The word length is not 16, 32 or 64 bits.
    WordBits {
        /// The length that was requested, in bits.
        found: usize,
    },
    /// A block is not whole groups of words: pairs, or eight words with strides.
    HashWords {
        /// The number of words in a group, which is also the minimum.
        step: usize,
        /// The maximum number of words.
        max: usize,
        /// The number of words that was requested.
        found: usize,
    },
    /// The number of streams is not supported.
    Streams {
        /// The maximum number of streams.
        max: usize,
        /// The number of streams that was requested.
        found: usize,
    },
    /// The shift between the keys of streams is not a supported even number of words.
    KeyShift {
        /// The maximum number of words.
        max: usize,
        /// The number of words that was requested.
        found: usize,
    },
    /// The number of results for the second level is not supported.
    SecondLevel {
        /// The maximum number of results.
        max: usize,
        /// The number of results that was requested.
        found: usize,
    },
    /// The key material is too short.
    KeyMaterial {
        /// The number of bytes needed.
        expected: usize,
        /// The number of bytes given.
        found: usize,
    },
    /// The minimum length to hash is longer than a block.
    MinLengthToHash {
        /// The length of a block in bytes.
        max: usize,
        /// The length that was requested, in bytes.
        found: usize,
    },
    /// A block, or the buffer for its hash, has the wrong number of bytes.
    BlockLength {
        /// The minimum in bytes.
        min: usize,
        /// The maximum in bytes.
        max: usize,
        /// The number of bytes given.
        found: usize,
    },
}

impl fmt::Display for NhError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            NhError::WordBits { found } => {
                write!(f, "expected words of 16, 32 or 64 bits, found {found}")
            }
            NhError::HashWords { step, max, found } => write!(
                f,
                "expected a block of {step} to {max} words in steps of {step}, found {found}"
            ),
            NhError::Streams { max, found } => {
                write!(f, "expected 1 to {max} streams, found {found}")
            }
            NhError::KeyShift { max, found } => {
                write!(f, "expected an even key shift of 2 to {max} words, found {found}")
            }
            NhError::SecondLevel { max, found } => {
                write!(f, "expected a second level of 1 to {max} results, found {found}")
            }
            NhError::KeyMaterial { expected, found } => {
                write!(f, "expected {expected} bytes of key material, found {found}")
            }
            NhError::MinLengthToHash { max, found } => {
                write!(f, "the minimum length to hash is {found} bytes, expected at most {max}")
            }
            // The length of a block has a range.
            NhError::BlockLength { min, max, found } if min == max => {
                write!(f, "expected a buffer of {min} bytes for the hash, found {found}")
            }
            NhError::BlockLength { min, max, found } => {
                write!(f, "expected a block of {min} to {max} bytes, found {found}")
            }
        }
    }
}

impl core::error::Error for NhError {}
