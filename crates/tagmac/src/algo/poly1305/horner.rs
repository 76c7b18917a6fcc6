//! Horner's rule in the words of vectors, generic over the layout of the limbs.
//!
//! A vector of n words takes n blocks at once, a row. With R = r^n, all but the last few rows are
//! added four at a time, `h = (h + m_0) R^4 + m_1 R^3 + m_2 R^2 + m_3 R`, and carried once. The
//! last rows take for each word the power of its own block, so that the words of the sum add up to
//! the hash. The very last row may have missing blocks in front: it is read so that it ends with
//! the message, and what was there before is masked.

use super::field::{ClampedR, FieldElement};
use crate::isa::{MAX_WORDS, Words};

/// A layout of numbers mod 2^130 - 5 in limbs, one number in each word of a vector.
pub(super) trait Radix<A: Words> {
    /// Limbs of a number.
    const LIMBS: usize;
    /// Bits of a limb but the highest.
    const BITS: usize;
    /// A number in each word.
    type Limbs: Copy + AsRef<[A::W]> + AsMut<[A::W]>;
    /// A power of r in each word, made ready to be a factor.
    type Power: Copy;
    /// Sums of products, before carries.
    type Sums: Copy;

    /// The number with these limbs.
    fn limbs(limb: impl Fn(usize) -> A::W) -> Self::Limbs;
    /// Makes a power ready.
    fn power(a: A, r: Self::Limbs) -> Self::Power;
    /// The numbers of blocks in columns, plus 2^128 where `top` is all ones.
    fn of_columns(a: A, columns: (A::W, A::W), top: A::W) -> Self::Limbs;
    /// `x + y`.
    fn plus(a: A, x: Self::Limbs, y: Self::Limbs) -> Self::Limbs;
    /// No products.
    fn no_sums(a: A) -> Self::Sums;
    /// `d + h r`, for h that has been added to once since it was carried. There is room for
    /// [`LAST_ROWS`] of them.
    fn add_product(a: A, d: Self::Sums, h: Self::Limbs, r: &Self::Power) -> Self::Sums;
    /// Carries.
    fn carry(a: A, d: Self::Sums) -> Self::Limbs;
}

/// Rows that are added before a carry.
const ROWS: usize = 4;
/// The most limbs.
pub(super) const LIMBS: usize = 5;

/// Powers of r in a level's limbs, wiped on drop.
#[derive(Clone)]
pub(super) struct Powers {
    /// Limbs 2i and 2i + 1 of r^(LAST_ROWS n - j) in `pairs[i][j]`, for a level of n words.
    pairs: [[u128; MAX_POWERS]; 3],
}

/// Rows that may be left for the last sum: at least a whole one, and one with missing blocks.
const LAST_ROWS: usize = ROWS + 1;
/// The most powers: as many as those rows have blocks.
const MAX_POWERS: usize = LAST_ROWS * MAX_WORDS;

impl Drop for Powers {
    fn drop(&mut self) {
        // By vectors, and not word by word.
        self.pairs = [[0; MAX_POWERS]; 3];
        zeroize::optimization_barrier(self);
    }
}

/// Words of a vector.
const fn words<A: Words>() -> usize {
    2 * A::LANES
}

impl Powers {
    /// No powers yet.
    pub(super) const NONE: Powers = Powers { pairs: [[0; MAX_POWERS]; 3] };

    /// Makes the missing powers that `blocks` blocks need.
    #[inline(always)]
    pub(super) fn make<A: Words, R: Radix<A>>(&mut self, a: A, r: ClampedR, blocks: usize) {
        let n = words::<A>();
        let (end, rows) = (LAST_ROWS * n, blocks.div_ceil(n).min(LAST_ROWS));
        // The lowest n one by one, the others from them by vectors.
        let mut power = FieldElement::ONE;
        for e in 1..=n {
            power = r.step(power, 0, 0);
            let limbs = power.limbs(R::LIMBS, R::BITS);
            for (pairs, limbs) in self.pairs.iter_mut().zip(limbs.chunks(2)) {
                let high = limbs.get(1).copied().unwrap_or(0);
                pairs[end - e] = (high as u128) << 64 | limbs[0] as u128;
            }
        }
        let step = R::power(a, self.in_every_word::<A, R>(a, n));
        let mut row = self.from::<A, R>(a, n);
        for v in 1..rows {
            row = R::carry(a, R::add_product(a, R::no_sums(a), row, &step));
            let place = end - (v + 1) * n;
            for (pairs, limbs) in self.pairs.iter_mut().zip(row.as_ref().chunks(2)) {
                let high = limbs.get(1).copied().unwrap_or(a.splat(0));
                a.interleave_numbers((limbs[0], high), &mut pairs[place..][..n]);
            }
        }
    }

    /// r^e for the first block of a row, r^(e-1) for the next one, and so on.
    #[inline(always)]
    fn from<A: Words, R: Radix<A>>(&self, a: A, e: usize) -> R::Limbs {
        let place = LAST_ROWS * words::<A>() - e;
        R::limbs(
            #[inline(always)]
            |l| {
                let columns = a.deinterleave_numbers(&self.pairs[l / 2][place..][..words::<A>()]);
                if l % 2 == 0 { columns.0 } else { columns.1 }
            },
        )
    }

    /// r^e in every word.
    #[inline(always)]
    fn in_every_word<A: Words, R: Radix<A>>(&self, a: A, e: usize) -> R::Limbs {
        let place = LAST_ROWS * words::<A>() - e;
        R::limbs(
            #[inline(always)]
            |l| a.splat((self.pairs[l / 2][place] >> (64 * (l % 2))) as u64),
        )
    }
}

/// Adds at least as many blocks as a vector has words: for each block, `h = (h + block) r`.
#[inline(always)]
pub(super) fn absorb<A: Words, R: Radix<A>>(
    a: A,
    powers: &Powers,
    h: FieldElement,
    blocks: &[u8],
) -> FieldElement {
    /// Blocks of zeros, then blocks of ones.
    static MASKS: [u128; 2 * MAX_WORDS] = {
        let mut masks = [0; 2 * MAX_WORDS];
        let mut i = MAX_WORDS;
        while i < 2 * MAX_WORDS {
            masks[i] = u128::MAX;
            i += 1;
        }
        masks
    };
    let n = words::<A>();
    let row = 16 * n;
    let ones = a.splat(u64::MAX);
    let h = h.limbs(R::LIMBS, R::BITS);
    let mut h = R::limbs(
        #[inline(always)]
        |l| a.first(h[l]),
    );
    let mut left = blocks;
    if left.len() >= LAST_ROWS * row {
        let mut power = [R::power(a, powers.in_every_word::<A, R>(a, n)); ROWS];
        for (v, power) in power.iter_mut().enumerate() {
            *power = R::power(a, powers.in_every_word::<A, R>(a, (ROWS - v) * n));
        }
        while left.len() >= LAST_ROWS * row {
            let (now, after) = left.split_at(ROWS * row);
            // The row with h comes last, so that the others need not wait for it.
            let mut sums = R::no_sums(a);
            for v in (0..ROWS).rev() {
                let mut m = R::of_columns(a, a.deinterleave(&now[v * row..][..row]), ones);
                if v == 0 {
                    m = R::plus(a, m, h);
                }
                sums = R::add_product(a, sums, m, &power[v]);
            }
            h = R::carry(a, sums);
            left = after;
        }
    }
    // Rows that are left, each word with the power of its own block.
    let mut sums = R::no_sums(a);
    while left.len() >= row {
        let (now, after) = left.split_at(row);
        let m = R::plus(a, R::of_columns(a, a.deinterleave(now), ones), h);
        let power = R::power(a, powers.from::<A, R>(a, left.len() / 16));
        sums = R::add_product(a, sums, m, &power);
        h = R::limbs(
            #[inline(always)]
            |_| a.splat(0),
        );
        left = after;
    }
    if !left.is_empty() {
        let (mask, _) = a.deinterleave_numbers(&MASKS[MAX_WORDS - n + left.len() / 16..][..n]);
        let (low, high) = a.deinterleave(&blocks[blocks.len() - row..]);
        let m = R::of_columns(a, (a.and(low, mask), a.and(high, mask)), mask);
        sums = R::add_product(a, sums, m, &R::power(a, powers.from::<A, R>(a, n)));
    }
    let h = R::carry(a, sums);
    let mut limbs = [0; LIMBS];
    for (limb, h) in limbs.iter_mut().zip(h.as_ref()) {
        *limb = a.sum(*h);
    }
    FieldElement::from_limbs(&limbs[..R::LIMBS], R::BITS)
}
