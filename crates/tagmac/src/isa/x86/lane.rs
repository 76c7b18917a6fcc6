//! One block in an `__m128i`: the levels Aesni and Avx2, the one-block level of wider ones, and the
//! register in which functions return a block.

use core::arch::x86_64::*;

use super::product::{mul32_128, mul32_sse2};
use super::words::{Words128, Words256};
use super::{OVER_X, REVERSED, TIMES_X, Xmm, opaque, opaque_word};
use crate::isa::{
    Aesni, Avx2, Block, Isa, LAST_WORD, LAST_WORD_TURNED, Lanes, ZERO, be_prefix, first_block,
    last_ones, zeros_before,
};

// SAFETY: both are in the level's list.
unsafe impl Xmm for Aesni {
    type Words = Words128<Aesni>;

    #[inline(always)]
    fn words(self) -> Words128<Aesni> {
        Words128(self)
    }

    #[inline(always)]
    fn outlined<R>(self, f: impl FnOnce() -> R) -> R {
        self.outlined(f)
    }

    #[inline(always)]
    fn mul32(self, a: __m128i, b: __m128i) -> __m128i {
        mul32_sse2(a, b)
    }
}

// SAFETY: AVX2, which includes SSE4.1, and AES are in the level's list.
unsafe impl Xmm for Avx2 {
    type Words = Words256;

    #[inline(always)]
    fn words(self) -> Words256 {
        Words256(self)
    }

    #[inline(always)]
    fn outlined<R>(self, f: impl FnOnce() -> R) -> R {
        self.outlined(f)
    }

    #[inline(always)]
    fn mul32(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: `self` is proof of avx2.
        unsafe { mul32_128(a, b) }
    }
}

/// Pieces of `step` bytes; `mask` keeps the last `step` bytes of a block.
#[derive(Clone, Copy)]
pub struct Stride {
    step: usize,
    mask: __m128i,
}

/// The layout that moves byte `first` of a block to the front and fills up with zeros. If `first`
/// is negative, zeros come first.
#[inline(always)]
pub(super) fn moved(first: isize) -> Block {
    const RAMP: [u8; 48] = {
        let mut ramp = [ZERO; 48];
        let mut i = 0;
        while i < 16 {
            ramp[16 + i] = i as u8;
            i += 1;
        }
        ramp
    };
    *RAMP[16usize.wrapping_add_signed(first)..].first_chunk().expect("a block of three")
}

impl<L: Xmm> Lanes for L {
    type Block = Block;
    const LANES: usize = 1;
    const UNROLL: usize = 8;
    type V = __m128i;
    type Counter = __m128i;
    type CounterLayout = __m128i;
    type Stride = Stride;
    type Narrow = L;

    #[inline(always)]
    fn narrow(self) -> L {
        self
    }

    #[inline(always)]
    fn splat(self, b: &Block) -> __m128i {
        // SAFETY: reads the 16 bytes of an array; SSE2 is part of x86-64.
        unsafe { _mm_loadu_si128(b.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load(self, p: &[u8]) -> __m128i {
        self.splat(p.try_into().expect("one block"))
    }

    #[inline(always)]
    fn load_lanes(self, p: &[u8]) -> __m128i {
        self.splat(p.first_chunk().unwrap_or(&[0; 16]))
    }

    #[inline(always)]
    fn store_lanes(self, a: __m128i, p: &mut [u8]) {
        if let Some(p) = p.first_chunk_mut() {
            *p = self.lane0(a);
        }
    }

    #[inline(always)]
    fn keep_lanes(self, a: __m128i, n: usize) -> __m128i {
        if n == 0 { self.splat(&[0; 16]) } else { a }
    }

    #[inline(always)]
    fn set_last_lane(self, b: &Block) -> __m128i {
        self.splat(b)
    }

    #[inline(always)]
    fn lane0(self, a: __m128i) -> Block {
        let mut b = [0; 16];
        // SAFETY: writes the 16 bytes of an array; SSE2 is part of x86-64.
        unsafe { _mm_storeu_si128(b.as_mut_ptr().cast(), a) };
        b
    }

    #[inline(always)]
    fn xor_lanes(self, a: __m128i) -> __m128i {
        a
    }

    #[inline(always)]
    fn xor(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_xor_si128(a, b) }
    }

    #[inline(always)]
    fn counter(self, first: u64) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cvtsi64_si128(first as i64) }
    }

    #[inline(always)]
    fn advance(self, c: __m128i) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_add_epi64(c, _mm_set_epi64x(0, 1)) }
    }

    #[inline(always)]
    fn be_prefix(self, bytes: usize) -> Self::CounterLayout {
        self.counter_layout(&be_prefix(bytes))
    }

    #[inline(always)]
    fn encode_counter(self, c: __m128i, layout: __m128i) -> __m128i {
        // SAFETY: an `Xmm` is proof of sse4.1, which includes ssse3.
        unsafe { _mm_shuffle_epi8(c, layout) }
    }

    #[inline(always)]
    fn stride(self, step: usize) -> Stride {
        Stride { step, mask: self.splat(&last_ones(step)) }
    }

    #[inline(always)]
    fn load_strided<const N: usize>(self, data: &[u8], at: usize, stride: Stride) -> [__m128i; N] {
        let first = first_block(data, at, stride.step, N);
        let mut x = [stride.mask; N];
        for (v, x) in x.iter_mut().enumerate() {
            // SAFETY: block v is within `data`, as `first_block` checked; SSE2 is part of x86-64.
            let block = unsafe { _mm_loadu_si128(first.add(v * stride.step).cast()) };
            // SAFETY: SSE2 is part of x86-64.
            *x = unsafe { _mm_and_si128(block, stride.mask) };
        }
        x
    }

    #[inline(always)]
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, stride: Stride) -> __m128i {
        let piece = &data[at..at + n * stride.step];
        self.splat(&if n == 0 { [0; 16] } else { zeros_before(piece) })
    }

    #[inline(always)]
    fn gather<'a>(
        self,
        (step, stride): (usize, Stride),
        block: impl Fn(usize) -> &'a [u8],
    ) -> __m128i {
        let x = self.load(block(0));
        // SAFETY: SSE2 is part of x86-64.
        if step == 16 { x } else { unsafe { _mm_and_si128(x, stride.mask) } }
    }

    #[inline(always)]
    fn last_bytes(self, block: &[u8], n: usize) -> __m128i {
        self.encode_counter(self.load(block), self.splat(&moved(16 - n as isize)))
    }
}

impl<L: Xmm> Isa for L {
    const NARROW_PATH_MAX_BLOCKS: usize = 8;
    type Keys<'a, const R: usize> = &'a [Block; R];
    type Words = <L as Xmm>::Words;
    type One = L;

    #[inline(always)]
    fn run_outlined<R>(self, f: impl FnOnce() -> R) -> R {
        Xmm::outlined(self, f)
    }

    #[inline(always)]
    fn words(self) -> <L as Xmm>::Words {
        Xmm::words(self)
    }

    #[inline(always)]
    fn keys<const R: usize>(self, keys: &[Block; R]) -> &[Block; R] {
        keys
    }

    #[inline(always)]
    fn reload_keys<'a, const R: usize>(self, keys: &Self::Keys<'a, R>) -> Self::Keys<'a, R> {
        opaque(keys)
    }

    #[inline(always)]
    fn key<const R: usize>(self, keys: &&[Block; R], r: usize) -> Self::V {
        self.splat(&keys[r])
    }

    #[inline(always)]
    fn aes(self, a: __m128i, k: __m128i) -> __m128i {
        // SAFETY: an `Xmm` is proof of aes.
        unsafe { _mm_aesenc_si128(a, k) }
    }

    #[inline(always)]
    fn aes_last(self, a: __m128i, k: __m128i) -> __m128i {
        // SAFETY: an `Xmm` is proof of aes.
        unsafe { _mm_aesenclast_si128(a, k) }
    }

    #[inline(always)]
    fn counter_layout(self, layout: &Block) -> __m128i {
        self.splat(layout)
    }

    #[inline(always)]
    fn next_key_words(self, before: __m128i, last: __m128i, rcon: Option<u8>) -> __m128i {
        let (shuffle, rcon) = rcon.map_or((LAST_WORD, 0), |rcon| (LAST_WORD_TURNED, rcon as i32));
        // SAFETY: an `Xmm` is proof of sse4.1, which includes ssse3 and SSE2, and of aes.
        unsafe {
            let words = _mm_shuffle_epi8(last, self.splat(&shuffle));
            // ShiftRows does not change a block of four equal words.
            let sub = _mm_aesenclast_si128(words, _mm_set1_epi32(rcon));
            let before = _mm_xor_si128(before, _mm_slli_si128(before, 4));
            _mm_xor_si128(_mm_xor_si128(before, _mm_slli_si128(before, 8)), sub)
        }
    }
    #[inline(always)]
    fn and(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_and_si128(a, b) }
    }

    #[inline(always)]
    fn times_x(self, a: __m128i) -> __m128i {
        let (reversed, c) = (self.splat(&REVERSED), self.splat(&TIMES_X));
        // SAFETY: an `Xmm` is proof of sse4.1, which includes ssse3 and SSE2.
        unsafe {
            let a = _mm_shuffle_epi8(a, reversed);
            // The first bit of each word moves to the next word, and that of the last word to c.
            let first = _mm_shuffle_epi32::<0x93>(_mm_srai_epi32::<31>(a));
            let a = self.xor(_mm_slli_epi32::<1>(a), self.and(first, c));
            _mm_shuffle_epi8(a, reversed)
        }
    }

    #[inline(always)]
    fn over_x(self, a: __m128i) -> __m128i {
        let (reversed, c) = (self.splat(&REVERSED), self.splat(&OVER_X));
        // SAFETY: an `Xmm` is proof of sse4.1, which includes ssse3 and SSE2.
        unsafe {
            let a = _mm_shuffle_epi8(a, reversed);
            // The last bit of each word moves to the previous word, and that of the first word also
            // to c.
            let last = _mm_slli_epi32::<31>(a);
            let moved = _mm_shuffle_epi32::<0x39>(last);
            let c = self.and(_mm_srai_epi32::<31>(last), c);
            _mm_shuffle_epi8(self.xor3(_mm_srli_epi32::<1>(a), moved, c), reversed)
        }
    }
}

/// See [`isa::Register`](crate::isa::Register).
// The bits of two numbers that are never used in arithmetic: Rust functions return these in vector
// registers, but a vector in memory.
#[derive(Clone, Copy)]
pub struct Register(f64, f64);

impl Register {
    /// Returns the register that holds a block.
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

    /// Returns the block, stored in one piece.
    #[inline(always)]
    pub(crate) fn block(self) -> Block {
        let mut block = [0; 16];
        // SAFETY: writes the 16 bytes of an array; SSE2 is part of x86-64.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), self.vector()) };
        block
    }

    /// Compares with a block in constant time.
    #[inline(always)]
    pub(crate) fn ct_eq(self, block: &Block) -> bool {
        let other = Register::new(block).vector();
        // SAFETY: SSE2 is part of x86-64.
        let equal = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.vector(), other)) };
        opaque_word(equal as u64) == 0xffff
    }
}
