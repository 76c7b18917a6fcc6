//! Four blocks at once in four words, or in each word of four vectors: bit `4p + n` of word b is
//! bit b of nibble s of block n, where p is the position of s.
//!
//! The address of a bit has four digits below four: its word, and three digits within the word.
//! Swapping the word with the lowest digit brings nibbles into this form. P is also such a swap:
//! bit b of the nibble at digits `(q, i)` becomes bit i of nibble `(b, q)`. Swapping the word with
//! the lower digit puts that nibble at `(q, b)`. After the next round, swapping with the upper
//! digit puts it back. So the positions of nibbles alternate, and only the round keys depend on
//! them.
//!
//! The code is fast for few blocks because 64-bit words have the shortest latency per round. That
//! of vectors is 1.5 times as long, so they are used for more than four blocks.

#[cfg(target_arch = "x86_64")]
use super::matrix;
use super::round_keys::{KEYS, RoundKeys};
use super::sbox::{self, Gates, One, xor};
#[cfg(target_arch = "x86_64")]
use crate::isa::BitSlices;
use crate::isa::{Isa, Words};

/// Swaps the word with the digit of weight `4^D` in the bit's address. Uses `a & m | b` of shifted
/// words instead of the shorter swap by differences, because fewer gates depend on each other.
#[inline(always)]
fn swap<G: Gates, const D: u32>(g: G, [a, b, c, d]: [G::T; 4]) -> [G::T; 4] {
    let ((a, c), (b, d)) = (swap_pair(g, a, c, 2 << (2 * D)), swap_pair(g, b, d, 2 << (2 * D)));
    let ((a, b), (c, d)) = (swap_pair(g, a, b, 1 << (2 * D)), swap_pair(g, c, d, 1 << (2 * D)));
    [a, b, c, d]
}

/// Swaps the bits of `a` whose address has the bit of weight `by` set with the bits of `b` where it
/// is clear.
#[inline(always)]
fn swap_pair<G: Gates>(g: G, a: G::T, b: G::T, by: u32) -> (G::T, G::T) {
    let low = g.splat(u64::MAX / ((1 << by) + 1));
    (
        g.or(g.and(a, low), g.and_not(g.shl(b, by), low)),
        g.or(g.and(g.shr(a, by), low), g.and_not(b, low)),
    )
}

/// One key for all blocks.
#[inline(always)]
fn splat<G: Gates>(g: G, [a, b, c, d]: &[u64; 4]) -> [G::T; 4] {
    [g.splat(*a), g.splat(*b), g.splat(*c), g.splat(*d)]
}

/// The inverse of [`sbox::sub`]: finds, for each nibble here, the one that `S ^ 0xc` maps to it.
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

impl RoundKeys {
    /// E_K of four blocks, or of four vectors of blocks.
    #[inline(always)]
    fn rounds<G: Gates>(&self, planes: &[[u64; 4]; KEYS], g: G, x: [G::T; 4]) -> [G::T; 4] {
        let mut x = swap::<G, 0>(g, xor(g, x, splat(g, &[self.first; 4])));
        for [odd, even] in planes.as_chunks().0 {
            x = xor(g, swap::<G, 1>(g, sbox::sub(g, x)), splat(g, odd));
            x = xor(g, swap::<G, 2>(g, sbox::sub(g, x)), splat(g, even));
        }
        // The last P, and back to blocks.
        let x = swap::<G, 1>(g, swap::<G, 2>(g, sbox::sub(g, x)));
        xor(g, swap::<G, 0>(g, x), splat(g, &[self.last; 4]))
    }

    /// E_K of four blocks, as big-endian numbers. Not inlined, because it needs no level: on one
    /// with long vectors, compilers would turn the four words into a vector.
    #[inline(never)]
    pub(super) fn encrypt_four(&self, x: [u64; 4]) -> [u64; 4] {
        self.with_planes(
            #[inline(always)]
            |planes| self.rounds(planes, One, x),
        )
    }

    /// E_K of the first `n` blocks. The rest of the last vector or group of four is overwritten
    /// too.
    #[inline(always)]
    pub(super) fn encrypt<I: Isa>(&self, isa: I, blocks: &mut [u64], n: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(nibbles) = I::Words::NIBBLES {
            return isa.run_outlined(
                #[inline(always)]
                move || self.encrypt_as_matrix((isa.words(), nibbles), blocks, n),
            );
        }
        let words = isa.words();
        let width = 2 * I::Words::LANES;
        // The last one to four blocks do not use vectors.
        let vectors = if I::Words::HAS_VECTOR_MUL { (n + 4 * width - 5) / (4 * width) } else { 0 };
        let (blocks, rest) = blocks.split_at_mut(4 * width * vectors);
        if vectors > 0 {
            isa.run_outlined(
                #[inline(always)]
                || {
                    self.with_planes(
                        #[inline(always)]
                        |planes| {
                            for four in blocks.chunks_exact_mut(4 * width) {
                                let mut x = [Words::splat(words, 0); 4];
                                for (x, blocks) in x.iter_mut().zip(four.chunks_exact(width)) {
                                    *x = words.swap_bytes(words.load(blocks));
                                }
                                let y = self.rounds(planes, words, x);
                                for (blocks, y) in four.chunks_exact_mut(width).zip(y) {
                                    words.store(words.swap_bytes(y), blocks);
                                }
                            }
                        },
                    )
                },
            );
        }
        let fours = n.saturating_sub(blocks.len()).div_ceil(4);
        for four in &mut rest.as_chunks_mut().0[..fours] {
            let [a, b, c, d] = *four;
            let y = [a.swap_bytes(), b.swap_bytes(), c.swap_bytes(), d.swap_bytes()];
            for (x, y) in four.iter_mut().zip(self.encrypt_four(y)) {
                *x = y.swap_bytes();
            }
        }
    }

    /// As [`encrypt`](RoundKeys::encrypt), on levels with [`BitSlices::NIBBLES`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn encrypt_as_matrix<W: BitSlices>(
        &self,
        words: (W, W::Nibbles),
        blocks: &mut [u64],
        n: usize,
    ) {
        let blocks = &mut blocks[..n.next_multiple_of(2 * W::LANES)];
        self.with_matrix(
            #[inline(always)]
            |keys| matrix::encrypt(words, self.first, keys, blocks),
        );
    }

    /// Decrypts a block.
    pub(crate) fn decrypt(&self, block: u64) -> u64 {
        let y = [block ^ self.last, 0, 0, 0];
        let mut x = inverse(swap::<_, 2>(One, swap::<_, 1>(One, swap::<_, 0>(One, y))));
        self.with_planes(|planes| {
            for (r, key) in planes.iter().enumerate().rev() {
                let y = xor(One, x, *key);
                x = inverse(if r % 2 == 0 { swap::<_, 1>(One, y) } else { swap::<_, 2>(One, y) });
            }
        });
        swap::<_, 0>(One, x)[0] ^ self.first
    }
}
