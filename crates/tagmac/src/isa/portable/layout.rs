//! What both layouts of blocks have in common: [`super::planes`] for 16 blocks, [`super::narrow`] for
//! one.

use crate::isa::Block;

/// A block, with four planes in each word.
pub(super) type Nibbles = [u64; 2];

/// Columns 0 and 2 of a block, columns 1 and 3.
#[inline(always)]
pub(super) fn columns(b: &Block) -> [u64; 2] {
    let block = u128::from_le_bytes(*b);
    let (first, second) = (block as u64, (block >> 64) as u64);
    [first & 0xffff_ffff | second << 32, first >> 32 | second >> 32 << 32]
}

/// The inverse of [`deinterleave`].
#[inline(always)]
pub(super) fn from_columns([even, odd]: [u64; 2]) -> Block {
    let (first, second) = (even & 0xffff_ffff | odd << 32, even >> 32 | odd >> 32 << 32);
    (first as u128 | (second as u128) << 64).to_le_bytes()
}

/// Swaps the bits of `w` under `mask` with those `by` places above.
#[inline(always)]
pub(super) fn swap(w: u64, by: u32, mask: u64) -> u64 {
    let t = (w >> by ^ w) & mask;
    w ^ t ^ t << by
}
