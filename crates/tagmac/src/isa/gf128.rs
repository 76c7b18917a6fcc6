//! Multiplication and division by x in GF(2^128), the field of 128-bit blocks: GF(2)\[x\] modulo
//! x^128 + x^7 + x^2 + x + 1. The first bit of a block is the coefficient of x^127.

use super::block::Block;

/// x^128 as a number: bit i is the coefficient of x^i.
pub(crate) const C: u8 = 0x87;

/// A block times x.
#[inline(always)]
pub(crate) fn times_x(block: Block) -> Block {
    let a = u128::from_be_bytes(block);
    (a << 1 ^ (0u128.wrapping_sub(a >> 127) & C as u128)).to_be_bytes()
}

/// A block divided by x.
#[inline(always)]
pub(crate) fn over_x(block: Block) -> Block {
    // x^128 = c, so 1/x = x^127 + c/x.
    let (a, over) = (u128::from_be_bytes(block), 1 << 127 | (C >> 1) as u128);
    (a >> 1 ^ (0u128.wrapping_sub(a & 1) & over)).to_be_bytes()
}
