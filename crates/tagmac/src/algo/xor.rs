//! What PMAC, LightMAC and EliMAC share: the hash of a range is the xor of a term per block, and
//! the tag is one cipher call on that xor and the padded last block.
//!
//! Terms are made eight vectors at a time, so that the cipher's pipeline is full; what is left
//! falls into runs of four, two and one vectors and some lanes, which do not wait for each other.

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::cipher::Cipher;
use crate::isa::{Block, Isa, one_at, xor_blocks};
use crate::tag::Tag;

/// The xor of the terms of a range of blocks. Secret, so it shows nothing.
#[derive(Clone, Copy)]
pub struct XorSum(Block);

impl Zeroize for XorSum {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// What the last cipher call encrypts. Secret, so it shows nothing.
pub struct XorDigest(pub(super) Block);

impl XorSum {
    /// The sum of no blocks.
    pub(super) const EMPTY: XorSum = XorSum([0; 16]);

    #[inline(always)]
    pub(super) fn join(&mut self, right: &XorSum) {
        self.0 = xor_blocks(&self.0, &right.0);
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
    /// The terms of the next `n` blocks, at most `LANES`; the other lanes do not matter.
    fn lanes<I: Isa>(&mut self, isa: I, ready: &Self::Ready<I>, n: usize) -> I::V;
}

/// Terms of blocks that have numbers. In a group of `8 * LANES` numbers that starts at a multiple
/// of its size, each is the group's first number xor its place, and so are their encodings: the
/// places make a table, and a block's number costs one xor.
pub(super) trait Numbered: Terms {
    /// The next block's number.
    fn number(&self) -> u64;
    /// Numbers 0 to `8 * LANES - 1`, encoded.
    fn places<I: Isa>(&self, isa: I, ready: &Self::Ready<I>) -> [I::V; 8];
    /// Xors the terms of the next group into `sum`.
    fn add_group<I: Isa>(
        &mut self,
        isa: I,
        ready: &Self::Ready<I>,
        places: &[I::V; 8],
        sum: I::V,
    ) -> I::V;
}

/// The first `8 * LANES` numbers in a form.
#[inline(always)]
pub(super) fn places<I: Isa>(isa: I, form: I::Form) -> [I::V; 8] {
    let mut counter = isa.counter(0);
    let mut places = [isa.encode(counter, form); 8];
    for place in &mut places[1..] {
        counter = isa.advance(counter);
        *place = isa.encode(counter, form);
    }
    places
}

/// A number in a form, in every lane.
#[inline(always)]
pub(super) fn number<I: Isa>(isa: I, number: u64, form: &Block) -> I::V {
    let narrow = isa.narrow();
    let block = narrow.encode(narrow.counter(number), narrow.form(form));
    isa.splat(&narrow.first_lane(block))
}

/// A xor of terms in the making.
pub(super) struct Adder<I: Isa> {
    isa: I,
    sum: I::V,
}

impl<I: Isa> Adder<I> {
    /// A xor of nothing.
    #[inline(always)]
    pub(super) fn new(isa: I) -> Self {
        Adder { isa, sum: isa.splat(&[0; 16]) }
    }

    /// Adds the terms of the next `N` vectors.
    #[inline(always)]
    fn vectors<T: Terms, const N: usize>(&mut self, terms: &mut T, ready: &T::Ready<I>) {
        self.sum = terms.add::<I, N>(self.isa, ready, self.sum);
    }

    /// Adds the terms of the next `VECTORS` vectors.
    #[inline(always)]
    pub(super) fn flight<T: Terms>(&mut self, terms: &mut T, ready: &T::Ready<I>) {
        const { assert!(I::VECTORS == 1 || I::VECTORS == 8) };
        if I::VECTORS == 8 {
            self.vectors::<T, 8>(terms, ready);
        } else {
            self.vectors::<T, 1>(terms, ready);
        }
    }

    /// Adds the terms of the next `n` blocks, at most `LANES`.
    #[inline(always)]
    pub(super) fn lanes<T: Terms>(&mut self, terms: &mut T, ready: &T::Ready<I>, n: usize) {
        let last = terms.lanes(self.isa, ready, n);
        self.sum = self.isa.xor(self.sum, self.isa.keep_lanes(last, n));
    }

    /// Adds the terms of the next `blocks` blocks.
    #[inline(always)]
    pub(super) fn all<T: Terms>(&mut self, terms: &mut T, ready: &T::Ready<I>, blocks: usize) {
        let vectors = blocks / I::LANES;
        for _ in 0..vectors / I::VECTORS {
            self.flight(terms, ready);
        }
        if I::VECTORS == 8 {
            if vectors & 4 != 0 {
                self.vectors::<T, 4>(terms, ready);
            }
            if vectors & 2 != 0 {
                self.vectors::<T, 2>(terms, ready);
            }
            if vectors & 1 != 0 {
                self.vectors::<T, 1>(terms, ready);
            }
        }
        if !blocks.is_multiple_of(I::LANES) {
            self.lanes(terms, ready, blocks % I::LANES);
        }
    }

    /// Adds the terms of the next `left` numbered blocks, by groups where there are some.
    #[inline(always)]
    pub(super) fn numbered<T: Numbered>(
        &mut self,
        terms: &mut T,
        ready: &T::Ready<I>,
        mut left: usize,
    ) {
        // Only then is a number in a group the group's first xor its place.
        const { assert!(I::LANES.is_power_of_two()) };
        let group = 8 * I::LANES;
        let head = (group - terms.number() as usize % group) % group;
        if I::VECTORS == 8 && left >= head + group {
            self.all(terms, ready, head);
            left -= head;
            let places = terms.places(self.isa, ready);
            while left >= group {
                self.sum = terms.add_group(self.isa, ready, &places, self.sum);
                left -= group;
            }
        }
        self.all(terms, ready, left);
    }

    /// Adds the xor to a sum.
    #[inline(always)]
    pub(super) fn add_to(self, sum: &mut XorSum) {
        let narrow = self.isa.narrow();
        sum.0 = narrow.first_lane(narrow.xor(narrow.splat(&sum.0), self.isa.fold(self.sum)));
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
    pub(super) fn seal<I: Isa, C: Cipher>(&self, isa: I, cipher: &C, x: &XorDigest) -> Tag {
        let narrow = isa.narrow();
        let full = narrow.first_lane(cipher.encrypt_one(narrow, narrow.splat(&x.0)));
        let cut = u128::from_ne_bytes(full) & u128::from_ne_bytes(self.mask);
        Tag::of_block(cut.to_ne_bytes(), self.bits)
    }
}
