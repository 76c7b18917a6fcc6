//! Sixteen bytes that functions return in registers.

use core::arch::x86_64::*;

use super::opaque_word;
use crate::isa::Block;

/// See [`isa::Register`](crate::isa::Register).
// The bits of two numbers that nobody calculates with: functions of Rust return those in vector registers,
// but a vector in memory.
#[derive(Clone, Copy)]
pub struct Register(f64, f64);

impl Register {
    /// The register that holds a block.
    #[inline(always)]
    pub(crate) fn new(block: &Block) -> Register {
        // SAFETY: reads the 16 bytes of an array; SSE2 is part of x86-64.
        let low = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
        // SAFETY: SSE2 is part of x86-64.
        let high = unsafe { _mm_unpackhi_epi64(low, low) };
        // SAFETY: as above.
        let halves = [low, high].map(|half| unsafe { _mm_cvtsd_f64(_mm_castsi128_pd(half)) });
        Register(halves[0], halves[1])
    }

    #[inline(always)]
    fn vector(self) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_castpd_si128(_mm_set_pd(self.1, self.0)) }
    }

    /// The block, stored at once.
    #[inline(always)]
    pub(crate) fn block(self) -> Block {
        let mut block = [0; 16];
        // SAFETY: writes the 16 bytes of an array; SSE2 is part of x86-64.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), self.vector()) };
        block
    }

    /// Whether it holds this block, in a time that does not depend on either.
    #[inline(always)]
    pub(crate) fn ct_eq(self, block: &Block) -> bool {
        let other = Register::new(block).vector();
        // SAFETY: SSE2 is part of x86-64.
        let equal = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.vector(), other)) };
        opaque_word(equal as u64) == 0xffff
    }
}
