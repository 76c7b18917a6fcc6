//! One block. Between rounds it has the byte order of memory, and within rounds it is in two words:
//!
//! ```text
//! bit 16r + 4c + b mod 4 of word b / 4  =  bit b of byte (r, c)
//! ```
//!
//! The formulas and sources are those of [`super`]. The code is fast because only the circuit needs
//! a word for each plane, and gets it by a shift that leaves bits of other planes in between. All
//! other steps work on two words instead of eight.

use super::layout::{Nibbles, pack, swap, unpack};
use super::sbox::sub_bytes;
use super::words::PortableWords;
use super::{PortableNarrow, written};
use crate::isa::{Block, Isa, Lanes, SMALL, be_prefix, zero_filled, zeros_before};

/// Bit 0 of every nibble: one plane.
const PLANE: u64 = 0x1111_1111_1111_1111;

/// ShiftRows(SubBytes(a)).
#[inline(always)]
fn sub_shift([l, h]: Nibbles) -> Nibbles {
    let s = sub_bytes([l, l >> 1, l >> 2, l >> 3, h, h >> 1, h >> 2, h >> 3]);
    [[s[0], s[1], s[2], s[3]], [s[4], s[5], s[6], s[7]]].map(
        #[inline(always)]
        |[p, q, r, s]| {
            let w = p & PLANE | (q & PLANE) << 1 | (r & PLANE) << 2 | (s & PLANE) << 3;
            // Rotate rows 2 and 3 by two columns, then rows 1 and 3 by one.
            let w = swap(w, 8, 0x00ff_00ff_0000_0000);
            let stay = w & 0x0000_ffff_0000_ffff;
            stay | w >> 4 & 0x0fff_0000_0fff_0000 | w << 12 & 0xf000_0000_f000_0000
        },
    )
}

/// MixColumns, by the formula in [`super`].
#[inline(always)]
fn mix_columns([l, h]: Nibbles) -> Nibbles {
    let (next_l, next_h) = (l.rotate_right(16), h.rotate_right(16));
    let (t_l, t_h) = (l ^ next_l, h ^ next_h);
    // 2t is t one plane up; the bits that leave plane 7 come back as 0x1b.
    let top = t_h >> 3 & PLANE;
    let twice_l = (t_l << 1 & !PLANE) ^ top ^ top << 1 ^ top << 3;
    let twice_h = (t_h << 1 & !PLANE) ^ (t_l >> 3 & PLANE) ^ top;
    [twice_l ^ next_l ^ t_l.rotate_right(32), twice_h ^ next_h ^ t_h.rotate_right(32)]
}

/// The maximum number of rounds of a cipher.
const MAX_ROUNDS: usize = 14;

/// All rounds on blocks, side by side: the gates of one block depend on each other, and those of
/// the next block fill the time.
#[inline(always)]
fn rounds<const N: usize>(x: [u128; N], keys: &[Block]) -> [u128; N] {
    let last = keys.len() - 1;
    assert!(last < MAX_ROUNDS);
    let mut packed = [[0; 2]; MAX_ROUNDS];
    packed[0] = pack(u128::from_le_bytes(keys[0]));
    let mut x = x.map(pack);
    for r in 0..last {
        // The next key is stored to memory, so that compilers pack it by vector instructions, which
        // are otherwise idle here.
        packed[r + 1] = pack(u128::from_le_bytes(keys[r + 1]));
        for x in &mut x {
            *x = xor(mix_columns(sub_shift(*x)), packed[r]);
        }
    }
    x.map(
        #[inline(always)]
        |x| unpack(xor(sub_shift(x), packed[last])),
    )
}

#[inline(never)]
fn rounds_of_one(x: u128, keys: &[Block]) -> u128 {
    let [x] = rounds([x], keys);
    x
}

#[inline(never)]
fn rounds_of_four(x: &mut [u128; 4], keys: &[Block]) {
    *x = rounds(*x, keys);
}

#[inline(never)]
fn rounds_of_two(x: &mut [u128; 2], keys: &[Block]) {
    *x = rounds(*x, keys);
}

#[inline(always)]
fn xor(a: Nibbles, b: Nibbles) -> Nibbles {
    [a[0] ^ b[0], a[1] ^ b[1]]
}

impl Lanes for PortableNarrow {
    type Block = Block;
    const LANES: usize = 1;
    // The gates of one block depend on each other; those of the next block fill the time.
    const UNROLL: usize = if SMALL { 1 } else { 8 };
    type V = u128;
    type Counter = u64;
    type CounterLayout = Block;
    type Stride = usize;
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    fn splat(self, b: &Block) -> u128 {
        u128::from_le_bytes(*b)
    }

    #[inline(always)]
    fn load(self, p: &[u8]) -> u128 {
        u128::from_le_bytes(p.try_into().expect("one block"))
    }

    #[inline(never)]
    fn load_lanes(self, p: &[u8]) -> u128 {
        u128::from_le_bytes(zero_filled(p))
    }

    #[inline(never)]
    fn store_lanes(self, a: u128, p: &mut [u8]) {
        if let Some(p) = p.first_chunk_mut() {
            *p = a.to_le_bytes();
        }
    }

    #[inline(always)]
    fn keep_lanes(self, a: u128, n: usize) -> u128 {
        if n == 0 { 0 } else { a }
    }

    #[inline(always)]
    fn set_last_lane(self, b: &Block) -> u128 {
        u128::from_le_bytes(*b)
    }

    #[inline(always)]
    fn lane0(self, a: u128) -> Block {
        a.to_le_bytes()
    }

    #[inline(always)]
    fn xor_lanes(self, a: u128) -> u128 {
        a
    }

    #[inline(always)]
    fn xor(self, a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline(always)]
    fn counter(self, first: u64) -> u64 {
        first
    }

    #[inline(always)]
    fn advance(self, c: u64) -> u64 {
        c.wrapping_add(1)
    }

    #[inline(never)]
    fn be_prefix(self, bytes: usize) -> Self::CounterLayout {
        self.counter_layout(&be_prefix(bytes))
    }

    #[inline(never)]
    fn encode_counter(self, c: u64, layout: Block) -> u128 {
        u128::from_le_bytes(written(c, &layout))
    }

    #[inline(always)]
    fn stride(self, step: usize) -> usize {
        step
    }

    #[inline(always)]
    fn load_strided<const N: usize>(self, data: &[u8], at: usize, step: usize) -> [u128; N] {
        core::array::from_fn(
            #[inline(always)]
            |v| u128::from_le_bytes(zeros_before(&data[at + v * step..][..step])),
        )
    }

    #[inline(never)]
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, step: usize) -> u128 {
        if n == 0 { 0 } else { u128::from_le_bytes(zeros_before(&data[at..at + step])) }
    }
}

#[allow(dead_code, reason = "one of the two portable levels is in use")]
impl PortableNarrow {
    /// Returns the proof, which every CPU has.
    #[inline]
    pub(in crate::isa) fn detect() -> Option<Self> {
        Some(PortableNarrow(()))
    }

    /// Runs `f` on three values.
    #[inline(always)]
    pub(in crate::isa) fn call<A, B, C, R>(
        self,
        a: A,
        b: B,
        c: C,
        f: impl FnOnce(A, B, C) -> R,
    ) -> R {
        f(a, b, c)
    }
}

impl Isa for PortableNarrow {
    const NARROW_PATH_MAX_BLOCKS: usize = 0;
    type Keys<'a, const R: usize> = &'a [Block; R];
    type Words = PortableWords;
    type One = Self;

    #[inline(never)]
    fn run_outlined<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline(always)]
    fn words(self) -> PortableWords {
        PortableWords
    }

    #[inline(always)]
    fn keys<const R: usize>(self, keys: &[Block; R]) -> &[Block; R] {
        keys
    }

    #[inline(always)]
    fn key<const R: usize>(self, keys: &&[Block; R], r: usize) -> u128 {
        u128::from_le_bytes(keys[r])
    }

    #[inline(always)]
    fn aes(self, a: u128, k: u128) -> u128 {
        unpack(mix_columns(sub_shift(pack(a)))) ^ k
    }

    #[inline(always)]
    fn aes_last(self, a: u128, k: u128) -> u128 {
        unpack(sub_shift(pack(a))) ^ k
    }

    const AES_INSTRUCTIONS: bool = false;

    #[inline(always)]
    fn aes_rounds<const R: usize, const N: usize>(
        self,
        keys: &&[Block; R],
        mut x: [u128; N],
    ) -> [u128; N] {
        let (fours, rest) = x.as_chunks_mut();
        for four in fours {
            rounds_of_four(four, *keys);
        }
        let (pairs, single) = rest.as_chunks_mut();
        for pair in pairs {
            rounds_of_two(pair, *keys);
        }
        for x in single {
            *x = rounds_of_one(*x, *keys);
        }
        x
    }

    #[inline(always)]
    fn counter_layout(self, layout: &Block) -> Block {
        *layout
    }

    #[inline(always)]
    fn and(self, a: u128, b: u128) -> u128 {
        a & b
    }

    #[inline(never)]
    fn next_key_words(self, before: u128, last: u128, rcon: Option<u8>) -> u128 {
        let fill = |word: u32| word as u128 * 0x00000001_00000001_00000001_00000001;
        let word = (last >> 96) as u32;
        let (word, rcon) = rcon.map_or((word, 0), |rcon| (word.rotate_right(8), rcon as u32));
        // ShiftRows does not change a block of four equal words.
        let sub = unpack(sub_shift(pack(fill(word)))) as u32 ^ rcon;
        let before = before ^ before << 32;
        before ^ before << 64 ^ fill(sub)
    }
}
