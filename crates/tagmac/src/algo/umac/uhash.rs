//! UHASH (RFC 4418, section 5): NH, POLY and L3-HASH in sequence, in `T` streams.

use core::borrow::Borrow;

use subtle::Choice;
use zeroize::Zeroize;

use super::key::HashKey;
use super::l3::L3Key;
use super::nh::{CHUNK, NhKey};
use super::poly::{Poly, PolyKey};
use crate::bits::Bits;
use crate::construction::Hash;
use crate::isa::{Block, Isa, Level, Levels, Words, fetch_ahead, opaque_word, reloaded};
use crate::plan::{Plan, SharedFinish};

/// Two chunks, so that no range of blocks splits a word of POLY-128.
const BLOCK: usize = 2 * CHUNK;
/// The number of bytes of a message that POLY-64 processes. POLY-128 processes the rest.
const POLY64_BYTES: u64 = 1 << 24;

/// POLY-64 reads ahead from this many bytes on. Shorter ranges may be in a cache, where it costs up
/// to 5 %.
const FAR: usize = 1 << 20;

/// The hash of a range of blocks in `T` streams. Secret: prints nothing in `Debug`.
#[derive(Clone, Copy)]
pub struct UmacSum<const T: usize> {
    low: [Poly<u64>; T],
    high: [Poly<u128>; T],
    /// The number of words in `low` and in `high`.
    words: [u64; 2],
}

impl<const T: usize> Zeroize for UmacSum<T> {
    fn zeroize(&mut self) {
        self.low.zeroize();
        self.high.zeroize();
        self.words.zeroize();
    }
}

#[cfg(feature = "save")]
impl<const T: usize> crate::save::Save for UmacSum<T> {
    fn save(&self, out: &mut crate::save::Writer) -> Result<(), crate::save::SaveError> {
        for poly in &self.low {
            poly.save(out);
        }
        for poly in &self.high {
            poly.save(out);
        }
        Ok(())
    }

    fn load(input: &mut crate::save::Reader<'_>, range: core::ops::Range<u64>) -> Option<Self> {
        let low = range.end.min(POLY64_BYTES) - range.start.min(POLY64_BYTES);
        let words = [low / CHUNK as u64, (range.end - range.start - low) / BLOCK as u64];
        let mut sum = UmacSum { low: [Poly::NONE; T], high: [Poly::NONE; T], words };
        for poly in &mut sum.low {
            *poly = Poly::load(input, words[0])?;
        }
        for poly in &mut sum.high {
            *poly = Poly::load(input, words[1])?;
        }
        Some(sum)
    }
}

/// The hash of a message in `T` streams, as bytes of a tag, followed by zeros. Secret: prints
/// nothing in `Debug`.
pub struct UmacDigest<const T: usize>(pub(super) Block);

/// UHASH, the hash of UMAC, in `T` streams, under keys that are owned or borrowed.
#[derive(Clone)]
pub struct UmacHash<const T: usize, K = HashKey> {
    pub(super) key: K,
    pub(super) level: Level,
}

/// UHASH-32, of one stream.
pub type Uhash32 = UmacHash<1>;
/// UHASH-64, of two streams.
pub type Uhash64 = UmacHash<2>;
/// UHASH-96, of three streams.
pub type Uhash96 = UmacHash<3>;
/// UHASH-128, of four streams.
pub type Uhash128 = UmacHash<4>;

impl<const T: usize> core::fmt::Debug for UmacHash<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("UmacHash(..)")
    }
}

impl<const T: usize> UmacDigest<T> {
    /// The hash of a message of at most one chunk.
    #[inline(always)]
    pub(super) fn of_chunk<A: Words>(a: A, nh: &NhKey, l3: &[L3Key], chunk: &[u8]) -> Self {
        let words = nh.hash::<_, T>(a, chunk);
        let mut digest = [0; T];
        for s in 0..T {
            digest[s] = match T {
                0..=2 => l3[s].hash_low_in_words(words[s]),
                _ => l3[s].hash_low(words[s]),
            };
        }
        UmacDigest::from_words(a, digest)
    }

    /// Returns each stream's hash, big-endian.
    pub(crate) fn block(&mut self) -> &mut Block {
        &mut self.0
    }

    /// Combines the streams' hashes.
    #[inline(always)]
    fn from_words<A: Words>(a: A, words: [u32; T]) -> Self {
        let mut halves = [0; 2];
        for (s, word) in words.into_iter().enumerate() {
            halves[s / 2] |= (word.swap_bytes() as u64) << (32 * (s % 2));
        }
        if T > 2 {
            // Stored at once, see `Words::lane0`.
            return UmacDigest(a.narrow().lane0(a.narrow().load(&halves)));
        }
        UmacDigest((halves[0] as u128).to_le_bytes())
    }
}

/// Adds whole blocks to the values of POLY-64.
///
/// A chunk's words are added while the next chunk is hashed. This is scalar work, and CPUs do not
/// look far enough ahead to start it during the vector work of a whole chunk. Two chunks are not
/// hashed side by side, although they would share loads of the key: read from memory alternately,
/// they arrive a third as fast.
#[inline(always)]
fn absorb_low<A: Words, const T: usize>(
    a: A,
    key: &HashKey,
    polys: &mut [Poly<u64>; T],
    blocks: &[u8],
) {
    let chunks = blocks.as_chunks::<CHUNK>().0;
    // No overlap is possible: the same execution units do all the work.
    if const { !A::HAS_VECTOR_MUL } {
        for chunk in chunks {
            add_words(key, polys, key.nh.hash_full_chunk::<_, T, 2>(a, chunk, |_| ()));
        }
        return;
    }
    let (mut sums, mut pending) = (*polys, None);
    for (i, chunk) in chunks.iter().enumerate() {
        let ahead = &blocks[i * CHUNK..];
        pending = Some(reloaded(&key.nh).hash_full_chunk::<_, T, 2>(
            a,
            chunk,
            #[inline(always)]
            |half| {
                // One or two streams leave no time for it.
                if T > 2 && blocks.len() >= FAR {
                    fetch_ahead(&ahead[half * CHUNK / 2..], CHUNK / 2);
                }
                if let (0, Some(words)) = (half, pending) {
                    add_words(key, &mut sums, words);
                }
            },
        ));
    }
    if let Some(words) = pending {
        add_words(key, &mut sums, words);
    }
    *polys = sums;
}

/// Adds whole blocks to the values of POLY-128.
///
/// As in [`absorb_low`], words are added while the next block is hashed, but one stream at a time.
/// All streams at once are so much scalar work that the vector units run out of theirs.
#[inline(always)]
fn absorb_high<A: Words, const T: usize>(
    a: A,
    key: &HashKey,
    polys: &mut [Poly<u128>; T],
    blocks: &[u8],
) {
    let keys: [_; T] = core::array::from_fn(|s| key.poly128(s));
    let pairs = blocks.as_chunks::<BLOCK>().0.iter().map(|block| {
        let ([left, right], []) = block.as_chunks::<CHUNK>() else { unreachable!("two chunks") };
        [left, right]
    });
    if const { !A::HAS_VECTOR_MUL } {
        for chunks in pairs {
            let words = chunks.map(
                #[inline(always)]
                |chunk| key.nh.hash_full_chunk::<_, T, 2>(a, chunk, |_| ()),
            );
            add_wide_words(&keys, polys, &words);
        }
        return;
    }
    let (mut sums, mut pending) = (*polys, None);
    for (i, chunks) in pairs.enumerate() {
        let ahead = &blocks[i * BLOCK..];
        let mut words = [[0; T]; 2];
        for (c, chunk) in chunks.into_iter().enumerate() {
            words[c] = key.nh.hash_full_chunk::<_, T, 4>(
                a,
                chunk,
                #[inline(always)]
                |quarter| {
                    if quarter % 2 == 0 {
                        fetch_ahead(&ahead[c * CHUNK + quarter * CHUNK / 4..], CHUNK / 2);
                    }
                    let s = 2 * c + quarter / 2;
                    if let (Some(words), 1, true) = (&pending, quarter % 2, s < T) {
                        keys[s].step(&mut sums[s], wide_word(words, s));
                    }
                },
            );
        }
        pending = Some(words);
    }
    if let Some(words) = &pending {
        add_wide_words(&keys, &mut sums, words);
    }
    *polys = sums;
}

/// Adds the next word of each stream to the values of POLY-128.
#[inline(always)]
fn add_wide_words<const T: usize>(
    keys: &[PolyKey<u128>; T],
    polys: &mut [Poly<u128>; T],
    words: &[[u64; T]; 2],
) {
    for s in 0..T {
        keys[s].step(&mut polys[s], wide_word(words, s));
    }
}

/// The word of POLY-128 of two chunks, in stream `s`.
#[inline(always)]
fn wide_word<const T: usize>([left, right]: &[[u64; T]; 2], s: usize) -> u128 {
    (left[s] as u128) << 64 | right[s] as u128
}

/// Adds the next word of each stream to the values of POLY-64.
#[inline(always)]
fn add_words<const T: usize>(key: &HashKey, polys: &mut [Poly<u64>; T], words: [u64; T]) {
    for s in 0..T {
        // Gathering words in vectors would not help 64-bit scalar multiplications.
        key.poly64[s].step(&mut polys[s], opaque_word(words[s]));
    }
}

impl<const T: usize, K: Borrow<HashKey> + Send + Sync> Hash for UmacHash<T, K> {
    type Sum = UmacSum<T>;
    type Digest = UmacDigest<T>;
    type BlockBuffer = [u8; BLOCK];
    const LAST_BLOCK_DISTINCT: bool = false;
    const ACCEPTS_BIT_STRINGS: bool = false;
    const PLAN: Plan = Plan {
        long: Levels::Words,
        short: Levels::Words,
        // A block is many vectors.
        narrow_path: false,
        shared_finish: SharedFinish::WithoutAesInstructions,
        ..Plan::DEFAULT
    };

    #[inline(always)]
    fn level(&self) -> Level {
        self.level
    }

    #[inline(always)]
    fn block(&self) -> usize {
        BLOCK
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        // The limit of the RFC, 2^67 bits, is out of reach.
        u64::MAX
    }

    #[inline(always)]
    fn empty(&self) -> UmacSum<T> {
        UmacSum { low: [Poly::NONE; T], high: [Poly::NONE; T], words: [0; 2] }
    }

    #[inline(always)]
    fn new_buffer(&self) -> [u8; BLOCK] {
        [0; BLOCK]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sum: &mut UmacSum<T>, at: u64, blocks: &[u8]) {
        let (a, key) = (isa.words(), self.key.borrow());
        let low = POLY64_BYTES.saturating_sub(at).min(blocks.len() as u64) as usize;
        let (low, high) = blocks.split_at(low);
        if at == 0 && !low.is_empty() {
            sum.low = [Poly::START; T];
        }
        sum.words[0] += (low.len() / CHUNK) as u64;
        sum.words[1] += (high.len() / BLOCK) as u64;
        absorb_low(a, key, &mut sum.low, low);
        if high.is_empty() {
            return;
        }
        absorb_high(a, key, &mut sum.high, high);
    }

    #[inline(always)]
    fn join(&self, left: &mut UmacSum<T>, right: &UmacSum<T>) {
        let key = self.key.borrow();
        for s in 0..T {
            key.poly64[s].join(&mut left.low[s], &right.low[s], right.words[0]);
            key.poly128(s).join(&mut left.high[s], &right.high[s], right.words[1]);
        }
        left.words[0] += right.words[0];
        left.words[1] += right.words[1];
    }

    fn ct_eq(&self, one: &UmacSum<T>, other: &UmacSum<T>) -> bool {
        let low = one.low.iter().zip(&other.low).map(|(one, other)| one.ct_eq(other));
        let high = one.high.iter().zip(&other.high).map(|(one, other)| one.ct_eq(other));
        let all = low.chain(high).fold(Choice::from(1), |all, same| all & same);
        bool::from(all) && one.words == other.words
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sum: &UmacSum<T>, at: u64, tail: Bits<'_>) -> UmacDigest<T> {
        let (a, key) = (isa.words(), self.key.borrow());
        let tail = tail.bytes();
        if at == 0 && tail.len() <= CHUNK {
            return UmacDigest::of_chunk(a, &key.nh, &key.l3, tail);
        }
        let (whole, rest) = tail.split_at(tail.len() / CHUNK * CHUNK);
        let whole = (!whole.is_empty()).then(
            #[inline(always)]
            || match <I::Words as Words>::HAS_VECTOR_MUL {
                // Vectors gain a tenth if the compiler knows the length; words lose 5 %.
                true => key.nh.hash::<_, T>(a, &whole[..CHUNK]),
                false => key.nh.hash::<_, T>(a, whole),
            },
        );
        let rest = (!rest.is_empty()).then(
            #[inline(always)]
            || key.nh.hash::<_, T>(a, rest),
        );
        let words = if whole.is_some() { [whole, rest] } else { [rest, None] };
        let mut digest = [0; T];
        for s in 0..T {
            let l3 = &key.l3[s];
            let [first, second] = words.map(|words| words.map(|words| words[s]));
            // Starts with a constant, so compilers leave out the first multiplication.
            if const { T > 1 && <I::Words as Words>::HAS_VECTOR_MUL }
                && let (0, Some(first), Some(second)) = (at, first, second)
            {
                let mut low = Poly::START;
                key.poly64[s].step(&mut low, first);
                key.poly64[s].step(&mut low, second);
                digest[s] = l3.hash_low(low.value());
                continue;
            }
            let mut low = if at == 0 { Poly::START } else { sum.low[s] };
            if at < POLY64_BYTES || at == POLY64_BYTES && first.is_none() {
                if let Some(first) = first {
                    key.poly64[s].step(&mut low, first);
                }
                if let Some(second) = second {
                    key.poly64[s].step(&mut low, second);
                }
                digest[s] = l3.hash_low(low.value());
                continue;
            }
            // POLY-128 starts with the value of POLY-64 and ends with the padding 1 0*.
            const ONE: u64 = 1 << 63;
            let key = key.poly128(s);
            let mut high = Poly::START;
            key.step(&mut high, low.value() as u128);
            key.join(&mut high, &sum.high[s], sum.words[1]);
            let word = |left: u64, right: u64| (left as u128) << 64 | right as u128;
            match (first, second) {
                (Some(first), Some(second)) => {
                    key.step(&mut high, word(first, second));
                    key.step(&mut high, word(ONE, 0));
                }
                (Some(first), None) => key.step(&mut high, word(first, ONE)),
                (None, _) => key.step(&mut high, word(ONE, 0)),
            }
            let value = high.value();
            digest[s] = l3.hash((value >> 64) as u64, value as u64);
        }
        UmacDigest::from_words(a, digest)
    }
}
