//! What PMAC, LightMAC and EliMAC share: the hash of a range is the xor of a term per block, and
//! the tag is one cipher call on that xor and the padded last block.
//!
//! Terms are made eight vectors at a time, so that the cipher's pipeline is full; what is left
//! falls into runs of four, two and one vectors and some lanes, which do not wait for each other.

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::cipher::Cipher;
use crate::isa::{Block, Isa, one_at};
use crate::tag::Tag;

/// The xor of the terms of a range of blocks. Secret, so it shows nothing.
#[derive(Clone, Copy)]
pub struct XorSum(Block);

impl Zeroize for XorSum {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl XorSum {
    /// The sum of no blocks.
    pub(super) const EMPTY: XorSum = XorSum([0; 16]);

    #[inline(always)]
    pub(super) fn join(&mut self, right: &XorSum) {
        self.0 = (u128::from_ne_bytes(self.0) ^ u128::from_ne_bytes(right.0)).to_ne_bytes();
    }

    /// The sum, the last block with `10*` after it, and as much of it as a block holds. A full
    /// block is left as it is.
    #[inline(always)]
    pub(super) fn with_last<I: Isa>(&self, isa: I, last: Bits<'_>) -> <I::Narrow as Isa>::V {
        let narrow = isa.narrow();
        let sum = narrow.splat(&self.0);
        let bits = last.bits() as usize;
        if bits == 128 {
            return narrow.xor(sum, isa.tail(last.bytes()));
        }
        let mut block = isa.tail(last.bytes());
        if let Some(mask) = last.last_mask() {
            let mut bytes = narrow.first_lane(block);
            bytes[bits / 8] &= mask;
            block = narrow.splat(&bytes);
        }
        narrow.xor3(sum, block, narrow.splat(&one_at(bits)))
    }
}

/// The terms of a range of blocks, taken in order.
pub(super) trait Terms {
    /// What a rung needs to make terms: keys, tables.
    type Ready<I: Isa>: Copy;
    /// Prepares a rung: once per range, before the loop.
    fn ready<I: Isa>(&self, isa: I) -> Self::Ready<I>;
    /// Xors the terms of the next `N * LANES` blocks into `sum`.
    fn add<I: Isa, const N: usize>(&mut self, isa: I, ready: &Self::Ready<I>, sum: I::V) -> I::V;
    /// The terms of the next `n` blocks, fewer than `LANES`; the other lanes do not matter.
    fn lanes<I: Isa>(&mut self, isa: I, ready: &Self::Ready<I>, n: usize) -> I::V;
}

/// A xor of terms in the making.
pub(super) struct Adder<I: Isa> {
    isa: I,
    wide: I::V,
    narrow: <I::Narrow as Isa>::V,
}

impl<I: Isa> Adder<I> {
    /// Starts from a sum.
    #[inline(always)]
    pub(super) fn new(isa: I, sum: &XorSum) -> Self {
        Adder { isa, wide: isa.splat(&[0; 16]), narrow: isa.narrow().splat(&sum.0) }
    }

    /// Adds the terms of the next `N` vectors.
    #[inline(always)]
    pub(super) fn vectors<T: Terms, const N: usize>(&mut self, terms: &mut T, ready: &T::Ready<I>) {
        self.wide = terms.add::<I, N>(self.isa, ready, self.wide);
    }

    /// Adds the terms of the next `N` blocks one by one.
    #[inline(always)]
    pub(super) fn blocks<T: Terms, const N: usize>(&mut self, terms: &mut T) {
        let narrow = self.isa.narrow();
        let ready = terms.ready(narrow);
        self.narrow = terms.add::<_, N>(narrow, &ready, self.narrow);
    }

    /// Adds the terms of the next `blocks` blocks.
    #[inline(always)]
    pub(super) fn all<T: Terms>(&mut self, terms: &mut T, ready: &T::Ready<I>, blocks: usize) {
        let vectors = blocks / I::LANES;
        for _ in 0..vectors / 8 {
            self.vectors::<T, 8>(terms, ready);
        }
        if vectors & 4 != 0 {
            self.vectors::<T, 4>(terms, ready);
        }
        if vectors & 2 != 0 {
            self.vectors::<T, 2>(terms, ready);
        }
        if vectors & 1 != 0 {
            self.vectors::<T, 1>(terms, ready);
        }
        let rest = blocks % I::LANES;
        if I::TOGETHER && rest != 0 {
            let last = self.isa.keep_lanes(terms.lanes(self.isa, ready, rest), rest);
            self.wide = self.isa.xor(self.wide, last);
        } else {
            if rest & 2 != 0 {
                self.blocks::<T, 2>(terms);
            }
            if rest & 1 != 0 {
                self.blocks::<T, 1>(terms);
            }
        }
    }

    /// The sum.
    #[inline(always)]
    pub(super) fn sum(self) -> XorSum {
        let narrow = self.isa.narrow();
        XorSum(narrow.first_lane(narrow.xor(self.narrow, self.isa.fold(self.wide))))
    }
}

/// How long a tag is: the first `bits` bits of a block.
#[derive(Clone, Copy)]
pub(super) struct Truncation {
    bits: u16,
    mask: Block,
}

impl Truncation {
    /// The whole block.
    pub(super) const NONE: Truncation = Truncation { bits: 128, mask: [0xff; 16] };

    /// The first `bits` bits.
    pub(super) fn to(bits: usize) -> Result<Self, crate::Error> {
        if !(1..=128).contains(&bits) {
            return Err(crate::Error::TagBits { min: 1, max: 128, step: 1, found: bits });
        }
        let mask = (u128::MAX << (128 - bits)).to_be_bytes();
        Ok(Truncation { bits: bits as u16, mask })
    }

    pub(super) fn bits(&self) -> usize {
        self.bits as usize
    }

    /// The first bits of E_K(x) as a tag.
    #[inline(always)]
    pub(super) fn seal<I: Isa, C: Cipher>(&self, isa: I, cipher: &C, x: &Block) -> Tag {
        let narrow = isa.narrow();
        let full = narrow.first_lane(cipher.encrypt_one(narrow, narrow.splat(x)));
        let cut = u128::from_ne_bytes(full) & u128::from_ne_bytes(self.mask);
        Tag::of_block(cut.to_ne_bytes(), self.bits)
    }
}
