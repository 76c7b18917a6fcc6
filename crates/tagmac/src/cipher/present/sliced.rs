//! Whole flights of blocks in 64 vectors: bit r of word i of plane p is bit p of a block.
//!
//! P renames planes and costs nothing. Boxes `4g..4g + 4` of a round feed boxes `g, 4 + g, 8 + g,
//! 12 + g` of the next and no others, so two rounds are four pieces of sixteen planes each, which
//! stay in registers from one load to one store.
//!
//! Only the xor of all blocks is asked for: the last round adds its planes to sums in the place of
//! a key, K_32 counts only if the number of blocks is odd, and the sums become a block once.

use super::{Present, sbox};
use crate::isa::Words;

/// Bits of a block.
const BITS: usize = 64;
/// The blocks of the largest flight.
const MOST: usize = 512;
/// The most blocks that are pushed at once.
const PUSH: usize = 64;

/// A plane for each bit.
type Planes<W> = [<W as Words>::W; BITS];

/// The xor of E_K over many blocks, gathered into flights.
pub struct PresentAdder<'a, W: Words, const KEY_BYTES: usize> {
    words: W,
    cipher: &'a Present<KEY_BYTES>,
    /// The blocks that wait, and those of the flight before after them.
    blocks: [u64; MOST + PUSH],
    waiting: usize,
    /// Whether a flight was encrypted.
    flown: bool,
    sums: Planes<W>,
    states: [Planes<W>; 2],
}

/// Box `s` of a state.
#[inline(always)]
fn nibble<W: Words>(planes: &Planes<W>, s: usize) -> [W::W; 4] {
    [planes[4 * s], planes[4 * s + 1], planes[4 * s + 2], planes[4 * s + 3]]
}

/// The key of box `s` behind P.
#[inline(always)]
fn key<W: Words>(words: W, key: &[u32; BITS], s: usize) -> [W::W; 4] {
    [
        words.splat32(key[s]),
        words.splat32(key[16 + s]),
        words.splat32(key[32 + s]),
        words.splat32(key[48 + s]),
    ]
}

/// Two rounds.
#[inline(always)]
fn two_rounds<W: Words>(
    words: W,
    [odd, even]: &[[u32; BITS]; 2],
    from: &Planes<W>,
    to: &mut Planes<W>,
) {
    for g in 0..4 {
        let s = 4 * g;
        let y0 = sbox::on_vectors(words, nibble::<W>(from, s), key(words, odd, s));
        let y1 = sbox::on_vectors(words, nibble::<W>(from, s + 1), key(words, odd, s + 1));
        let y2 = sbox::on_vectors(words, nibble::<W>(from, s + 2), key(words, odd, s + 2));
        let y3 = sbox::on_vectors(words, nibble::<W>(from, s + 3), key(words, odd, s + 3));
        for b in 0..4 {
            let s = 4 * b + g;
            let z = sbox::on_vectors(words, [y0[b], y1[b], y2[b], y3[b]], key(words, even, s));
            for (c, z) in z.into_iter().enumerate() {
                to[16 * c + s] = z;
            }
        }
    }
}

/// The last round without its key, added to `sums`.
#[inline(always)]
fn add_last_round<W: Words>(words: W, from: &Planes<W>, sums: &mut Planes<W>) {
    for s in 0..16 {
        let k = [sums[s], sums[16 + s], sums[32 + s], sums[48 + s]];
        let y = sbox::on_vectors(words, nibble::<W>(from, s), k);
        for (b, y) in y.into_iter().enumerate() {
            sums[16 * b + s] = y;
        }
    }
}

impl<'a, W: Words, const KEY_BYTES: usize> PresentAdder<'a, W, KEY_BYTES> {
    /// Words of a vector.
    const WORDS: usize = 2 * W::LANES;
    /// Blocks of a flight.
    const FLIGHT: usize = BITS * Self::WORDS;
    /// So many blocks cost less by fours than a flight does.
    const FEW: usize = 16;

    /// No blocks.
    #[inline(always)]
    pub(crate) fn new(words: W, cipher: &'a Present<KEY_BYTES>) -> Self {
        let zero = words.splat(0);
        PresentAdder {
            words,
            cipher,
            blocks: [0; MOST + PUSH],
            waiting: 0,
            flown: false,
            sums: [zero; BITS],
            states: [[zero; BITS]; 2],
        }
    }

    /// Adds E_K of the blocks, big-endian numbers.
    #[inline(always)]
    pub(crate) fn push<const N: usize>(&mut self, blocks: [u64; N]) {
        const { assert!(N <= PUSH) };
        self.blocks[self.waiting..][..N].copy_from_slice(&blocks);
        self.waiting += N;
        if self.waiting >= Self::FLIGHT {
            self.rounds();
            add_last_round(self.words, &self.states[1], &mut self.sums);
            self.blocks.copy_within(Self::FLIGHT..Self::FLIGHT + PUSH, 0);
            self.waiting -= Self::FLIGHT;
        }
    }

    /// All rounds but the last on the first blocks that wait.
    #[inline(always)]
    fn rounds(&mut self) {
        let [mut from, mut to] = self.states.each_mut();
        self.words.planes(&self.blocks[..Self::FLIGHT], self.cipher.first, from);
        for keys in self.cipher.masks.as_chunks().0 {
            two_rounds(self.words, keys, from, to);
            core::mem::swap(&mut from, &mut to);
        }
        self.flown = true;
    }

    /// The xor of all.
    #[inline(always)]
    pub(crate) fn total(mut self) -> u64 {
        let rest = self.waiting;
        let mut total = 0;
        if rest <= Self::FEW {
            let rest = &mut self.blocks[..rest];
            self.cipher.encrypt(rest);
            total = rest.iter().fold(0, |total, block| total ^ block);
        } else {
            self.add_rest(rest);
            if rest % 2 == 1 {
                total = self.cipher.last;
            }
        }
        if self.flown {
            total ^= self.fold();
            self.wipe();
        }
        total
    }

    /// Adds the first `rest` blocks of a flight.
    #[inline(always)]
    fn add_rest(&mut self, rest: usize) {
        let words = self.words;
        self.rounds();
        let [added, from] = &mut self.states;
        *added = [words.splat(0); BITS];
        add_last_round(words, from, added);
        // Block `r * WORDS + i` is bit r of word i.
        let mut mask = [0; MOST / BITS];
        for (i, mask) in mask[..Self::WORDS].iter_mut().enumerate() {
            let rows = (rest + Self::WORDS - 1 - i) / Self::WORDS;
            *mask = u64::MAX.checked_shr((BITS - rows) as u32).unwrap_or(0);
        }
        let mask = words.load(&mask[..Self::WORDS]);
        for (sum, added) in self.sums.iter_mut().zip(added) {
            *sum = words.xor(*sum, words.and(*added, mask));
        }
    }

    /// The block whose bit p is the parity of plane p of the sums. Two planes become one, with the
    /// parities of halves side by side, until there is one plane.
    #[inline(always)]
    fn fold(&mut self) -> u64 {
        let words = self.words;
        let mut s = BITS / 2;
        while s > 0 {
            let low = words.splat(u64::MAX / ((1 << s) + 1));
            let (planes, others) = self.sums.split_at_mut(s);
            for (a, b) in planes.iter_mut().zip(others) {
                let x = words.xor(*a, words.shr(*a, s as u32));
                let y = words.xor(*b, words.shl(*b, s as u32));
                *a = words.or(words.and(x, low), words.and_not(y, low));
            }
            s /= 2;
        }
        let mut sums = [0; MOST / BITS];
        words.store(self.sums[0], &mut sums[..Self::WORDS]);
        sums.iter().fold(0, |total, word| total ^ word)
    }

    /// Clears what depends on the key.
    #[inline(always)]
    fn wipe(&mut self) {
        let zero = self.words.splat(0);
        self.sums = [zero; BITS];
        self.states = [[zero; BITS]; 2];
        core::hint::black_box((&mut self.sums, &mut self.states));
    }
}
