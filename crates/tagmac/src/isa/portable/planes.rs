//! The layout of 16 blocks in planes, and AES rounds on it.

use super::layout::{Nibbles, columns, from_columns, swap};
use super::sbox;
use crate::isa::Block;

/// The number of blocks in a vector.
pub(super) const LANES: usize = 16;

/// Words (b, r): the four words of a plane are adjacent.
pub(super) type Planes = [[u64; 4]; 8];

/// Bit 0 of each of the four 16-bit fields of a word.
pub(super) const ONES: u64 = 0x0001_0001_0001_0001;
/// The low byte of each field.
const BYTES: u64 = 0x00ff_00ff_00ff_00ff;

/// Swaps the bits of `y` under `mask` with those of `x` that are `by` positions higher.
#[inline(always)]
fn exchange(x: u64, y: u64, by: usize, mask: u64) -> (u64, u64) {
    let t = (x >> by ^ y) & mask;
    (x ^ t << by, y ^ t)
}

/// Rows 0 and 1 of a block, and rows 2 and 3: byte (r, c) is byte `2c + r % 2` of word `r / 2`.
#[inline(always)]
fn row_pairs(b: &Block) -> (u64, u64) {
    let [even, odd] = columns(b);
    exchange(even, odd, 16, 0x0000_ffff_0000_ffff)
}

/// The inverse of [`row_pairs`].
#[inline(always)]
fn from_row_pairs(upper: u64, lower: u64) -> Block {
    let (even, odd) = exchange(upper, lower, 16, 0x0000_ffff_0000_ffff);
    from_columns([even, odd])
}

/// Swaps bit b of each byte of words (j, r) with bit j of that byte of words (b, r). It is its own
/// inverse. Never inlined, because compilers do not vectorise it as part of a larger function.
#[inline(never)]
fn transpose(w: &mut Planes) {
    const STEPS: [(usize, u64); 3] =
        [(4, 0x0f0f_0f0f_0f0f_0f0f), (2, 0x3333_3333_3333_3333), (1, 0x5555_5555_5555_5555)];
    for (step, mask) in STEPS {
        for i in 0..8 {
            if i & step == 0 {
                for r in 0..4 {
                    (w[i][r], w[i + step][r]) = exchange(w[i][r], w[i + step][r], step, mask);
                }
            }
        }
    }
}

/// Converts blocks to planes.
#[inline(always)]
pub(super) fn slice(p: &[u8; 16 * LANES]) -> Planes {
    let mut w = [[0; 4]; 8];
    slice_into(&mut w, p);
    w
}

/// As [`slice`], in place: returned planes would be copied.
#[inline(never)]
fn slice_into(w: &mut Planes, p: &[u8; 16 * LANES]) {
    let (blocks, _) = p.as_chunks();
    for j in 0..8 {
        // A word holds one row: block j in the low bytes, block j + 8 in the high bytes.
        let (low, high) = (row_pairs(&blocks[j]), row_pairs(&blocks[j + 8]));
        (w[j][0], w[j][1]) = exchange(low.0, high.0, 8, BYTES);
        (w[j][2], w[j][3]) = exchange(low.1, high.1, 8, BYTES);
    }
    transpose(w);
}

/// Converts planes to blocks.
#[inline(never)]
pub(super) fn unslice(mut w: Planes) -> [u8; 16 * LANES] {
    transpose(&mut w);
    let mut p = [0; 16 * LANES];
    let (blocks, _) = p.as_chunks_mut();
    for j in 0..8 {
        let (low, high) = exchange(w[j][0], w[j][1], 8, BYTES);
        let (low2, high2) = exchange(w[j][2], w[j][3], 8, BYTES);
        blocks[j] = from_row_pairs(low, low2);
        blocks[j + 8] = from_row_pairs(high, high2);
    }
    p
}

/// One block in all lanes: each bit fills a field.
#[inline(always)]
pub(super) fn fill(b: &Block) -> Planes {
    let mut v = [[0; 4]; 8];
    fill_into(&mut v, b);
    v
}

/// As [`fill`]. Never inlined, see [`transpose`].
#[inline(never)]
pub(super) fn fill_into(v: &mut Planes, b: &Block) {
    let (upper, lower) = row_pairs(b);
    // The rows' bytes in the low bytes of the fields.
    let rows = [upper & BYTES, upper >> 8 & BYTES, lower & BYTES, lower >> 8 & BYTES];
    for b in 0..8 {
        for r in 0..4 {
            let top = rows[r] << (15 - b) & ONES << 15;
            v[b][r] = top | (top - (top >> 15));
        }
    }
}

/// Keeps `a` where `mask` is set; zero elsewhere.
#[inline(always)]
pub(super) fn masked(mut a: Planes, mask: u64) -> Planes {
    for word in a.as_flattened_mut() {
        *word &= mask;
    }
    a
}

/// Merges `x` and `y` into one word. Each field is reduced to the xor of its halves, and those of
/// `y` are above those of `x`.
#[inline(always)]
fn merge(x: u64, y: u64, half: u32, mask: u64) -> u64 {
    (x ^ x >> half) & mask | (y ^ y << half) & !mask
}

/// The xor of all lanes.
#[inline(never)]
pub(super) fn fold(a: &Planes) -> Nibbles {
    let planes: [u64; 8] = core::array::from_fn(
        #[inline(always)]
        |b| {
            let even = merge(a[b][0], a[b][2], 8, BYTES);
            let odd = merge(a[b][1], a[b][3], 8, BYTES);
            merge(even, odd, 4, 0x0f0f_0f0f_0f0f_0f0f)
        },
    );
    core::array::from_fn(
        #[inline(always)]
        |h| {
            let even = merge(planes[4 * h], planes[4 * h + 2], 2, 0x3333_3333_3333_3333);
            let odd = merge(planes[4 * h + 1], planes[4 * h + 3], 2, 0x3333_3333_3333_3333);
            let w = merge(even, odd, 1, 0x5555_5555_5555_5555);
            // Move bits 16c + 4r + b to 16r + 4c + b.
            swap(swap(w, 24, 0x0000_0000_ff00_ff00), 12, 0x0000_f0f0_0000_f0f0)
        },
    )
}

#[inline(always)]
pub(super) fn xor(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    core::array::from_fn(
        #[inline(always)]
        |r| a[r] ^ b[r],
    )
}

/// Moves row `r + by` to row r.
#[inline(always)]
fn turn(a: [u64; 4], by: usize) -> [u64; 4] {
    core::array::from_fn(
        #[inline(always)]
        |r| a[(r + by) % 4],
    )
}

#[inline(always)]
fn sub_bytes(a: &mut Planes) {
    // Nothing else is in this loop, so that compilers run it on two rows at once.
    for r in 0..4 {
        let column = core::array::from_fn(
            #[inline(always)]
            |b| a[b][r],
        );
        let s = sbox::sub_bytes::<u64>(column);
        for b in 0..8 {
            a[b][r] = s[b];
        }
    }
}

#[inline(always)]
fn shift_rows(a: [u64; 4]) -> [u64; 4] {
    core::array::from_fn(
        #[inline(always)]
        |r| a[r].rotate_right(16 * r as u32),
    )
}

/// All rounds. Not inlined: they are thousands of bytes of code.
#[inline(never)]
pub(super) fn rounds(a: &mut Planes, keys: &[Planes]) {
    let Some((last, keys)) = keys.split_last() else { return };
    for key in keys {
        round(a, key);
    }
    last_round(a, last);
}

/// One round. Not inlined: in the loop of [`rounds`] it takes 2 to 4 % more instructions, and
/// whether compilers inline it there depends on its other callers.
#[inline(never)]
pub(super) fn round(a: &mut Planes, k: &Planes) {
    sub_bytes(a);
    // 2t is t one plane up; the bits that leave plane 7 come back as 0x1b.
    let mut below = [0; 4];
    for b in 0..8 {
        let p = shift_rows(a[b]);
        let t = xor(p, turn(p, 1));
        a[b] = xor(xor(xor(below, turn(p, 1)), turn(t, 2)), k[b]);
        below = t;
    }
    for b in [0, 1, 3, 4] {
        a[b] = xor(a[b], below);
    }
}

/// The last round, which has no MixColumns.
#[inline]
pub(super) fn last_round(a: &mut Planes, k: &Planes) {
    sub_bytes(a);
    for b in 0..8 {
        a[b] = xor(shift_rows(a[b]), k[b]);
    }
}
