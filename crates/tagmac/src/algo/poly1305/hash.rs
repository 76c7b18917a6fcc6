//! The hash of Poly1305. A few blocks are processed one at a time in 64-bit limbs, more by vectors.

use zeroize::Zeroize;

use super::field::{ClampedR, FieldElement};
use super::horner::{self, Powers, Radix};
use super::many::{BlockMatrix, MAX_MESSAGES};
use super::radix26::Radix26;
use super::radix44::Radix44;
use crate::bits::Bits;
use crate::construction::Hash;
use crate::error::silent;
use crate::isa::{Block, Isa, Level, Levels, Words, zero_filled};
use crate::plan::Plan;
#[cfg(feature = "std")]
use crate::tables::Tables;

/// The number of blocks up to which one at a time is faster than the widest vectors, as measured on
/// Zen 4, if the powers of r are stored.
const NARROW_PATH_MAX_BLOCKS: usize = 7;
/// The same if the powers of r would be computed for this message only.
const NARROW_PATH_MAX_BLOCKS_ONCE: usize = 15;

/// The same for vectors of the words A.
const fn narrow_path_max_blocks<A: Words>(once: bool) -> usize {
    match (A::LANES, once) {
        (1, false) => 16,
        (1, true) => 63,
        (2, true) => 27,
        (_, false) => NARROW_PATH_MAX_BLOCKS,
        (_, true) => NARROW_PATH_MAX_BLOCKS_ONCE,
    }
}

/// The hash of a range of blocks. Secret: prints nothing in `Debug`.
#[derive(Clone, Copy)]
pub struct Poly1305Sum {
    h: FieldElement,
    /// The number of blocks in the range: joining multiplies by r^blocks.
    blocks: u64,
}

impl Zeroize for Poly1305Sum {
    fn zeroize(&mut self) {
        self.h.zeroize();
        self.blocks.zeroize();
    }
}

#[cfg(feature = "save")]
impl crate::save::Save for Poly1305Sum {
    fn save(&self, out: &mut crate::save::Writer) -> Result<(), crate::save::SaveError> {
        for limb in self.h.0 {
            out.number(limb);
        }
        Ok(())
    }

    fn load(input: &mut crate::save::Reader<'_>, range: core::ops::Range<u64>) -> Option<Self> {
        let h = FieldElement([input.number()?, input.number()?, input.number()?]);
        // Check that the number is below 2^131.
        (h.0[2] < 8).then_some(())?;
        Some(Poly1305Sum { h, blocks: (range.end - range.start) / size_of::<Block>() as u64 })
    }
}

/// The hash of a message, mod 2^128. Secret: prints nothing in `Debug`.
pub struct Poly1305Digest(pub(super) u128);

/// The hash of Poly1305 under r.
#[derive(Clone)]
pub struct Poly1305Hash {
    r: ClampedR,
    pub(super) level: Level,
    /// The powers of r are needed for one message only.
    once: bool,
    #[cfg(feature = "std")]
    powers: Tables<Powers>,
}

impl Drop for Poly1305Hash {
    fn drop(&mut self) {
        self.r.zeroize();
    }
}

silent!(Poly1305Hash);

impl Poly1305Digest {
    /// Returns the hash as a number.
    pub(crate) fn number(&mut self) -> &mut u128 {
        &mut self.0
    }
}

impl Poly1305Hash {
    #[inline(always)]
    pub(super) fn with(r: &[u8; 16], level: Level, once: bool) -> Self {
        Poly1305Hash {
            r: ClampedR::clamped(r),
            level,
            once,
            #[cfg(feature = "std")]
            powers: Tables::new(),
        }
    }

    /// Adds blocks one at a time.
    #[inline(always)]
    fn one_by_one(&self, h: FieldElement, blocks: &[u8]) -> FieldElement {
        blocks.as_chunks().0.iter().fold(
            h,
            #[inline(always)]
            |h, block| self.r.step(h, u128::from_le_bytes(*block), 1),
        )
    }

    /// The hashes of short messages that fill one or all vectors, plus `s`, mod 2^128, by products of
    /// 52 bits.
    #[inline(always)]
    pub(super) fn tag_many<I: Isa>(
        &self,
        isa: I,
        matrix: &mut BlockMatrix,
        messages: &[&[u8]],
        s: &[u128; MAX_MESSAGES],
    ) -> [u128; MAX_MESSAGES] {
        matrix.tags::<_, Radix44>(isa.words(), self.r, messages, s)
    }

    /// The stored powers of r, if they were computed and `std` provides a place to store them.
    #[inline(always)]
    fn kept(&self) -> Option<&Powers> {
        #[cfg(feature = "std")]
        return self.powers.get();
        #[cfg(not(feature = "std"))]
        None
    }

    /// Returns true if the blocks at byte `at` use powers of r that are stored. A key's first long message
    /// may be its last, and one that starts here may end with these blocks.
    #[inline(always)]
    fn keeps_powers(&self, at: u64) -> bool {
        #[cfg(feature = "std")]
        return self.powers.get().is_some() || at > 0 || !self.once && !self.powers.is_first_use();
        #[cfg(not(feature = "std"))]
        {
            let _ = at;
            false
        }
    }

    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    fn keep(&self, made: &Powers) -> &Powers {
        self.powers.get_or_make(|| Box::new(made.clone()))
    }

    /// Adds blocks by vectors. The powers are computed within the kernel, and stored if `keep`.
    #[inline(always)]
    fn by_vectors<A: Words, R: Radix<A>>(
        &self,
        a: A,
        h: FieldElement,
        keep: bool,
        blocks: &[u8],
    ) -> FieldElement {
        if let Some(powers) = self.kept() {
            return horner::absorb::<A, R>(a, powers, h, blocks);
        }
        #[cfg(feature = "std")]
        if keep {
            let mut made = Powers::NONE;
            made.make::<A, R>(a, self.r);
            return horner::absorb::<A, R>(a, self.keep(&made), h, blocks);
        }
        debug_assert!(!keep, "powers that are kept were made above");
        horner::absorb_once::<A, R>(a, self.r, h, blocks)
    }
}

impl Hash for Poly1305Hash {
    type Sum = Poly1305Sum;
    type Digest = Poly1305Digest;
    type BlockBuffer = Block;
    const LAST_BLOCK_DISTINCT: bool = false;
    const ACCEPTS_BIT_STRINGS: bool = false;
    const POSITION_INDEPENDENT: bool = true;
    const PLAN: Plan = Plan { long: Levels::Words, short: Levels::Narrow, ..Plan::DEFAULT };

    #[inline(always)]
    fn level(&self) -> Level {
        self.level
    }

    #[inline(always)]
    fn block(&self) -> usize {
        16
    }

    #[inline(always)]
    fn narrow_path_max_bytes(&self) -> usize {
        16 * if self.once { NARROW_PATH_MAX_BLOCKS_ONCE } else { NARROW_PATH_MAX_BLOCKS }
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        u64::MAX
    }

    #[inline(always)]
    fn empty(&self) -> Poly1305Sum {
        Poly1305Sum { h: FieldElement::ZERO, blocks: 0 }
    }

    #[inline(always)]
    fn new_buffer(&self) -> Block {
        [0; 16]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sum: &mut Poly1305Sum, at: u64, blocks: &[u8]) {
        sum.blocks += blocks.len() as u64 / 16;
        let narrow = blocks.len() <= 16 * narrow_path_max_blocks::<I::Words>(false)
            || !<I::Words as Words>::HAS_VECTOR_MUL;
        let keep = !narrow && self.keeps_powers(at);
        sum.h = if narrow || !keep && blocks.len() <= 16 * narrow_path_max_blocks::<I::Words>(true)
        {
            self.one_by_one(sum.h, blocks)
        } else if <I::Words as Words>::MUL52 {
            self.by_vectors::<_, Radix44>(isa.words(), sum.h, keep, blocks)
        } else {
            self.by_vectors::<_, Radix26>(isa.words(), sum.h, keep, blocks)
        };
    }

    #[inline(always)]
    fn absorb_narrow<I: Isa>(&self, _isa: I, sum: &mut Poly1305Sum, blocks: &[u8]) {
        sum.blocks = blocks.len() as u64 / 16;
        sum.h = self.one_by_one(FieldElement::ZERO, blocks);
    }

    #[inline(always)]
    fn join(&self, left: &mut Poly1305Sum, right: &Poly1305Sum) {
        left.h = left.h.times(self.r.number().power(right.blocks)).plus(right.h);
        left.blocks += right.blocks;
    }

    fn ct_eq(&self, one: &Poly1305Sum, other: &Poly1305Sum) -> bool {
        one.h.ct_eq(other.h) && one.blocks == other.blocks
    }

    #[inline(always)]
    fn finish<I: Isa>(
        &self,
        _isa: I,
        sum: &Poly1305Sum,
        _at: u64,
        tail: Bits<'_>,
    ) -> Poly1305Digest {
        let tail = tail.bytes();
        let mut h = sum.h;
        if !tail.is_empty() {
            let block = u128::from_le_bytes(zero_filled(tail)) | 1 << (8 * tail.len());
            h = self.r.step(h, block, 0);
        }
        Poly1305Digest(h.residue())
    }

    #[inline(always)]
    fn finish_message<I: Isa>(
        &self,
        isa: I,
        sum: &Poly1305Sum,
        message: &[u8],
        cut: usize,
    ) -> Poly1305Digest {
        let tail = &message[cut..];
        if tail.is_empty() {
            return Poly1305Digest(sum.h.residue());
        }
        let Some(last) = message.last_chunk() else {
            return self.finish(isa, sum, cut as u64, tail.into());
        };
        // The tail and a 1, in one shift by a variable.
        let last = u128::from_le_bytes(*last) >> 1 | 1 << 127;
        let block = last >> (127 - 8 * tail.len());
        Poly1305Digest(self.r.step(sum.h, block, 0).residue())
    }
}
