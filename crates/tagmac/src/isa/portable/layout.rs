//! The common part of both layouts of blocks: [`super::planes`] for 16 blocks, [`super::narrow`]
//! for one.

use crate::isa::Block;

/// A block, with four planes in each word.
pub(super) type Nibbles = [u64; 2];

/// Bits 0 to 3 of every byte.
const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;

/// Columns 0 and 2 of a block, and columns 1 and 3.
#[inline(always)]
pub(super) fn columns(b: &Block) -> [u64; 2] {
    let block = u128::from_le_bytes(*b);
    let (first, second) = (block as u64, (block >> 64) as u64);
    [first & 0xffff_ffff | second << 32, first >> 32 | second >> 32 << 32]
}

/// The inverse of [`columns`].
#[inline(always)]
pub(super) fn from_columns([even, odd]: [u64; 2]) -> Block {
    let (first, second) = (even & 0xffff_ffff | odd << 32, even >> 32 | odd >> 32 << 32);
    (first as u128 | (second as u128) << 64).to_le_bytes()
}

/// Swaps the bits of `w` under `mask` with those `by` positions above.
#[inline(always)]
pub(super) fn swap(w: u64, by: u32, mask: u64) -> u64 {
    let t = (w >> by ^ w) & mask;
    w ^ t ^ t << by
}

/// Converts a block to nibbles.
#[inline(always)]
pub(super) fn pack(b: u128) -> Nibbles {
    let [even, odd] = columns(&b.to_le_bytes());
    [even & LOW | (odd & LOW) << 4, even >> 4 & LOW | odd & !LOW].map(
        // A byte is now in row r of two columns, and moves from 32 (c / 2) + 8r to 16r + 8 (c / 2).
        #[inline(always)]
        |w| swap(swap(w, 16, 0x0000_0000_ffff_0000), 8, 0x0000_ff00_0000_ff00),
    )
}

/// Converts nibbles to the block.
#[inline(always)]
pub(super) fn unpack(a: Nibbles) -> u128 {
    let [low, high] = a.map(
        #[inline(always)]
        |w| swap(swap(w, 8, 0x0000_ff00_0000_ff00), 16, 0x0000_0000_ffff_0000),
    );
    let columns = [low & LOW | (high & LOW) << 4, low >> 4 & LOW | high & !LOW];
    u128::from_le_bytes(from_columns(columns))
}
