//! Bit slices in vectors of 128 bits.

#![allow(unknown_lints, inline_always_mismatching_target_features)] // As in `neon.rs`.

use core::arch::aarch64::*;
use core::convert::Infallible;

use super::words::NeonWords;
use crate::isa::BitSlices;

impl BitSlices for NeonWords {
    type Half = Self;
    type Nibbles = Infallible;
    const NIBBLES: Option<Infallible> = None;

    #[inline(always)]
    fn splat32(self, x: u32) -> uint64x2_t {
        // SAFETY: `self` is proof of neon.
        unsafe { vreinterpretq_u64_u32(vdupq_n_u32(x)) }
    }

    #[inline(always)]
    fn with_half<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }
}
