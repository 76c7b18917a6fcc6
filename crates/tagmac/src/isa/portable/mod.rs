//! Any CPU: AES on bits, 16 blocks at once, in plain Rust and in constant time (no table; no
//! branch and no index depends on data).
//!
//! A vector is 8 planes of 4 words. With byte (r, c) = byte r + 4c of a block, as in FIPS-197,
//! section 3.4:
//!
//! ```text
//! bit 16c + j of word (b, r)  =  bit b of byte (r, c) of block j
//! ```
//!
//! SubBytes is the circuit in [`sbox`] on the words of a row. ShiftRows turns row r by r columns:
//! a rotation within each word. MixColumns (section 5.1.3) only xors words: with t_r = a_r ^
//! a_{r+1}, rows counted mod 4,
//!
//! ```text
//! 2 a_r ^ 3 a_{r+1} ^ a_{r+2} ^ a_{r+3}  =  2 t_r ^ a_{r+1} ^ t_{r+2}
//! ```
//!
//! Bitslicing is from Biham, "A Fast New DES Implementation in Software" (1997), and came to AES
//! with several blocks side by side in Käsper and Schwabe, "Faster and Timing-Attack Resistant
//! AES-GCM" (2009).
//!
//! Fast because a word holds one row: a round of 16 blocks takes 24 rotations and no masks where
//! a word with all four rows takes masks and shifts for each plane, and the rows of a plane lie
//! side by side, so that where vectors of 128 bits are part of the target (x86-64, aarch64) the
//! circuit runs on two rows at once. One block alone has a layout of its own, [`narrow`].

#![allow(clippy::needless_range_loop, reason = "planes and rows index several arrays at once")]

mod bit_slices;
mod layout;
mod narrow;
mod planes;
mod sbox;
mod words;

use super::{Block, Isa, Lanes, ZERO, be_prefix, zeros_before};
use crate::sealed::Sealed;
use layout::unpack;
use planes::{
    LANES, ONES, Planes, fill, fill_into, fold, last_round, masked, round, rounds, slice, unslice,
    xor,
};
pub(crate) use words::PortableWords;

/// Whether code is better small than fast over long messages: so on CPUs with words of 32 bits and no
/// vectors, as microcontrollers are. There the level has one block in a vector.
pub(crate) const SMALL: bool =
    !cfg!(any(target_pointer_width = "64", target_family = "wasm", target_arch = "x86"));

/// The level of any CPU.
pub type Portable = <Choice<SMALL> as Choose>::Level;

/// A portable level, by whether it is the small one.
pub struct Choice<const SMALL: bool>;

/// What a choice means.
pub trait Choose {
    /// The level.
    type Level: Isa;
}

impl Choose for Choice<false> {
    type Level = PortableWide;
}

impl Choose for Choice<true> {
    type Level = PortableNarrow;
}

/// Any CPU, 16 blocks at once.
#[derive(Clone, Copy)]
pub struct PortableWide(());

/// Any CPU, one block.
#[derive(Clone, Copy)]
pub struct PortableNarrow(());

impl Sealed for PortableWide {}
impl Sealed for PortableNarrow {}

#[allow(dead_code, reason = "one of the two portable levels is in use")]
impl PortableWide {
    /// The proof, which every CPU has.
    #[inline]
    pub(in crate::isa) fn detect() -> Option<Self> {
        Some(PortableWide(()))
    }

    /// Runs `f` on three values.
    // So that the caller, who may take another level, needs no stack for planes.
    #[inline(never)]
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

/// How counters are written.
#[derive(Clone, Copy)]
pub struct Layout {
    layout: Block,
    /// Bit 16c of word r is set where byte (r, c) is the counter's lowest byte.
    lowest: [u64; 4],
}

/// The block whose byte i is byte `layout[i]` of `c`.
#[inline(always)]
fn written(c: u64, layout: &Block) -> Block {
    let bytes = c.to_le_bytes();
    core::array::from_fn(
        #[inline(always)]
        |i| if layout[i] == ZERO { 0 } else { bytes[layout[i] as usize % 8] },
    )
}

/// Lane j is `first + j` in a layout.
#[inline(never)]
fn encode(first: u64, layout: &Layout) -> Planes {
    // Two values at most differ above the low four bits: that of `first`, and the next in those
    // lanes where the low bits have wrapped. The low bits are j's, turned by those of `first`.
    const LOW_BITS_OF_J: [u16; 4] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];
    let low = first % LANES as u64;
    let high = first - low;
    let wrapped = ONES * !(u16::MAX >> low) as u64;
    let mut v = fill(&written(high, &layout.layout));
    let next = fill(&written(high.wrapping_add(LANES as u64), &layout.layout));
    for (v, next) in v.as_flattened_mut().iter_mut().zip(next.as_flattened()) {
        *v ^= (*v ^ *next) & wrapped;
    }
    for (b, bits) in LOW_BITS_OF_J.into_iter().enumerate() {
        for r in 0..4 {
            v[b][r] |= layout.lowest[r] * bits.rotate_right(low as u32) as u64;
        }
    }
    v
}

/// A key in all lanes, for each.
#[inline(never)]
fn fill_each(planes: &mut [Planes], keys: &[Block]) {
    for (planes, key) in planes.iter_mut().zip(keys) {
        fill_into(planes, key);
    }
}

// Nothing is inlined into kernels that is more than some instructions: the level is for CPUs where
// a vector of blocks takes thousands of cycles.
impl Lanes for PortableWide {
    type Block = Block;
    const LANES: usize = LANES;
    const UNROLL: usize = 1;
    type V = Planes;
    type Counter = u64;
    type CounterLayout = Layout;
    type Stride = usize;
    type Narrow = PortableNarrow;

    #[inline(always)]
    fn narrow(self) -> PortableNarrow {
        PortableNarrow(())
    }

    #[inline(always)]
    fn splat(self, b: &Block) -> Planes {
        fill(b)
    }

    #[inline(always)]
    fn load(self, p: &[u8]) -> Planes {
        slice(p.try_into().expect("16 blocks"))
    }

    #[inline(never)]
    fn load_lanes(self, p: &[u8]) -> Planes {
        let mut blocks = [0; 16 * LANES];
        blocks[..p.len()].copy_from_slice(p);
        slice(&blocks)
    }

    #[inline(never)]
    fn store_lanes(self, a: Planes, p: &mut [u8]) {
        let bytes = p.len().min(16 * LANES) / 16 * 16;
        p[..bytes].copy_from_slice(&unslice(a)[..bytes]);
    }

    #[inline(never)]
    fn keep_lanes(self, a: Planes, n: usize) -> Planes {
        masked(a, ONES * ((1 << n) - 1))
    }

    #[inline(never)]
    fn set_last_lane(self, b: &Block) -> Planes {
        masked(fill(b), ONES << (LANES - 1))
    }

    #[inline(never)]
    fn lane0(self, a: Planes) -> Block {
        self.narrow().lane0(self.xor_lanes(self.keep_lanes(a, 1)))
    }

    #[inline(always)]
    fn xor_lanes(self, a: Planes) -> u128 {
        unpack(fold(&a))
    }

    #[inline(always)]
    fn xor(self, a: Planes, b: Planes) -> Planes {
        core::array::from_fn(
            #[inline(always)]
            |plane| xor(a[plane], b[plane]),
        )
    }

    #[inline(never)]
    fn xor3(self, a: Planes, b: Planes, c: Planes) -> Planes {
        core::array::from_fn(
            #[inline(always)]
            |plane| xor(xor(a[plane], b[plane]), c[plane]),
        )
    }

    #[inline(always)]
    fn counter(self, first: u64) -> u64 {
        first
    }

    #[inline(always)]
    fn advance(self, c: u64) -> u64 {
        c.wrapping_add(LANES as u64)
    }

    #[inline(never)]
    fn be_prefix(self, bytes: usize) -> Self::CounterLayout {
        self.counter_layout(&be_prefix(bytes))
    }

    #[inline(always)]
    fn encode_counter(self, c: u64, layout: Layout) -> Planes {
        encode(c, &layout)
    }

    #[inline(always)]
    fn stride(self, step: usize) -> usize {
        step
    }

    #[inline(always)]
    fn load_strided<const N: usize>(self, data: &[u8], at: usize, step: usize) -> [Planes; N] {
        core::array::from_fn(
            #[inline(always)]
            |v| self.load_strided_lanes(data, at + v * LANES * step, LANES, step),
        )
    }

    #[inline(never)]
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, step: usize) -> Planes {
        let mut blocks = [0; 16 * LANES];
        let pieces = data[at..at + n * step].chunks_exact(step);
        for (block, piece) in blocks.as_chunks_mut().0.iter_mut().zip(pieces) {
            *block = zeros_before(piece);
        }
        slice(&blocks)
    }
}

impl Isa for PortableWide {
    const NARROW_PATH_MAX_BLOCKS: usize = 6;
    type Keys<'a, const R: usize> = [Planes; R];
    type Words = PortableWords;
    type One = PortableNarrow;

    #[inline(never)]
    fn run_outlined<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline(always)]
    fn words(self) -> PortableWords {
        PortableWords
    }

    #[inline(always)]
    fn keys<const R: usize>(self, keys: &[Block; R]) -> [Planes; R] {
        let mut planes = [[[0; 4]; 8]; R];
        fill_each(&mut planes, keys);
        planes
    }

    #[inline(always)]
    fn key<const R: usize>(self, keys: &[Planes; R], r: usize) -> Planes {
        keys[r]
    }

    #[inline(always)]
    fn aes(self, mut a: Planes, k: Planes) -> Planes {
        round(&mut a, &k);
        a
    }

    #[inline(always)]
    fn aes_last(self, mut a: Planes, k: Planes) -> Planes {
        last_round(&mut a, &k);
        a
    }

    const AES_INSTRUCTIONS: bool = false;

    #[inline(always)]
    fn aes_rounds<const R: usize, const N: usize>(
        self,
        keys: &[Planes; R],
        mut x: [Planes; N],
    ) -> [Planes; N] {
        x.iter_mut().for_each(|x| rounds(x, keys));
        x
    }

    #[inline(never)]
    fn counter_layout(self, layout: &Block) -> Layout {
        let mut lowest = [0; 4];
        for (i, byte) in layout.iter().enumerate() {
            lowest[i % 4] |= ((*byte == 0) as u64) << (16 * (i / 4));
        }
        Layout { layout: *layout, lowest }
    }

    #[inline(never)]
    fn and(self, mut a: Planes, b: Planes) -> Planes {
        for (a, b) in a.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
            *a &= b;
        }
        a
    }

    #[inline(never)]
    fn next_key_words(self, before: Planes, last: Planes, rcon: Option<u8>) -> Planes {
        let (isa, mut next, last) = (self.narrow(), unslice(before), unslice(last));
        for (next, last) in next.as_chunks_mut().0.iter_mut().zip(last.as_chunks().0) {
            *next = isa.lane0(isa.next_key_words(isa.splat(next), isa.splat(last), rcon));
        }
        slice(&next)
    }
}

#[cfg(test)]
mod tests {
    use super::sbox::tests::{sub_byte, times};
    use super::*;

    fn xor(a: Block, b: Block) -> Block {
        core::array::from_fn(|i| a[i] ^ b[i])
    }

    /// FIPS-197, sections 5.1.1 and 5.1.2, on bytes.
    fn sub_shift(a: Block) -> Block {
        core::array::from_fn(|i| sub_byte(a[(i + 4 * (i % 4)) % 16]))
    }

    /// Section 5.1.3.
    fn mix_columns(a: Block) -> Block {
        core::array::from_fn(|i| {
            let row = |by: usize| a[i / 4 * 4 + (i + by) % 4];
            times(2, row(0)) ^ times(3, row(1)) ^ row(2) ^ row(3)
        })
    }

    /// Blocks without a pattern.
    fn blocks(seed: u64) -> [u8; 16 * LANES] {
        let mut state = seed;
        core::array::from_fn(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        })
    }

    fn block(p: &[u8], j: usize) -> Block {
        p[16 * j..][..16].try_into().unwrap()
    }

    /// Lane j of `a` is `expected(j)`.
    fn assert_lanes<I: Isa>(isa: I, a: I::V, expected: impl Fn(usize) -> Block) {
        let mut p = [0; 16 * LANES];
        isa.store_lanes(a, &mut p[..16 * I::LANES]);
        for j in 0..I::LANES {
            assert_eq!(block(&p, j), expected(j), "lane {j}");
        }
    }

    fn rounds<I: Isa>(isa: I) {
        let key = block(&blocks(1), 0);
        let p = blocks(2);
        let (a, k) = (isa.load(&p[..16 * I::LANES]), isa.splat(&key));
        assert_lanes(isa, a, |j| block(&p, j));
        assert_lanes(isa, k, |_| key);
        assert_lanes(isa, isa.xor(a, k), |j| xor(block(&p, j), key));
        assert_lanes(isa, isa.aes_last(a, k), |j| xor(sub_shift(block(&p, j)), key));
        assert_lanes(isa, isa.aes(a, k), |j| xor(mix_columns(sub_shift(block(&p, j))), key));
        // Keys that differ from lane to lane.
        let q = blocks(3);
        let k = isa.load(&q[..16 * I::LANES]);
        assert_lanes(isa, isa.aes(a, k), |j| {
            xor(mix_columns(sub_shift(block(&p, j))), block(&q, j))
        });
        assert_eq!(isa.lane0(a), block(&p, 0));
        let sum = (0..I::LANES).fold([0; 16], |sum, j| xor(sum, block(&p, j)));
        assert_eq!(isa.narrow().lane0(isa.xor_lanes(a)), sum);
    }

    #[test]
    fn rounds_match_bytes() {
        rounds(PortableWide(()));
        rounds(PortableNarrow(()));
    }

    /// FIPS-197, section 5.2.
    fn round_keys(key: &[u8]) -> [Block; 15] {
        let nk = key.len() / 4;
        let mut words = [[0u8; 4]; 60];
        words[..nk].copy_from_slice(key.as_chunks().0);
        let mut rcon = 1;
        for i in nk..60 {
            let mut word = words[i - 1];
            if i % nk == 0 {
                word.rotate_left(1);
                word = word.map(sub_byte);
                word[0] ^= rcon;
                rcon = times(2, rcon);
            } else if nk > 6 && i % nk == 4 {
                word = word.map(sub_byte);
            }
            words[i] = core::array::from_fn(|b| words[i - nk][b] ^ word[b]);
        }
        core::array::from_fn(|r| block(words.as_flattened(), r))
    }

    fn ciphers<I: Isa>(isa: I) {
        // FIPS-197, appendix C: the key of 16, 24 or 32 bytes counts from 0.
        let key: [u8; 32] = core::array::from_fn(|i| i as u8);
        let plain = 0x00112233445566778899aabbccddeeffu128.to_be_bytes();
        for (length, rounds, cipher) in [
            (16, 10, 0x69c4e0d86a7b0430d8cdb78070b4c55au128),
            (24, 12, 0xdda97ca4864cdfe06eaf70a0ec0d7191),
            (32, 14, 0x8ea2b7ca516745bfeafc49904b496089),
        ] {
            let keys = round_keys(&key[..length]);
            let prepared = isa.keys(&keys);
            let mut x = isa.xor(isa.splat(&plain), isa.key(&prepared, 0));
            for r in 1..rounds {
                x = isa.aes(x, isa.key(&prepared, r));
            }
            x = isa.aes_last(x, isa.key(&prepared, rounds));
            assert_lanes(isa, x, |_| cipher.to_be_bytes());
        }
    }

    #[test]
    fn fips_197() {
        ciphers(PortableWide(()));
        ciphers(PortableNarrow(()));
    }

    fn some_lanes<I: Isa>(isa: I) {
        let p = blocks(4);
        let whole = isa.load(&p[..16 * I::LANES]);
        for n in 0..=I::LANES {
            let first = |j| if j < n { block(&p, j) } else { [0; 16] };
            assert_lanes(isa, isa.load_lanes(&p[..16 * n]), first);
            assert_lanes(isa, isa.keep_lanes(whole, n), first);
            // As many whole blocks as fit, and no byte more.
            let mut stored = [0xee; 16 * LANES + 16];
            isa.store_lanes(whole, &mut stored[..16 * n + 15 * (n < I::LANES) as usize]);
            assert_eq!(stored[..16 * n], p[..16 * n]);
            assert!(stored[16 * n..].iter().all(|byte| *byte == 0xee));
        }
        let b = block(&p, 0);
        let last = I::LANES - 1;
        assert_lanes(isa, isa.set_last_lane(&b), |j| if j == last { b } else { [0; 16] });
    }

    #[test]
    fn lanes_beyond_are_zero() {
        some_lanes(PortableWide(()));
        some_lanes(PortableNarrow(()));
    }

    fn counters<I: Isa>(isa: I) {
        const LAYOUTS: [Block; 3] = [
            [3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0],
            [7, 6, 5, 4, 3, 2, 1, 0, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO],
            [ZERO, 5, ZERO, 0, 7, 1, ZERO, 2, ZERO, ZERO, 4, 3, 6, ZERO, ZERO, 0],
        ];
        let edges = [0, 0xff, 0xffff_ffff, 0x0123_4567_89ab_cdef, u64::MAX];
        for first in
            edges.into_iter().flat_map(|e| (0..34).map(move |i| e.wrapping_add(i).wrapping_sub(17)))
        {
            for layout in LAYOUTS {
                let lane = |first: u64, j: usize| {
                    let c = first.wrapping_add(j as u64).to_le_bytes();
                    layout.map(|i| if i == ZERO { 0 } else { c[i as usize] })
                };
                let (counter, prepared) = (isa.counter(first), isa.counter_layout(&layout));
                assert_lanes(isa, isa.encode_counter(counter, prepared), |j| lane(first, j));
                let next = first.wrapping_add(I::LANES as u64);
                assert_lanes(isa, isa.encode_counter(isa.advance(counter), prepared), |j| {
                    lane(next, j)
                });
            }
        }
    }

    #[test]
    fn counters_in_forms() {
        counters(PortableWide(()));
        counters(PortableNarrow(()));
    }

    fn spreads<I: Isa>(isa: I) {
        let data: [u8; 3 * 16 * LANES] = core::array::from_fn(|i| (i * 167 + i / 256 + 1) as u8);
        for step in 8..=16 {
            let stride = isa.stride(step);
            for at in [16 - step, 16] {
                let piece = |j: usize| {
                    let mut b = [0; 16];
                    b[16 - step..].copy_from_slice(&data[at + j * step..][..step]);
                    b
                };
                for (v, a) in isa.load_strided::<2>(&data, at, stride).into_iter().enumerate() {
                    assert_lanes(isa, a, |j| piece(v * I::LANES + j));
                }
                for n in 0..=I::LANES {
                    let a = isa.load_strided_lanes(&data[..at + n * step], at, n, stride);
                    assert_lanes(isa, a, |j| if j < n { piece(j) } else { [0; 16] });
                }
            }
        }
    }

    #[test]
    fn pieces_end_blocks() {
        spreads(PortableWide(()));
        spreads(PortableNarrow(()));
    }
}
