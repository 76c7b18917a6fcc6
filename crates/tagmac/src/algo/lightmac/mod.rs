//! LightMAC (Luykx, Preneel, Tischhauser, Yasuda, "A MAC Mode for Lightweight Block Ciphers",
//! 2016; equation (8)).
//!
//! With an s-bit counter and M = M_1 .. M_l in blocks of r = n - s bits. The last block has fewer
//! than r bits.
//!
//! ```text
//! V   = E_K1(1_s || M_1) ^ .. ^ E_K1((l-1)_s || M_{l-1})
//! Tag = first t bits of E_K2(V ^ (M_l || 10*))
//! ```
//!
//! i_s is the big-endian s-bit integer i mod 2^s, or its Gray code. Messages are at most 2^s r bits
//! long. The code is fast if counters are integers of whole bytes: a vector gets its pieces of r
//! bits by one load and one byte permutation, and its counters by one xor with a table.

mod key;
mod strings;

pub use key::limit_bits;
pub use key::{LightMac, LightMacAes128, LightMacAes192, LightMacAes256};

use core::slice;

use super::many::{self, Masked};
use super::xor::{
    self, Accumulator, BlockTerms, CounterTerms, OneBlock, Truncation, VOf, XorDigest, XorSum,
};
use crate::bits::Bits;
use crate::cipher::{Cipher, CipherBlock, V};
use crate::construction::{Construction, Hash};
use crate::isa::{Isa, Lanes, Level, fetch_ahead};
use crate::plan::Plan;
use crate::tag::Tag;
use crate::wipe::wipe;

/// The terms E_K1(i_s || M_i), of whole bytes.
struct LightTerms<'a, C: Cipher> {
    mac: &'a LightMac<C>,
    data: &'a [u8],
    /// The next block has number `i` and starts at byte `at` of the data.
    i: u64,
    at: usize,
}

impl<C: Cipher> LightTerms<'_, C> {
    /// Advances by `blocks` blocks.
    #[inline(always)]
    fn skip(&mut self, blocks: usize) {
        self.i += blocks as u64;
        self.at += blocks * self.mac.block();
    }
}

/// The terms, prepared for a level.
#[derive(Clone, Copy)]
struct Prepared<L: Lanes, K> {
    keys: K,
    whitening: L::V,
    stride: L::Stride,
    layout: L::CounterLayout,
}

impl<'a, C: Cipher> BlockTerms for LightTerms<'a, C> {
    type Lanes<I: Isa> = C::Lanes<I>;
    type Prepared<I: Isa> = Prepared<C::Lanes<I>, C::Keys<'a, I>>;
    type Sum<I: Isa> = C::Sum<'a, I>;
    // A tenth faster on Emerald Rapids: the chain of few lanes does not start last.
    const LANES_FIRST: bool = true;

    #[inline(always)]
    fn lanes<I: Isa>(isa: I) -> C::Lanes<I> {
        C::lanes(isa)
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I) -> Self::Prepared<I> {
        let (lanes, keys) = (C::lanes(isa), self.mac.k1.keys(isa));
        Prepared {
            keys,
            whitening: C::whiten(isa, &keys, lanes.splat(&C::Block::ZERO)),
            stride: lanes.stride(self.mac.block()),
            layout: lanes.be_prefix(self.mac.s / 8),
        }
    }

    #[inline(always)]
    fn sum<I: Isa>(isa: I, prepared: &Self::Prepared<I>) -> C::Sum<'a, I> {
        C::sum(isa, &prepared.keys)
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(
        &mut self,
        isa: I,
        prepared: &Self::Prepared<I>,
        sum: &mut C::Sum<'a, I>,
    ) {
        let lanes = C::lanes(isa);
        let mut counter = lanes.counter(self.i);
        let mut x: [V<C, I>; N] = lanes.load_strided(self.data, self.at, prepared.stride);
        for x in &mut x {
            *x = lanes.xor3(*x, lanes.encode_counter(counter, prepared.layout), prepared.whitening);
            counter = lanes.advance(counter);
        }
        self.skip(N * C::Lanes::<I>::LANES);
        C::add_whitened(isa, &prepared.keys, sum, x);
    }

    #[inline(always)]
    fn add_lanes<I: Isa>(
        &mut self,
        isa: I,
        prepared: &Self::Prepared<I>,
        sum: &mut C::Sum<'a, I>,
        n: usize,
    ) {
        let lanes = C::lanes(isa);
        let pieces = lanes.load_strided_lanes(self.data, self.at, n, prepared.stride);
        let counters = lanes.encode_counter(lanes.counter(self.i), prepared.layout);
        let x = lanes.xor3(pieces, counters, prepared.whitening);
        self.skip(n);
        C::add_whitened_lanes(isa, &prepared.keys, sum, x, n);
    }

    #[inline(always)]
    fn finish<I: Isa>(
        isa: I,
        prepared: &Self::Prepared<I>,
        sum: &mut C::Sum<'a, I>,
    ) -> VOf<Self, I::Narrow> {
        C::finish(isa, &prepared.keys, sum)
    }
}

impl<C: Cipher> CounterTerms for LightTerms<'_, C> {
    #[inline(always)]
    fn number(&self) -> u64 {
        self.i
    }

    #[inline(always)]
    fn counter_table<I: Isa>(&self, isa: I, prepared: &Self::Prepared<I>) -> [V<C, I>; 8] {
        xor::counter_table(C::lanes(isa), prepared.layout)
    }

    #[inline(always)]
    fn add_group<I: Isa>(
        &mut self,
        isa: I,
        prepared: &Self::Prepared<I>,
        table: &[V<C, I>; 8],
        sum: &mut Self::Sum<I>,
    ) {
        let lanes = C::lanes(isa);
        let narrow = lanes.narrow();
        let first = xor::number(lanes, self.i, narrow.be_prefix(self.mac.s / 8));
        let mask = lanes.xor(first, prepared.whitening);
        fetch_ahead(&self.data[self.at..], 8 * C::Lanes::<I>::LANES * C::Block::BYTES);
        let mut x: [V<C, I>; 8] = lanes.load_strided(self.data, self.at, prepared.stride);
        for (x, place) in x.iter_mut().zip(table) {
            *x = lanes.xor3(*x, *place, mask);
        }
        self.skip(8 * C::Lanes::<I>::LANES);
        C::add_whitened(isa, &prepared.keys, sum, x);
    }
}

impl<C: Cipher> Hash for LightMac<C> {
    type Sum = XorSum<C::Block>;
    type Digest = XorDigest<C::Block>;
    /// The smallest number of blocks that ends on a byte. Its length in bytes is at most that of a
    /// block in bits.
    type BlockBuffer = [u8; 8 * Tag::MAX_BYTES];
    const ACCEPTS_BIT_STRINGS: bool = true;
    const LAST_BLOCK_DISTINCT: bool = false;
    const PLAN: Plan = Plan::over::<C>();

    #[inline(always)]
    fn level(&self) -> Level {
        self.level
    }

    /// Returns the length in bytes of a message block or, if it does not end on a byte, of two,
    /// four or eight.
    #[inline(always)]
    fn block(&self) -> usize {
        self.block
    }

    #[inline(always)]
    fn blocks_in(&self, bytes: usize) -> usize {
        // Exact if (bytes + 1) times the rounding error, which is less than the block, is below
        // 2^64. Address spaces have fewer than 2^56 bytes, and blocks fewer than 2^8.
        (((bytes as u128 + 1) * self.inverse as u128) >> 64) as usize
    }

    #[inline(always)]
    fn narrow_path_max_bytes(&self) -> usize {
        if self.in_bytes { self.level.facts().narrow_path_max_blocks * self.block } else { 0 }
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        self.limit_bits
    }

    #[inline(always)]
    fn empty(&self) -> Self::Sum {
        XorSum::EMPTY
    }

    #[inline(always)]
    fn new_buffer(&self) -> Self::BlockBuffer {
        [0; 8 * Tag::MAX_BYTES]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sum: &mut Self::Sum, at: u64, blocks: &[u8]) {
        if blocks.is_empty() {
            return;
        }
        if !self.in_bytes {
            *sum = strings::absorb(self, isa, *sum, at, blocks);
            return;
        }
        let step = self.block();
        let terms = LightTerms { mac: self, data: blocks, i: at / step as u64 + 1, at: 0 };
        let n = self.blocks_in(blocks.len());
        // A piece is loaded as the block that ends with it; the first LANES pieces have no bytes
        // before them and are handled separately.
        let first = n.min(C::Lanes::<I>::LANES);
        Accumulator::add_to(
            sum,
            isa,
            terms,
            #[inline(always)]
            |accumulator| {
                accumulator.lanes(first);
                accumulator.add_numbered(n - first);
                debug_assert!(accumulator.terms.at == blocks.len());
            },
        );
    }

    #[inline(always)]
    fn absorb_narrow<I: Isa>(&self, isa: I, sum: &mut Self::Sum, blocks: &[u8]) {
        let n = self.blocks_in(blocks.len());
        Accumulator::add_to(
            sum,
            isa,
            LightTerms { mac: self, data: blocks, i: 1, at: 0 },
            #[inline(always)]
            |accumulator| {
                accumulator.lanes(1);
                accumulator.side_by_side(n - 1);
            },
        );
    }

    #[inline(always)]
    fn join(&self, left: &mut Self::Sum, right: &Self::Sum) {
        left.join(right);
    }

    fn ct_eq(&self, one: &Self::Sum, other: &Self::Sum) -> bool {
        one.ct_eq(other)
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sum: &Self::Sum, at: u64, tail: Bits<'_>) -> Self::Digest {
        if !self.in_bytes {
            return strings::finish(self, isa, *sum, at, tail);
        }
        let lanes = C::lanes(isa);
        XorDigest(lanes.narrow().lane0(sum.with_last(lanes, tail)))
    }

    #[inline(always)]
    fn finish_message<I: Isa>(
        &self,
        isa: I,
        sum: &Self::Sum,
        message: &[u8],
        cut: usize,
    ) -> Self::Digest {
        // A block of a message is shorter than one of the cipher.
        if !self.in_bytes || message.len() < C::Block::BYTES {
            return self.finish(isa, sum, cut as u64, message[cut..].into());
        }
        let lanes = C::lanes(isa);
        XorDigest(lanes.narrow().lane0(sum.with_end(lanes, message, cut)))
    }
}

impl<C: Cipher> Masked for LightMac<C> {
    type Block = C::Block;
    type Lanes<I: Isa> = C::Lanes<I>;
    type Keys<'a, I: Isa>
        = C::Keys<'a, I>
    where
        Self: 'a;
    type Last = C;
    const BY_VECTORS: bool = C::HAS_NARROW_PATH;

    #[inline(always)]
    fn lanes<I: Isa>(isa: I) -> C::Lanes<I> {
        C::lanes(isa)
    }

    #[inline(always)]
    fn piece(&self) -> usize {
        self.block
    }

    #[inline(always)]
    fn terms_in(&self, bytes: usize) -> usize {
        self.blocks_in(bytes)
    }

    #[inline(always)]
    fn masks<I: Isa>(&self, isa: I, masks: &mut [C::Block]) {
        let narrow = C::lanes(isa).narrow();
        let mut whitening = C::whitening(isa, &self.k1.keys(isa));
        let layout = narrow.be_prefix(self.s / 8);
        for (i, mask) in (1..).zip(masks) {
            let number = narrow.lane0(narrow.encode_counter(narrow.counter(i), layout));
            *mask = number.xor(&whitening);
        }
        wipe(slice::from_mut(&mut whitening), C::Block::ZERO);
    }

    #[inline(always)]
    fn keys<I: Isa>(&self, isa: I) -> C::Keys<'_, I> {
        self.k1.keys(isa)
    }

    #[inline(always)]
    fn terms<I: Isa, const N: usize>(
        isa: I,
        keys: &C::Keys<'_, I>,
        x: [V<C, I>; N],
    ) -> [V<C, I>; N] {
        C::encrypt_whitened(isa, keys, x)
    }

    #[inline(always)]
    fn make_terms<I: Isa>(isa: I, keys: &C::Keys<'_, I>, blocks: &mut [C::Block]) {
        C::encrypt_blocks(isa, keys, blocks);
    }

    #[inline(always)]
    fn last<I: Isa>(&self, isa: I, rest: &[u8]) -> OneBlock<C::Lanes<I>> {
        xor::padded(C::lanes(isa), rest.into())
    }

    #[inline(always)]
    fn last_cipher(&self) -> &C {
        &self.k2
    }

    #[inline(always)]
    fn truncation(&self) -> &Truncation<C::Block> {
        &self.truncation
    }
}

impl<C: Cipher> Construction for LightMac<C> {
    type Hash = Self;
    type Nonce = ();
    type PadCache = ();
    const MAX_TAG_BITS: usize = 8 * C::Block::BYTES;

    #[inline(always)]
    fn hash(&self) -> &Self {
        self
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
        digest: XorDigest<C::Block>,
    ) -> Tag {
        self.truncation.encrypt(isa, &self.k2, &digest)
    }

    #[inline(always)]
    fn batch_max_len(&self) -> usize {
        // Fewer bytes than the longest message, which has 2^8 blocks or more.
        if self.in_bytes { many::max_len_under::<C, _>(self, many::MAX_TERMS) } else { 0 }
    }

    #[inline(always)]
    fn batch_max_len_alike(&self) -> usize {
        let terms = if C::HAS_NARROW_PATH { many::MAX_TERMS_ALIKE } else { many::MAX_TERMS };
        if self.in_bytes { many::max_len_under::<C, _>(self, terms) } else { 0 }
    }

    #[inline(always)]
    fn batch_helps(&self, messages: &[&[u8]]) -> bool {
        many::helps(self, messages)
    }

    #[inline(always)]
    fn batch_gathers(&self) -> bool {
        many::gathers(self)
    }

    #[inline(always)]
    fn tag_batch<I: Isa>(&self, isa: I, nonces: &[()], messages: &[&[u8]], tags: &mut [Tag]) {
        many::tags_under::<_, C, _>(isa, self, nonces, messages, tags);
    }
}
