//! Any CPU: bitsliced AES, 16 blocks at once, in plain Rust. Constant-time: it uses no table, and
//! branches and indices do not depend on data.
//!
//! A vector is 8 planes of 4 words. Let byte (r, c) be byte r + 4c of a block, as in FIPS-197,
//! section 3.4:
//!
//! ```text
//! bit 16c + j of word (b, r)  =  bit b of byte (r, c) of block j
//! ```
//!
//! SubBytes is the circuit in [`sbox`], applied to the words of a row. ShiftRows rotates row r by r
//! columns: a rotation within each word. MixColumns (section 5.1.3) only xors words: with t_r = a_r
//! ^ a_{r+1}, rows counted mod 4,
//!
//! ```text
//! 2 a_r ^ 3 a_{r+1} ^ a_{r+2} ^ a_{r+3}  =  2 t_r ^ a_{r+1} ^ t_{r+2}
//! ```
//!
//! Bitslicing is from Biham, "A Fast New DES Implementation in Software" (1997). Käsper and Schwabe
//! applied it to AES with several blocks side by side in "Faster and Timing-Attack Resistant
//! AES-GCM" (2009).
//!
//! The code is fast because a word holds one row. A round of 16 blocks takes 24 rotations and no
//! masks; a word with all four rows would need masks and shifts for each plane. The rows of a plane
//! are adjacent, so on targets with 128-bit vectors (x86-64, aarch64) the circuit runs on two rows
//! at once. A single block has its own layout, [`narrow`].

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

/// Small code is preferred to speed on long messages: on 32-bit CPUs without vectors, such as
/// microcontrollers. The portable level there has one block per vector.
pub(crate) const SMALL: bool =
    !cfg!(any(target_pointer_width = "64", target_family = "wasm", target_arch = "x86"));

/// The portable level.
pub type Portable = <Choice<SMALL> as Choose>::Level;

/// Selects a portable level, the small one or the wide one.
pub struct Choice<const SMALL: bool>;

/// The level for a choice.
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

/// Any CPU, with 16 blocks per vector.
#[derive(Clone, Copy)]
pub struct PortableWide(());

/// Any CPU, with one block per vector.
#[derive(Clone, Copy)]
pub struct PortableNarrow(());

impl Sealed for PortableWide {}
impl Sealed for PortableNarrow {}

#[allow(dead_code, reason = "one of the two portable levels is in use")]
impl PortableWide {
    /// Returns the proof, which every CPU has.
    #[inline]
    pub(in crate::isa) fn detect() -> Option<Self> {
        Some(PortableWide(()))
    }

    /// Runs `f` on three values.
    // Not inlined, so that callers, which may choose another level, need no stack for planes.
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

/// The encoding of counters.
#[derive(Clone, Copy)]
pub struct Layout {
    layout: Block,
    /// Bit 16c of word r is set where byte (r, c) is the counter's lowest byte.
    lowest: [u64; 4],
}

/// Writes `c` as a block: byte i of the block is byte `layout[i]` of `c`.
#[inline(always)]
fn written(c: u64, layout: &Block) -> Block {
    let bytes = c.to_le_bytes();
    core::array::from_fn(
        #[inline(always)]
        |i| if layout[i] == ZERO { 0 } else { bytes[layout[i] as usize % 8] },
    )
}

/// Encodes `first + j` in lane j.
#[inline(never)]
fn encode(first: u64, layout: &Layout) -> Planes {
    // Above the low four bits there are at most two values: that of `first`, and the next one in
    // lanes where the low bits have wrapped. The low bits are those of j, rotated by those of
    // `first`.
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

/// Sets all lanes to each key.
#[inline(never)]
fn fill_each(planes: &mut [Planes], keys: &[Block]) {
    for (planes, key) in planes.iter_mut().zip(keys) {
        fill_into(planes, key);
    }
}

// Only functions of a few instructions are inlined into kernels: on the CPUs that use this level, a
// vector of blocks takes thousands of cycles.
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
mod tests;
