//! Four blocks at once in four words, or in each word of four vectors: bit `4p + n` of word b is
//! bit b of nibble s of block n, where p is the place of s.
//!
//! A bit has an address of four digits below four: its word, and three in the word. Nibbles come
//! to lie in words by swapping the word with the lowest digit, and P is such a swap as well: bit b
//! of the nibble at digits `(q, i)` becomes bit i of nibble `(b, q)`. Swapping the word with the
//! lower digit puts that nibble at `(q, b)`, and after the next round swapping with the upper one
//! puts it where nibbles were before. So the places of nibbles alternate and only the keys know.
//!
//! Fast for few blocks because words of 64 bits have the shortest way through a round. That of
//! vectors is half as long again, so they serve more than four blocks.

#[cfg(target_arch = "x86_64")]
use super::matrix;
use super::round_keys::{KEYS, RoundKeys};
use super::sbox::{self, Gates, One, xor};
#[cfg(target_arch = "x86_64")]
use crate::isa::BitSlices;
use crate::isa::{Isa, Words};

/// Swaps the word with the digit of weight `4^D` in the bit's address. `a & m | b` of shifted
/// words instead of the shorter swap by differences, because fewer gates follow each other.
#[inline(always)]
fn swap<G: Gates, const D: u32>(g: G, [a, b, c, d]: [G::T; 4]) -> [G::T; 4] {
    let ((a, c), (b, d)) = (swap_pair(g, a, c, 2 << (2 * D)), swap_pair(g, b, d, 2 << (2 * D)));
    let ((a, b), (c, d)) = (swap_pair(g, a, b, 1 << (2 * D)), swap_pair(g, c, d, 1 << (2 * D)));
    [a, b, c, d]
}

/// Exchanges the bits of `a` whose address has the bit of weight `by` with those of `b` without it.
#[inline(always)]
fn swap_pair<G: Gates>(g: G, a: G::T, b: G::T, by: u32) -> (G::T, G::T) {
    let low = g.splat(u64::MAX / ((1 << by) + 1));
    (
        g.or(g.and(a, low), g.and_not(g.shl(b, by), low)),
        g.or(g.and(g.shr(a, by), low), g.and_not(b, low)),
    )
}

/// A key for all blocks.
#[inline(always)]
fn splat<G: Gates>(g: G, [a, b, c, d]: &[u64; 4]) -> [G::T; 4] {
    [g.splat(*a), g.splat(*b), g.splat(*c), g.splat(*d)]
}

/// The inverse of [`sbox::sub`]: ones for each nibble that `S ^ 0xc` maps to the one here.
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
    /// E_K of four blocks, or of as many vectors of them.
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

    /// E_K of four blocks, big-endian numbers. A call, because it needs no level: compiled for one
    /// with long vectors, the four words become a vector.
    #[inline(never)]
    pub(super) fn encrypt_four(&self, x: [u64; 4]) -> [u64; 4] {
        self.with_planes(
            #[inline(always)]
            |planes| self.rounds(planes, One, x),
        )
    }

    /// E_K of the first `n` blocks. What comes after them in a vector or a four changes as well.
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
        // What is left of up to four blocks goes alone.
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

    /// The same on levels with [`BitSlices::NIBBLES`].
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

    /// The block whose E_K is `block`.
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
