//! PMAC (Black and Rogaway, "PMAC: A Parallelizable Message Authentication Code", 2001, Figure 1).
//!
//! With L = E_K(0) and the Gray code gamma_i = i ^ (i >> 1), for M = M_1 .. M_m:
//!
//! ```text
//! Sigma = E_K(M_1 ^ gamma_1 L) ^ .. ^ E_K(M_{m-1} ^ gamma_{m-1} L) ^ pad(M_m)
//! Tag   = first tau bits of E_K(Sigma ^ (L/x if M_m is full))
//! ```
//!
//! The code is fast because the offsets cost one xor per vector. For i = 32g + j with 0 < j < 32
//! the code splits: gamma_i = gamma_{32g} ^ gamma_j. The offsets of 32 blocks (a period) are
//! therefore a base and a table that is the same in all periods. Only the period's last block, j =
//! 32, needs a correction: gamma_{32g+32} = gamma_{32g} ^ gamma_32 ^ 2^5 ^ 2^(5+z), z = ntz(g + 1).
//! A key's first message, if it is short, has periods of 8 blocks, whose table is made with the key.

mod key;
mod offsets;
#[cfg(all(test, feature = "std"))]
mod tests;

use core::slice;

use super::many::{self, Masked};
use super::xor::{self, Accumulator, BlockTerms, OneBlock, Truncation, VOf, XorDigest, XorSum};
use crate::bits::Bits;
use crate::cipher::{Cipher, Field, V};
use crate::construction::{Construction, Hash};
use crate::isa::{CipherBlock, Isa, Lanes, Level, fetch_ahead};
use crate::plan::Plan;
use crate::tag::Tag;
use crate::wipe::wipe;
pub use key::{Pmac, PmacAes128, PmacAes192, PmacAes256, PmacKey};
#[cfg(feature = "std")]
use offsets::ONCE_MAX_BLOCKS;
use offsets::{Offsets, PERIOD, PERIOD_LOG, SHORT_PERIOD};

/// Messages of at least this length in bytes are assumed to come from memory.
const FAR: usize = 1 << 25;

/// The terms E_K(M_i ^ gamma_i L).
struct PmacTerms<'a, C: Cipher<Block: Field>, const P: usize> {
    mac: &'a Pmac<C>,
    /// gamma_j L for j = 1..=P, where P is the number of blocks in a period.
    gamma_l: &'a [C::Block; P],
    /// The powers of x, or `None` to compute them from `gamma_l`.
    offsets: Option<&'a Offsets<C::Block>>,
    data: &'a [u8],
    /// The next block has number P period + j + 1.
    period: u64,
    j: usize,
    /// gamma_{P period} L.
    base: C::Block,
}

impl<'a, C: Cipher<Block: Field>, const P: usize> PmacTerms<'a, C, P> {
    /// The next `n` blocks and their table entries.
    #[inline(always)]
    fn next(&mut self, n: usize) -> (&'a [u8], &'a [u8]) {
        let (now, rest) = self.data.split_at(C::Block::BYTES * n);
        let offsets = &self.gamma_l[self.j..][..n];
        self.data = rest;
        self.j += n;
        (now, C::Block::flatten(offsets))
    }

    /// Goes to the next period. Returns the correction for the last block of this one.
    #[inline(always)]
    fn next_period(&mut self) -> C::Block {
        self.j = 0;
        self.period += 1;
        let z = self.period.trailing_zeros() as usize;
        let last = self.gamma_l[P - 1];
        // L x^log2(P), and this times x^z.
        let power = last.xor(&self.gamma_l[P - 2]);
        let mut raised = power;
        if let Some(offsets) = self.offsets {
            raised = offsets.l(P.ilog2() as usize + z);
        } else {
            for _ in 0..z {
                raised = raised.times_x();
            }
        }
        let correction = power.xor(&raised);
        self.base = self.base.xor(&last).xor(&correction);
        correction
    }
}

impl<'a, C: Cipher<Block: Field>, const P: usize> BlockTerms for PmacTerms<'a, C, P> {
    type Lanes<I: Isa> = C::Lanes<I>;
    type Prepared<I: Isa> = C::Keys<'a, I>;
    type Sum<I: Isa> = C::Sum<'a, I>;

    #[inline(always)]
    fn lanes<I: Isa>(isa: I) -> C::Lanes<I> {
        C::lanes(isa)
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I) -> C::Keys<'a, I> {
        self.mac.cipher.keys(isa)
    }

    #[inline(always)]
    fn sum<I: Isa>(isa: I, keys: &C::Keys<'a, I>) -> C::Sum<'a, I> {
        C::sum(isa, keys)
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(
        &mut self,
        isa: I,
        keys: &C::Keys<'a, I>,
        sum: &mut C::Sum<'a, I>,
    ) {
        let (lanes, in_vector) = (C::lanes(isa), C::Lanes::<I>::LANES);
        let base = C::whiten(isa, keys, lanes.splat(&self.base));
        let (now, offsets) = self.next(in_vector * N);
        let bytes = C::Block::BYTES * in_vector;
        let mut x = [base; N];
        for (v, x) in x.iter_mut().enumerate() {
            let range = bytes * v..bytes * (v + 1);
            *x = lanes.xor3(lanes.load(&now[range.clone()]), lanes.load(&offsets[range]), base);
        }
        if self.j == P {
            x[N - 1] = lanes.xor(x[N - 1], lanes.set_last_lane(&self.next_period()));
        }
        C::add_whitened(isa, keys, sum, x);
    }

    #[inline(always)]
    fn add_lanes<I: Isa>(
        &mut self,
        isa: I,
        keys: &C::Keys<'a, I>,
        sum: &mut C::Sum<'a, I>,
        n: usize,
    ) {
        let lanes = C::lanes(isa);
        let mut base = self.base;
        let (now, offsets) = self.next(n);
        let mut offsets = lanes.load_lanes(offsets);
        if self.j == P {
            // A single block, with the next period's base as its offset.
            debug_assert_eq!(n, 1);
            self.next_period();
            (base, offsets) = (self.base, lanes.splat(&C::Block::ZERO));
        }
        let base = C::whiten(isa, keys, lanes.splat(&base));
        let x = lanes.xor3(lanes.load_lanes(now), offsets, base);
        C::add_whitened_lanes(isa, keys, sum, x, n);
    }

    #[inline(always)]
    fn finish<I: Isa>(
        isa: I,
        keys: &C::Keys<'a, I>,
        sum: &mut C::Sum<'a, I>,
    ) -> VOf<Self, I::Narrow> {
        C::finish(isa, keys, sum)
    }
}

impl<C: Cipher<Block: Field>, I: Isa> Accumulator<'_, I, PmacTerms<'_, C, PERIOD>> {
    /// Adds the terms of a whole period.
    #[inline(always)]
    fn period(&mut self) {
        for _ in 0..PERIOD / C::Lanes::<I>::UNROLLED_BLOCKS {
            self.unrolled();
        }
    }
}

impl<C: Cipher<Block: Field>> Pmac<C> {
    /// The terms of the first blocks of a message.
    #[inline(always)]
    fn first_terms<'a>(&'a self, data: &'a [u8]) -> PmacTerms<'a, C, SHORT_PERIOD> {
        let (gamma_l, base) = (&self.first, C::Block::ZERO);
        PmacTerms { mac: self, gamma_l, offsets: None, data, period: 0, j: 0, base }
    }

    /// As [`Hash::absorb`] for the first blocks of a message, in periods of the blocks whose offsets
    /// are computed with the key.
    #[cfg(feature = "std")]
    #[inline(always)]
    fn absorb_without_tables<I: Isa>(&self, isa: I, sum: &mut XorSum<C::Block>, blocks: &[u8]) {
        // A period's last block is the last one of a vector.
        assert!(SHORT_PERIOD.is_multiple_of(C::Lanes::<I>::LANES));
        let n = blocks.len() / C::Block::BYTES;
        Accumulator::add_to(
            sum,
            isa,
            self.first_terms(blocks),
            #[inline(always)]
            |accumulator| {
                for _ in 0..n / SHORT_PERIOD {
                    accumulator.all(SHORT_PERIOD);
                }
                accumulator.all(n % SHORT_PERIOD);
            },
        );
    }
}

impl<C: Cipher<Block: Field>> Hash for Pmac<C> {
    type Sum = XorSum<C::Block>;
    type Digest = XorDigest<C::Block>;
    type BlockBuffer = C::Block;
    const ACCEPTS_BIT_STRINGS: bool = true;
    const LAST_BLOCK_DISTINCT: bool = true;
    const PLAN: Plan = Plan::over::<C>();

    #[inline(always)]
    fn level(&self) -> Level {
        self.level
    }

    #[inline(always)]
    fn block(&self) -> usize {
        C::Block::BYTES
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        u64::MAX
    }

    #[inline(always)]
    fn empty(&self) -> XorSum<C::Block> {
        XorSum::EMPTY
    }

    #[inline(always)]
    fn new_buffer(&self) -> C::Block {
        C::Block::ZERO
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sum: &mut XorSum<C::Block>, at: u64, blocks: &[u8]) {
        // Unrolled blocks never cross a period.
        const { assert!(PERIOD.is_multiple_of(C::Lanes::<I>::UNROLLED_BLOCKS)) };
        let mut left = blocks.len() / C::Block::BYTES;
        if left == 0 {
            return;
        }
        let first = at / C::Block::BYTES as u64;
        let period = first / PERIOD as u64;
        let j = (first % PERIOD as u64) as usize;
        // Dropped, and so wiped, at the end.
        #[cfg(feature = "std")]
        let mut once;
        #[cfg(feature = "std")]
        let offsets = match self.offsets.get() {
            Some(offsets) => offsets,
            None if at == 0 && left <= ONCE_MAX_BLOCKS && self.offsets.is_first_use() => {
                if const { C::Lanes::<I>::LANES <= SHORT_PERIOD } {
                    return self.absorb_without_tables(isa, sum, blocks);
                }
                // Tables on the stack: another loop would cost more code than it saves time.
                once = Offsets::ZERO;
                once.make(&self.first[0]);
                &once
            }
            None => self.make_offsets(),
        };
        #[cfg(not(feature = "std"))]
        let offsets = self.offsets();
        let base = offsets.gamma_l(period << PERIOD_LOG);
        Accumulator::add_to(
            sum,
            isa,
            PmacTerms {
                mac: self,
                gamma_l: &offsets.gamma_l,
                offsets: Some(offsets),
                data: blocks,
                period,
                j,
                base,
            },
            #[inline(always)]
            |accumulator| {
                loop {
                    if accumulator.terms.j == 0 {
                        // A separate loop, for ciphers that are as fast as memory: a prefetch in
                        // the other loop, even of nothing, costs 5 %.
                        if const { C::Lanes::<I>::LANES >= 4 } && blocks.len() >= FAR {
                            while left >= PERIOD {
                                fetch_ahead(accumulator.terms.data, PERIOD * C::Block::BYTES);
                                accumulator.period();
                                left -= PERIOD;
                            }
                        }
                        while left >= PERIOD {
                            accumulator.period();
                            left -= PERIOD;
                        }
                    }
                    // The period's last block is handled separately.
                    let run = left.min(PERIOD - 1 - accumulator.terms.j);
                    accumulator.all(run);
                    left -= run;
                    if left == 0 {
                        break;
                    }
                    accumulator.lanes(1);
                    left -= 1;
                }
                debug_assert!(accumulator.terms.data.is_empty());
            },
        );
    }

    #[inline(always)]
    fn absorb_narrow<I: Isa>(&self, isa: I, sum: &mut XorSum<C::Block>, blocks: &[u8]) {
        const { assert!(C::Lanes::<I>::LANES <= SHORT_PERIOD) };
        let n = blocks.len() / C::Block::BYTES;
        Accumulator::add_to(
            sum,
            isa,
            self.first_terms(blocks),
            #[inline(always)]
            |accumulator| accumulator.side_by_side(n),
        );
    }

    #[inline(always)]
    fn join(&self, left: &mut XorSum<C::Block>, right: &XorSum<C::Block>) {
        left.join(right);
    }

    fn ct_eq(&self, one: &XorSum<C::Block>, other: &XorSum<C::Block>) -> bool {
        one.ct_eq(other)
    }

    #[inline(always)]
    fn finish<I: Isa>(
        &self,
        isa: I,
        sum: &XorSum<C::Block>,
        _at: u64,
        tail: Bits<'_>,
    ) -> XorDigest<C::Block> {
        let lanes = C::lanes(isa);
        let (narrow, x) = (lanes.narrow(), sum.with_last(lanes, tail));
        let full = tail.bits() == 8 * C::Block::BYTES as u64;
        let x = if full { narrow.xor(x, narrow.splat(&self.l_inv)) } else { x };
        XorDigest(narrow.lane0(x))
    }

    #[inline(always)]
    fn finish_message<I: Isa>(
        &self,
        isa: I,
        sum: &XorSum<C::Block>,
        message: &[u8],
        cut: usize,
    ) -> XorDigest<C::Block> {
        let lanes = C::lanes(isa);
        let (narrow, x) = (lanes.narrow(), sum.with_end(lanes, message, cut));
        let full = message.len() - cut == C::Block::BYTES;
        let x = if full { narrow.xor(x, narrow.splat(&self.l_inv)) } else { x };
        XorDigest(narrow.lane0(x))
    }
}

impl<C: Cipher<Block: Field>> Masked for Pmac<C> {
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
        C::Block::BYTES
    }

    #[inline(always)]
    fn terms_in(&self, bytes: usize) -> usize {
        bytes.saturating_sub(1) / C::Block::BYTES
    }

    #[inline(always)]
    fn masks<I: Isa>(&self, isa: I, masks: &mut [C::Block]) {
        let mut whitening = C::whitening(isa, &self.cipher.keys(isa));
        let gamma_l = match masks.len() {
            ..=SHORT_PERIOD => &self.first[..],
            _ => &self.offsets().gamma_l,
        };
        for (mask, offset) in masks.iter_mut().zip(gamma_l) {
            *mask = offset.xor(&whitening);
        }
        for (number, mask) in (1..).zip(masks).skip(PERIOD) {
            *mask = self.offsets().gamma_l(number).xor(&whitening);
        }
        wipe(slice::from_mut(&mut whitening), C::Block::ZERO);
    }

    #[inline(always)]
    fn keys<I: Isa>(&self, isa: I) -> C::Keys<'_, I> {
        self.cipher.keys(isa)
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
        let lanes = C::lanes(isa);
        let (last, narrow) = (xor::padded(lanes, rest.into()), lanes.narrow());
        let full = rest.len() == C::Block::BYTES;
        if full { narrow.xor(last, narrow.splat(&self.l_inv)) } else { last }
    }

    #[inline(always)]
    fn last_cipher(&self) -> &C {
        &self.cipher
    }

    #[inline(always)]
    fn truncation(&self) -> &Truncation<C::Block> {
        &self.truncation
    }
}

impl<C: Cipher<Block: Field>> Construction for Pmac<C> {
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
        self.truncation.encrypt(isa, &self.cipher, &digest)
    }

    #[inline(always)]
    fn batch_max_len(&self) -> usize {
        let terms = if C::HAS_NARROW_PATH { many::MAX_TERMS } else { many::MAX_TERMS_OTHER };
        many::max_len_under::<C, _>(self, terms)
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
