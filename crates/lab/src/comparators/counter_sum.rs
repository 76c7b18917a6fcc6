//! XOR-MAC (Bellare, Guérin, Rogaway) and its variant with a second key, as in section 4.4 of the
//! PMAC paper.
//!
//! 10* always, M = M_1 .. M_l in pieces of n/2 bits, i as n/2 bits:
//!
//! ```text
//! Sigma = E_K(1, M_1) ^ .. ^ E_K(l, M_l)
//! XOR-MAC:     Tag = Sigma ^ E_K(0, nonce)
//! COUNTER-SUM: Tag = E_K2(Sigma)
//! ```
//!
//! `HALF` is n/2 in bytes.

use tagmac::Tag;
use tagmac::cipher::{Cipher, CipherBlock, Field};
use tagmac::isa::{Isa, Lanes, Level, Levels};

use crate::blocks::{add_vectors, padded};
use crate::parallel::{Mode, Parallel, Sums, whole};

/// The maximum of bits in a message: all numbers of n/2 bits except 0.
const fn limit_bits(half: usize) -> u64 {
    let pieces = if half >= 8 { u64::MAX } else { (1 << (8 * half)) - 1 };
    pieces.saturating_mul(8 * half as u64) - 1
}

/// Returns a number followed by a piece.
#[inline(always)]
fn numbered<B: Field>(i: u64, piece: &[u8]) -> B {
    let mut block = B::ZERO;
    let (first, second) = block.as_mut().split_at_mut(B::BYTES / 2);
    first.copy_from_slice(&u128::from(i).to_be_bytes()[16 - B::BYTES / 2..]);
    second.copy_from_slice(piece);
    block
}

/// Adds the terms of whole pieces after `at` others.
#[inline(always)]
fn absorb<I: Isa, C: Cipher<Block: Field>>(
    isa: I,
    cipher: &C,
    sums: &mut Sums<C::Block>,
    at: u64,
    pieces: &[u8],
) {
    let (lanes, keys, half) = (C::lanes(isa), cipher.keys(isa), C::Block::BYTES / 2);
    let (stride, layout) = (lanes.stride(half), lanes.be_prefix(half));
    let mut counter = lanes.counter(at + 1);
    let mut sum = C::sum(isa, &keys);
    add_vectors::<I, C>(
        isa,
        &keys,
        &mut sum,
        pieces.len() / half,
        #[inline(always)]
        |j, n| {
            let number = lanes.encode_counter(counter, layout);
            counter = lanes.advance(counter);
            // Half a block comes before each piece except the first.
            let piece = if n == C::Lanes::<I>::LANES && j > 0 {
                let [piece] = lanes.load_strided(pieces, half * j, stride);
                piece
            } else {
                lanes.load_strided_lanes(pieces, half * j, n, stride)
            };
            lanes.xor(number, piece)
        },
    );
    sums.add_xor(lanes, C::finish(isa, &keys, &mut sum));
}

/// Returns a sum with the term of the last piece after `at` others.
#[inline(always)]
fn finish<I: Isa, C: Cipher<Block: Field>, const HALF: usize>(
    isa: I,
    cipher: &C,
    xor: &C::Block,
    at: u64,
    last: &[u8],
) -> C::Block {
    let last: [u8; HALF] = padded(last);
    xor.xor(&cipher.encrypt_one(isa, &numbered(at + 1, &last)))
}

/// XOR-MAC with the cipher C.
#[derive(Clone)]
pub struct XorMac<C: Cipher, const HALF: usize>(C);

impl<C: Cipher<Block: Field + PartialEq>, const HALF: usize> XorMac<C, HALF> {
    /// Makes XOR-MAC under a key.
    pub fn with_level(key: &C::Key, level: Level) -> Parallel<Self> {
        const { assert!(2 * HALF == C::Block::BYTES) };
        Parallel::new(XorMac(C::new(key, level)), level)
    }
}

impl<C: Cipher<Block: Field + PartialEq>, const HALF: usize> Mode for XorMac<C, HALF> {
    type Word = C::Block;
    type Digest = C::Block;
    type Nonce = [u8; HALF];
    const LEVELS: Levels = C::LEVELS;
    const BLOCK_BYTES: usize = HALF;
    const TAG_BYTES: usize = C::Block::BYTES;
    const LIMIT_BITS: u64 = limit_bits(HALF);

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<C::Block>, at: u64, pieces: &[u8]) {
        absorb(isa, &self.0, sums, at, pieces);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sums: Sums<C::Block>, at: u64, last: &[u8]) -> C::Block {
        finish::<_, _, HALF>(isa, &self.0, &sums.xor, at, last)
    }

    #[inline(always)]
    fn tag<I: Isa>(&self, isa: I, nonce: &[u8; HALF], sigma: C::Block) -> Tag {
        whole(&sigma.xor(&self.0.encrypt_one(isa, &numbered(0, nonce))))
    }
}

/// The counter sum under two keys, with the cipher C.
#[derive(Clone)]
pub struct CounterSum<C: Cipher, const HALF: usize> {
    k1: C,
    k2: C,
}

impl<C: Cipher<Block: Field + PartialEq>, const HALF: usize> CounterSum<C, HALF> {
    /// Makes the counter sum under two keys.
    pub fn with_level(k1: &C::Key, k2: &C::Key, level: Level) -> Parallel<Self> {
        const { assert!(2 * HALF == C::Block::BYTES) };
        Parallel::new(CounterSum { k1: C::new(k1, level), k2: C::new(k2, level) }, level)
    }
}

impl<C: Cipher<Block: Field + PartialEq>, const HALF: usize> Mode for CounterSum<C, HALF> {
    type Word = C::Block;
    type Digest = C::Block;
    type Nonce = ();
    const LEVELS: Levels = C::LEVELS;
    const BLOCK_BYTES: usize = HALF;
    const TAG_BYTES: usize = C::Block::BYTES;
    const LIMIT_BITS: u64 = limit_bits(HALF);

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<C::Block>, at: u64, pieces: &[u8]) {
        absorb(isa, &self.k1, sums, at, pieces);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sums: Sums<C::Block>, at: u64, last: &[u8]) -> C::Block {
        finish::<_, _, HALF>(isa, &self.k1, &sums.xor, at, last)
    }

    #[inline(always)]
    fn tag<I: Isa>(&self, isa: I, (): &(), sigma: C::Block) -> Tag {
        whole(&self.k2.encrypt_one(isa, &sigma))
    }
}
