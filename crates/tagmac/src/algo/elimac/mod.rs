//! EliMAC (Dobraunig, Mennink, Neves, "EliMAC: Speeding Up LightMAC by around 20%", 2023;
//! Algorithm 1 and section 5.1).
//!
//! For M = M_1 .. M_l in blocks of n bits. The last block has 0 to n - 1 bits.
//!
//! ```text
//! S   = I(H(K1, 1), M_1) ^ .. ^ I(H(K1, l-1), M_{l-1})
//! Tag = first t bits of E_K2(S ^ (M_l || 10*))
//! H(K, i) = AES7_K(<i>)        I(K, M) = AES4_0(K ^ M)        E = AES-128
//! ```
//!
//! The last line is EliMAC-AES. It is fast because a block costs only 11 rounds, and 4 if the
//! subkey H(K1, i) is cached: subkeys do not depend on the message.

mod families;
mod hash;

pub(super) use families::FORM;
pub use families::{AesFamilies, Families, PlainFamilies};
pub use hash::EliHash;

use super::known_answer;
use super::many::{self, Masked};
use super::xor::{self, OneBlock, Truncation, XorDigest};
#[cfg(feature = "alloc")]
use crate::batch::{BatchError, tag_many};
use crate::cipher::{Aes128, Cipher, CipherBlock};
use crate::construction::Construction;
use crate::error::{Error, silent};
use crate::isa::{Block, Isa, Kernel, KnownAnswer, Lanes, Level, Levels};
use crate::mac::deterministic;
use crate::tag::Tag;
use families::V;

/// The maximum length of a message under EliMAC-AES, in bits.
pub const LIMIT_BITS: u64 = hash::limit_bits::<AesFamilies<7, 4>>();

/// EliMAC under a key: EliMAC-AES, or EliMAC with other families H and I and another cipher E.
///
/// Deterministic. Tags have 1 to n bits. Messages of EliMAC-AES are shorter than 2^36 bytes. The
/// two keys must be independent. It is the fastest xor MAC for messages of some KiB whose subkeys
/// are cached.
///
/// ```
/// use tagmac::EliMac;
/// let mac = EliMac::new(&[1; 16], &[2; 16]);
/// let tag = mac.tag(b"message")?;
/// assert_eq!(mac.with_cache(4096).tag(b"message")?, tag);
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct EliMac<F: Families = AesFamilies<7, 4>, E: Cipher<Block = F::Block> = Aes128> {
    hash: EliHash<F>,
    e: E,
    truncation: Truncation<F::Block>,
}

impl EliMac {
    /// Returns EliMAC-AES128 on the best level of this CPU.
    #[inline]
    pub fn new(k1: &[u8; 16], k2: &[u8; 16]) -> Self {
        EliMac::with_level(k1, k2, Level::best())
    }

    /// Returns EliMAC-AES128 on a given level.
    #[inline(never)]
    pub fn with_level(k1: &[u8; 16], k2: &[u8; 16], level: Level) -> Self {
        static KNOWN: KnownAnswer = KnownAnswer::new(0xb97f184f2966c760aeea154e3aa8aac6);
        let level = known_answer::passing(&KNOWN, level, |level| {
            let ([k1, k2, ..], []) = known_answer::KEYS.as_chunks() else { unreachable!("keys") };
            let mac = level.run(Build { k1, k2, level });
            // With this cache two messages of the self-test find all their subkeys cached, the last
            // does not.
            #[cfg(feature = "alloc")]
            let mac = mac.with_cache(5000);
            move |message| mac.tag(message)
        });
        level.run(Build { k1, k2, level })
    }
}

/// Makes a key, see [`Cipher::new_in`].
struct Build<'a> {
    k1: &'a Block,
    k2: &'a Block,
    level: Level,
}

impl Kernel for Build<'_> {
    const LEVELS: Levels = Levels::Narrow;
    type Out = EliMac;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> EliMac {
        let hash = EliHash::with_level(AesFamilies::new_in(isa, self.k1), self.level);
        let e = Aes128::new_in(isa, self.k2, self.level);
        EliMac { hash, e, truncation: Truncation::none() }
    }
}

impl<F: Families, E: Cipher<Block = F::Block>> EliMac<F, E> {
    /// Returns EliMAC with keyed H and I, and E under `k2`, on the best level of this CPU.
    pub fn from_families(families: F, k2: &E::Key) -> Self {
        EliMac::from_families_with_level(families, k2, Level::best())
    }

    /// As [`from_families`](EliMac::from_families), on the level that the families were made for.
    pub fn from_families_with_level(families: F, k2: &E::Key, level: Level) -> Self {
        let hash = EliHash::with_level(families, level);
        EliMac { hash, e: E::new(k2, level), truncation: Truncation::none() }
    }

    /// Truncates tags to their first `bits` bits, 1 to n.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
        self.truncation = Truncation::to(bits)?;
        Ok(self)
    }

    /// Caches the subkeys of the first `message_bytes` bytes of a message: one block of memory per
    /// block of message, allocated now. Tags do not change.
    ///
    /// Without a cache, a batch with at least 4 KiB besides its longest message makes one of at most
    /// 64 KiB for the call, unless its messages are short enough to share vectors.
    ///
    /// A cached subkey saves 7 of EliMAC-AES's 11 rounds per block, but must be read. On CPUs with
    /// AES on vectors of 256 or 512 bits (VAES), this is faster only within a core's L2 cache.
    /// There, at most half of the L2 is used for subkeys, and a message, or a piece of a stream,
    /// uses the part that fits in the L2 together with the message. With 1 MiB of L2, a message of
    /// 512 KiB uses cached subkeys for all blocks, one of 768 KiB for a third, and one of 1 MiB for
    /// none.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn with_cache(mut self, message_bytes: usize) -> Self {
        self.hash = self.hash.with_cache(message_bytes);
        self
    }

    /// Returns the number of message bytes with cached subkeys, which is also the size of the cache
    /// in bytes.
    ///
    /// ```
    /// use tagmac::EliMac;
    /// let mac = EliMac::new(&[1; 16], &[2; 16]);
    /// assert_eq!(mac.cached_bytes(), 0);
    /// assert_eq!(mac.with_cache(4096).cached_bytes(), 4096);
    /// ```
    #[cfg(feature = "alloc")]
    pub fn cached_bytes(&self) -> usize {
        self.hash.cached_bytes()
    }
}

deterministic!(EliMac<F: Families, E: Cipher<Block = F::Block>>);
silent!(EliMac<F: Families, E: Cipher<Block = F::Block>>);

impl<F: Families, E: Cipher<Block = F::Block>> Masked for EliMac<F, E> {
    type Block = F::Block;
    type Lanes<I: Isa> = F::Lanes<I>;
    type Keys<'a, I: Isa>
        = F::Keys<'a, I>
    where
        Self: 'a;
    type Last = E;
    const BY_VECTORS: bool = F::XORS;

    #[inline(always)]
    fn lanes<I: Isa>(isa: I) -> F::Lanes<I> {
        F::lanes(isa)
    }

    #[inline(always)]
    fn piece(&self) -> usize {
        F::Block::BYTES
    }

    #[inline(always)]
    fn terms_in(&self, bytes: usize) -> usize {
        bytes / F::Block::BYTES
    }

    #[inline(always)]
    fn masks<I: Isa>(&self, isa: I, masks: &mut [F::Block]) {
        let most = masks.len().min(usize::try_from(F::MU).unwrap_or(usize::MAX));
        self.hash.first_subkeys(isa, &mut masks[..most]);
    }

    #[inline(always)]
    fn keys<I: Isa>(&self, isa: I) -> F::Keys<'_, I> {
        self.hash.keys(isa)
    }

    #[inline(always)]
    fn terms<I: Isa, const N: usize>(
        isa: I,
        keys: &F::Keys<'_, I>,
        mut x: [V<F, I>; N],
    ) -> [V<F, I>; N] {
        let zero = F::lanes(isa).splat(&F::Block::ZERO);
        for x in &mut x {
            *x = F::add(isa, keys, zero, [*x], [zero]);
        }
        x
    }

    #[inline(always)]
    fn last<I: Isa>(&self, isa: I, rest: &[u8]) -> OneBlock<F::Lanes<I>> {
        xor::padded(F::lanes(isa), rest.into())
    }

    #[inline(always)]
    fn last_cipher(&self) -> &E {
        &self.e
    }

    #[inline(always)]
    fn truncation(&self) -> &Truncation<F::Block> {
        &self.truncation
    }
}

impl<F: Families, E: Cipher<Block = F::Block>> Construction for EliMac<F, E> {
    type Hash = EliHash<F>;
    type Nonce = ();
    type PadCache = ();
    const MAX_TAG_BITS: usize = 8 * F::Block::BYTES;

    #[inline(always)]
    fn hash(&self) -> &EliHash<F> {
        &self.hash
    }

    #[inline(always)]
    fn output_bits(&self) -> usize {
        self.truncation.bits()
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        _nonce: &(),
        _pad: &mut (),
        digest: XorDigest<F::Block>,
    ) -> Tag {
        self.truncation.encrypt(isa, &self.e, &digest)
    }

    #[inline(always)]
    fn batch_max_len(&self) -> usize {
        // All messages share the subkeys, which are most of a block's rounds.
        if F::XORS { many::max_len(self, many::MAX_TERMS) } else { 0 }
    }

    #[inline(always)]
    fn batch_max_len_alike(&self) -> usize {
        // Without a cache, single calls compute the subkeys again.
        let terms = if self.hash.has_cache() { many::MAX_TERMS } else { many::MAX_TERMS_ALIKE };
        if F::XORS { many::max_len(self, terms) } else { 0 }
    }

    #[inline(always)]
    fn batch_helps(&self, messages: &[&[u8]]) -> bool {
        many::helps(self, messages)
    }

    #[inline(always)]
    fn tag_batch<I: Isa>(&self, isa: I, nonces: &[()], messages: &[&[u8]], tags: &mut [Tag]) {
        many::tag_batch(isa, self, nonces, messages, tags);
    }

    #[cfg(feature = "alloc")]
    #[inline(never)]
    fn tag_long(
        &self,
        nonces: &[()],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Option<Result<(), BatchError>> {
        // A clone of other families may be large.
        if !F::XORS || self.hash.has_cache() {
            return None;
        }
        let size = cache_for(messages)?;
        let mut cached = self.clone();
        cached.hash.make_cache(size);
        // Otherwise the batch would come back here.
        cached.hash.has_cache().then(|| tag_many(&cached, nonces, messages, tags))
    }
}

/// The minimum of bytes of a batch besides its longest message. For fewer, a cache costs more than
/// it saves.
#[cfg(feature = "alloc")]
const MIN_SHARED: usize = 4096;
/// The maximum size in bytes of a cache for one batch. It is read from a core's L2 cache.
#[cfg(feature = "alloc")]
const MAX_SHARED: usize = 1 << 16;

/// Returns the size of the cache that a batch is worth: the length of its second longest message.
/// Nothing else shares the subkeys beyond it.
#[cfg(feature = "alloc")]
#[inline(never)]
fn cache_for(messages: &[&[u8]]) -> Option<usize> {
    let (mut all, mut longest, mut second) = (0usize, 0, 0);
    for message in messages {
        all = all.saturating_add(message.len());
        second = second.max(longest.min(message.len()));
        longest = longest.max(message.len());
    }
    (all - longest >= MIN_SHARED).then_some(second.min(MAX_SHARED))
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::EliMac;
    use crate::Stream;
    use crate::isa::Level;

    #[test]
    fn a_cache_of_any_size_and_a_message_of_any_length() {
        for level in Level::all() {
            let mac = EliMac::with_level(&[1; 16], &[2; 16], level);
            for cache in [5000, 300_000, 1 << 20, 4 << 20] {
                let cached = mac.clone().with_cache(cache);
                // Lengths around half, three quarters and all of any L2.
                for bytes in [1 << 17, 200_001, 786_432, 1_000_001, (3 << 19) + 16, (1 << 21) + 1] {
                    let message: Vec<u8> = (0..bytes).map(|i| (i * 7 / 3) as u8).collect();
                    let tag = mac.tag(&message).expect("below 2^36 bytes");
                    assert!(cached.tag(&message) == Ok(tag), "{bytes} bytes, {cache}, {level}");
                    let mut stream = Stream::new(&cached, &());
                    for piece in message.chunks(300_007) {
                        stream.update(piece);
                    }
                    assert!(stream.tag() == Ok(tag), "{bytes} bytes, {cache}, {level}");
                }
            }
        }
    }
}
