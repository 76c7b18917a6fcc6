//! The parameters of NH and its variants (sections 2.2, 5 and 7 of the paper).

use super::error::NhError;

/// The maximum length of a block in bytes, so that two bytes hold a length modulo the block.
const MAX_BLOCK_BYTES: usize = 1 << 16;
/// The maximum number of streams.
pub(super) const MAX_STREAMS: usize = 16;
/// The maximum shift between the keys of neighbouring streams, in words.
const MAX_SHIFT_WORDS: usize = 1 << 12;
/// The maximum length of a group in bytes: eight words of 64 bits.
pub(super) const MAX_UNIT_BYTES: usize = 64;

/// The parameters of a hash of the NH family.
///
/// `new(n, w)` is NH\[n, w\]; the other methods modify it. In the paper's notation:
///
/// | family | parameters |
/// |---|---|
/// | NH\[n, w\] | `new(n, w)` |
/// | NHS\[n, w\] | `new(n, w).signed()` |
/// | NH^T\[n, w, t\] | `new(n, w).toeplitz(t, 2)` |
/// | NH^T2\[n, m, w\] | `new(n, w).toeplitz(2, 2).two_level(m)` |
///
/// ```
/// use tagmac_papers::NhShape;
/// let shape = NhShape::new(64, 32)?.signed().toeplitz(2, 2)?.two_level(16)?;
/// assert_eq!((shape.block_bytes(), shape.hash_bytes()), (4096, 16));
/// assert_eq!((shape.key_bytes(), shape.second_key_bytes()), (264, 136));
/// # Ok::<(), tagmac_papers::NhError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NhShape {
    pub(super) word_bits: usize,
    pub(super) words: usize,
    pub(super) signed: bool,
    pub(super) strided: bool,
    pub(super) big_endian: bool,
    pub(super) streams: usize,
    /// The shift between the keys of neighbouring streams, in words.
    pub(super) shift: usize,
    /// The number of outputs of the first level per block of the second; 0 if there is no second
    /// level.
    pub(super) outputs: usize,
}

impl NhShape {
    /// Returns NH\[n, w\]: blocks of `words` words, unsigned and little-endian, paired with their
    /// neighbours.
    ///
    /// # Errors
    ///
    /// [`NhError::WordBits`] unless words have 16, 32 or 64 bits. [`NhError::HashWords`] unless
    /// their number is even and a block has at most 65536 bytes.
    pub fn new(words: usize, word_bits: usize) -> Result<Self, NhError> {
        if !matches!(word_bits, 16 | 32 | 64) {
            return Err(NhError::WordBits { found: word_bits });
        }
        NhShape::any(words, word_bits)
    }

    /// As [`new`](NhShape::new), with words of 4 bits, one in each byte of message and key: small
    /// enough to try every key.
    #[doc(hidden)]
    pub fn with_nibbles(words: usize) -> Result<Self, NhError> {
        NhShape::any(words, 4)
    }

    fn any(words: usize, word_bits: usize) -> Result<Self, NhError> {
        let shape = NhShape {
            word_bits,
            words,
            signed: false,
            strided: false,
            big_endian: false,
            streams: 1,
            shift: 2,
            outputs: 0,
        };
        shape.check_words()?;
        Ok(shape)
    }

    fn check_words(&self) -> Result<(), NhError> {
        let step = self.unit_words();
        let max = MAX_BLOCK_BYTES / self.word_bytes();
        if (step..=max).contains(&self.words) && self.words.is_multiple_of(step) {
            Ok(())
        } else {
            Err(NhError::HashWords { step, max, found: self.words })
        }
    }

    /// Uses signed words: the family NHS (section 4.4).
    #[must_use]
    pub fn signed(self) -> Self {
        NhShape { signed: true, ..self }
    }

    /// Pairs words as (1, 5), (2, 6), (3, 7), (4, 8) in each group of eight (section 7).
    ///
    /// # Errors
    ///
    /// [`NhError::HashWords`] unless a block is whole groups of eight words.
    pub fn strided(self) -> Result<Self, NhError> {
        let shape = NhShape { strided: true, ..self };
        shape.check_words()?;
        Ok(shape)
    }

    /// Uses big-endian words in message and key, and big-endian results and length (section 7).
    #[must_use]
    pub fn big_endian(self) -> Self {
        NhShape { big_endian: true, ..self }
    }

    /// Computes `streams` results side by side. Each has a key that starts `shift` words after the
    /// previous one (section 5.1). If words are paired in groups of eight, use a multiple of eight:
    /// [`collision_bits`](NhShape::collision_bits) returns the proven bound for other shifts.
    ///
    /// # Errors
    ///
    /// [`NhError::Streams`] unless there are 1 to 16 streams. [`NhError::KeyShift`] unless the
    /// shift is even and 2 to 4096 words.
    pub fn toeplitz(self, streams: usize, shift: usize) -> Result<Self, NhError> {
        if !(1..=MAX_STREAMS).contains(&streams) {
            return Err(NhError::Streams { max: MAX_STREAMS, found: streams });
        }
        if !(2..=MAX_SHIFT_WORDS).contains(&shift) || !shift.is_multiple_of(2) {
            return Err(NhError::KeyShift { max: MAX_SHIFT_WORDS, found: shift });
        }
        Ok(NhShape { streams, shift, ..self })
    }

    /// Adds a second level that hashes up to `outputs` results of the first one, stream by stream,
    /// under a separate key: T2 (section 5.4) for any number of streams. A block of the message is
    /// then `outputs` blocks of the first level.
    ///
    /// # Errors
    ///
    /// [`NhError::SecondLevel`] unless there is at least one result and a block has at most 65536
    /// bytes.
    pub fn two_level(self, outputs: usize) -> Result<Self, NhError> {
        let max = MAX_BLOCK_BYTES / self.level_bytes();
        if !(1..=max).contains(&outputs) {
            return Err(NhError::SecondLevel { max, found: outputs });
        }
        Ok(NhShape { outputs, ..self })
    }

    /// A message's length modulo the block, which ends its hash.
    pub(crate) fn length(&self, bytes: u64) -> [u8; 2] {
        let length = (bytes % self.block_bytes() as u64) as u16;
        if self.big_endian { length.to_be_bytes() } else { length.to_le_bytes() }
    }

    /// The length in bytes of a word in memory.
    pub(super) fn word_bytes(&self) -> usize {
        self.word_bits.div_ceil(8)
    }

    /// The number of words in a group of pairs.
    pub(super) fn unit_words(&self) -> usize {
        if self.strided { 8 } else { 2 }
    }

    /// The length of a group in bytes. Blocks are padded to whole groups.
    pub(super) fn unit_bytes(&self) -> usize {
        self.unit_words() * self.word_bytes()
    }

    /// The length in bytes of a block of the first level.
    pub(super) fn level_bytes(&self) -> usize {
        self.words * self.word_bytes()
    }

    /// The shift between the keys of neighbouring streams, in bytes.
    pub(super) fn shift_bytes(&self) -> usize {
        self.shift * self.word_bytes()
    }

    /// The length in bytes of one stream's result.
    pub(super) fn result_bytes(&self) -> usize {
        2 * self.word_bytes()
    }

    /// Returns the length in bytes of a block of the message.
    pub fn block_bytes(&self) -> usize {
        self.level_bytes() * self.outputs.max(1)
    }

    /// Returns the length in bytes of the hash of a block.
    pub fn hash_bytes(&self) -> usize {
        self.streams * self.result_bytes()
    }

    /// Returns the length of the key K in bytes.
    pub fn key_bytes(&self) -> usize {
        self.level_bytes() + (self.streams - 1) * self.shift_bytes()
    }

    /// Returns the length in bytes of the second level's key L; 0 if there is no second level.
    pub fn second_key_bytes(&self) -> usize {
        if self.outputs == 0 {
            return 0;
        }
        // The results are padded to whole groups of words.
        let bytes = (self.outputs * self.result_bytes()).next_multiple_of(self.unit_bytes());
        bytes + (self.streams - 1) * self.shift_bytes()
    }

    /// Returns the bits b of a proven bound: two different messages collide under [`Nh::hash`] with
    /// a probability of at most 2^-b.
    ///
    /// Each stream that counts adds w - s to b, where s is 1 for signed words and 0 otherwise. With
    /// two levels it adds one less. The theorems are 4.2, 4.5, 5.1 and 5.2, and for two levels with
    /// two streams 5.3 and 5.4. The paper omits the proof of the last two; `docs/design/theory.md`
    /// has one, for any number of streams.
    ///
    /// All streams count, with one exception: words paired in groups of eight, with a shift that is
    /// not whole groups. The paper's argument (section 7) does not cover this case. Then only
    /// streams with keys whole groups apart count, as in the theorems. This is every second one for
    /// a shift of 4, 12, 20 and so on, and every fourth one for 2, 6, 10 and so on. The true bound
    /// may be better.
    ///
    /// ```
    /// use tagmac_papers::NhShape;
    /// let shape = NhShape::new(64, 16)?.strided()?.signed();
    /// let bits = |shift| Ok::<_, tagmac_papers::NhError>(shape.toeplitz(4, shift)?.collision_bits());
    /// assert_eq!([bits(8)?, bits(4)?, bits(2)?], [60, 30, 15]);
    /// # Ok::<(), tagmac_papers::NhError>(())
    /// ```
    ///
    /// [`Nh::hash`]: crate::Nh::hash
    pub fn collision_bits(&self) -> usize {
        let apart =
            if self.strided { self.unit_words() >> self.shift.trailing_zeros().min(3) } else { 1 };
        let stream = self.word_bits - self.signed as usize - (self.outputs > 0) as usize;
        stream * self.streams.div_ceil(apart)
    }
}
