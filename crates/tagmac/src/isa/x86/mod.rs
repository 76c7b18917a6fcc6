//! The rungs of x86-64. Each is a bundle of features that appear together in real CPUs.

mod avx512;
mod lane;
mod vaes;
mod words;

pub use avx512::Avx512;
pub use lane::{Aesni, Avx2};
pub use vaes::Vaes;

use core::arch::asm;
use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// The reference itself, of which compilers do not know that it is the same as before.
#[inline(always)]
fn opaque<T>(reference: &T) -> &T {
    let mut p: *const T = reference;
    // SAFETY: no instruction. Not `pure`, so that it stays where it stands.
    unsafe {
        asm!("/* {p} */", p = inout(reg) p, options(readonly, nostack, preserves_flags));
    }
    // SAFETY: `p` is the reference.
    unsafe { &*p }
}

/// Asks for the lines of a value, which a later message needs.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    let start = core::ptr::from_ref(value).cast::<i8>();
    for line in (0..size_of::<T>()).step_by(64) {
        // SAFETY: asking for memory has no effect but on speed; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line)) };
    }
}
