//! EliHash: `I(H(K, 1), M_1) ^ I(H(K, 2), M_2) ^ ..` (the paper's section 3).

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use super::families::{Families, V};
use crate::algo::xor::{self, Accumulator, BlockTerms, CounterTerms, VOf, XorDigest, XorSum};
use crate::bits::Bits;
use crate::cipher::CipherBlock;
use crate::construction::Hash;
use crate::error::silent;
#[cfg(feature = "alloc")]
use crate::isa::Kernel;
#[cfg(all(feature = "alloc", target_arch = "x86_64"))]
use crate::isa::l2_bytes;
use crate::isa::{Isa, Lanes, Level, Levels, fetch_ahead};
use crate::plan::Plan;
#[cfg(feature = "alloc")]
use crate::wipe::wipe;

/// The maximum number of bytes of subkeys to take from the cache for a range of `bytes` bytes. With
/// wide AES vectors it is the part of a core's L2 cache that the range leaves free: loading subkeys
/// from a farther cache takes longer than computing them.
#[cfg(feature = "alloc")]
#[inline(always)]
fn max_cached<I: Isa, F: Families>(bytes: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if const { I::AES_INSTRUCTIONS && F::Lanes::<I>::LANES > 1 } {
        // In whole pages, so that the vectors of numbers after the cached subkeys start at
        // multiples of their length.
        return l2_bytes().saturating_sub(bytes) & !0xfff;
    }
    let _ = bytes;
    usize::MAX
}

/// The maximum length of a message in bits: mu full blocks and a last block that is not full.
pub(super) const fn limit_bits<F: Families>() -> u64 {
    let bits = (F::MU as u128 + 1) * (8 * F::Block::BYTES as u128) - 1;
    if bits > u64::MAX as u128 { u64::MAX } else { bits as u64 }
}

/// EliHash under the key of its families: `I(H(K, 1), M_1) ^ I(H(K, 2), M_2) ^ ..`. The last block
/// is padded with `10*` and added without I.
///
/// If H and I satisfy the three conditions of [`PlainFamilies`](super::PlainFamilies#contract), two
/// different messages of any lengths collide with a probability of at most `(2^k delta)^mu eps`,
/// for subkeys of k bits. This is about eps for good subkeys. The paper's proposition 1 has two of
/// the conditions, and its proof fails if one message's full blocks are the start of the other's;
/// `docs/design/theory.md` has the proof with the third condition.
#[derive(Clone)]
pub struct EliHash<F: Families> {
    families: F,
    level: Level,
    /// H(K, i), from i = 1.
    #[cfg(feature = "alloc")]
    subkeys: Vec<F::Block>,
}

impl<F: Families> Drop for EliHash<F> {
    #[inline]
    fn drop(&mut self) {
        #[cfg(feature = "alloc")]
        wipe(&mut self.subkeys, F::Block::ZERO);
    }
}

impl<F: Families> EliHash<F> {
    /// Returns EliHash over keyed H and I, on the level that they were made for.
    #[inline]
    pub fn with_level(families: F, level: Level) -> Self {
        EliHash {
            families,
            level,
            #[cfg(feature = "alloc")]
            subkeys: Vec::new(),
        }
    }

    /// Caches the subkeys of the first `message_bytes` bytes of a message, or fewer where more
    /// would not help, see [`EliMac::with_cache`](crate::EliMac::with_cache).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn with_cache(mut self, message_bytes: usize) -> Self {
        self.make_cache(message_bytes);
        self
    }

    /// [`with_cache`](EliHash::with_cache) in place: a move would leave a copy of the key in memory.
    #[cfg(feature = "alloc")]
    pub(super) fn make_cache(&mut self, message_bytes: usize) {
        wipe(&mut self.subkeys, F::Block::ZERO);
        let families = &self.families;
        self.subkeys = self.level.run(Cache { families, bytes: message_bytes });
    }

    /// Returns whether some subkeys are cached.
    pub(super) fn has_cache(&self) -> bool {
        #[cfg(feature = "alloc")]
        return !self.subkeys.is_empty();
        #[cfg(not(feature = "alloc"))]
        false
    }

    /// The number of message bytes with cached subkeys, which is also the size of the cache in
    /// bytes.
    #[cfg(feature = "alloc")]
    pub(super) fn cached_bytes(&self) -> usize {
        self.subkeys.len() * F::Block::BYTES
    }
}

silent!(EliHash<F: Families>);

/// Computes the subkeys from H(K, 1).
#[inline(always)]
fn first_subkeys<I: Isa, F: Families>(isa: I, families: &F, subkeys: &mut [F::Block]) {
    let (lanes, keys) = (F::lanes(isa), families.keys(isa));
    let mut source = Computed { i: 1 };
    let count = F::Lanes::<I>::LANES;
    // A vector's rounds wait for each other.
    let many = if F::Lanes::<I>::UNROLL == 8 { subkeys.len() / (8 * count) } else { 0 };
    let (groups, rest) = subkeys.split_at_mut(many * 8 * count);
    for group in groups.chunks_exact_mut(8 * count) {
        let next: [_; 8] = Subkeys::<F>::next(&mut source, isa, &keys);
        for (next, subkeys) in next.into_iter().zip(group.chunks_exact_mut(count)) {
            lanes.store_lanes(next, F::Block::flatten_mut(subkeys));
        }
    }
    for subkeys in rest.chunks_mut(count) {
        let [next] = Subkeys::<F>::next(&mut source, isa, &keys);
        lanes.store_lanes(next, F::Block::flatten_mut(subkeys));
    }
}

/// Computes the subkeys of the first `bytes` bytes of a message, limited to those that help.
#[cfg(feature = "alloc")]
struct Cache<'a, F> {
    families: &'a F,
    bytes: usize,
}

#[cfg(feature = "alloc")]
impl<F: Families> Kernel for Cache<'_, F> {
    const LEVELS: Levels = F::LEVELS;
    type Out = Vec<F::Block>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Vec<F::Block> {
        // A range of `half` bytes leaves just enough room for its subkeys, and a longer range
        // leaves less.
        let half = max_cached::<I, F>(0) / 2;
        let bytes = self.bytes.min(half);
        let most = usize::try_from(F::MU).unwrap_or(usize::MAX);
        let mut subkeys = alloc::vec![F::Block::ZERO; (bytes / F::Block::BYTES).min(most)];
        first_subkeys(isa, self.families, &mut subkeys);
        subkeys
    }
}

impl<F: Families> EliHash<F> {
    /// Computes the subkeys from H(K, 1).
    #[inline(always)]
    pub(super) fn first_subkeys<I: Isa>(&self, isa: I, subkeys: &mut [F::Block]) {
        first_subkeys(isa, &self.families, subkeys);
    }

    /// The families' keys, prepared for a level.
    #[inline(always)]
    pub(super) fn keys<I: Isa>(&self, isa: I) -> F::Keys<'_, I> {
        self.families.keys(isa)
    }
}

/// The source of subkeys.
trait Subkeys<F: Families> {
    /// The subkeys of the next `N * LANES` blocks.
    fn next<I: Isa, const N: usize>(&mut self, isa: I, keys: &F::Keys<'_, I>) -> [V<F, I>; N];
    /// The subkeys of the next `n` blocks, at most `LANES`. The other lanes are arbitrary.
    fn next_lanes<I: Isa>(&mut self, isa: I, keys: &F::Keys<'_, I>, n: usize) -> V<F, I>;
}

/// Computes H(K, i) when needed.
struct Computed {
    i: u64,
}

impl<F: Families> Subkeys<F> for Computed {
    #[inline(always)]
    fn next<I: Isa, const N: usize>(&mut self, isa: I, keys: &F::Keys<'_, I>) -> [V<F, I>; N] {
        let (lanes, layout) = (F::lanes(isa), F::counter_layout(isa));
        let mut counter = lanes.counter(self.i);
        let mut x = [lanes.splat(&F::Block::ZERO); N];
        for x in &mut x {
            *x = F::whiten(isa, keys, lanes.encode_counter(counter, layout));
            counter = lanes.advance(counter);
        }
        self.i += (N * F::Lanes::<I>::LANES) as u64;
        F::subkeys(isa, keys, x)
    }

    #[inline(always)]
    fn next_lanes<I: Isa>(&mut self, isa: I, keys: &F::Keys<'_, I>, n: usize) -> V<F, I> {
        let first = self.i;
        let [subkeys] = Subkeys::<F>::next(self, isa, keys);
        self.i = first + n as u64;
        subkeys
    }
}

/// Reads H(K, i) from the cache.
#[cfg(feature = "alloc")]
struct Cached<'a, B>(&'a [B]);

#[cfg(feature = "alloc")]
impl<F: Families> Subkeys<F> for Cached<'_, F::Block> {
    #[inline(always)]
    fn next<I: Isa, const N: usize>(&mut self, isa: I, _keys: &F::Keys<'_, I>) -> [V<F, I>; N] {
        let (now, rest) = self.0.split_at(F::Lanes::<I>::LANES * N);
        self.0 = rest;
        load(F::lanes(isa), F::Block::flatten(now))
    }

    #[inline(always)]
    fn next_lanes<I: Isa>(&mut self, isa: I, _keys: &F::Keys<'_, I>, n: usize) -> V<F, I> {
        let (now, rest) = self.0.split_at(n);
        self.0 = rest;
        F::lanes(isa).load_lanes(F::Block::flatten(now))
    }
}

/// `N` vectors of blocks.
#[inline(always)]
fn load<L: Lanes, const N: usize>(lanes: L, data: &[u8]) -> [L::V; N] {
    let bytes = L::Block::BYTES * L::LANES;
    let mut x = [lanes.splat(&L::Block::ZERO); N];
    for (v, x) in x.iter_mut().enumerate() {
        *x = lanes.load(&data[bytes * v..][..bytes]);
    }
    x
}

/// The terms I(H(K, i), M_i).
struct EliTerms<'a, F, S> {
    families: &'a F,
    subkeys: S,
    data: &'a [u8],
}

impl<'a, F: Families, S> EliTerms<'a, F, S> {
    /// The next `n` blocks.
    #[inline(always)]
    fn blocks(&mut self, n: usize) -> &'a [u8] {
        let (now, rest) = self.data.split_at(F::Block::BYTES * n);
        self.data = rest;
        now
    }
}

impl<'a, F: Families, S: Subkeys<F>> BlockTerms for EliTerms<'a, F, S> {
    type Lanes<I: Isa> = F::Lanes<I>;
    type Prepared<I: Isa> = F::Keys<'a, I>;
    type Sum<I: Isa> = V<F, I>;

    #[inline(always)]
    fn lanes<I: Isa>(isa: I) -> F::Lanes<I> {
        F::lanes(isa)
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I) -> F::Keys<'a, I> {
        self.families.keys(isa)
    }

    #[inline(always)]
    fn sum<I: Isa>(isa: I, _keys: &F::Keys<'a, I>) -> V<F, I> {
        F::lanes(isa).splat(&F::Block::ZERO)
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(&mut self, isa: I, keys: &F::Keys<'a, I>, sum: &mut V<F, I>) {
        let now = self.blocks(N * F::Lanes::<I>::LANES);
        let subkeys: [V<F, I>; N] = self.subkeys.next(isa, keys);
        *sum = F::add(isa, keys, *sum, subkeys, load(F::lanes(isa), now));
    }

    #[inline(always)]
    fn add_lanes<I: Isa>(&mut self, isa: I, keys: &F::Keys<'a, I>, sum: &mut V<F, I>, n: usize) {
        let (lanes, now) = (F::lanes(isa), self.blocks(n));
        let subkeys = self.subkeys.next_lanes(isa, keys, n);
        let zero = lanes.splat(&F::Block::ZERO);
        let x = F::add(isa, keys, zero, [subkeys], [lanes.load_lanes(now)]);
        *sum = lanes.xor(*sum, lanes.keep_lanes(x, n));
    }

    #[inline(always)]
    fn finish<I: Isa>(isa: I, _keys: &F::Keys<'a, I>, sum: &mut V<F, I>) -> VOf<Self, I::Narrow> {
        F::lanes(isa).xor_lanes(*sum)
    }
}

impl<'a, F: Families> CounterTerms for EliTerms<'a, F, Computed> {
    #[inline(always)]
    fn number(&self) -> u64 {
        self.subkeys.i
    }

    #[inline(always)]
    fn counter_table<I: Isa>(&self, isa: I, _keys: &F::Keys<'a, I>) -> [V<F, I>; 8] {
        xor::counter_table(F::lanes(isa), F::counter_layout(isa))
    }

    #[inline(always)]
    fn add_group<I: Isa>(
        &mut self,
        isa: I,
        keys: &F::Keys<'a, I>,
        table: &[V<F, I>; 8],
        sum: &mut V<F, I>,
    ) {
        let lanes = F::lanes(isa);
        fetch_ahead(self.data, 8 * F::Lanes::<I>::LANES * F::Block::BYTES);
        let now = self.blocks(8 * F::Lanes::<I>::LANES);
        let first = xor::number(lanes, self.subkeys.i, F::counter_layout(isa.narrow()));
        let first = F::whiten(isa, keys, first);
        self.subkeys.i += 8 * F::Lanes::<I>::LANES as u64;
        let mut x = *table;
        for x in &mut x {
            *x = lanes.xor(*x, first);
        }
        let subkeys = F::subkeys(isa, keys, x);
        *sum = F::add(isa, keys, *sum, subkeys, load(lanes, now));
    }
}

impl<F: Families> Hash for EliHash<F> {
    type Sum = XorSum<F::Block>;
    type Digest = XorDigest<F::Block>;
    type BlockBuffer = F::Block;
    const ACCEPTS_BIT_STRINGS: bool = true;
    const LAST_BLOCK_DISTINCT: bool = false;
    const PLAN: Plan = Plan {
        long: F::LEVELS,
        short: Levels::Narrow,
        shares_stream_kernels: true,
        ..Plan::DEFAULT
    };

    #[inline(always)]
    fn level(&self) -> Level {
        self.level
    }

    #[inline(always)]
    fn block(&self) -> usize {
        F::Block::BYTES
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        limit_bits::<F>()
    }

    #[inline(always)]
    fn empty(&self) -> XorSum<F::Block> {
        XorSum::EMPTY
    }

    #[inline(always)]
    fn new_buffer(&self) -> F::Block {
        F::Block::ZERO
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sum: &mut XorSum<F::Block>, at: u64, blocks: &[u8]) {
        let (families, first) = (&self.families, at / F::Block::BYTES as u64);
        #[cfg(feature = "alloc")]
        let (first, blocks) = {
            let cached = self.subkeys.get(first as usize..).unwrap_or_default();
            let bytes = (F::Block::BYTES * cached.len()).min(max_cached::<I, F>(blocks.len()));
            let n = blocks.len().min(bytes) / F::Block::BYTES;
            let (now, later) = blocks.split_at(F::Block::BYTES * n);
            if n > 0 {
                let terms = EliTerms { families, subkeys: Cached(cached), data: now };
                Accumulator::add_to(
                    sum,
                    isa,
                    terms,
                    #[inline(always)]
                    |accumulator| {
                        accumulator.all(n);
                        debug_assert!(accumulator.terms.data.is_empty());
                    },
                );
            }
            (first + n as u64, later)
        };
        if !blocks.is_empty() {
            let subkeys = Computed { i: first + 1 };
            Accumulator::add_to(
                sum,
                isa,
                EliTerms { families, subkeys, data: blocks },
                #[inline(always)]
                |accumulator| {
                    accumulator.add_numbered(blocks.len() / F::Block::BYTES);
                    debug_assert!(accumulator.terms.data.is_empty());
                },
            );
        }
    }

    #[inline(always)]
    fn absorb_narrow<I: Isa>(&self, isa: I, sum: &mut XorSum<F::Block>, blocks: &[u8]) {
        let (families, data, n) = (&self.families, blocks, blocks.len() / F::Block::BYTES);
        #[cfg(feature = "alloc")]
        if n <= self.subkeys.len() {
            return Accumulator::add_to(
                sum,
                isa,
                EliTerms { families, subkeys: Cached(&self.subkeys), data },
                #[inline(always)]
                |accumulator| accumulator.side_by_side(n),
            );
        }
        Accumulator::add_to(
            sum,
            isa,
            EliTerms { families, subkeys: Computed { i: 1 }, data },
            #[inline(always)]
            |accumulator| accumulator.side_by_side(n),
        );
    }

    #[inline(always)]
    fn join(&self, left: &mut XorSum<F::Block>, right: &XorSum<F::Block>) {
        left.join(right);
    }

    fn ct_eq(&self, one: &XorSum<F::Block>, other: &XorSum<F::Block>) -> bool {
        one.ct_eq(other)
    }

    #[inline(always)]
    fn finish<I: Isa>(
        &self,
        isa: I,
        sum: &XorSum<F::Block>,
        _at: u64,
        tail: Bits<'_>,
    ) -> XorDigest<F::Block> {
        let lanes = F::lanes(isa);
        XorDigest(lanes.narrow().lane0(sum.with_last(lanes, tail)))
    }

    #[inline(always)]
    fn finish_message<I: Isa>(
        &self,
        isa: I,
        sum: &XorSum<F::Block>,
        message: &[u8],
        cut: usize,
    ) -> XorDigest<F::Block> {
        let lanes = F::lanes(isa);
        XorDigest(lanes.narrow().lane0(sum.with_end(lanes, message, cut)))
    }
}
