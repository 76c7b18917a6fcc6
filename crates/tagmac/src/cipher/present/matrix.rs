//! One block in each word of vectors, for levels that look up nibbles in registers and transpose
//! the bits of a word's bytes.
//!
//! Between rounds, nibble `4j + 2h + e` of the state is half h of byte `7 - (2j + e)` of a word,
//! with the block's first byte lowest. A round looks up S for both halves of all bytes, in tables
//! that put bit b of half h at bit `2b + h`, and adds the key, to which P's inverse was applied.
//! After transposition, byte `7 - (2b + h)` holds at bit `2j + e` the bit that P moves to bit `2h +
//! e` of nibble `4b + j`. Every other pair of bits is then in its place. The remaining pairs are in
//! the wrong one of two neighbouring bytes, two bits off. A second transposition, with the rows in
//! another order, puts these in place.

use super::round_keys::KEYS;
use super::sbox::S;
use crate::isa::{BitSlices, Block, Nibbles, Words};

/// `S ^ 0xc` of the low and of the high nibble of a byte.
const TABLES: [Block; 2] = {
    let (mut tables, mut place) = ([[0; 16]; 2], 0);
    while place < 16 * 8 {
        let (nibble, b, half) = (place / 8, place / 2 % 4, place % 2);
        tables[half][nibble] |= ((S[nibble] ^ 0xc) >> b & 1) << (2 * b + half);
        place += 1;
    }
    tables
};

/// Moves bit `7 - i` of bytes to byte i.
const COLUMNS: u64 = 0x0102_0408_1020_4080;
/// The same with neighbouring rows swapped.
const EXCHANGED_COLUMNS: u64 = 0x0201_0804_2010_8040;
/// The pairs of bits that [`COLUMNS`] leaves in place.
const IN_PLACE: u64 = 0x33cc_33cc_33cc_33cc;

/// Swaps the first and the last nibble in each quarter of a word, to convert between a block and
/// its state between rounds.
#[inline(always)]
fn exchange_nibbles<W: Words>(words: W, x: W::W) -> W::W {
    let differ = words.and(words.xor(x, words.shr(x, 12)), words.splat(0x000f_000f_000f_000f));
    words.xor(words.xor(x, differ), words.shl(differ, 12))
}

/// E_K of vectors of blocks.
#[inline(always)]
fn rounds<W: BitSlices, const N: usize>(
    (words, nibbles): (W, W::Nibbles),
    first: u64,
    keys: &[u64; KEYS + 1],
    mut x: [W::W; N],
) -> [W::W; N] {
    let (first, in_place) = (words.splat(first.swap_bytes()), words.splat(IN_PLACE));
    for x in &mut x {
        *x = exchange_nibbles(words, words.xor(*x, first));
    }
    for key in keys {
        let key = words.splat(*key);
        for x in &mut x {
            let y = words.xor(nibbles.look_up(words, *x, &TABLES), key);
            let moved = nibbles.swap_quarters(words, y);
            let moved = nibbles.transpose_bytes(words, moved, EXCHANGED_COLUMNS);
            let y = nibbles.transpose_bytes(words, y, COLUMNS);
            *x = words.or(words.and(y, in_place), words.and_not(moved, in_place));
        }
    }
    for x in &mut x {
        *x = exchange_nibbles(words, *x);
    }
    x
}

/// Replaces a vector of blocks by E_K of each.
#[inline(always)]
pub(super) fn encrypt_vector<W: BitSlices>(
    words: (W, W::Nibbles),
    first: u64,
    keys: &[u64; KEYS + 1],
    x: W::W,
) -> W::W {
    let [y] = rounds(words, first, keys, [x]);
    y
}

/// Replaces vectors of blocks by E_K of each, up to eight vectors at once to hide the latency of a
/// round.
#[inline(always)]
pub(super) fn encrypt<W: BitSlices>(
    words: (W, W::Nibbles),
    first: u64,
    keys: &[u64; KEYS + 1],
    blocks: &mut [u64],
) {
    for blocks in blocks.chunks_mut(16 * W::LANES) {
        match blocks.len().div_ceil(2 * W::LANES) {
            1 => encrypt_some::<W, 1>(words, first, keys, blocks),
            2 => encrypt_some::<W, 2>(words, first, keys, blocks),
            3 => encrypt_some::<W, 3>(words, first, keys, blocks),
            4 => encrypt_some::<W, 4>(words, first, keys, blocks),
            5 => encrypt_some::<W, 5>(words, first, keys, blocks),
            6 => encrypt_some::<W, 6>(words, first, keys, blocks),
            7 => encrypt_some::<W, 7>(words, first, keys, blocks),
            _ => encrypt_some::<W, 8>(words, first, keys, blocks),
        }
    }
}

/// Encrypts at most N vectors.
#[inline(always)]
fn encrypt_some<W: BitSlices, const N: usize>(
    (words, nibbles): (W, W::Nibbles),
    first: u64,
    keys: &[u64; KEYS + 1],
    blocks: &mut [u64],
) {
    let mut x = [words.splat(0); N];
    for (x, blocks) in x.iter_mut().zip(blocks.chunks_exact(2 * W::LANES)) {
        *x = words.load(blocks);
    }
    let y = rounds((words, nibbles), first, keys, x);
    for (y, blocks) in y.into_iter().zip(blocks.chunks_exact_mut(2 * W::LANES)) {
        words.store(y, blocks);
    }
}
