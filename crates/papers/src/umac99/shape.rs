//! The parameters of NH and its relatives (sections 2.2, 5 and 7 of the paper).

use super::error::NhError;

/// The most bytes of a block, so that two bytes hold a length mod the block.
const MAX_BLOCK_BYTES: usize = 1 << 16;
/// The most streams.
pub(super) const MAX_STREAMS: usize = 16;
/// The most words from one stream's key to the next one's.
const MAX_SHIFT_WORDS: usize = 1 << 12;
/// The most bytes that words are padded to: eight words of 64 bits.
pub(super) const MAX_UNIT_BYTES: usize = 64;

/// The parameters of a hash of the NH family: what is computed, and on how much.
///
/// `new(n, w)` is NH\[n, w\]; the other calls go on from there. In the paper's names:
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
    /// Words from one stream's key to the next one's.
    pub(super) shift: usize,
    /// Outputs of the first level that the second one takes; 0 if there is no second level.
    pub(super) outputs: usize,
}

impl NhShape {
    /// NH\[n, w\]: blocks of `words` words, unsigned and little-endian, paired with their
    /// neighbours.
    ///
    /// # Errors
    ///
    /// [`NhError::WordBits`] unless words have 16, 32 or 64 bits; [`NhError::HashWords`] unless their
    /// number is even and a block has at most 65536 bytes.
    pub fn new(words: usize, word_bits: usize) -> Result<Self, NhError> {
        if !matches!(word_bits, 16 | 32 | 64) {
            return Err(NhError::WordBits { found: word_bits });
        }
        NhShape::any(words, word_bits)
    }

    /// As [`new`](NhShape::new) with words of 4 bits, one in each byte of message and key: small
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

    /// With signed words: the family NHS (section 4.4).
    #[must_use]
    pub fn signed(self) -> Self {
        NhShape { signed: true, ..self }
    }

    /// With words paired as (1, 5), (2, 6), (3, 7), (4, 8) in each group of eight (section 7).
    ///
    /// # Errors
    ///
    /// [`NhError::HashWords`] unless a block is whole groups of eight words.
    pub fn strided(self) -> Result<Self, NhError> {
        let shape = NhShape { strided: true, ..self };
        shape.check_words()?;
        Ok(shape)
    }

    /// With the first byte highest in the words of message and key, in the results and in the
    /// length (section 7).
    #[must_use]
    pub fn big_endian(self) -> Self {
        NhShape { big_endian: true, ..self }
    }

    /// With `streams` results side by side, each under a key that begins `shift` words after the
    /// one before (section 5.1). Where words are paired in groups of eight, take a multiple of eight:
    /// [`collision_bits`](NhShape::collision_bits) says what is proven for others.
    ///
    /// # Errors
    ///
    /// [`NhError::Streams`] unless there are 1 to 16; [`NhError::KeyShift`] unless the shift is even
    /// and 2 to 4096 words.
    pub fn toeplitz(self, streams: usize, shift: usize) -> Result<Self, NhError> {
        if !(1..=MAX_STREAMS).contains(&streams) {
            return Err(NhError::Streams { max: MAX_STREAMS, found: streams });
        }
        if !(2..=MAX_SHIFT_WORDS).contains(&shift) || !shift.is_multiple_of(2) {
            return Err(NhError::KeyShift { max: MAX_SHIFT_WORDS, found: shift });
        }
        Ok(NhShape { streams, shift, ..self })
    }

    /// With a second level that hashes up to `outputs` results of the first one, stream by stream,
    /// under a key of its own: T2 (section 5.4) for any number of streams. A block of the message
    /// is then `outputs` blocks of the first level.
    ///
    /// # Errors
    ///
    /// [`NhError::SecondLevel`] unless there is at least one and a block has at most 65536 bytes.
    pub fn two_level(self, outputs: usize) -> Result<Self, NhError> {
        let max = MAX_BLOCK_BYTES / self.level_bytes();
        if !(1..=max).contains(&outputs) {
            return Err(NhError::SecondLevel { max, found: outputs });
        }
        Ok(NhShape { outputs, ..self })
    }

    /// A message's length mod the block, which ends its hash.
    pub(crate) fn length(&self, bytes: u64) -> [u8; 2] {
        let length = (bytes % self.block_bytes() as u64) as u16;
        if self.big_endian { length.to_be_bytes() } else { length.to_le_bytes() }
    }

    /// Bytes that hold a word.
    pub(super) fn word_bytes(&self) -> usize {
        self.word_bits.div_ceil(8)
    }

    /// Words of a group whose pairs are multiplied.
    pub(super) fn unit_words(&self) -> usize {
        if self.strided { 8 } else { 2 }
    }

    /// Bytes that a block is padded to a multiple of.
    pub(super) fn unit_bytes(&self) -> usize {
        self.unit_words() * self.word_bytes()
    }

    /// Bytes of a block of the first level.
    pub(super) fn level_bytes(&self) -> usize {
        self.words * self.word_bytes()
    }

    /// Bytes from one stream's key to the next one's.
    pub(super) fn shift_bytes(&self) -> usize {
        self.shift * self.word_bytes()
    }

    /// Bytes of a result of one stream.
    pub(super) fn result_bytes(&self) -> usize {
        2 * self.word_bytes()
    }

    /// Bytes of a block of the message.
    pub fn block_bytes(&self) -> usize {
        self.level_bytes() * self.outputs.max(1)
    }

    /// Bytes of the hash of a block.
    pub fn hash_bytes(&self) -> usize {
        self.streams * self.result_bytes()
    }

    /// Bytes of the key K.
    pub fn key_bytes(&self) -> usize {
        self.level_bytes() + (self.streams - 1) * self.shift_bytes()
    }

    /// Bytes of the second level's key L; 0 if there is no second level.
    pub fn second_key_bytes(&self) -> usize {
        if self.outputs == 0 {
            return 0;
        }
        // The results fill whole groups of words.
        let bytes = (self.outputs * self.result_bytes()).next_multiple_of(self.unit_bytes());
        bytes + (self.streams - 1) * self.shift_bytes()
    }

    /// The bits b of a proven bound: two different messages collide under [`Nh::hash`] with a
    /// probability of at most 2^-b.
    ///
    /// b is w - s for each stream that counts, s being 1 for signed words, and one less with two
    /// levels: theorems 4.2, 4.5, 5.1 and 5.2; 5.3 and 5.4 for two streams. The paper omits the proof
    /// of those two; `docs/design/theory.md` has one, for any number of streams.
    ///
    /// All streams count, but for words paired in groups of eight with a shift that is not whole
    /// groups: the paper's argument (section 7) does not cover these. Of them count those whose keys
    /// begin whole groups apart, which the theorems are about: each second one for a shift of 4, 12,
    /// 20 and so on, each fourth one for 2, 6, 10 and so on. More may well hold.
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
