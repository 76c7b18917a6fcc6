//! Compiler canary: does this compiler translate our feature lists correctly?
//!
//! tagmac compiles one kernel source for each level, with a different `#[target_feature]` list, and
//! leaves much of the work to the optimiser. It therefore depends on the vectoriser and the x86
//! back end being correct under exactly these lists. They were not always:
//!
//! * <https://github.com/rust-lang/rust/issues/158622>: Rust 1.95 to 1.97 (LLVM 22) miscompile
//!   vectorised code under `avx512dq` with `avx512vl`. The back end turns "sign bits to a mask
//!   register, mask register to a general register" (`vpmov*2m`, `kmov`) into one `vmovmskp*` and
//!   deletes the first instruction, although a later `kshiftr` still reads the mask. The forms for
//!   bytes need `avx512bw` instead of `avx512dq`, so our own avx512 list would be miscompiled, too,
//!   if it included `avx512vl`. Only the forms for 128- and 256-bit vectors are affected, and all
//!   of those need `avx512vl`. The level is correct because our list does not include it.
//! * <https://github.com/rust-lang/rust/issues/79865>: a Poly1305 in AVX2 was miscompiled in
//!   release builds before Rust 1.60. A helper without features was inlined into a function with
//!   `avx2`, which moved a call with vector arguments across the ABI boundary between the two.
//!
//! Every computation of `canary_kernels.rs` is inlined into one function per level, under that
//! level's list. Its result is compared with that of the same source in which each value passes
//! through `black_box`, so that nothing can be vectorised. After a failure, do not release with
//! this compiler before the fault is understood.
//!
//! The lists are deliberate copies of the library's. These two files use no code of the library, so
//! that a failure is a fault of the compiler and not ours. If you change a level's list, repeat the
//! change here. Flags for the whole build add to every list: `-C target-cpu=native` on a CPU with
//! AVX-512 makes all tests fail with the compilers named above, and this is correct.
//!
//! Only an optimised build is meaningful; the workspace's test profile is optimised. With `--
//! --include-ignored` the canary also tries two lists with `avx512vl`. These fail with the
//! compilers above, which shows that the canary can sing.

use std::hint::black_box;

use crate::canary_kernels::*;

macro_rules! kernels {
    ($($kernel:ident)*) => {
        /// `[$row!(first), $row!(second), ...]`
        macro_rules! for_each_kernel {
            ($row:ident) => { [$( $row!($kernel) ),*] };
        }
    };
}

kernels! {
    sign_64 sign_64_product sign_32 sign_32_product
    sign_16 sign_16_product sign_8 sign_8_product
    sign_store
    limbs_26
    limbs_52
    product_64
    shifts
    widths
    masks
    shuffles
    field
    helper
}

/// Name, reference, and code under test.
type Row = (&'static str, fn(&mut Data, usize), unsafe fn(&mut Data, usize));

/// # Safety
/// The CPU has the features of the code under test.
unsafe fn check(list: &str, rows: &[Row]) {
    let wrong = |&(_, reference, under_test): &Row| {
        (0..8).any(|seed| {
            let (mut want, mut got) = (Data::new(seed), Data::new(seed));
            // The length is hidden from the optimiser: #158622 does not show in an unrolled loop.
            reference(&mut want, black_box(N));
            // SAFETY: the caller's promise.
            unsafe { under_test(&mut got, black_box(N)) };
            want.results() != got.results()
        })
    };
    let wrong: Vec<_> = rows.iter().filter(|r| wrong(r)).map(|r| r.0).collect();
    assert!(wrong.is_empty(), "miscompiled under \"{list}\": {wrong:?}");
}

/// Defines the test of one list. Each kernel is in a separate function: #158622 does not show in a
/// larger one.
macro_rules! canary {
    (
        $(#[$attr:meta])* $test:ident, $vector:ty
        $(, $detected:ident($($feature:tt)*), $list:literal)?
    ) => {
        $(#[$attr])*
        #[test]
        fn $test() {
            macro_rules! row {
                ($kernel:ident) => {{
                    $(#[target_feature(enable = $list)])?
                    fn under_test(d: &mut Data, n: usize) {
                        // The range removes the bounds checks, which prevent vectorisation.
                        $kernel::<false, $vector>(d, n.min(N));
                    }
                    let reference: fn(&mut Data, usize) = $kernel::<true, u64>;
                    (stringify!($kernel), reference, under_test as _)
                }};
            }
            if true $($(&& std::arch::$detected!($feature))*)? {
                // SAFETY: every feature was detected.
                unsafe { check(concat!($($list)?), &for_each_kernel!(row)) };
            } else {
                eprintln!(concat!("not on this CPU: " $(, $list)?));
            }
        }
    };
}

canary!(portable, u64);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use std::arch::x86_64::*;

    impl Vector for __m128i {
        unsafe fn xor(self, other: Self) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { _mm_xor_si128(self, other) }
        }
    }

    impl Vector for __m256i {
        unsafe fn xor(self, other: Self) -> Self {
            // SAFETY: the caller's promise.
            unsafe { _mm256_xor_si256(self, other) }
        }
    }

    impl Vector for __m512i {
        unsafe fn xor(self, other: Self) -> Self {
            // SAFETY: the caller's promise.
            unsafe { _mm512_xor_si512(self, other) }
        }
    }

    canary!(
        aesni,
        __m128i,
        is_x86_feature_detected("sse4.1" "aes"),
        "sse4.1,aes"
    );
    canary!(
        avx2,
        __m256i,
        is_x86_feature_detected("avx2" "aes"),
        "avx2,aes"
    );
    canary!(
        vaes,
        __m256i,
        is_x86_feature_detected("avx2" "vaes" "aes"),
        "avx2,vaes,aes"
    );
    canary!(
        avx512,
        __m512i,
        is_x86_feature_detected(
            "avx512f" "avx512bw" "avx512ifma" "avx512vbmi" "avx512vbmi2"
            "gfni" "vaes" "vpclmulqdq" "aes" "avx2" "sse4.1"
        ),
        "avx512f,avx512bw,avx512ifma,avx512vbmi,avx512vbmi2,gfni,vaes,vpclmulqdq,aes,avx2,sse4.1"
    );
    canary!(
        #[ignore = "not a level of ours: fails with Rust 1.95 to 1.97 (#158622)"]
        vl_with_dq,
        __m512i,
        is_x86_feature_detected("avx512dq" "avx512vl"),
        "avx512dq,avx512vl"
    );
    canary!(
        #[ignore = "not a level of ours: fails with Rust 1.95 to 1.97 (#158622)"]
        vl_with_the_list_of_avx512,
        __m512i,
        is_x86_feature_detected(
            "avx512vl" "avx512f" "avx512bw" "avx512ifma" "avx512vbmi" "avx512vbmi2"
            "gfni" "vaes" "vpclmulqdq" "aes" "avx2" "sse4.1"
        ),
        "avx512vl,avx512f,avx512bw,avx512ifma,avx512vbmi,avx512vbmi2,gfni,vaes,vpclmulqdq,aes,avx2,sse4.1"
    );
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::*;
    use std::arch::aarch64::*;

    impl Vector for uint64x2_t {
        unsafe fn xor(self, other: Self) -> Self {
            // SAFETY: NEON is part of every aarch64 target with a std.
            unsafe { veorq_u64(self, other) }
        }
    }

    canary!(neon, uint64x2_t, is_aarch64_feature_detected("neon" "aes"), "neon,aes");
}

#[test]
fn every_level_has_a_canary() {
    let source: String = include_str!("canary.rs").split_whitespace().collect();
    for name in tagmac::isa::Level::NAMES {
        let canary = format!("canary!({name},");
        assert!(source.contains(&canary), "{name}: expected a canary of this level, found none");
    }
}
