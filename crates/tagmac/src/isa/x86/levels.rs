//! The levels of x86-64: their features, which of them include others, and what 128-bit vectors have
//! in common.

use core::arch::asm;
use core::arch::x86_64::__m128i;

use super::product::mul32_128;
use crate::isa::detect::level;
use crate::isa::sealed::Sealed;

level!(
    is_x86_feature_detected;
    /// SSE4.1 and AES: Westmere and Jaguar on.
    Aesni: "sse4.1", "aes"
);

level!(
    is_x86_feature_detected;
    /// AVX2 and AES: Haswell and Zen on. Same width for AES, but three-operand instructions.
    Avx2: "avx2", "aes"
);

level!(
    is_x86_feature_detected;
    /// AVX2 and VAES: Zen 3, Alder Lake and later CPUs without AVX-512.
    Vaes: "avx2", "aes", "vaes"
);

level!(
    is_x86_feature_detected;
    /// Ice Lake and Zen 4 on. Without VL: with it, compilers 1.95 to 1.97 miscompile auto-vectorised
    /// code, also without DQ (rust-lang/rust#158622).
    Avx512: "avx2", "aes", "avx512f", "avx512bw", "avx512ifma", "avx512vbmi", "avx512vbmi2",
        "gfni", "vaes", "vpclmulqdq"
);

impl From<Vaes> for Avx2 {
    #[inline(always)]
    fn from(_: Vaes) -> Avx2 {
        // Every feature of Avx2 is one of Vaes.
        Avx2(())
    }
}

impl From<Avx512> for Avx2 {
    #[inline(always)]
    fn from(_: Avx512) -> Avx2 {
        // Every feature of Avx2 is one of Avx512.
        Avx2(())
    }
}

/// A level with 128-bit vectors.
///
/// # Safety
///
/// A value of the type exists only where the CPU has SSE4.1 and AES.
pub unsafe trait Xmm: Sealed + Copy + Send + Sync + 'static {
    /// The level's name.
    const NAME: &'static str;
    /// See [`Words::mul32`](crate::isa::Words::mul32).
    fn mul32(self, a: __m128i, b: __m128i) -> __m128i;
    /// See [`Isa::call`](crate::isa::Isa::call).
    fn enter<A, B, C, R>(self, a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R;
    /// See [`Isa::run_outlined`](crate::isa::Isa::run_outlined).
    fn enter_outlined<R>(self, f: impl FnOnce() -> R) -> R;
}

// SAFETY: both are in the level's list.
unsafe impl Xmm for Aesni {
    const NAME: &'static str = "aesni";
    #[inline(always)]
    fn mul32(self, a: __m128i, b: __m128i) -> __m128i {
        let mut product = a;
        // SAFETY: SSE2 is part of x86-64; the instruction reads and writes registers only.
        unsafe {
            asm!(
                "pmuludq {product}, {b}",
                product = inout(xmm_reg) product, b = in(xmm_reg) b,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        product
    }

    #[inline(always)]
    fn enter<A, B, C, R>(self, a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R {
        self.enter(a, b, c, f)
    }

    #[inline(always)]
    fn enter_outlined<R>(self, f: impl FnOnce() -> R) -> R {
        self.enter_outlined(f)
    }
}

// SAFETY: AVX2, which includes SSE4.1, and AES are in the level's list.
unsafe impl Xmm for Avx2 {
    const NAME: &'static str = "avx2";
    #[inline(always)]
    fn mul32(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: `self` is proof of avx2.
        unsafe { mul32_128(a, b) }
    }

    #[inline(always)]
    fn enter<A, B, C, R>(self, a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R {
        self.enter(a, b, c, f)
    }

    #[inline(always)]
    fn enter_outlined<R>(self, f: impl FnOnce() -> R) -> R {
        self.enter_outlined(f)
    }
}

impl Sealed for Aesni {}
impl Sealed for Avx2 {}
impl Sealed for Vaes {}
impl Sealed for Avx512 {}
