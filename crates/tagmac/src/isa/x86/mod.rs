//! What the levels of x86-64 do.

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

/// The bytes of a block from the last to the first: a big-endian number as a little-endian one.
const REVERSED: Block = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
/// What a bit that leaves a word adds to the next one, and the last of them to the first: times x.
const TIMES_X: Block = (gf128::C as u128 | 1 << 32 | 1 << 64 | 1 << 96).to_le_bytes();
/// What the last bit of a number adds to its first word, over x.
const OVER_X: Block = ((gf128::C >> 1) as u128).to_le_bytes();

/// A number as a block, big-endian, stored at once.
#[inline(always)]
pub(super) fn be_block(number: u128) -> Block {
    let (first, last) = ((number >> 64) as u64, number as u64);
    // SAFETY: SSE2 is part of x86-64.
    stored(unsafe { _mm_set_epi64x(last.swap_bytes() as i64, first.swap_bytes() as i64) })
}

/// The bytes of a vector, stored at once. Compilers do not see that its words came one by one, and do
/// not store them so: what was stored in halves is not loaded as a whole before it has left for the
/// cache.
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

/// Asks the caches for so many bytes, which need not be there.
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

/// The reference itself, of which compilers do not know that it is the same as before.
#[inline(always)]
pub(super) fn opaque<T>(reference: &T) -> &T {
    let mut p: *const T = reference;
    // SAFETY: no instruction. Not `pure`, so that it stays where it stands.
    unsafe {
        asm!("/* {p} */", p = inout(reg) p, options(readonly, nostack, preserves_flags));
    }
    // SAFETY: `p` is the reference.
    unsafe { &*p }
}

/// A level with 128-bit vectors: what is not the same on all of them.
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
