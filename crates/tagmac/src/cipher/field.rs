//! Multiplication and division by x in GF(2^n), for PMAC's offsets.
//!
//! The field is GF(2)\[x\] modulo p_n = x^n + c_n, the first irreducible polynomial in the paper's
//! order (section 2): by the number of terms, then lexicographically. The first bit of a string is
//! the coefficient of x^(n-1).

use crate::isa::{CipherBlock, gf128};

/// Blocks as elements of a field, of 64, 96, 128, 160, 192, 224 and 256 bits.
#[diagnostic::on_unimplemented(
    message = "PMAC has polynomials for blocks of 64 to 256 bits in steps of 32, not for `{Self}`"
)]
pub trait Field: CipherBlock {
    /// c_n as a number: bit i is the coefficient of x^i.
    const C: u16;

    /// Returns `self` times x.
    #[inline(always)]
    fn times_x(&self) -> Self {
        let mut product = *self;
        let bytes = product.as_mut();
        const { assert!(Self::BYTES != 16 || Self::C == gf128::C as u16) };
        if let Ok(block) = <&mut [u8; 16]>::try_from(&mut *bytes) {
            *block = gf128::times_x(*block);
            return product;
        }
        let mut carry = 0;
        for byte in bytes.iter_mut().rev() {
            (*byte, carry) = (*byte << 1 | carry, *byte >> 7);
        }
        let c = (Self::C & 0u16.wrapping_sub(carry as u16)).to_be_bytes();
        let n = bytes.len();
        bytes[n - 2] ^= c[0];
        bytes[n - 1] ^= c[1];
        product
    }

    /// Returns `self` divided by x.
    #[inline(always)]
    fn over_x(&self) -> Self {
        let mut quotient = *self;
        let bytes = quotient.as_mut();
        if let Ok(block) = <&mut [u8; 16]>::try_from(&mut *bytes) {
            *block = gf128::over_x(*block);
            return quotient;
        }
        let mut carry = 0;
        for byte in bytes.iter_mut() {
            (*byte, carry) = (*byte >> 1 | carry << 7, *byte & 1);
        }
        let c = (Self::C >> 1 & 0u16.wrapping_sub(carry as u16)).to_be_bytes();
        let n = bytes.len();
        bytes[0] ^= carry << 7;
        bytes[n - 2] ^= c[0];
        bytes[n - 1] ^= c[1];
        quotient
    }
}

/// Implements [`Field`] for blocks of n bits: n, and the exponents of c_n.
macro_rules! fields {
    ($($n:literal: $($exponent:literal)+;)+) => {$(
        impl Field for [u8; $n / 8] {
            const C: u16 = $(1 << $exponent)|+;
        }
    )+};
}

fields! {
    64: 4 3 1 0;
    96: 10 9 6 0;
    128: 7 2 1 0;
    160: 5 3 2 0;
    192: 7 2 1 0;
    224: 9 8 3 0;
    256: 10 5 2 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x^k for k below n, x^n = c_n, and then back.
    fn powers<F: Field + PartialEq + core::fmt::Debug>() {
        let n = 8 * F::BYTES;
        let mut one = F::ZERO;
        one.as_mut()[F::BYTES - 1] = 1;
        let mut power = one;
        for k in 1..n {
            power = power.times_x();
            let ones: u32 = power.as_ref().iter().map(|byte| byte.count_ones()).sum();
            assert_eq!(ones, 1);
            assert_eq!(power.as_ref()[F::BYTES - 1 - k / 8], 1 << (k % 8));
        }
        let mut c = F::ZERO;
        c.as_mut()[F::BYTES - 2..].copy_from_slice(&F::C.to_be_bytes());
        power = power.times_x();
        assert_eq!(power, c);
        for _ in 0..n {
            power = power.over_x();
        }
        assert_eq!(power, one);
        assert_eq!(one.over_x().times_x(), one);
    }

    #[test]
    fn every_field() {
        powers::<[u8; 8]>();
        powers::<[u8; 12]>();
        powers::<[u8; 16]>();
        powers::<[u8; 20]>();
        powers::<[u8; 24]>();
        powers::<[u8; 28]>();
        powers::<[u8; 32]>();
    }
}
