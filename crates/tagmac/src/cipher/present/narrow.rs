//! Up to four blocks at once in four words: bit `4p + n` of word b is bit b of nibble s of block
//! n, where p is the place of s.
//!
//! A bit has an address of four digits below four: its word, and three in the word. Nibbles come
//! to lie in words by swapping the word with the lowest digit, and P is such a swap as well: bit b
//! of the nibble at digits `(q, i)` becomes bit i of nibble `(b, q)`. Swapping the word with the
//! lower digit puts that nibble at `(q, b)`, and after the next round swapping with the upper one
//! puts it where nibbles were before. So the places of nibbles alternate and only the keys know.
//!
//! Fast for few blocks because words of 64 bits have the shortest way through a round.

use super::{KEYS, Present, sbox};

/// Swaps the word with the digit of weight `4^D` in the bit's address. `a & m | b` of shifted
/// words instead of the shorter swap by differences, because fewer gates follow each other.
#[inline(always)]
fn swap<const D: u32>([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    #[inline(always)]
    fn pair<const SHIFT: u32>(a: u64, b: u64) -> (u64, u64) {
        // Ones where the address has no bit of that weight.
        let low = u64::MAX / ((1 << SHIFT) + 1);
        (a & low | b << SHIFT & !low, a >> SHIFT & low | b & !low)
    }
    #[inline(always)]
    fn both<const ONE: u32, const TWO: u32>([a, b, c, d]: [u64; 4]) -> [u64; 4] {
        let ((a, c), (b, d)) = (pair::<TWO>(a, c), pair::<TWO>(b, d));
        let ((a, b), (c, d)) = (pair::<ONE>(a, b), pair::<ONE>(c, d));
        [a, b, c, d]
    }
    match D {
        0 => both::<1, 2>([a, b, c, d]),
        1 => both::<4, 8>([a, b, c, d]),
        _ => both::<16, 32>([a, b, c, d]),
    }
}

/// The sums of words.
#[inline(always)]
fn xor([a, b, c, d]: [u64; 4], [e, f, g, h]: [u64; 4]) -> [u64; 4] {
    [a ^ e, b ^ f, c ^ g, d ^ h]
}

/// A key that is added after round `r + 1`, for all blocks.
pub(super) fn key_planes(key: u64, r: usize) -> [u64; 4] {
    let planes = swap::<0>([key; 4]);
    if r % 2 == 1 {
        return planes;
    }
    // After odd rounds the digits of a nibble's place are the other way round.
    swap::<1>(swap::<2>(swap::<1>(planes)))
}

/// The inverse of [`sbox::on_words`]: ones for each nibble that `S ^ 0xc` maps to the one here.
fn inverse(y: [u64; 4]) -> [u64; 4] {
    let mut x = [0; 4];
    for (nibble, s) in sbox::S.iter().enumerate() {
        let found = (0..4).fold(u64::MAX, |found, b| {
            let ones = 0u64.wrapping_sub(((s ^ 0xc) >> b & 1) as u64);
            found & !(y[b] ^ ones)
        });
        for (b, x) in x.iter_mut().enumerate() {
            *x |= found & 0u64.wrapping_sub((nibble >> b & 1) as u64);
        }
    }
    x
}

impl<const KEY_BYTES: usize> Present<KEY_BYTES> {
    /// E_K of four blocks. A call, because it needs no rung: compiled for one with long vectors,
    /// the four words become a vector, whose way through a round is half as long again.
    #[inline(never)]
    fn encrypt_four(&self, x: [u64; 4]) -> [u64; 4] {
        let mut x = swap::<0>(xor(x, [self.first; 4]));
        for [odd, even] in self.planes.as_chunks().0 {
            x = xor(swap::<1>(sbox::on_words(x)), *odd);
            x = xor(swap::<2>(sbox::on_words(x)), *even);
        }
        // The last P, and back to blocks.
        let x = swap::<0>(swap::<1>(swap::<2>(sbox::on_words(x))));
        xor(x, [self.last; 4])
    }

    /// E_K of each block, a big-endian number.
    #[inline(always)]
    pub(crate) fn encrypt(&self, blocks: &mut [u64]) {
        for blocks in blocks.chunks_mut(4) {
            let mut x = [0; 4];
            for (x, block) in x.iter_mut().zip(blocks.iter()) {
                *x = *block;
            }
            let y = self.encrypt_four(x);
            for (block, y) in blocks.iter_mut().zip(y) {
                *block = y;
            }
        }
    }

    /// The block whose E_K is `block`.
    pub(crate) fn decrypt(&self, block: u64) -> u64 {
        let y = [block ^ self.last, 0, 0, 0];
        let mut x = inverse(swap::<2>(swap::<1>(swap::<0>(y))));
        for r in (0..KEYS).rev() {
            let y = xor(x, self.planes[r]);
            x = inverse(if r % 2 == 0 { swap::<1>(y) } else { swap::<2>(y) });
        }
        swap::<0>(x)[0] ^ self.first
    }
}
