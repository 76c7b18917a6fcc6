//! One block in a `uint8x16_t`.

// Compilers from 1.96 warn about an intrinsic in a method without the feature. The method is
// inlined, with the intrinsic, into the function of `Isa::run`, which has it.
#![allow(unknown_lints, inline_always_mismatching_target_features)]

use core::arch::aarch64::*;

use super::words::NeonWords;
use crate::isa::{
    Block, Isa, LAST_WORD, LAST_WORD_TURNED, Lanes, Neon, be_prefix, first_block, last_ones,
    zeros_before,
};

/// Pieces of `step` bytes; `mask` keeps the last `step` bytes of a block.
#[derive(Clone, Copy)]
pub struct Stride {
    step: usize,
    mask: uint8x16_t,
}

impl Lanes for Neon {
    type Block = Block;
    const LANES: usize = 1;
    const UNROLL: usize = 8;
    type V = uint8x16_t;
    type Counter = uint64x2_t;
    type CounterLayout = uint8x16_t;
    type Stride = Stride;
    type Narrow = Neon;

    #[inline(always)]
    fn narrow(self) -> Neon {
        self
    }

    #[inline(always)]
    fn splat(self, b: &Block) -> uint8x16_t {
        // SAFETY: reads the 16 bytes of an array; `self` is proof of neon.
        unsafe { vld1q_u8(b.as_ptr()) }
    }

    #[inline(always)]
    fn load(self, p: &[u8]) -> uint8x16_t {
        self.splat(p.try_into().expect("one block"))
    }

    #[inline(always)]
    fn load_lanes(self, p: &[u8]) -> uint8x16_t {
        self.splat(p.first_chunk().unwrap_or(&[0; 16]))
    }

    #[inline(always)]
    fn store_lanes(self, a: uint8x16_t, p: &mut [u8]) {
        if let Some(p) = p.first_chunk_mut() {
            *p = self.lane0(a);
        }
    }

    #[inline(always)]
    fn keep_lanes(self, a: uint8x16_t, n: usize) -> uint8x16_t {
        if n == 0 { self.splat(&[0; 16]) } else { a }
    }

    #[inline(always)]
    fn set_last_lane(self, b: &Block) -> uint8x16_t {
        self.splat(b)
    }

    #[inline(always)]
    fn lane0(self, a: uint8x16_t) -> Block {
        let mut b = [0; 16];
        // SAFETY: writes the 16 bytes of an array; `self` is proof of neon.
        unsafe { vst1q_u8(b.as_mut_ptr(), a) };
        b
    }

    #[inline(always)]
    fn xor_lanes(self, a: uint8x16_t) -> uint8x16_t {
        a
    }

    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` is proof of neon.
        unsafe { veorq_u8(a, b) }
    }

    #[inline(always)]
    fn counter(self, first: u64) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vdupq_n_u64(first) }
    }

    #[inline(always)]
    fn advance(self, c: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vaddq_u64(c, vdupq_n_u64(1)) }
    }

    #[inline(always)]
    fn be_prefix(self, bytes: usize) -> Self::CounterLayout {
        self.counter_layout(&be_prefix(bytes))
    }

    #[inline(always)]
    fn encode_counter(self, c: uint64x2_t, layout: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` is proof of neon. Indices of 16 and more result in zero.
        unsafe { vqtbl1q_u8(vreinterpretq_u8_u64(c), layout) }
    }

    #[inline(always)]
    fn stride(self, step: usize) -> Stride {
        Stride { step, mask: self.splat(&last_ones(step)) }
    }

    #[inline(always)]
    fn load_strided<const N: usize>(
        self,
        data: &[u8],
        at: usize,
        stride: Stride,
    ) -> [uint8x16_t; N] {
        let step = stride.step;
        let first = first_block(data, at, step, N);
        let mut x = [stride.mask; N];
        for (v, x) in x.iter_mut().enumerate() {
            // SAFETY: block v is within `data`, as `first_block` checked.
            let block = unsafe { vld1q_u8(first.add(v * step)) };
            // SAFETY: `self` is proof of neon.
            *x = unsafe { vandq_u8(block, stride.mask) };
        }
        x
    }

    #[inline(always)]
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, stride: Stride) -> uint8x16_t {
        let piece = &data[at..at + n * stride.step];
        self.splat(&if n == 0 { [0; 16] } else { zeros_before(piece) })
    }

    #[inline(always)]
    fn gather<'a>(
        self,
        (_, stride): (usize, Stride),
        block: impl Fn(usize) -> &'a [u8],
    ) -> uint8x16_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vandq_u8(self.load(block(0)), stride.mask) }
    }
}

impl Isa for Neon {
    const NARROW_PATH_MAX_BLOCKS: usize = 8;
    type Keys<'a, const R: usize> = &'a [Block; R];
    type Words = NeonWords;
    type One = Neon;

    #[inline(always)]
    fn run_outlined<R>(self, f: impl FnOnce() -> R) -> R {
        self.outlined(f)
    }

    #[inline(always)]
    fn words(self) -> NeonWords {
        NeonWords(self)
    }

    #[inline(always)]
    fn keys<const R: usize>(self, keys: &[Block; R]) -> &[Block; R] {
        keys
    }

    #[inline(always)]
    fn key<const R: usize>(self, keys: &&[Block; R], r: usize) -> uint8x16_t {
        self.splat(&keys[r])
    }

    // AESE adds its key first. With a zero key there and the xor afterwards, the compiler moves
    // each xor into the next round's AESE. A round is then AESE and AESMC, which CPUs fuse.
    #[inline(always)]
    fn aes(self, a: uint8x16_t, k: uint8x16_t) -> uint8x16_t {
        let zero = self.splat(&[0; 16]);
        // SAFETY: `self` is proof of aes.
        let mixed = unsafe { vaesmcq_u8(vaeseq_u8(a, zero)) };
        self.xor(mixed, k)
    }

    #[inline(always)]
    fn aes_last(self, a: uint8x16_t, k: uint8x16_t) -> uint8x16_t {
        let zero = self.splat(&[0; 16]);
        // SAFETY: `self` is proof of aes.
        let last = unsafe { vaeseq_u8(a, zero) };
        self.xor(last, k)
    }

    #[inline(always)]
    fn counter_layout(self, layout: &Block) -> uint8x16_t {
        self.splat(layout)
    }

    #[inline(always)]
    fn and(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vandq_u8(a, b) }
    }

    #[inline(always)]
    fn next_key_words(self, before: uint8x16_t, last: uint8x16_t, rcon: Option<u8>) -> uint8x16_t {
        let (shuffle, rcon) = rcon.map_or((LAST_WORD, 0), |rcon| (LAST_WORD_TURNED, rcon as u32));
        let (zero, shuffle) = (self.splat(&[0; 16]), self.splat(&shuffle));
        // SAFETY: `self` is proof of neon and aes.
        unsafe {
            // ShiftRows does not change a block of four equal words.
            let sub = vaeseq_u8(vqtbl1q_u8(last, shuffle), zero);
            let sub = veorq_u8(sub, vreinterpretq_u8_u32(vdupq_n_u32(rcon)));
            let before = veorq_u8(before, vextq_u8(zero, before, 12));
            veorq_u8(veorq_u8(before, vextq_u8(zero, before, 8)), sub)
        }
    }
}
