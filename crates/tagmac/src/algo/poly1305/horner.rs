//! Horner's rule in the words of vectors, generic over the layout of the limbs.
//!
//! A vector of n words processes n blocks at once, a row. With R = r^n, all but the last few rows
//! are added four at a time, `h = (h + m_0) R^4 + m_1 R^3 + m_2 R^2 + m_3 R`, and carried once. In
//! the last rows each word is multiplied by the power for its block, so that the words of the sum
//! add up to the hash. The very last row may lack blocks at its start: it is read so that it ends
//! with the message, and the bytes before the message's rest are masked.

use super::field::{ClampedR, FieldElement};
use crate::isa::{MAX_WORDS, Words, fetch_ahead};
use crate::wipe::wipe;

/// A layout of numbers mod 2^130 - 5 in limbs, with one number in each word of a vector.
pub(super) trait Radix<A: Words> {
    /// The number of limbs.
    const LIMBS: usize;
    /// The number of bits of a limb, except the highest.
    const BITS: usize;
    /// One number in each word.
    type Limbs: Copy + AsRef<[A::W]> + AsMut<[A::W]>;
    /// A power of r in each word, prepared as a factor.
    type Power: Copy;
    /// Sums of products, before carries.
    type Sums: Copy;

    /// The number with these limbs.
    fn limbs(limb: impl Fn(usize) -> A::W) -> Self::Limbs;
    /// Prepares a power.
    fn power(a: A, r: Self::Limbs) -> Self::Power;
    /// The numbers of blocks in columns, plus 2^128 where `top` is all ones.
    fn from_columns(a: A, columns: (A::W, A::W), top: A::W) -> Self::Limbs;
    /// `x + y`.
    fn plus(a: A, x: Self::Limbs, y: Self::Limbs) -> Self::Limbs;
    /// An empty sum of products.
    fn no_sums(a: A) -> Self::Sums;
    /// `d + h r`, where h has had at most one addition since it was carried. [`LAST_ROWS`] products
    /// fit.
    fn add_product(a: A, d: Self::Sums, h: Self::Limbs, r: &Self::Power) -> Self::Sums;
    /// Carries.
    fn carry(a: A, d: Self::Sums) -> Self::Limbs;
}

/// The number of rows that are added before a carry.
const ROWS: usize = 4;
/// Messages of at least this length in bytes may not be in the L1 cache. Prefetching cached data
/// costs 4 %.
const FAR: usize = 1 << 15;
/// The maximum number of limbs.
pub(super) const LIMBS: usize = 5;

/// Powers of r in the limbs of a level. Wiped on drop.
#[derive(Clone)]
pub(super) struct Powers {
    /// Limbs 2i and 2i + 1 of r^(LAST_ROWS n - j) in `pairs[i][j]`, for a level of n words.
    pairs: [[u128; MAX_POWERS]; 3],
}

/// The maximum number of rows left for the last sum: at least one full row, and one with missing
/// blocks.
const LAST_ROWS: usize = ROWS + 1;
/// The maximum number of powers, one for each block of these rows.
const MAX_POWERS: usize = LAST_ROWS * MAX_WORDS;

impl Drop for Powers {
    fn drop(&mut self) {
        wipe(&mut self.pairs, [0; MAX_POWERS]);
    }
}

/// The number of words in a vector.
const fn words<A: Words>() -> usize {
    2 * A::LANES
}

impl Powers {
    /// Before the powers are computed.
    #[cfg(feature = "std")]
    pub(super) const NONE: Powers = Powers { pairs: [[0; MAX_POWERS]; 3] };

    /// Computes the powers. Without `std` there is no lock to store them in, so each message
    /// computes its own.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) fn make<A: Words, R: Radix<A>>(&mut self, a: A, r: ClampedR) {
        let n = words::<A>();
        let end = LAST_ROWS * n;
        // The lowest n powers are computed one at a time, the others from them by vectors.
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
        for v in 1..LAST_ROWS {
            row = product::<A, R>(a, row, &step);
            let place = end - (v + 1) * n;
            for (pairs, limbs) in self.pairs.iter_mut().zip(row.as_ref().chunks(2)) {
                let high = limbs.get(1).copied().unwrap_or(a.splat(0));
                a.interleave_numbers((limbs[0], high), &mut pairs[place..][..n]);
            }
        }
    }

    /// r^e for the first block of a row, r^(e-1) for the next, and so on.
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

    /// R^4, R^3, R^2, R. Without a loop, which would first fill the array.
    #[inline(always)]
    fn factors<A: Words, R: Radix<A>>(&self, a: A) -> [R::Power; ROWS] {
        let n = words::<A>();
        [
            R::power(a, self.in_every_word::<A, R>(a, 4 * n)),
            R::power(a, self.in_every_word::<A, R>(a, 3 * n)),
            R::power(a, self.in_every_word::<A, R>(a, 2 * n)),
            R::power(a, self.in_every_word::<A, R>(a, n)),
        ]
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

/// Adds at least one row of blocks: for each block, `h = (h + block) r`.
#[inline(always)]
pub(super) fn absorb<A: Words, R: Radix<A>>(
    a: A,
    powers: &Powers,
    h: FieldElement,
    blocks: &[u8],
) -> FieldElement {
    /// Masks of zeros for missing blocks, followed by masks of ones.
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
        let power = powers.factors::<A, R>(a);
        let far = left.len() >= FAR;
        while left.len() >= LAST_ROWS * row {
            if far {
                fetch_ahead(left, ROWS * row);
            }
            let (now, after) = left.split_at(ROWS * row);
            h = four_rows::<A, R>(a, h, &power, now);
            left = after;
        }
    }
    // The remaining rows: each word is multiplied by the power for its block.
    let mut sums = R::no_sums(a);
    while left.len() >= row {
        let (now, after) = left.split_at(row);
        let m = R::plus(a, R::from_columns(a, a.deinterleave(now), ones), h);
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
        let m = R::from_columns(a, (a.and(low, mask), a.and(high, mask)), mask);
        sums = R::add_product(a, sums, m, &R::power(a, powers.from::<A, R>(a, n)));
    }
    total::<A, R>(a, sums)
}

/// As [`absorb`], for a single use of the powers of r: it computes only those that it needs, in
/// registers. Blocks that do not fill a row come first and are processed one at a time in parallel.
///
/// With R = r^n and P the row of r^n .. r: `h = (h + m) R` for each row but the last. Then the
/// words of `(h + m) P` add up to the hash.
#[inline(always)]
pub(super) fn absorb_once<A: Words, R: Radix<A>>(
    a: A,
    r: ClampedR,
    h: FieldElement,
    blocks: &[u8],
) -> FieldElement {
    let (n, row) = (words::<A>(), 16 * words::<A>());
    let (first, mut left) = blocks.split_at(blocks.len() % row);
    let r1 = in_all::<A, R>(a, r.number());
    let square = in_all::<A, R>(a, r.square());
    // With b the bits of e - 1 for exponent e: P = r^(1 + b0) r^(2 b1) r^(4 b2).
    let mut powers = select::<A, R>(a, 0, square, r1);
    let (mut step, mut bit) = (square, 1);
    while 1 << bit < n {
        let factor = select::<A, R>(a, bit, step, in_all::<A, R>(a, FieldElement::ONE));
        powers = product::<A, R>(a, powers, &R::power(a, factor));
        step = product::<A, R>(a, step, &R::power(a, step));
        bit += 1;
    }
    let h = first.as_chunks().0.iter().fold(
        h,
        #[inline(always)]
        |h, block| r.step(h, u128::from_le_bytes(*block), 1),
    );
    let h = h.limbs(R::LIMBS, R::BITS);
    let mut h = R::limbs(
        #[inline(always)]
        |l| a.first(h[l]),
    );
    let mut factors = [R::power(a, step); ROWS];
    if left.len() > ROWS * row {
        let square = product::<A, R>(a, step, &factors[3]);
        factors[2] = R::power(a, square);
        factors[1] = R::power(a, product::<A, R>(a, square, &factors[3]));
        factors[0] = R::power(a, product::<A, R>(a, square, &factors[2]));
        let far = left.len() >= FAR;
        while left.len() > ROWS * row {
            if far {
                fetch_ahead(left, ROWS * row);
            }
            let (now, after) = left.split_at(ROWS * row);
            h = four_rows::<A, R>(a, h, &factors, now);
            left = after;
        }
    }
    while left.len() > row {
        let (now, after) = left.split_at(row);
        h = product::<A, R>(a, plus_row::<A, R>(a, h, now), &factors[3]);
        left = after;
    }
    let h = plus_row::<A, R>(a, h, left);
    total::<A, R>(a, R::add_product(a, R::no_sums(a), h, &R::power(a, powers)))
}

/// `h + m` for a row of blocks.
#[inline(always)]
fn plus_row<A: Words, R: Radix<A>>(a: A, h: R::Limbs, row: &[u8]) -> R::Limbs {
    R::plus(a, R::from_columns(a, a.deinterleave(row), a.splat(u64::MAX)), h)
}

/// A number in every word.
#[inline(always)]
fn in_all<A: Words, R: Radix<A>>(a: A, x: FieldElement) -> R::Limbs {
    let limbs = x.limbs(R::LIMBS, R::BITS);
    R::limbs(
        #[inline(always)]
        |l| a.splat(limbs[l]),
    )
}

/// `x` in the words whose block has a power r^e with bit `bit` set in e - 1, and `y` in the others.
#[inline(always)]
fn select<A: Words, R: Radix<A>>(a: A, bit: usize, x: R::Limbs, y: R::Limbs) -> R::Limbs {
    static MASKS: [[u128; MAX_WORDS]; 3] = {
        let mut masks = [[0; MAX_WORDS]; 3];
        let mut i = 0;
        while i < 3 * MAX_WORDS {
            let (bit, place) = (i / MAX_WORDS, i % MAX_WORDS);
            masks[bit][place] = if (MAX_WORDS - 1 - place) >> bit & 1 == 1 { u128::MAX } else { 0 };
            i += 1;
        }
        masks
    };
    let (mask, _) = a.deinterleave_numbers(&MASKS[bit][MAX_WORDS - words::<A>()..]);
    R::limbs(
        #[inline(always)]
        |l| a.or(a.and(x.as_ref()[l], mask), a.and_not(y.as_ref()[l], mask)),
    )
}

/// The product in each word, carried.
#[inline(always)]
fn product<A: Words, R: Radix<A>>(a: A, x: R::Limbs, y: &R::Power) -> R::Limbs {
    R::carry(a, R::add_product(a, R::no_sums(a), x, y))
}

/// `(h + m_0) R^4 + m_1 R^3 + m_2 R^2 + m_3 R`, where factor i is R^(4 - i).
#[inline(always)]
fn four_rows<A: Words, R: Radix<A>>(
    a: A,
    h: R::Limbs,
    factors: &[R::Power; ROWS],
    rows: &[u8],
) -> R::Limbs {
    let row = 16 * words::<A>();
    // The row with h comes last, so that the others do not wait for it.
    let mut sums = R::no_sums(a);
    for v in (0..ROWS).rev() {
        let mut m = R::from_columns(a, a.deinterleave(&rows[v * row..][..row]), a.splat(u64::MAX));
        if v == 0 {
            m = R::plus(a, m, h);
        }
        sums = R::add_product(a, sums, m, &factors[v]);
    }
    R::carry(a, sums)
}

/// The sum of all words.
#[inline(always)]
fn total<A: Words, R: Radix<A>>(a: A, sums: R::Sums) -> FieldElement {
    let h = R::carry(a, sums);
    let mut limbs = [0; LIMBS];
    for (limb, h) in limbs.iter_mut().zip(h.as_ref()) {
        *limb = a.sum(*h);
    }
    FieldElement::from_limbs(&limbs[..R::LIMBS], R::BITS)
}
