//! Limbs of 44, 44 and 42 bits, for levels with 52-bit multiplication.

use super::horner::Radix;
use crate::isa::Words;

/// Three limbs in the words of a vector. Sums of products are kept in two halves, bits 0..52 and
/// 52..104.
pub(super) struct Radix44;

const BITS: u32 = 44;
/// The number of bits of the top limb.
const TOP: u32 = 42;

impl<A: Words> Radix<A> for Radix44 {
    const LIMBS: usize = 3;
    const BITS: usize = BITS as usize;
    type Limbs = [A::W; 3];
    /// r, and 20 r without its lowest limb: 2^132 = 20.
    type Power = ([A::W; 3], [A::W; 2]);
    type Sums = [[A::W; 2]; 3];

    #[inline(always)]
    fn limbs(limb: impl Fn(usize) -> A::W) -> [A::W; 3] {
        [limb(0), limb(1), limb(2)]
    }

    #[inline(always)]
    fn power(a: A, r: [A::W; 3]) -> Self::Power {
        let times_20 = |x| a.add(a.shl(x, 4), a.shl(x, 2));
        (r, [times_20(r[1]), times_20(r[2])])
    }

    #[inline(always)]
    fn from_columns(a: A, (low, high): (A::W, A::W), top: A::W) -> [A::W; 3] {
        let mask = a.splat((1 << BITS) - 1);
        let middle = a.and(a.shr_pair(low, high, BITS), mask);
        [a.and(low, mask), middle, a.or(a.shr(high, 24), a.and(top, a.splat(1 << 40)))]
    }

    #[inline(always)]
    fn plus(a: A, x: [A::W; 3], y: [A::W; 3]) -> [A::W; 3] {
        [a.add(x[0], y[0]), a.add(x[1], y[1]), a.add(x[2], y[2])]
    }

    #[inline(always)]
    fn no_sums(a: A) -> Self::Sums {
        [[a.splat(0); 2]; 3]
    }

    #[inline(always)]
    fn add_product(a: A, d: Self::Sums, h: [A::W; 3], (r, s): &Self::Power) -> Self::Sums {
        let [mut d0, mut d1, mut d2] = d;
        d0 = a.mul52(d0, h[0], r[0]);
        d1 = a.mul52(d1, h[0], r[1]);
        d2 = a.mul52(d2, h[0], r[2]);
        d0 = a.mul52(d0, h[1], s[1]);
        d1 = a.mul52(d1, h[1], r[0]);
        d2 = a.mul52(d2, h[1], r[1]);
        d0 = a.mul52(d0, h[2], s[0]);
        d1 = a.mul52(d1, h[2], s[1]);
        d2 = a.mul52(d2, h[2], r[0]);
        [d0, d1, d2]
    }

    #[inline(always)]
    fn carry(a: A, d: Self::Sums) -> [A::W; 3] {
        let mask = a.splat((1 << BITS) - 1);
        // Bit 52 of a limb is bit 8 of the next limb, or bit 10 above the top limb.
        let over = |[low, high]: [A::W; 2], bits| a.add(a.shr(low, bits), a.shl(high, 52 - bits));
        let h0 = a.and(d[0][0], mask);
        let d1 = a.add(d[1][0], over(d[0], BITS));
        let d2 = a.add(d[2][0], over([d1, d[1][1]], BITS));
        let h1 = a.and(d1, mask);
        let h2 = a.and(d2, a.splat((1 << TOP) - 1));
        let c = over([d2, d[2][1]], TOP);
        let h0 = a.add(h0, a.add(c, a.shl(c, 2)));
        [a.and(h0, mask), a.add(h1, a.shr(h0, BITS)), h2]
    }
}
