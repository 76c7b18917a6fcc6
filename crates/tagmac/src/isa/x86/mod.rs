//! The levels of x86-64. Each is a bundle of features that appear together in real CPUs.

mod avx512;
#[cfg(feature = "alloc")]
mod l2;
mod lane;
mod levels;
mod product;
mod vaes;
mod words;

#[cfg(feature = "alloc")]
pub(crate) use l2::l2_bytes;
pub use levels::{Aesni, Avx2, Avx512, Vaes};

use core::arch::asm;

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
