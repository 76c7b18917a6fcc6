//! Multiplies numbers in GF(2^128) and GF(2^16).

use crate::field::times;

/// Returns the product in PMAC's field of 128 bits, x^128 = x^7 + x^2 + x + 1.
pub fn product128(a: u128, b: u128) -> u128 {
    u128::from_be_bytes(times(&a.to_be_bytes(), &b.to_be_bytes()))
}

/// Returns the product in GF(2^16) over x^16 + x^5 + x^3 + x + 1. This is the first irreducible
/// polynomial in the order of PMAC's paper (section 2), whose table begins at 64 bits.
pub fn product16(a: u16, b: u16) -> u16 {
    let (mut product, mut a) = (0, a);
    for bit in 0..16 {
        product ^= a & (b >> bit & 1).wrapping_neg();
        a = (a << 1) ^ (LOW_16 & (a >> 15).wrapping_neg());
    }
    product
}

/// x^5 + x^3 + x + 1.
pub const LOW_16: u16 = 0x2b;
