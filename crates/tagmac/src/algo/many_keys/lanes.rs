//! The parts of the kernel: key schedules and terms of a group, with one message in each lane of N
//! vectors.

use core::hint::black_box;

use crate::cipher::next_rcon;
use crate::isa::{Block, Isa, Lanes};
use crate::wipe::wipe;

/// One block for each message of a group.
pub(super) type Vectors<I, const N: usize> = [<I as Lanes>::V; N];

/// Applies a function to each vector.
#[inline(always)]
pub(super) fn map<V: Copy, const N: usize>(x: [V; N], f: impl Fn(V) -> V) -> [V; N] {
    let mut y = x;
    for y in &mut y {
        *y = f(*y);
    }
    y
}

/// `a ^ b`.
#[inline(always)]
pub(super) fn xor<I: Isa, const N: usize>(
    isa: I,
    a: Vectors<I, N>,
    b: Vectors<I, N>,
) -> Vectors<I, N> {
    let mut x = a;
    for (x, b) in x.iter_mut().zip(b) {
        *x = isa.xor(*x, b);
    }
    x
}

/// Block i in lane i.
#[inline(always)]
pub(super) fn gather<'b, I: Isa, const N: usize>(
    isa: I,
    block: impl Fn(usize) -> &'b [u8],
) -> Vectors<I, N> {
    let mut blocks = [isa.splat(&[0; 16]); N];
    for (v, to) in blocks.iter_mut().enumerate() {
        *to = isa.gather(
            (16, isa.stride(16)),
            #[inline(always)]
            |lane| block(v * I::LANES + lane),
        );
    }
    blocks
}

/// Writes a group's blocks, in the order of the messages.
#[inline(always)]
pub(super) fn store<I: Isa, const N: usize>(isa: I, x: Vectors<I, N>, blocks: &mut [Block]) {
    for (x, blocks) in x.into_iter().zip(blocks.chunks_exact_mut(I::LANES)) {
        isa.store_lanes(x, blocks.as_flattened_mut());
    }
}

/// Secrets of a group, in vectors. Wiped on drop.
pub struct Secret<V: Copy, const N: usize, const M: usize> {
    rows: [[V; N]; M],
    zero: V,
}

impl<V: Copy, const N: usize, const M: usize> Secret<V, N, M> {
    /// All zeros.
    #[inline(always)]
    pub(super) fn new<I: Isa<V = V>>(isa: I) -> Self {
        let zero = isa.splat(&[0; 16]);
        Secret { rows: [[zero; N]; M], zero }
    }
}

impl<V: Copy, const N: usize, const M: usize> Drop for Secret<V, N, M> {
    #[inline(always)]
    fn drop(&mut self) {
        wipe_vectors(self.rows.as_flattened_mut(), self.zero);
    }
}

/// Not inlined, so that it exists once per vector type: fills of known length are unrolled.
#[inline(never)]
fn wipe_vectors<V: Copy>(vectors: &mut [V], zero: V) {
    wipe(vectors, zero);
}

impl<V: Copy, const N: usize, const M: usize> core::ops::Deref for Secret<V, N, M> {
    type Target = [[V; N]; M];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.rows
    }
}

impl<V: Copy, const N: usize, const M: usize> core::ops::DerefMut for Secret<V, N, M> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.rows
    }
}

/// The round keys of AES with one key per lane: the first `R` rounds of AES-128, or the 14 of
/// AES-256.
pub struct Schedule<I: Isa, const N: usize, const R: usize> {
    isa: I,
    whitening: Secret<I::V, N, 1>,
    rounds: Secret<I::V, N, R>,
}

impl<I: Isa, const N: usize, const R: usize> Schedule<I, N, R> {
    /// An empty schedule.
    #[inline(always)]
    pub(super) fn new(isa: I) -> Self {
        Schedule { isa, whitening: Secret::new(isa), rounds: Secret::new(isa) }
    }

    /// The first round keys.
    #[inline(always)]
    pub(super) fn whitening(&self) -> Vectors<I, N> {
        self.whitening[0]
    }

    /// One block of each key.
    #[inline(always)]
    fn key_block<'k>(&self, key: &impl Fn(usize) -> &'k [u8], block: usize) -> Vectors<I, N> {
        gather(
            self.isa,
            #[inline(always)]
            |i| &key(i)[16 * block..][..16],
        )
    }

    /// Computes the round keys of a group. `key` returns the bytes of each key. `each` is called
    /// with the keys of each round.
    #[inline(always)]
    pub(super) fn expand<'k>(
        &mut self,
        key: impl Fn(usize) -> &'k [u8],
        mut each: impl FnMut(usize, &Vectors<I, N>),
    ) {
        const { assert!(R <= 10 || R == 14) };
        let (isa, two) = (self.isa, R == 14);
        self.whitening[0] = self.key_block(&key, 0);
        let (mut before, mut last) = (self.whitening(), self.whitening());
        if two {
            last = self.key_block(&key, 1);
            self.rounds[0] = last;
            each(0, &last);
        }
        // The same loop as in `Aes::expand`. Sharing one function would cost a tenth more
        // instructions for a single key.
        let mut rcon = 1u8;
        for r in two as usize..R {
            let turned = !two || r % 2 == 1;
            let mut next = before;
            for (next, last) in next.iter_mut().zip(last) {
                *next = isa.next_key_words(*next, last, turned.then_some(rcon));
            }
            if turned {
                rcon = next_rcon(rcon);
            }
            (before, last) = (if two { last } else { next }, next);
            self.rounds[r] = next;
            each(r, &next);
        }
    }

    /// As [`expand`](Schedule::expand), and returns E_K of blocks. Its rounds use the time in which
    /// each round key waits for the previous one.
    #[inline(always)]
    pub(super) fn expand_and_encrypt<'k>(
        &mut self,
        key: impl Fn(usize) -> &'k [u8],
        blocks: Vectors<I, N>,
    ) -> Vectors<I, N> {
        let isa = self.isa;
        let mut x = xor(isa, self.key_block(&key, 0), blocks);
        self.expand(
            key,
            #[inline(always)]
            |r, keys| {
                for (x, key) in x.iter_mut().zip(keys) {
                    *x = if r == R - 1 { isa.aes_last(*x, *key) } else { isa.aes(*x, *key) };
                }
            },
        );
        x
    }

    /// E_K of blocks to which the first round keys were already added.
    #[inline(always)]
    pub(super) fn encrypt(&self, mut x: Vectors<I, N>) -> Vectors<I, N> {
        // Reload the keys each time: otherwise compilers copy all round keys to the stack. With
        // `isa::reloaded`, LightMAC takes 1.5 % more instructions on `aesni`.
        let rounds: &[Vectors<I, N>; R] = black_box(&self.rounds);
        let (last, rounds) = rounds.split_last().expect("rounds");
        for keys in rounds {
            for (x, key) in x.iter_mut().zip(keys) {
                *x = self.isa.aes(*x, *key);
            }
        }
        for (x, key) in x.iter_mut().zip(last) {
            *x = self.isa.aes_last(*x, *key);
        }
        x
    }
}

/// The messages that a kernel processes side by side.
pub struct Group<'w, K> {
    /// The key of each message.
    pub(super) keys: &'w [K],
    /// The number of terms of each message, from the most to the fewest.
    pub(super) terms: &'w [u8],
    /// The blocks: the padded last blocks, masks of ones where these are full, pieces 1, 2 and so
    /// on.
    pub(super) rows: &'w [Block],
}

impl<K> Group<'_, K> {
    #[inline(always)]
    fn row<I: Isa, const N: usize>(&self, isa: I, row: usize) -> Vectors<I, N> {
        let row = &self.rows[row * N * I::LANES..][..N * I::LANES];
        let mut x = [isa.splat(&[0; 16]); N];
        for (x, blocks) in x.iter_mut().zip(row.chunks_exact(I::LANES)) {
            *x = isa.load(blocks.as_flattened());
        }
        x
    }

    /// The number of terms of the first message, the most, and of the last, which all have.
    #[inline(always)]
    fn most_and_common(&self, size: usize) -> (usize, usize) {
        (self.terms[0] as usize, self.terms[size - 1] as usize)
    }

    /// Keeps the lanes of the messages with a term i; the other lanes are zero.
    #[inline(always)]
    fn keep<I: Isa, const N: usize>(
        &self,
        isa: I,
        i: usize,
        mut y: Vectors<I, N>,
    ) -> Vectors<I, N> {
        for (y, terms) in y.iter_mut().zip(self.terms.chunks_exact(I::LANES)) {
            let n = terms.iter().take_while(|terms| **terms as usize >= i).count();
            *y = isa.keep_lanes(*y, n);
        }
        y
    }

    /// Piece i of each message.
    #[inline(always)]
    pub(super) fn pieces<I: Isa, const N: usize>(&self, isa: I, i: usize) -> Vectors<I, N> {
        self.row(isa, i + 1)
    }

    /// The padded last block of each message.
    #[inline(always)]
    pub(super) fn last<I: Isa, const N: usize>(&self, isa: I) -> Vectors<I, N> {
        self.row(isa, 0)
    }

    /// All ones for each message with a full last block.
    #[inline(always)]
    pub(super) fn full<I: Isa, const N: usize>(&self, isa: I) -> Vectors<I, N> {
        self.row(isa, 1)
    }
}

/// The xor of each message's terms and of its last block. `term` computes term i from piece i of
/// each message.
#[inline(always)]
pub(super) fn digests<I: Isa, const N: usize, K>(
    isa: I,
    group: &Group<'_, K>,
    mut term: impl FnMut(usize, Vectors<I, N>) -> Vectors<I, N>,
) -> Vectors<I, N> {
    let mut sum = group.last(isa);
    let (most, common) = group.most_and_common(N * I::LANES);
    for i in 1..=most {
        let mut y = term(i, group.pieces(isa, i));
        if i > common {
            y = group.keep(isa, i, y);
        }
        sum = xor(isa, sum, y);
    }
    sum
}

/// The CBC chain of each message, up to its last block: `Y_i = E_K(M_i ^ Y_{i-1})`.
#[inline(always)]
pub(super) fn chains<I: Isa, const N: usize, const R: usize, K>(
    isa: I,
    keys: &Schedule<I, N, R>,
    group: &Group<'_, K>,
) -> Vectors<I, N> {
    let mut y = [isa.splat(&[0; 16]); N];
    let (most, common) = group.most_and_common(N * I::LANES);
    for i in 1..=most {
        let x = xor(isa, group.pieces(isa, i), keys.whitening());
        let next = keys.encrypt(xor(isa, x, y));
        // A chain that has ended keeps its value.
        y = match i > common {
            true => xor(isa, y, group.keep(isa, i, xor(isa, y, next))),
            false => next,
        };
    }
    y
}
