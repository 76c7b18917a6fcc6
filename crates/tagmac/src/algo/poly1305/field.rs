//! Single numbers mod p = 2^130 - 5, in 64-bit limbs.
//!
//! 2^130 = 5 mod p, so the part of a product from bit 130 is multiplied by 5 and added at bit 0.

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroize;

/// A number below 2^131, not always below p: limbs of 64 bits, lowest first.
#[derive(Clone, Copy)]
pub(super) struct FieldElement(pub(super) [u64; 3]);

impl Zeroize for FieldElement {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// The low word of `a`.
#[inline(always)]
fn low(a: u128) -> u64 {
    a as u64
}

/// The high word of `a`.
#[inline(always)]
fn high(a: u128) -> u64 {
    (a >> 64) as u64
}

#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    a as u128 * b as u128
}

impl FieldElement {
    pub(super) const ZERO: FieldElement = FieldElement([0; 3]);
    pub(super) const ONE: FieldElement = FieldElement([1, 0, 0]);

    /// `a[0] + a[1] 2^64 + a[2] 2^128`, where the part from bit 128 is below 2^64 / 1.25.
    #[inline(always)]
    fn carried(a0: u64, a1: u128, a2: u64) -> FieldElement {
        let a2 = a2 + high(a1);
        // Fold the part c from bit 130: c 2^130 = 5c, and `a2 & !3` is 4c already.
        let a0 = a0 as u128 + ((a2 >> 2) + (a2 & !3)) as u128;
        let a1 = low(a1) as u128 + (a0 >> 64);
        FieldElement([low(a0), low(a1), (a2 & 3) + high(a1)])
    }

    /// `self + b`.
    #[inline(always)]
    pub(super) fn plus(self, b: FieldElement) -> FieldElement {
        let [a, b] = [self.0, b.0];
        let sum = a[0] as u128 + b[0] as u128;
        FieldElement::carried(low(sum), (sum >> 64) + a[1] as u128 + b[1] as u128, a[2] + b[2])
    }

    /// `self * b`.
    #[inline(always)]
    pub(super) fn times(self, b: FieldElement) -> FieldElement {
        let ([a0, a1, a2], [b0, b1, b2]) = (self.0, b.0);
        // The columns of the product. a2 and b2 are at most 7, so their products fit.
        let c0 = product(a0, b0);
        let (c1a, c1b) = (product(a0, b1), product(a1, b0));
        let c1 = high(c0) as u128 + low(c1a) as u128 + low(c1b) as u128;
        let c2 = product(a1, b1);
        let small = product(a0, b2) + product(a2, b0);
        let c2_low = (c1 >> 64) + high(c1a) as u128 + high(c1b) as u128 + low(c2) as u128;
        let c2_low = c2_low + low(small) as u128;
        let small = (small >> 64) + product(a1, b2) + product(a2, b1);
        let c3 = (c2_low >> 64) + high(c2) as u128 + low(small) as u128;
        let c4 = high(c3) + high(small) + a2 * b2;
        let (c2, c3) = (low(c2_low), low(c3));
        // The product is low + 2^130 q = low + 5q, with q = (c2, c3, c4) / 4.
        let q = FieldElement([c2 >> 2 | c3 << 62, c3 >> 2 | c4 << 62, c4 >> 2]);
        let four = [c2 & !3, c3, c4];
        let s0 = low(c0) as u128 + q.0[0] as u128 + four[0] as u128;
        let s1 = (s0 >> 64) + low(c1) as u128 + q.0[1] as u128 + four[1] as u128;
        FieldElement::carried(low(s0), s1, (c2 & 3) + q.0[2] + four[2])
    }

    /// `self^n`. The time depends on n, which is public.
    pub(super) fn power(self, n: u64) -> FieldElement {
        let mut power = FieldElement::ONE;
        for bit in (0..64 - n.leading_zeros()).rev() {
            power = power.times(power);
            if n >> bit & 1 == 1 {
                power = power.times(self);
            }
        }
        power
    }

    /// The number mod p, mod 2^128.
    #[inline(always)]
    pub(super) fn residue(self) -> u128 {
        // Below 2p after folding the bits from 130; then subtract p if the result is not negative.
        let FieldElement([a0, a1, a2]) =
            FieldElement::carried(self.0[0], self.0[1] as u128, self.0[2]);
        let a = (a1 as u128) << 64 | a0 as u128;
        let (plus_five, carry) = a.overflowing_add(5);
        let over = a2 + carry as u64 >= 4;
        let mask = (over as u128).wrapping_neg();
        a & !mask | plus_five & mask
    }

    /// Compares two numbers mod p in constant time.
    pub(super) fn ct_eq(self, other: FieldElement) -> bool {
        self.reduced().0.ct_eq(&other.reduced().0).into()
    }

    /// The number below p.
    fn reduced(self) -> FieldElement {
        // As in `residue`, but keeps the bits from 128.
        let FieldElement([a0, a1, a2]) =
            FieldElement::carried(self.0[0], self.0[1] as u128, self.0[2]);
        let (b0, carry) = a0.overflowing_add(5);
        let (b1, carry) = a1.overflowing_add(carry as u64);
        let b2 = a2 + carry as u64;
        let over = Choice::from((b2 >= 4) as u8);
        let select = |a, b| u64::conditional_select(a, b, over);
        FieldElement([select(&a0, &b0), select(&a1, &b1), select(&a2, &(b2 & 3))])
    }

    /// `count` limbs of `bits` bits, lowest first. The highest has the remaining bits; zeros
    /// follow.
    #[inline(always)]
    pub(super) fn limbs(self, count: usize, bits: usize) -> [u64; 5] {
        let FieldElement([a0, a1, a2]) =
            FieldElement::carried(self.0[0], self.0[1] as u128, self.0[2]);
        let a = (a1 as u128) << 64 | a0 as u128;
        let mut limbs = [0; 5];
        let top = count - 1;
        for (i, limb) in limbs[..top].iter_mut().enumerate() {
            *limb = low(a >> (i * bits)) & ((1 << bits) - 1);
        }
        limbs[top] = low(a >> (top * bits)) | a2 << (128 - top * bits);
        limbs
    }

    /// The sum of `limbs[i] 2^(bits i)`, for limbs of any size.
    #[inline(always)]
    pub(super) fn from_limbs(limbs: &[u64], bits: usize) -> FieldElement {
        // Limbs up to 2^64 overlap, so they are added one at a time.
        let mut sum = [0u128; 3];
        for (i, limb) in limbs.iter().enumerate() {
            let shifted = (*limb as u128) << (i * bits % 64);
            let word = i * bits / 64;
            sum[word] += low(shifted) as u128;
            if word < 2 {
                sum[word + 1] += high(shifted) as u128;
            }
        }
        let above = (sum[0] >> 64) + sum[1];
        FieldElement::carried(low(sum[0]), above, low(sum[2]))
    }
}

/// The multiplier r, clamped. The low two bits of its upper word are zero, so that its multiple 5/4
/// is an integer. Its words are below 2^60, so that sums of products do not overflow.
#[derive(Clone, Copy)]
pub(super) struct ClampedR {
    r0: u64,
    r1: u64,
}

impl Zeroize for ClampedR {
    fn zeroize(&mut self) {
        self.r0.zeroize();
        self.r1.zeroize();
    }
}

impl ClampedR {
    /// Clears 22 bits of the 16 bytes.
    pub(super) fn clamped(bytes: &[u8; 16]) -> ClampedR {
        let r = u128::from_le_bytes(*bytes) & 0x0ffffffc_0ffffffc_0ffffffc_0fffffff;
        ClampedR { r0: low(r), r1: high(r) }
    }

    pub(super) fn number(self) -> FieldElement {
        FieldElement([self.r0, self.r1, 0])
    }

    /// r^2.
    #[inline(always)]
    pub(super) fn square(self) -> FieldElement {
        self.step(self.number(), 0, 0)
    }

    /// `(h + m + top 2^128) r`.
    #[inline(always)]
    pub(super) fn step(self, h: FieldElement, m: u128, top: u64) -> FieldElement {
        let (r0, r1, r1_5_4) = (self.r0, self.r1, self.r1 + (self.r1 >> 2));
        let h0 = h.0[0] as u128 + low(m) as u128;
        let h1 = h.0[1] as u128 + high(m) as u128 + (h0 >> 64);
        let h2 = h.0[2] + top + high(h1);
        let (h0, h1) = (low(h0), low(h1));
        // r1 2^64 * h1 2^64 = h1 r1 2^128 = h1 (r1 5/4) mod p, as r1 is a multiple of 4.
        let d0 = product(h0, r0) + product(h1, r1_5_4);
        let d1 = product(h0, r1) + product(h1, r0) + (h2 * r1_5_4) as u128;
        // h2 is at most 8, so h2 r0 is at most 2^63, and the words of d1 add up to below 2^125.
        FieldElement::carried(low(d0), d1 + (d0 >> 64), h2 * r0)
    }
}

#[cfg(test)]
mod tests;
