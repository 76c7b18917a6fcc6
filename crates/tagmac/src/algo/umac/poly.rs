//! POLY-64 and POLY-128 (RFC 4418, section 5.3.2): polynomials over prime fields, without a branch
//! on secrets.
//!
//! A word m below the range's end is a step `y = k y + m`. Any other m may not be a number mod p.
//! It is two steps, `y = k y + marker` and then `y = k y + m - offset`. Here marker is p - 1, and
//! offset is 2^bits - p. Combined, the steps are `y = k^2 y + m - offset - k`. Both kinds therefore
//! cost one multiplication, with operands selected by a mask. Such an m is above 2^bits - 2^(bits -
//! 32), and k is below 2^(bits - 7), so the difference needs no reduction.

use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

use crate::isa::opaque_word;

/// A prime field for the evaluation of polynomials.
pub(super) trait Field: Copy + Zeroize {
    const ZERO: Self;
    const ONE: Self;
    /// `self k + m` mod p.
    fn times_plus(self, k: Self, m: Self) -> Self;
    /// `self - n` if the mask is all ones, `self` if it is zero.
    fn less_if(self, mask: u64, n: Self) -> Self;
    /// The number below p.
    fn reduced(self) -> Self;
    /// All ones if `m` is a word that needs two steps.
    fn is_marked(self) -> u64;
    /// 2^bits - p.
    const OFFSET: Self;
    /// `a` if the mask is zero, `b` if it is all ones.
    fn select(mask: u64, a: Self, b: Self) -> Self;
    /// Appends the number.
    #[cfg(feature = "save")]
    fn save(self, out: &mut crate::save::Writer);
    /// Reads a number that `save` wrote.
    #[cfg(feature = "save")]
    fn load(input: &mut crate::save::Reader<'_>) -> Option<Self>;
}

/// p = 2^64 - 59.
impl Field for u64 {
    const ZERO: u64 = 0;
    const ONE: u64 = 1;
    const OFFSET: u64 = 59;

    #[inline(always)]
    fn times_plus(self, k: u64, m: u64) -> u64 {
        // 2^64 = 59 mod p, applied three times: the part from bit 64 is below 2^64, then below 60,
        // then 0 or 1.
        let a = self as u128 * k as u128 + m as u128;
        let a = a as u64 as u128 + 59 * (a >> 64);
        let (a, carry) = (a as u64).overflowing_add(59 * (a >> 64) as u64);
        opaque_word(a.wrapping_add(59 * carry as u64))
    }

    #[inline(always)]
    fn less_if(self, mask: u64, n: u64) -> u64 {
        self.wrapping_sub(Self::select(mask, 0, n))
    }

    #[inline(always)]
    fn reduced(self) -> u64 {
        let (less_p, above) = self.overflowing_add(59);
        Self::select(opaque_word((above as u64).wrapping_neg()), self, less_p)
    }

    #[inline(always)]
    fn is_marked(self) -> u64 {
        // The high 32 bits are all ones exactly if adding 2^32 carries.
        (self.overflowing_add(1 << 32).1 as u64).wrapping_neg()
    }

    #[inline(always)]
    fn select(mask: u64, a: u64, b: u64) -> u64 {
        a ^ (a ^ b) & mask
    }

    #[cfg(feature = "save")]
    fn save(self, out: &mut crate::save::Writer) {
        out.bytes(&self.to_le_bytes());
    }

    #[cfg(feature = "save")]
    fn load(input: &mut crate::save::Reader<'_>) -> Option<u64> {
        input.array().map(u64::from_le_bytes)
    }
}

/// p = 2^128 - 159.
impl Field for u128 {
    const ZERO: u128 = 0;
    const ONE: u128 = 1;
    const OFFSET: u128 = 159;

    #[inline(always)]
    fn times_plus(self, k: u128, m: u128) -> u128 {
        let (a0, a1) = (self as u64 as u128, self >> 64);
        let (k0, k1) = (k as u64 as u128, k >> 64);
        // The product in words, by columns.
        let low = a0 * k0;
        let middle = a0 * k1 + (low >> 64);
        let (middle, carry) = middle.overflowing_add(a1 * k0);
        let high = a1 * k1 + (middle >> 64) + ((carry as u128) << 64);
        let low = middle << 64 | low as u64 as u128;
        // 2^128 = 159 mod p.
        let by_159 = 159 * (high as u64 as u128);
        let (by_159, above) = {
            let top = 159 * (high >> 64) + (by_159 >> 64);
            (top << 64 | by_159 as u64 as u128, top >> 64)
        };
        let (a, carry) = low.overflowing_add(by_159);
        let (a, again) = a.overflowing_add(m);
        let above = above + carry as u128 + again as u128;
        let (a, carry) = a.overflowing_add(159 * above);
        a.wrapping_add(159 * carry as u128)
    }

    #[inline(always)]
    fn less_if(self, mask: u64, n: u128) -> u128 {
        self.wrapping_sub(Self::select(mask, 0, n))
    }

    #[inline(always)]
    fn reduced(self) -> u128 {
        let (less_p, above) = self.overflowing_add(159);
        Self::select(opaque_word((above as u64).wrapping_neg()), self, less_p)
    }

    #[inline(always)]
    fn is_marked(self) -> u64 {
        // The high 32 bits are all ones exactly if adding 2^96 carries.
        (self.overflowing_add(1 << 96).1 as u64).wrapping_neg()
    }

    #[inline(always)]
    fn select(mask: u64, a: u128, b: u128) -> u128 {
        let mask = (mask as u128) << 64 | mask as u128;
        a ^ (a ^ b) & mask
    }

    #[cfg(feature = "save")]
    fn save(self, out: &mut crate::save::Writer) {
        out.bytes(&self.to_le_bytes());
    }

    #[cfg(feature = "save")]
    fn load(input: &mut crate::save::Reader<'_>) -> Option<u128> {
        input.array().map(u128::from_le_bytes)
    }
}

/// A key k of POLY, and the constants for marked words.
#[derive(Clone, Copy)]
pub(super) struct PolyKey<F> {
    k: F,
    k2: F,
    /// offset + k.
    less: F,
}

/// The value of a range of words. Secret.
#[derive(Clone, Copy)]
pub(super) struct Poly<F> {
    y: F,
    /// The number of marked words, which need a second step. Secret.
    marked: u64,
}

impl<F: Zeroize> Zeroize for Poly<F> {
    fn zeroize(&mut self) {
        self.y.zeroize();
        self.marked.zeroize();
    }
}

impl<F: Field> PolyKey<F> {
    /// No key.
    pub(super) const ZERO: Self = PolyKey { k: F::ZERO, k2: F::ZERO, less: F::ZERO };

    pub(super) fn new(k: F) -> Self {
        PolyKey { k, k2: k.times_plus(k, F::ZERO), less: k.times_plus(F::ONE, F::OFFSET) }
    }

    /// Adds the next word.
    #[inline(always)]
    pub(super) fn step(&self, poly: &mut Poly<F>, m: F) {
        // Without this, some compilers turn the mask into branches in some kernels.
        let marked = opaque_word(m.is_marked());
        let k = F::select(marked, self.k, self.k2);
        poly.y = poly.y.times_plus(k, m.less_if(marked, self.less));
        poly.marked += marked & 1;
    }

    /// `left k^steps + right`, for the `words` words of `right`.
    pub(super) fn join(&self, left: &mut Poly<F>, right: &Poly<F>, words: u64) {
        // There are at least `words` steps, which is public, and at most twice that. The time
        // depends only on `words`.
        let steps = words + right.marked;
        let mut power = F::ONE;
        for bit in (0..u64::BITS - (2 * words).leading_zeros()).rev() {
            power = power.times_plus(power, F::ZERO);
            let mask = (steps >> bit & 1).wrapping_neg();
            power = F::select(mask, power, power.times_plus(self.k, F::ZERO));
        }
        left.y = left.y.times_plus(power, right.y);
        left.marked += right.marked;
    }
}

impl<F: Field> Poly<F> {
    /// The value of no words within a message.
    pub(super) const NONE: Self = Poly { y: F::ZERO, marked: 0 };
    /// The value at the start of a message.
    pub(super) const START: Self = Poly { y: F::ONE, marked: 0 };

    /// The number below p.
    #[inline(always)]
    pub(super) fn value(&self) -> F {
        self.y.reduced()
    }

    /// Appends the value, without reducing it.
    #[cfg(feature = "save")]
    pub(super) fn save(&self, out: &mut crate::save::Writer) {
        self.y.save(out);
        out.number(self.marked);
    }

    /// Reads the value of `words` words that `save` wrote.
    #[cfg(feature = "save")]
    pub(super) fn load(input: &mut crate::save::Reader<'_>, words: u64) -> Option<Self> {
        let poly = Poly { y: F::load(input)?, marked: input.number()? };
        (poly.marked <= words).then_some(poly)
    }

    /// Compares two values in constant time.
    pub(super) fn ct_eq(&self, other: &Self) -> Choice
    where
        F: Into<u128>,
    {
        let bytes = |poly: &Self| poly.value().into().to_le_bytes();
        bytes(self).ct_eq(&bytes(other)) & self.marked.ct_eq(&other.marked)
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    /// The RFC's steps with big integers: `marker` and `m - offset` for a word at or above the
    /// range's end.
    fn expected(bits: u32, offset: u32, k: u128, words: &[u128]) -> BigUint {
        let one = BigUint::from(1u32);
        let p = (&one << bits) - offset;
        let end = (&one << bits) - (&one << (bits - 32));
        let mut y = one.clone();
        for word in words {
            let m = BigUint::from(*word);
            if m >= end {
                y = (BigUint::from(k) * y + &p - 1u32) % &p;
                y = (BigUint::from(k) * y + m - offset) % &p;
            } else {
                y = (BigUint::from(k) * y + m) % &p;
            }
        }
        y
    }

    /// Tests the largest keys and some others, with words at the ends of both ranges.
    fn check<F: Field + Into<u128>>(bits: u32, offset: u32, number: fn(u128) -> F) {
        let most = u128::MAX >> (128 - bits);
        let end = most - (most >> 32);
        let mask = 0x01ffffff_01ffffff_01ffffff_01ffffff & most;
        let words = [0, 1, end - 1, end, end + 1, most - offset as u128, most - 1, most, 7 << 40];
        for key in [0, 1, mask, 0x0123_4567_0089_abcd_0123_4567_0089_abcd & mask] {
            let poly_key = PolyKey::new(number(key));
            for first in 0..words.len() {
                let mut words = words;
                words.rotate_left(first);
                let (mut poly, mut tail) = (Poly::START, Poly::NONE);
                words.iter().for_each(|word| poly_key.step(&mut poly, number(*word)));
                let expected = expected(bits, offset, key, &words);
                assert_eq!(BigUint::from(poly.value().into()), expected, "{bits} bits, {first}");
                // The same message in two ranges.
                let mut head = Poly::START;
                words[..4].iter().for_each(|word| poly_key.step(&mut head, number(*word)));
                words[4..].iter().for_each(|word| poly_key.step(&mut tail, number(*word)));
                poly_key.join(&mut head, &tail, words.len() as u64 - 4);
                assert!(bool::from(head.ct_eq(&poly)), "{bits} bits, {first}, joined");
            }
        }
    }

    #[test]
    fn steps_are_those_of_the_rfc() {
        check::<u64>(64, 59, |x| x as u64);
        check::<u128>(128, 159, |x| x);
    }
}
