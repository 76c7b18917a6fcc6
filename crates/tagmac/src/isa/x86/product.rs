//! The 32-bit product as inline assembly. Compilers treat the intrinsic as a masked 64-bit product.
//! If LLVM moves the mask of a factor out of a loop, it no longer sees that the high half is zero,
//! and multiplies that as well.

use core::arch::asm;
use core::arch::x86_64::*;

/// Defines a function for the products of the low halves.
macro_rules! product {
    ($name:ident, $feature:literal, $word:ty, $register:ident) => {
        #[inline]
        #[target_feature(enable = $feature)]
        pub(super) fn $name(a: $word, b: $word) -> $word {
            let product;
            // SAFETY: the instruction reads and writes registers only.
            unsafe {
                asm!(
                    "vpmuludq {product}, {a}, {b}",
                    product = lateout($register) product,
                    a = in($register) a,
                    b = in($register) b,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            product
        }
    };
}

product!(mul32_128, "avx2", __m128i, xmm_reg);
product!(mul32_256, "avx2", __m256i, ymm_reg);
product!(mul32_512, "avx512f", __m512i, zmm_reg);

/// As [`mul32_128`] without AVX2.
#[inline(always)]
pub(super) fn mul32_sse2(a: __m128i, b: __m128i) -> __m128i {
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
