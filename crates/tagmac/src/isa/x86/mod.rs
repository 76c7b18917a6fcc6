//! The levels of x86-64. Each is a bundle of features that appear together in real CPUs.

mod avx512;
mod lane;
mod levels;
mod product;
mod vaes;
mod words;

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
