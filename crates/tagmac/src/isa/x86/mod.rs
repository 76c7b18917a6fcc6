//! The levels of x86-64.

mod avx512;
mod bit_slices;
#[cfg(feature = "alloc")]
mod l2;
mod lane;
mod product;
mod vaes;
mod words;

#[cfg(feature = "alloc")]
pub(crate) use l2::l2_bytes;
pub use lane::Register;

use core::arch::asm;
use core::arch::x86_64::{__m128i, _MM_HINT_T0, _mm_prefetch, _mm_set_epi64x, _mm_storeu_si128};

use super::{BitSlices, Block, gf128};
use crate::sealed::Sealed;

/// The bytes of a block in reverse, which turns a big-endian number into a little-endian one.
const REVERSED: Block = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
/// For multiplication by x: the carry of each word's top bit into the next word, and of the last
/// one into the first.
const TIMES_X: Block = (gf128::C as u128 | 1 << 32 | 1 << 64 | 1 << 96).to_le_bytes();
/// For division by x: the carry of a number's last bit into its first word.
const OVER_X: Block = ((gf128::C >> 1) as u128).to_le_bytes();

/// A number as a big-endian block, stored in one piece.
#[inline(always)]
pub(super) fn be_block(number: u128) -> Block {
    let (first, last) = ((number >> 64) as u64, number as u64);
    // SAFETY: SSE2 is part of x86-64.
    stored(unsafe { _mm_set_epi64x(last.swap_bytes() as i64, first.swap_bytes() as i64) })
}

/// The bytes of a vector, stored in one piece. The assembly hides from compilers that its words
/// were separate, so that they cannot store them separately: two halves cannot be forwarded to one
/// load until both have reached the cache.
#[inline(always)]
fn stored(mut vector: __m128i) -> Block {
    // SAFETY: no instruction; SSE2 is part of x86-64.
    unsafe {
        asm!("/* {x} */", x = inout(xmm_reg) vector, options(pure, nomem, nostack, preserves_flags));
    }
    let mut block = [0; 16];
    // SAFETY: writes the 16 bytes of an array; SSE2 is part of x86-64.
    unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), vector) };
    block
}

/// Prefetches `bytes` bytes. The addresses need not be valid.
#[inline(always)]
pub(super) fn prefetch(from: *const u8, bytes: usize) {
    for line in (0..bytes).step_by(64) {
        // SAFETY: a hint, which reads nothing; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
}

/// See [`opaque_word`](super::opaque_word).
#[inline(always)]
pub(super) fn opaque_word(mut word: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe {
        asm!("/* {x} */", x = inout(reg) word, options(pure, nomem, nostack, preserves_flags));
    }
    word
}

/// The same reference, hidden from the optimiser.
#[inline(always)]
pub(super) fn opaque<T>(reference: &T) -> &T {
    let mut p: *const T = reference;
    // SAFETY: no instruction. Not `pure`, so that it is not moved.
    unsafe {
        asm!("/* {p} */", p = inout(reg) p, options(readonly, nostack, preserves_flags));
    }
    // SAFETY: `p` is the reference.
    unsafe { &*p }
}

/// A level with 128-bit vectors: the operations that differ between such levels.
///
/// # Safety
///
/// A value of the type exists only where the CPU has SSE4.1 and AES.
pub unsafe trait Xmm: Sealed + Copy + Send + Sync + 'static {
    /// See [`Isa::Words`].
    type Words: BitSlices;
    /// See [`Isa::words`].
    fn words(self) -> Self::Words;
    /// See [`Isa::run_outlined`].
    fn outlined<R>(self, f: impl FnOnce() -> R) -> R;
    /// See [`Words::mul32`](super::Words::mul32).
    fn mul32(self, a: __m128i, b: __m128i) -> __m128i;
}
