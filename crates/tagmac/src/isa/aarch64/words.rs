//! Words in vectors of 128 bits.

#![allow(unknown_lints, inline_always_mismatching_target_features)] // As in `neon.rs`.

use core::arch::aarch64::*;

use crate::isa::{Block, Neon, Words};
use crate::sealed::Sealed;

/// Two words in a `uint64x2_t`.
#[derive(Clone, Copy)]
pub struct NeonWords(pub(super) Neon);

impl Sealed for NeonWords {}

impl Words for NeonWords {
    const LANES: usize = 1;
    const HAS_VECTOR_MUL: bool = true;
    const MUL52: bool = false;
    type W = uint64x2_t;
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    fn splat(self, x: u64) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vdupq_n_u64(x) }
    }

    #[inline(always)]
    fn first(self, x: u64) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vsetq_lane_u64::<0>(x, vdupq_n_u64(0)) }
    }

    #[inline(always)]
    fn store(self, a: uint64x2_t, p: &mut [u64]) {
        let p: &mut [u64; 2] = p.try_into().expect("two words");
        // SAFETY: writes the words of an array; `self` is proof of neon.
        unsafe { vst1q_u64(p.as_mut_ptr(), a) }
    }

    #[inline(always)]
    fn lane0(self, a: uint64x2_t) -> Block {
        let mut b = [0; 16];
        // SAFETY: writes the 16 bytes of an array; `self` is proof of neon.
        unsafe { vst1q_u8(b.as_mut_ptr(), vreinterpretq_u8_u64(a)) };
        b
    }

    #[inline(always)]
    fn blocks(self, p: &[u8]) -> uint64x2_t {
        let p: &[u8; 16] = p.try_into().expect("one block");
        // SAFETY: reads the bytes of an array; `self` is proof of neon.
        unsafe { vreinterpretq_u64_u8(vld1q_u8(p.as_ptr())) }
    }

    #[inline(always)]
    fn even_odd(self, p: &[u8]) -> (uint64x2_t, uint64x2_t) {
        let (even, odd) = p.split_at(16);
        (self.blocks(even), self.blocks(odd))
    }

    #[inline(always)]
    fn deinterleave(self, p: &[u8]) -> (uint64x2_t, uint64x2_t) {
        let (a, b) = self.even_odd(p);
        self.deinterleave_pair(a, b)
    }

    #[inline(always)]
    fn deinterleave_pair(self, a: uint64x2_t, b: uint64x2_t) -> (uint64x2_t, uint64x2_t) {
        // SAFETY: `self` is proof of neon.
        unsafe { (vzip1q_u64(a, b), vzip2q_u64(a, b)) }
    }

    #[inline(always)]
    fn deinterleave_numbers(self, p: &[u128]) -> (uint64x2_t, uint64x2_t) {
        let [a, b] = p else { unreachable!("two blocks") };
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        let (a, b) = (self.blocks(&a), self.blocks(&b));
        // SAFETY: `self` is proof of neon.
        unsafe { (vzip1q_u64(a, b), vzip2q_u64(a, b)) }
    }

    #[inline(always)]
    fn interleave_numbers(self, (low, high): (uint64x2_t, uint64x2_t), p: &mut [u128]) {
        let [a, b] = p else { unreachable!("two blocks") };
        // SAFETY: `self` is proof of neon.
        let (x, y) = unsafe { (vzip1q_u64(low, high), vzip2q_u64(low, high)) };
        *a = u128::from_le_bytes(self.lane0(x));
        *b = u128::from_le_bytes(self.lane0(y));
    }

    #[inline(always)]
    fn and(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vandq_u64(a, b) }
    }

    #[inline(always)]
    fn or(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vorrq_u64(a, b) }
    }

    #[inline(always)]
    fn add(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vaddq_u64(a, b) }
    }

    #[inline(always)]
    fn add32(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe {
            vreinterpretq_u64_u32(vaddq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b)))
        }
    }

    #[inline(always)]
    fn mul32(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vmull_u32(vmovn_u64(a), vmovn_u64(b)) }
    }

    #[inline(always)]
    fn high32(self, a: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vshrq_n_u64::<32>(a) }
    }

    #[inline(always)]
    fn shl(self, a: uint64x2_t, n: u32) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vshlq_u64(a, vdupq_n_s64(n as i64)) }
    }

    #[inline(always)]
    fn shr(self, a: uint64x2_t, n: u32) -> uint64x2_t {
        // SAFETY: `self` is proof of neon. A negative count shifts to the right.
        unsafe { vshlq_u64(a, vdupq_n_s64(-(n as i64))) }
    }

    #[inline(always)]
    fn sum_lanes(self, a: uint64x2_t) -> uint64x2_t {
        a
    }

    #[inline(always)]
    fn sum(self, a: uint64x2_t) -> u64 {
        // SAFETY: `self` is proof of neon.
        unsafe { vaddvq_u64(a) }
    }

    #[inline(always)]
    fn add16(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe {
            vreinterpretq_u64_u16(vaddq_u16(vreinterpretq_u16_u64(a), vreinterpretq_u16_u64(b)))
        }
    }

    #[inline(always)]
    fn madd16(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe {
            let (a, b) = (vreinterpretq_s16_u64(a), vreinterpretq_s16_u64(b));
            let low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
            vreinterpretq_u64_s32(vpaddq_s32(low, vmull_high_s16(a, b)))
        }
    }

    #[inline(always)]
    fn mul32_signed(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe {
            let (a, b) = (vreinterpretq_s64_u64(a), vreinterpretq_s64_u64(b));
            vreinterpretq_u64_s64(vmull_s32(vmovn_s64(a), vmovn_s64(b)))
        }
    }

    #[inline(always)]
    fn xor(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { veorq_u64(a, b) }
    }

    #[inline(always)]
    fn and_not(self, a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vbicq_u64(a, b) }
    }

    #[inline(always)]
    fn load(self, p: &[u64]) -> uint64x2_t {
        let p: &[u64; 2] = p.try_into().expect("two words");
        // SAFETY: reads the words of an array; `self` is proof of neon.
        unsafe { vld1q_u64(p.as_ptr()) }
    }

    #[inline(always)]
    fn swap_bytes(self, a: uint64x2_t) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(a))) }
    }
}
