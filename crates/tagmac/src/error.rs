//! What can go wrong, as facts with numbers.

use core::fmt;

/// A request that a MAC cannot serve.
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
    /// A part starts or ends within a block.
    Unaligned {
        /// The MAC's block in bytes.
        block: usize,
        /// The offset or length in question.
        found: u64,
    },
    /// Two parts are no neighbours.
    Gap {
        /// Where the next part has to start.
        expected: u64,
        /// Where it starts.
        found: u64,
    },
    /// A part was made by another kind of MAC, or under another key.
    ForeignPart,
    /// The old bytes of a leaf are not those that its sum is of: something else has changed them.
    LeafChanged {
        /// The leaf's first byte.
        start: u64,
        /// The byte after the leaf.
        end: u64,
    },
    /// An edit wants the old bytes of other leaves than it was given.
    OldBytes {
        /// The bytes of the leaves that it touches.
        expected: u64,
        /// The bytes given.
        found: u64,
    },
    /// An edit goes past the end of the message.
    PastEnd {
        /// The message's length in bytes.
        length: u64,
        /// Where the edit ends.
        found: u64,
    },
    /// The MAC binds each block to its place, so that none can be put in between or taken out.
    PositionDependent,
    /// The MAC treats the last block apart, so at least one byte must be left for the finish.
    NoLastBlock,
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
    /// A block of a hash, or the room for its result, has the wrong number of bytes.
    BlockLength {
        /// The fewest bytes.
        min: usize,
        /// The most bytes.
        max: usize,
        /// The bytes given.
        found: usize,
    },
    /// The message is shorter than the one block that the wide-block cipher needs.
    TooShort {
        /// The fewest bits of a message.
        min_bits: usize,
        /// The bits given.
        found: usize,
    },
    /// The message has no full block of that number.
    NoSuchBlock {
        /// The number of the last full block; the first is block 1.
        last: u64,
        /// The number given.
        found: u64,
    },
    /// A key has no budget left for what is asked of it.
    BudgetExhausted {
        /// What is counted.
        count: &'static str,
        /// The most of them.
        budget: u64,
        /// Those there were.
        used: u64,
        /// Those asked for now.
        asked: u64,
    },
    /// What is sealed was altered, or sealed under another key, or for another purpose.
    Seal,
    /// What was sealed is not what was expected here.
    Saved {
        /// What was expected.
        expected: &'static str,
    },
    /// The name of an object is too long.
    ObjectName {
        /// The most bytes.
        max: usize,
        /// The bytes given.
        found: usize,
    },
    /// What the MAC keeps between the bytes of a message cannot be written down.
    NoSavedState,
    /// Saved usage has the wrong number of bytes.
    UsageBytes {
        /// The bytes that it has.
        expected: usize,
        /// The bytes given.
        found: usize,
    },
    /// Saved usage begins with no mark that is known here.
    UsageMark,
    /// Saved usage has fewer blocks than messages.
    UsageBlocks {
        /// The messages given.
        messages: u64,
        /// The blocks given.
        blocks: u64,
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
                f.write_str("expected a nonce that was not used, found one of before")
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
            Error::Unaligned { block, found } => {
                write!(f, "expected a multiple of the block of {block} bytes, found {found}")
            }
            Error::Gap { expected, found } => {
                write!(f, "expected a part that starts at byte {expected}, found one at {found}")
            }
            Error::ForeignPart => {
                f.write_str("expected a part of the same MAC and key, found another's")
            }
            Error::LeafChanged { start, end } => {
                write!(f, "expected bytes {start} to {end} as they were, found them changed")
            }
            Error::OldBytes { expected, found } => {
                write!(f, "expected the {expected} old bytes of the leaves, found {found}")
            }
            Error::PastEnd { length, found } => write!(
                f,
                "expected an edit within the {length} bytes of the message, found one up to {found}"
            ),
            Error::PositionDependent => f.write_str(
                "expected a MAC whose blocks can move, found one that binds them to their places",
            ),
            Error::WordBits { found } => {
                write!(f, "expected words of 16, 32 or 64 bits, found {found}")
            }
            Error::HashWords { step, max, found } => write!(
                f,
                "expected a block of {step} to {max} words in steps of {step}, found {found}"
            ),
            Error::Streams { max, found } => {
                write!(f, "expected 1 to {max} streams, found {found}")
            }
            Error::KeyShift { max, found } => {
                write!(f, "expected an even key shift of 2 to {max} words, found {found}")
            }
            Error::SecondLevel { max, found } => {
                write!(f, "expected a second level of 1 to {max} results, found {found}")
            }
            Error::KeyMaterial { expected, found } => {
                write!(f, "expected {expected} bytes of key material, found {found}")
            }
            Error::MinLengthToHash { max, found } => {
                write!(f, "expected a least length to hash of 0 to {max} bytes, found {found}")
            }
            Error::BlockLength { min, max, found } => {
                write!(f, "expected a block of {min} to {max} bytes, found {found}")
            }
            Error::NoLastBlock => {
                f.write_str("expected at least one byte of the message for the finish, found none")
            }
            Error::TooShort { min_bits, found } => {
                write!(f, "expected a message of at least {min_bits} bits, found {found}")
            }
            Error::NoSuchBlock { last, found } => {
                write!(f, "expected the number of a full block, 1 to {last}, found {found}")
            }
            Error::BudgetExhausted { count, budget, used: 0, asked } => {
                write!(f, "expected at most {budget} {count} under this key, found {asked}")
            }
            Error::BudgetExhausted { count, budget, used, asked } => write!(
                f,
                "expected at most {budget} {count} under this key, found {used} and {asked} more: take a new key"
            ),
            Error::Seal => f.write_str(
                "expected what this key sealed for this purpose, found it altered or another's",
            ),
            Error::Saved { expected } => {
                write!(f, "expected {expected} under the seal, found something else")
            }
            Error::ObjectName { max, found } => {
                write!(f, "expected an object's name of at most {max} bytes, found {found}")
            }
            Error::NoSavedState => f.write_str(
                "expected a MAC whose state can be saved, found one that keeps it to itself",
            ),
            Error::UsageBytes { expected, found } => {
                write!(f, "expected {expected} bytes of saved usage, found {found}")
            }
            Error::UsageMark => f.write_str("expected saved usage to begin with 'tagmacU2'"),
            Error::UsageBlocks { messages, blocks } => write!(
                f,
                "expected a block or more for each of {messages} messages, found {blocks}"
            ),
        }
    }
}

impl core::error::Error for Error {}

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
