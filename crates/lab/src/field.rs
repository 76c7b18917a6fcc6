//! Arithmetic in GF(2^n) besides doubling: products and powers of x, for weighted sums.

use tagmac::cipher::Field;

/// Returns `a` times `b`, by Horner's rule over the bits of `b`, the highest power of x first.
pub fn times<B: Field>(a: &B, b: &B) -> B {
    let mut product = B::ZERO;
    for byte in b.as_ref() {
        for bit in (0..8).rev() {
            product = product.times_x();
            if byte >> bit & 1 == 1 {
                product = product.xor(a);
            }
        }
    }
    product
}

/// Returns x to the power of `exponent`.
pub fn power_of_x<B: Field>(exponent: u64) -> B {
    let mut power: B = number(1);
    for bit in (0..u64::BITS - exponent.leading_zeros()).rev() {
        power = times(&power, &power);
        if exponent >> bit & 1 == 1 {
            power = power.times_x();
        }
    }
    power
}

/// Returns the low bits of a number as a big-endian block.
#[inline(always)]
pub fn number<B: Field>(number: u128) -> B {
    let (mut block, bytes) = (B::ZERO, number.to_be_bytes());
    let both = B::BYTES.min(bytes.len());
    block.as_mut()[B::BYTES - both..].copy_from_slice(&bytes[bytes.len() - both..]);
    block
}
