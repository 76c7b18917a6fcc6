//! The usage of a key.

use core::{array, fmt};

use tagmac::Assurance;

use super::MeterError;

/// The usage of a key. `Display` describes it in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Messages tagged.
    pub messages: u64,
    /// Blocks of these messages; an empty message has one.
    pub blocks: u64,
    /// Failed verifications of whole tags.
    pub failures: u64,
    /// Failed checks of a tag's first one, two or three words.
    pub graded: [u64; 3],
}

impl Usage {
    /// A failed verification.
    pub(super) const FAILURE: Usage = Usage { messages: 0, blocks: 0, failures: 1, graded: [0; 3] };

    /// A failed check of a tag's first words. With all four words it is a failed verification.
    pub(super) fn failed_grade(grade: Assurance) -> Usage {
        let mut usage = Usage::default();
        match usage.graded.get_mut(grade.words() - 1) {
            Some(count) => *count = 1,
            None => usage = Usage::FAILURE,
        }
        usage
    }

    /// The first bytes of saved usage.
    const MAGIC: [u8; 8] = *b"tagmacU3";

    /// Length of saved usage in bytes.
    pub const BYTES: usize = 56;

    /// Returns the usage as 56 bytes: the magic bytes `tagmacU3`, then messages, blocks, failures,
    /// and failed checks of one, two and three words, as little-endian numbers of 8 bytes.
    pub fn to_bytes(&self) -> [u8; Usage::BYTES] {
        let Usage { messages, blocks, failures, graded: [one, two, three] } = *self;
        let counts = [messages, blocks, failures, one, two, three].map(u64::to_le_bytes);
        let mut bytes = [0; Usage::BYTES];
        bytes[..8].copy_from_slice(&Self::MAGIC);
        bytes[8..].copy_from_slice(counts.as_flattened());
        bytes
    }

    /// Reads the result of [`to_bytes`](Usage::to_bytes).
    ///
    /// # Errors
    ///
    /// [`MeterError::UsageBytes`] unless there are 56 bytes, [`MeterError::UsageMagic`] unless they
    /// begin with the magic bytes, [`MeterError::UsageBlocks`] if there are fewer blocks than
    /// messages, which no meter counts.
    pub fn from_bytes(bytes: &[u8]) -> Result<Usage, MeterError> {
        let wrong = MeterError::UsageBytes { expected: Usage::BYTES, found: bytes.len() };
        let bytes: &[u8; Usage::BYTES] = bytes.try_into().map_err(|_| wrong)?;
        let (magic, counts) = bytes.split_at(8);
        if magic != Self::MAGIC {
            return Err(MeterError::UsageMagic);
        }
        let count = |i| u64::from_le_bytes(counts.as_chunks().0[i]);
        let (messages, blocks, failures) = (count(0), count(1), count(2));
        if blocks < messages {
            return Err(MeterError::UsageBlocks { messages, blocks });
        }
        Ok(Usage { messages, blocks, failures, graded: [count(3), count(4), count(5)] })
    }

    #[inline]
    pub(super) fn less(self, other: Usage) -> Usage {
        Usage {
            messages: self.messages - other.messages,
            blocks: self.blocks - other.blocks,
            failures: self.failures - other.failures,
            graded: array::from_fn(|i| self.graded[i] - other.graded[i]),
        }
    }

    /// Subtracts; `None` if any count would be negative.
    #[inline]
    pub(super) fn checked_less(self, other: Usage) -> Option<Usage> {
        let fewer = (0..3).any(|i| self.graded[i] < other.graded[i]);
        Some(Usage {
            messages: self.messages.checked_sub(other.messages)?,
            blocks: self.blocks.checked_sub(other.blocks)?,
            failures: self.failures.checked_sub(other.failures)?,
            graded: (!fewer).then(|| array::from_fn(|i| self.graded[i] - other.graded[i]))?,
        })
    }

    pub(super) fn plus(self, other: Usage) -> Usage {
        Usage {
            messages: self.messages + other.messages,
            blocks: self.blocks + other.blocks,
            failures: self.failures + other.failures,
            graded: array::from_fn(|i| self.graded[i] + other.graded[i]),
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage { messages, blocks, failures, graded: [one, two, three] } = self;
        write!(f, "{messages} messages, {blocks} blocks, {failures} failed verifications")?;
        if self.graded == [0; 3] {
            return Ok(());
        }
        write!(f, ", {one}, {two} and {three} failed checks of one, two and three words")
    }
}
