//! What NH and its relatives, and the UMAC of 1999 that is made of them, have not.

use core::fmt;

/// Parameters, keys or blocks that NH and its relatives do not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NhError {
    /// NH has words of 16, 32 or 64 bits.
    WordBits {
        /// The bits asked for.
        found: usize,
    },
    /// NH's blocks are whole groups of words: pairs, or eight words where they are strided.
    HashWords {
        /// Words of a group, and the fewest.
        step: usize,
        /// The most words.
        max: usize,
        /// The words asked for.
        found: usize,
    },
    /// NH has no such number of streams.
    Streams {
        /// The most streams.
        max: usize,
        /// The streams asked for.
        found: usize,
    },
    /// The keys of NH's streams are an even number of words apart.
    KeyShift {
        /// The most words.
        max: usize,
        /// The words asked for.
        found: usize,
    },
    /// NH's second level takes no such number of results.
    SecondLevel {
        /// The most results.
        max: usize,
        /// The results asked for.
        found: usize,
    },
    /// There is too little key material.
    KeyMaterial {
        /// The bytes needed.
        expected: usize,
        /// The bytes given.
        found: usize,
    },
    /// Messages that are not hashed are shorter than a block.
    MinLengthToHash {
        /// The bytes of a block.
        max: usize,
        /// The bytes asked for.
        found: usize,
    },
    /// A block, or the room for its hash, has the wrong number of bytes.
    BlockLength {
        /// The fewest bytes.
        min: usize,
        /// The most bytes.
        max: usize,
        /// The bytes given.
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
                write!(f, "expected a minimum length to hash of 0 to {max} bytes, found {found}")
            }
            // A block's length has a range.
            NhError::BlockLength { min, max, found } if min == max => {
                write!(f, "expected room for a hash of {min} bytes, found {found}")
            }
            NhError::BlockLength { min, max, found } => {
                write!(f, "expected a block of {min} to {max} bytes, found {found}")
            }
        }
    }
}

impl core::error::Error for NhError {}
