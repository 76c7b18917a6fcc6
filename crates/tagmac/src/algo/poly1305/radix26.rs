//! Five limbs of 26 bits, for levels with 32-bit multiplication.

use super::horner::Radix;
use crate::isa::Words;

/// Five limbs in the words of a vector.
pub(super) struct Radix26;

const BITS: u32 = 26;

impl<A: Words> Radix<A> for Radix26 {
    const LIMBS: usize = 5;
    const BITS: usize = BITS as usize;
    type Limbs = [A::W; 5];
    /// r, and 5 r without its lowest limb: 2^130 = 5.
    type Power = ([A::W; 5], [A::W; 4]);
    type Sums = [A::W; 5];

    #[inline(always)]
    fn limbs(limb: impl Fn(usize) -> A::W) -> [A::W; 5] {
        [limb(0), limb(1), limb(2), limb(3), limb(4)]
    }

    #[inline(always)]
    fn power(a: A, r: [A::W; 5]) -> Self::Power {
        let times_5 = |x| a.add(a.shl(x, 2), x);
        (r, [times_5(r[1]), times_5(r[2]), times_5(r[3]), times_5(r[4])])
    }

    #[inline(always)]
    fn from_columns(a: A, (low, high): (A::W, A::W), top: A::W) -> [A::W; 5] {
        let mask = a.splat((1 << BITS) - 1);
        [
            a.and(low, mask),
            a.and(a.shr(low, 26), mask),
            a.and(a.shr_pair(low, high, 52), mask),
            a.and(a.shr(high, 14), mask),
            a.or(a.shr(high, 40), a.and(top, a.splat(1 << 24))),
        ]
    }

    #[inline(always)]
    fn plus(a: A, x: [A::W; 5], y: [A::W; 5]) -> [A::W; 5] {
        [
            a.add(x[0], y[0]),
            a.add(x[1], y[1]),
            a.add(x[2], y[2]),
            a.add(x[3], y[3]),
            a.add(x[4], y[4]),
        ]
    }

    #[inline(always)]
    fn no_sums(a: A) -> [A::W; 5] {
        [a.splat(0); 5]
    }

    #[inline(always)]
    fn add_product(a: A, d: [A::W; 5], h: [A::W; 5], (r, s): &Self::Power) -> [A::W; 5] {
        let [mut d0, mut d1, mut d2, mut d3, mut d4] = d;
        let add = |d, x, y| a.add(d, a.mul32(x, y));
        d0 = add(d0, h[0], r[0]);
        d1 = add(d1, h[0], r[1]);
        d2 = add(d2, h[0], r[2]);
        d3 = add(d3, h[0], r[3]);
        d4 = add(d4, h[0], r[4]);
        d0 = add(d0, h[1], s[3]);
        d1 = add(d1, h[1], r[0]);
        d2 = add(d2, h[1], r[1]);
        d3 = add(d3, h[1], r[2]);
        d4 = add(d4, h[1], r[3]);
        d0 = add(d0, h[2], s[2]);
        d1 = add(d1, h[2], s[3]);
        d2 = add(d2, h[2], r[0]);
        d3 = add(d3, h[2], r[1]);
        d4 = add(d4, h[2], r[2]);
        d0 = add(d0, h[3], s[1]);
        d1 = add(d1, h[3], s[2]);
        d2 = add(d2, h[3], s[3]);
        d3 = add(d3, h[3], r[0]);
        d4 = add(d4, h[3], r[1]);
        d0 = add(d0, h[4], s[0]);
        d1 = add(d1, h[4], s[1]);
        d2 = add(d2, h[4], s[2]);
        d3 = add(d3, h[4], s[3]);
        d4 = add(d4, h[4], r[0]);
        [d0, d1, d2, d3, d4]
    }

    #[inline(always)]
    fn carry(a: A, [d0, d1, d2, d3, d4]: [A::W; 5]) -> [A::W; 5] {
        let mask = a.splat((1 << BITS) - 1);
        let rest = |x| a.and(x, mask);
        let over = |x| a.shr(x, BITS);
        // Two chains in parallel: from limb 0 to 3, and from limb 3 through the top to 1.
        let d1 = a.add(d1, over(d0));
        let d4 = a.add(d4, over(d3));
        let (d0, d3) = (rest(d0), rest(d3));
        let d2 = a.add(d2, over(d1));
        let c = over(d4);
        let d0 = a.add(d0, a.add(c, a.shl(c, 2)));
        let (d1, d4) = (rest(d1), rest(d4));
        let d3 = a.add(d3, over(d2));
        let d1 = a.add(d1, over(d0));
        let (d2, d0) = (rest(d2), rest(d0));
        let d4 = a.add(d4, over(d3));
        [d0, d1, d2, rest(d3), d4]
    }
}
