//! The common part of PMAC, LightMAC and EliMAC. The hash of a range is the xor of one term per
//! block. The tag is one cipher call on that xor and the padded last block.
//!
//! Terms are computed eight vectors at a time, which fills the cipher's pipeline. The rest is split
//! into runs of four, two and one vectors and some lanes, which are independent of each other.

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::bits::Bits;
use crate::cipher::{Cipher, CipherBlock};
use crate::isa::{Block, Isa, Lanes};
use crate::tag::Tag;

/// The xor of the terms of a range of blocks. Secret: prints nothing in `Debug`.
#[derive(Clone, Copy)]
pub struct XorSum<B = Block>(pub(super) B);

impl<B: CipherBlock> Zeroize for XorSum<B> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// The input of the last cipher call. Secret: prints nothing in `Debug`.
pub struct XorDigest<B = Block>(pub(super) B);

impl<B: CipherBlock> XorDigest<B> {
    /// Returns the block to encrypt last. Wipe it after use.
    #[inline(always)]
    pub fn block(&mut self) -> &mut B {
        &mut self.0
    }
}

impl<B: CipherBlock> XorSum<B> {
    /// The sum of no blocks.
    pub(super) const EMPTY: Self = XorSum(B::ZERO);

    #[inline(always)]
    pub(super) fn join(&mut self, right: &Self) {
        self.0 = self.0.xor(&right.0);
    }

    pub(super) fn ct_eq(&self, other: &Self) -> bool {
        self.0.as_ref().ct_eq(other.0.as_ref()).into()
    }

    /// Adds an xor of terms.
    #[inline(always)]
    pub(super) fn add<L: Lanes<Block = B>>(&mut self, lanes: L, terms: OneBlock<L>) {
        let narrow = lanes.narrow();
        self.0 = narrow.lane0(narrow.xor(narrow.splat(&self.0), terms));
    }

    /// The sum xor the [`padded`] last block.
    #[inline(always)]
    pub(super) fn with_last<L: Lanes<Block = B>>(&self, lanes: L, last: Bits<'_>) -> OneBlock<L> {
        let narrow = lanes.narrow();
        narrow.xor(narrow.splat(&self.0), padded(lanes, last))
    }

    /// As [`with_last`](XorSum::with_last), for the end of a message of at least a block, from `cut`.
    #[inline(always)]
    pub(super) fn with_end<L: Lanes<Block = B>>(
        &self,
        lanes: L,
        message: &[u8],
        cut: usize,
    ) -> OneBlock<L> {
        let (narrow, rest) = (lanes.narrow(), message.len() - cut);
        let (sum, last) = (narrow.splat(&self.0), &message[message.len() - B::BYTES..]);
        if rest == B::BYTES {
            return narrow.xor(sum, narrow.tail(last));
        }
        let end = narrow.splat(&B::one_at(8 * rest));
        narrow.xor3(sum, narrow.last_bytes(last, rest), end)
    }
}

/// The last block, padded with `10*` and cut to a block. A full block is unchanged.
#[inline(always)]
pub(super) fn padded<L: Lanes>(lanes: L, last: Bits<'_>) -> OneBlock<L> {
    let narrow = lanes.narrow();
    let bits = last.bits() as usize;
    if bits == 8 * L::Block::BYTES {
        return lanes.tail(last.bytes());
    }
    let mut block = lanes.tail(last.bytes());
    if let Some(mask) = last.last_mask() {
        let mut bytes = narrow.lane0(block);
        bytes.as_mut()[bits / 8] &= mask;
        block = narrow.splat(&bytes);
    }
    narrow.xor(block, narrow.splat(&L::Block::one_at(bits)))
}

#[cfg(feature = "save")]
impl<B: CipherBlock> crate::save::Save for XorSum<B> {
    fn save(&self, out: &mut crate::save::Writer) -> Result<(), crate::save::SaveError> {
        out.bytes(self.0.as_ref());
        Ok(())
    }

    fn load(input: &mut crate::save::Reader<'_>, _: core::ops::Range<u64>) -> Option<Self> {
        input.bytes(B::BYTES).map(|bytes| XorSum(B::zero_filled(bytes)))
    }
}

/// One block of lanes as a vector.
pub(super) type OneBlock<L> = <<L as Lanes>::Narrow as Lanes>::V;

/// The terms of a range of blocks, in order.
pub(super) trait BlockTerms {
    /// The vectors of blocks on a level.
    type Lanes<I: Isa>: Lanes;
    /// Keys and tables, prepared for a level.
    type Prepared<I: Isa>: Copy;
    /// An accumulator of terms.
    type Sum<I: Isa>;
    /// A run of less than one vector comes before the other vectors of a rest, where vectors have
    /// four blocks or more.
    const LANES_FIRST: bool = false;
    /// The vectors of a level.
    fn lanes<I: Isa>(isa: I) -> Self::Lanes<I>;
    /// Prepares a level, once per range, before the loop.
    fn prepare<I: Isa>(&self, isa: I) -> Self::Prepared<I>;
    /// An empty accumulator.
    fn sum<I: Isa>(isa: I, prepared: &Self::Prepared<I>) -> Self::Sum<I>;
    /// Xors the terms of the next `N * LANES` blocks into `sum`.
    fn add<I: Isa, const N: usize>(
        &mut self,
        isa: I,
        prepared: &Self::Prepared<I>,
        sum: &mut Self::Sum<I>,
    );
    /// Xors the terms of the next `n` blocks, at most `LANES`, into `sum`.
    fn add_lanes<I: Isa>(
        &mut self,
        isa: I,
        prepared: &Self::Prepared<I>,
        sum: &mut Self::Sum<I>,
        n: usize,
    );
    /// The xor of all terms as one block.
    fn finish<I: Isa>(
        isa: I,
        prepared: &Self::Prepared<I>,
        sum: &mut Self::Sum<I>,
    ) -> OneBlock<Self::Lanes<I>>;
}

/// Terms of numbered blocks. In a group of `8 * LANES` numbers that starts at a multiple of its
/// size, each number is the first one xor its index in the group. The same holds for their
/// encodings, so a table of encoded indices reduces a block's number to one xor.
pub(super) trait CounterTerms: BlockTerms {
    /// The next block's number.
    fn number(&self) -> u64;
    /// Numbers 0 to `8 * LANES - 1`, encoded.
    fn counter_table<I: Isa>(&self, isa: I, prepared: &Self::Prepared<I>) -> [VOf<Self, I>; 8];
    /// Xors the terms of the next group into `sum`.
    fn add_group<I: Isa>(
        &mut self,
        isa: I,
        prepared: &Self::Prepared<I>,
        table: &[VOf<Self, I>; 8],
        sum: &mut Self::Sum<I>,
    );
}

/// A vector of the blocks of T.
pub(super) type VOf<T, I> = <<T as BlockTerms>::Lanes<I> as Lanes>::V;

/// The first `8 * LANES` numbers, encoded.
#[inline(always)]
pub(super) fn counter_table<L: Lanes>(lanes: L, layout: L::CounterLayout) -> [L::V; 8] {
    let mut counter = lanes.counter(0);
    let mut table = [lanes.encode_counter(counter, layout); 8];
    for place in &mut table[1..] {
        counter = lanes.advance(counter);
        *place = lanes.encode_counter(counter, layout);
    }
    table
}

/// A number, encoded for one block, in every lane.
#[inline(always)]
pub(super) fn number<L: Lanes>(
    lanes: L,
    number: u64,
    layout: <L::Narrow as Lanes>::CounterLayout,
) -> L::V {
    let narrow = lanes.narrow();
    lanes.splat(&narrow.lane0(narrow.encode_counter(narrow.counter(number), layout)))
}

/// Accumulates the terms of a range.
pub(super) struct Accumulator<'a, I: Isa, T: BlockTerms> {
    isa: I,
    pub(super) terms: T,
    prepared: T::Prepared<I>,
    /// A reference, because it may be large and would be moved with the rest.
    sum: &'a mut T::Sum<I>,
}

impl<I: Isa, T: BlockTerms> Accumulator<'_, I, T> {
    /// Adds the terms that `add` accumulates to a sum.
    #[inline(always)]
    pub(super) fn add_to<B: CipherBlock>(
        sum: &mut XorSum<B>,
        isa: I,
        terms: T,
        add: impl FnOnce(&mut Accumulator<'_, I, T>),
    ) where
        T::Lanes<I>: Lanes<Block = B>,
    {
        let prepared = terms.prepare(isa);
        let mut terms_sum = T::sum(isa, &prepared);
        add(&mut Accumulator { isa, terms, prepared, sum: &mut terms_sum });
        sum.add(T::lanes(isa), T::finish(isa, &prepared, &mut terms_sum));
    }

    /// Adds the terms of the next `N` vectors.
    #[inline(always)]
    fn vectors<const N: usize>(&mut self) {
        self.terms.add::<I, N>(self.isa, &self.prepared, self.sum);
    }

    /// Adds the terms of the next `UNROLL` vectors.
    #[inline(always)]
    pub(super) fn unrolled(&mut self) {
        const { assert!(T::Lanes::<I>::UNROLL == 1 || T::Lanes::<I>::UNROLL == 8) };
        if T::Lanes::<I>::UNROLL == 8 {
            self.vectors::<8>();
        } else {
            self.vectors::<1>();
        }
    }

    /// Adds the terms of the next `n` blocks, at most `LANES`.
    #[inline(always)]
    pub(super) fn lanes(&mut self, n: usize) {
        self.terms.add_lanes(self.isa, &self.prepared, self.sum, n);
    }

    /// Adds the terms of the next `blocks` blocks, at most 8, side by side if a vector is one
    /// block. Without a loop, so that compilers know every block's position.
    #[inline(always)]
    pub(super) fn side_by_side(&mut self, blocks: usize) {
        if const { T::Lanes::<I>::LANES > 1 } {
            return self.all(blocks);
        }
        if const { !I::AES_INSTRUCTIONS } {
            assert!(blocks < 8);
            return self.less_than_eight(blocks);
        }
        match blocks {
            0 => {}
            1 => self.vectors::<1>(),
            2 => self.vectors::<2>(),
            3 => self.vectors::<3>(),
            4 => self.vectors::<4>(),
            5 => self.vectors::<5>(),
            6 => self.vectors::<6>(),
            7 => self.vectors::<7>(),
            8 => self.vectors::<8>(),
            _ => unreachable!("at most 8 blocks"),
        }
    }

    /// Adds the terms of the next `vectors` vectors, modulo 8.
    #[inline(always)]
    fn less_than_eight(&mut self, vectors: usize) {
        if vectors & 4 != 0 {
            self.vectors::<4>();
        }
        if vectors & 2 != 0 {
            self.vectors::<2>();
        }
        if vectors & 1 != 0 {
            self.vectors::<1>();
        }
    }

    /// Adds the terms of the next `blocks` blocks.
    #[inline(always)]
    pub(super) fn all(&mut self, blocks: usize) {
        let lanes = T::Lanes::<I>::LANES;
        let vectors = blocks / lanes;
        for _ in 0..blocks / T::Lanes::<I>::UNROLLED_BLOCKS {
            self.unrolled();
        }
        let (some, first) = (blocks % lanes, const { T::LANES_FIRST && T::Lanes::<I>::LANES >= 4 });
        if first && some > 0 {
            self.lanes(some);
        }
        if T::Lanes::<I>::UNROLL == 8 {
            self.less_than_eight(vectors);
        }
        if !first && some > 0 {
            self.lanes(some);
        }
    }
}

impl<I: Isa, T: CounterTerms> Accumulator<'_, I, T> {
    /// Adds the terms of the next `left` numbered blocks, by groups as far as possible.
    #[inline(always)]
    pub(super) fn add_numbered(&mut self, mut left: usize) {
        let lanes = T::Lanes::<I>::LANES;
        // Otherwise a number is not the group's first number xor its index.
        const { assert!(T::Lanes::<I>::LANES.is_power_of_two()) };
        let group = 8 * lanes;
        let head = (group - self.terms.number() as usize % group) % group;
        if T::Lanes::<I>::UNROLL == 8 && left >= head + group {
            self.all(head);
            left -= head;
            let table = self.terms.counter_table(self.isa, &self.prepared);
            while left >= group {
                self.terms.add_group(self.isa, &self.prepared, &table, self.sum);
                left -= group;
            }
        }
        self.all(left);
    }
}

/// A tag length: keeps the first `bits` bits of a block.
#[derive(Clone, Copy)]
pub(super) struct Truncation<B> {
    bits: u16,
    mask: B,
}

impl<B: CipherBlock> Truncation<B> {
    /// Keeps the whole block.
    pub(super) fn none() -> Self {
        const { assert!(B::BYTES <= Tag::MAX_BYTES, "tags have at most 256 bits") };
        let bits = 8 * B::BYTES;
        Truncation { bits: bits as u16, mask: B::first_ones(bits) }
    }

    /// Keeps the first `bits` bits.
    pub(super) fn to(bits: usize) -> Result<Self, crate::Error> {
        let max = 8 * B::BYTES;
        if !(1..=max).contains(&bits) {
            return Err(crate::Error::TagBits { min: 1, max, step: 1, found: bits });
        }
        Ok(Truncation { bits: bits as u16, mask: B::first_ones(bits) })
    }

    pub(super) fn bits(&self) -> usize {
        self.bits as usize
    }

    /// The first bits of E_K(x) as a tag.
    #[inline(always)]
    pub(super) fn encrypt<I: Isa, C: Cipher<Block = B>>(
        &self,
        isa: I,
        cipher: &C,
        x: &XorDigest<B>,
    ) -> Tag {
        Tag::from_block(cipher.encrypt_one(isa, &x.0).and(&self.mask), self.bits)
    }

    /// Writes the first bits of a block as a tag.
    #[inline(always)]
    pub(super) fn write(&self, block: &B, tag: &mut Tag) {
        tag.set(&block.and(&self.mask), self.bits);
    }

    /// Clears all but the first bits of each block.
    #[inline(always)]
    pub(super) fn cut(&self, blocks: &mut [B]) {
        if self.bits() < 8 * B::BYTES {
            for block in blocks {
                *block = block.and(&self.mask);
            }
        }
    }
}
