//! Words in vectors of 128, 256 and 512 bits.

use core::arch::x86_64::*;

use super::product::{mul32_256, mul32_512};
use super::{Xmm, stored};
use crate::isa::{Avx2, Avx512, Block, Lanes, Words};
use crate::sealed::Sealed;

/// Two words in an `__m128i`.
#[derive(Clone, Copy)]
pub struct Words128<L>(pub(super) L);

/// Four words in an `__m256i`.
#[derive(Clone, Copy)]
pub struct Words256(pub(super) Avx2);

/// Eight words in an `__m512i`.
#[derive(Clone, Copy)]
pub struct Words512(pub(super) Avx512);

impl<L: Xmm> Sealed for Words128<L> {}
impl Sealed for Words256 {}
impl Sealed for Words512 {}

/// The operations that are the same kind of instruction at every width.
macro_rules! same_at_every_width {
    (
        $bytes:literal, $word:ty; $splat:ident, $load:ident, $store:ident, $and:ident, $or:ident,
        $add:ident, $add32:ident, $shl:ident, $shr:ident, $low:ident, $high:ident
    ) => {
        #[inline(always)]
        fn splat(self, x: u64) -> $word {
            // SAFETY: `self` is proof of the level that the vector's width belongs to.
            unsafe { $splat(x as i64) }
        }

        #[inline(always)]
        fn store(self, a: $word, p: &mut [u64]) {
            let p: &mut [u64; $bytes / 8] = p.try_into().expect("a vector of words");
            // SAFETY: writes the bytes of an array; `self` is proof of the level.
            unsafe { $store(p.as_mut_ptr().cast(), a) }
        }

        #[inline(always)]
        fn blocks(self, p: &[u8]) -> $word {
            let p: &[u8; $bytes] = p.try_into().expect("a vector of blocks");
            // SAFETY: reads the bytes of an array; `self` is proof of the level.
            unsafe { $load(p.as_ptr().cast()) }
        }

        #[inline(always)]
        fn deinterleave(self, p: &[u8]) -> ($word, $word) {
            let (a, b) = p.split_at($bytes);
            self.deinterleave_pair(self.blocks(a), self.blocks(b))
        }

        #[inline(always)]
        fn deinterleave_pair(self, a: $word, b: $word) -> ($word, $word) {
            // SAFETY: `self` is proof of the level.
            unsafe { ($low(a, b), $high(a, b)) }
        }

        #[inline(always)]
        fn deinterleave_numbers(self, p: &[u128]) -> ($word, $word) {
            let ([a, b], []) = p.as_chunks::<{ $bytes / 16 }>() else {
                unreachable!("two vectors of blocks")
            };
            // SAFETY: reads the bytes of arrays; `self` is proof of the level.
            let (a, b) = unsafe { ($load(a.as_ptr().cast()), $load(b.as_ptr().cast())) };
            // SAFETY: `self` is proof of the level.
            unsafe { ($low(a, b), $high(a, b)) }
        }

        #[inline(always)]
        fn sum_pair(self, a: $word, b: $word) -> [u64; 2] {
            // In each lane, the sum of the words of `a` and that of `b`.
            let (low, high) = self.deinterleave_pair(a, b);
            let mut sums = [0; 2];
            self.narrow().store(self.sum_lanes(self.add(low, high)), &mut sums);
            sums
        }

        #[inline(always)]
        fn interleave_numbers(self, (low, high): ($word, $word), p: &mut [u128]) {
            let ([a, b], []) = p.as_chunks_mut::<{ $bytes / 16 }>() else {
                unreachable!("two vectors of blocks")
            };
            // SAFETY: `self` is proof of the level. The unpack instructions are their own inverse
            // here.
            let (x, y) = unsafe { ($low(low, high), $high(low, high)) };
            // SAFETY: writes the bytes of an array; `self` is proof of the level.
            unsafe { $store(a.as_mut_ptr().cast(), x) };
            // SAFETY: writes the bytes of an array; `self` is proof of the level.
            unsafe { $store(b.as_mut_ptr().cast(), y) };
        }

        #[inline(always)]
        fn and(self, a: $word, b: $word) -> $word {
            // SAFETY: `self` is proof of the level.
            unsafe { $and(a, b) }
        }

        #[inline(always)]
        fn or(self, a: $word, b: $word) -> $word {
            // SAFETY: `self` is proof of the level.
            unsafe { $or(a, b) }
        }

        #[inline(always)]
        fn add(self, a: $word, b: $word) -> $word {
            // SAFETY: `self` is proof of the level.
            unsafe { $add(a, b) }
        }

        #[inline(always)]
        fn add32(self, a: $word, b: $word) -> $word {
            // SAFETY: `self` is proof of the level.
            unsafe { $add32(a, b) }
        }

        #[inline(always)]
        fn shl(self, a: $word, n: u32) -> $word {
            // SAFETY: `self` is proof of the level; a constant count becomes an immediate.
            unsafe { $shl(a, _mm_cvtsi32_si128(n as i32)) }
        }

        #[inline(always)]
        fn shr(self, a: $word, n: u32) -> $word {
            // SAFETY: `self` is proof of the level; a constant count becomes an immediate.
            unsafe { $shr(a, _mm_cvtsi32_si128(n as i32)) }
        }
    };
}

/// Logic and loads, which are the same kind of instruction at every width.
macro_rules! logic_at_every_width {
    (
        $words:literal, $word:ty; $load:ident, $xor:ident, $and_not:ident
    ) => {
        #[inline(always)]
        fn xor(self, a: $word, b: $word) -> $word {
            // SAFETY: `self` is proof of the level.
            unsafe { $xor(a, b) }
        }

        #[inline(always)]
        fn and_not(self, a: $word, b: $word) -> $word {
            // SAFETY: `self` is proof of the level. The instruction complements its first operand.
            unsafe { $and_not(b, a) }
        }

        #[inline(always)]
        fn load(self, p: &[u64]) -> $word {
            let p: &[u64; $words] = p.try_into().expect("a vector of words");
            // SAFETY: reads the words of an array; `self` is proof of the level.
            unsafe { $load(p.as_ptr().cast()) }
        }
    };
}

/// The source of each byte for swapping the bytes of two words.
#[inline(always)]
fn swapped() -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607) }
}

impl<L: Xmm> Words for Words128<L> {
    const LANES: usize = 1;
    const HAS_VECTOR_MUL: bool = true;
    const MUL52: bool = false;
    type W = __m128i;
    type Narrow = Self;

    same_at_every_width!(
        16, __m128i; _mm_set1_epi64x, _mm_loadu_si128, _mm_storeu_si128, _mm_and_si128,
        _mm_or_si128, _mm_add_epi64, _mm_add_epi32, _mm_sll_epi64, _mm_srl_epi64,
        _mm_unpacklo_epi64, _mm_unpackhi_epi64
    );

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    fn lane0(self, a: __m128i) -> Block {
        stored(a)
    }

    #[inline(always)]
    fn mul32(self, a: __m128i, b: __m128i) -> __m128i {
        self.0.mul32(a, b)
    }

    #[inline(always)]
    fn high32(self, a: __m128i) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_shuffle_epi32::<0xf5>(a) }
    }

    #[inline(always)]
    fn first(self, x: u64) -> __m128i {
        // SAFETY: `self` is proof of the level.
        unsafe { _mm_cvtsi64_si128(x as i64) }
    }

    #[inline(always)]
    fn even_odd(self, p: &[u8]) -> (__m128i, __m128i) {
        let (even, odd) = p.split_at(16);
        (self.blocks(even), self.blocks(odd))
    }

    #[inline(always)]
    fn sum_lanes(self, a: __m128i) -> __m128i {
        a
    }

    #[inline(always)]
    fn sum(self, a: __m128i) -> u64 {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cvtsi128_si64(_mm_add_epi64(a, _mm_unpackhi_epi64(a, a))) as u64 }
    }

    #[inline(always)]
    fn add16(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: `self` is proof of SSE4.1, which includes SSE2.
        unsafe { _mm_add_epi16(a, b) }
    }

    #[inline(always)]
    fn madd16(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: `self` is proof of SSE4.1, which includes SSE2.
        unsafe { _mm_madd_epi16(a, b) }
    }

    #[inline(always)]
    fn mul32_signed(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: `self` is proof of SSE4.1, which includes SSE2.
        unsafe { _mm_mul_epi32(a, b) }
    }

    logic_at_every_width!(
        2, __m128i; _mm_loadu_si128, _mm_xor_si128, _mm_andnot_si128
    );

    #[inline(always)]
    fn swap_bytes(self, a: __m128i) -> __m128i {
        // SAFETY: an `Xmm` is proof of sse4.1, which includes ssse3.
        unsafe { _mm_shuffle_epi8(a, swapped()) }
    }
}

impl Words for Words256 {
    const LANES: usize = 2;
    const HAS_VECTOR_MUL: bool = true;
    const MUL52: bool = false;
    type W = __m256i;
    type Narrow = Words128<Avx2>;

    same_at_every_width!(
        32, __m256i; _mm256_set1_epi64x, _mm256_loadu_si256, _mm256_storeu_si256,
        _mm256_and_si256, _mm256_or_si256, _mm256_add_epi64, _mm256_add_epi32,
        _mm256_sll_epi64, _mm256_srl_epi64, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64
    );

    #[inline(always)]
    fn narrow(self) -> Words128<Avx2> {
        Words128(self.0)
    }

    #[inline(always)]
    fn gather<'a>(self, block: impl Fn(usize) -> &'a [u8]) -> __m256i {
        let (narrow, low) = (self.narrow(), self.narrow().blocks(block(0)));
        let high = narrow.blocks(block(1));
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high) }
    }

    #[inline(always)]
    fn lane0(self, a: __m256i) -> Block {
        // SAFETY: `self` is proof of avx2.
        self.narrow().lane0(unsafe { _mm256_castsi256_si128(a) })
    }

    #[inline(always)]
    fn mul32(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { mul32_256(a, b) }
    }

    #[inline(always)]
    fn high32(self, a: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_shuffle_epi32::<0xf5>(a) }
    }

    #[inline(always)]
    fn first(self, x: u64) -> __m256i {
        // SAFETY: `self` is proof of the level.
        unsafe { _mm256_zextsi128_si256(_mm_cvtsi64_si128(x as i64)) }
    }

    #[inline(always)]
    fn even_odd(self, p: &[u8]) -> (__m256i, __m256i) {
        let (a, b) = p.split_at(32);
        let (a, b) = (self.blocks(a), self.blocks(b));
        // SAFETY: `self` is proof of avx2.
        unsafe {
            (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b))
        }
    }

    #[inline(always)]
    fn sum_lanes(self, a: __m256i) -> __m128i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm_add_epi64(_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a)) }
    }

    #[inline(always)]
    fn sum(self, a: __m256i) -> u64 {
        self.narrow().sum(self.sum_lanes(a))
    }

    #[inline(always)]
    fn add16(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_add_epi16(a, b) }
    }

    #[inline(always)]
    fn madd16(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_madd_epi16(a, b) }
    }

    #[inline(always)]
    fn mul32_signed(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_mul_epi32(a, b) }
    }

    logic_at_every_width!(
        4, __m256i; _mm256_loadu_si256, _mm256_xor_si256, _mm256_andnot_si256
    );

    #[inline(always)]
    fn swap_bytes(self, a: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(swapped())) }
    }
}

impl Words512 {
    /// The even blocks of `a` and `b`, and the odd ones.
    #[inline(always)]
    fn separated(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: `self` is proof of avx512f.
        unsafe { (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b)) }
    }
}

impl Words for Words512 {
    const LANES: usize = 4;
    const HAS_VECTOR_MUL: bool = true;
    const MUL52: bool = true;
    const MASKS: bool = true;
    type W = __m512i;
    type Narrow = Words128<Avx2>;

    same_at_every_width!(
        64, __m512i; _mm512_set1_epi64, _mm512_loadu_si512, _mm512_storeu_si512,
        _mm512_and_si512, _mm512_or_si512, _mm512_add_epi64, _mm512_add_epi32,
        _mm512_sll_epi64, _mm512_srl_epi64, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64
    );

    #[inline(always)]
    fn narrow(self) -> Words128<Avx2> {
        Words128(self.0.into())
    }

    #[inline(always)]
    fn gather<'a>(self, block: impl Fn(usize) -> &'a [u8]) -> __m512i {
        self.0.gather((16, self.0.stride(16)), block)
    }

    #[inline(always)]
    fn lane0(self, a: __m512i) -> Block {
        self.0.lane0(a)
    }

    #[inline(always)]
    fn mul32(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { mul32_512(a, b) }
    }

    #[inline(always)]
    fn high32(self, a: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_shuffle_epi32::<0xf5>(a) }
    }

    #[inline(always)]
    fn first(self, x: u64) -> __m512i {
        // SAFETY: `self` is proof of the level.
        unsafe { _mm512_zextsi128_si512(_mm_cvtsi64_si128(x as i64)) }
    }

    #[inline(always)]
    fn even_odd(self, p: &[u8]) -> (__m512i, __m512i) {
        let (a, b) = p.split_at(64);
        self.separated(self.blocks(a), self.blocks(b))
    }

    #[inline(always)]
    fn even_odd_padded(self, p: &[u8]) -> (__m512i, __m512i) {
        let (a, b) = p.split_at(p.len().min(64));
        self.separated(self.0.load_bytes(a), self.0.load_bytes(b))
    }

    #[inline(always)]
    fn keep_lanes(self, a: __m512i, n: usize) -> __m512i {
        Lanes::keep_lanes(self.0, a, n)
    }

    #[inline(always)]
    fn mul52(self, [low, high]: [__m512i; 2], a: __m512i, b: __m512i) -> [__m512i; 2] {
        // SAFETY: `self` is proof of avx512ifma.
        unsafe { [_mm512_madd52lo_epu64(low, a, b), _mm512_madd52hi_epu64(high, a, b)] }
    }

    #[inline(always)]
    fn sum_lanes(self, a: __m512i) -> __m128i {
        // SAFETY: `self` is proof of avx512f, which includes avx2.
        unsafe {
            let half =
                _mm256_add_epi64(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64::<1>(a));
            _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
        }
    }

    #[inline(always)]
    fn sum(self, a: __m512i) -> u64 {
        self.narrow().sum(self.sum_lanes(a))
    }

    #[inline(always)]
    fn add16(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512bw.
        unsafe { _mm512_add_epi16(a, b) }
    }

    #[inline(always)]
    fn madd16(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512bw.
        unsafe { _mm512_madd_epi16(a, b) }
    }

    #[inline(always)]
    fn mul32_signed(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_mul_epi32(a, b) }
    }

    logic_at_every_width!(
        8, __m512i; _mm512_loadu_si512, _mm512_xor_si512, _mm512_andnot_si512
    );

    #[inline(always)]
    fn swap_bytes(self, a: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512bw.
        unsafe { _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(swapped())) }
    }
}
