//! Two blocks in an `__m256i`.

use core::arch::x86_64::*;

use super::lane::moved;
use super::words::Words256;
use super::{OVER_X, REVERSED, TIMES_X, opaque};
use crate::isa::{
    Avx2, Block, Isa, LAST_WORD, LAST_WORD_TURNED, Lanes, Vaes, be_prefix, first_block, last_ones,
};

/// Pieces of `step` bytes; `mask` keeps the last `step` bytes of each block.
#[derive(Clone, Copy)]
pub struct Stride {
    step: usize,
    mask: __m256i,
}

impl Vaes {
    /// Combines lane 0 and lane 1.
    #[inline(always)]
    fn pair(self, low: __m128i, high: __m128i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high) }
    }
}

impl Lanes for Vaes {
    type Block = Block;
    const LANES: usize = 2;
    const UNROLL: usize = 8;
    type V = __m256i;
    type Counter = __m256i;
    type CounterLayout = __m256i;
    type Stride = Stride;
    type Narrow = Avx2;

    #[inline(always)]
    fn narrow(self) -> Avx2 {
        self.into()
    }

    #[inline(always)]
    fn splat(self, b: &Block) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_broadcastsi128_si256(self.narrow().splat(b)) }
    }

    #[inline(always)]
    fn load(self, p: &[u8]) -> __m256i {
        let p: &[u8; 32] = p.try_into().expect("two blocks");
        // SAFETY: reads the 32 bytes of an array; `self` is proof of avx2.
        unsafe { _mm256_loadu_si256(p.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_lanes(self, p: &[u8]) -> __m256i {
        if p.len() == 32 {
            self.load(p)
        } else {
            self.pair(self.narrow().load_lanes(p), self.narrow().splat(&[0; 16]))
        }
    }

    #[inline(always)]
    fn store_lanes(self, a: __m256i, p: &mut [u8]) {
        let mut both = [0; 32];
        // SAFETY: writes the 32 bytes of an array; `self` is proof of avx2.
        unsafe { _mm256_storeu_si256(both.as_mut_ptr().cast(), a) };
        let bytes = p.len().min(32) / 16 * 16;
        p[..bytes].copy_from_slice(&both[..bytes]);
    }

    #[inline(always)]
    fn keep_lanes(self, a: __m256i, n: usize) -> __m256i {
        const LANES: [[u8; 32]; 3] = {
            let mut masks = [[0; 32]; 3];
            let mut byte = 0;
            while byte < 32 {
                masks[2][byte] = 0xff;
                masks[1][byte] = if byte < 16 { 0xff } else { 0 };
                byte += 1;
            }
            masks
        };
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_and_si256(a, self.load(&LANES[n])) }
    }

    #[inline(always)]
    fn set_last_lane(self, b: &Block) -> __m256i {
        self.pair(self.narrow().splat(&[0; 16]), self.narrow().splat(b))
    }

    #[inline(always)]
    fn lane0(self, a: __m256i) -> Block {
        // SAFETY: `self` is proof of avx2.
        self.narrow().lane0(unsafe { _mm256_castsi256_si128(a) })
    }

    #[inline(always)]
    fn xor_lanes(self, a: __m256i) -> __m128i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm_xor_si128(_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a)) }
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    fn counter(self, first: u64) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_set_epi64x(0, first.wrapping_add(1) as i64, 0, first as i64) }
    }

    #[inline(always)]
    fn advance(self, c: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_add_epi64(c, _mm256_set_epi64x(0, 2, 0, 2)) }
    }

    #[inline(always)]
    fn be_prefix(self, bytes: usize) -> Self::CounterLayout {
        self.counter_layout(&be_prefix(bytes))
    }

    #[inline(always)]
    fn encode_counter(self, c: __m256i, layout: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_shuffle_epi8(c, layout) }
    }

    #[inline(always)]
    fn stride(self, step: usize) -> Stride {
        Stride { step, mask: self.splat(&last_ones(step)) }
    }

    #[inline(always)]
    fn load_strided<const N: usize>(self, data: &[u8], at: usize, stride: Stride) -> [__m256i; N] {
        let step = stride.step;
        let first = first_block(data, at, step, 2 * N);
        let mut x = [stride.mask; N];
        for (v, x) in x.iter_mut().enumerate() {
            // SAFETY: block 2v is within `data`, as `first_block` checked; SSE2 is part of x86-64.
            let low = unsafe { _mm_loadu_si128(first.add(2 * v * step).cast()) };
            // SAFETY: block 2v + 1 is within `data`, as `first_block` checked.
            let high = unsafe { _mm_loadu_si128(first.add((2 * v + 1) * step).cast()) };
            // SAFETY: `self` is proof of avx2.
            *x = unsafe { _mm256_and_si256(self.pair(low, high), stride.mask) };
        }
        x
    }

    #[inline(always)]
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, stride: Stride) -> __m256i {
        let lane = self.narrow();
        let (step, stride) = (stride.step, lane.stride(stride.step));
        let low = lane.load_strided_lanes(data, at, n.min(1), stride);
        self.pair(low, lane.load_strided_lanes(data, at + n / 2 * step, n / 2, stride))
    }

    #[inline(always)]
    fn gather<'a>(
        self,
        (step, stride): (usize, Stride),
        block: impl Fn(usize) -> &'a [u8],
    ) -> __m256i {
        let lane = self.narrow();
        let x = self.pair(lane.load(block(0)), lane.load(block(1)));
        // SAFETY: `self` is proof of avx2.
        if step == 16 { x } else { unsafe { _mm256_and_si256(x, stride.mask) } }
    }

    #[inline(always)]
    fn gather_first<'a>(self, step: usize, block: impl Fn(usize) -> &'a [u8]) -> __m256i {
        let lane = self.narrow();
        let x = self.pair(lane.load(block(0)), lane.load(block(1)));
        self.encode_counter(x, self.splat(&moved(step as isize - 16)))
    }
}

impl Isa for Vaes {
    const NARROW_PATH_MAX_BLOCKS: usize = 8;
    type Keys<'a, const R: usize> = &'a [Block; R];
    type Words = Words256;
    type One = Avx2;

    #[inline(always)]
    fn run_outlined<R>(self, f: impl FnOnce() -> R) -> R {
        self.outlined(f)
    }

    #[inline(always)]
    fn words(self) -> Words256 {
        Words256(self.into())
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
    fn aes(self, a: __m256i, k: __m256i) -> __m256i {
        // SAFETY: `self` is proof of vaes.
        unsafe { _mm256_aesenc_epi128(a, k) }
    }

    #[inline(always)]
    fn aes_last(self, a: __m256i, k: __m256i) -> __m256i {
        // SAFETY: `self` is proof of vaes.
        unsafe { _mm256_aesenclast_epi128(a, k) }
    }

    #[inline(always)]
    fn counter_layout(self, layout: &Block) -> __m256i {
        self.splat(layout)
    }

    #[inline(always)]
    fn next_key_words(self, before: __m256i, last: __m256i, rcon: Option<u8>) -> __m256i {
        let (shuffle, rcon) = rcon.map_or((LAST_WORD, 0), |rcon| (LAST_WORD_TURNED, rcon as i32));
        // SAFETY: `self` is proof of avx2 and vaes.
        unsafe {
            let words = _mm256_shuffle_epi8(last, self.splat(&shuffle));
            // ShiftRows does not change a block of four equal words.
            let sub = _mm256_aesenclast_epi128(words, _mm256_set1_epi32(rcon));
            let before = self.xor(before, _mm256_bslli_epi128::<4>(before));
            self.xor3(before, _mm256_bslli_epi128::<8>(before), sub)
        }
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` is proof of avx2.
        unsafe { _mm256_and_si256(a, b) }
    }

    #[inline(always)]
    fn times_x(self, a: __m256i) -> __m256i {
        let (reversed, c) = (self.splat(&REVERSED), self.splat(&TIMES_X));
        // SAFETY: `self` is proof of avx2.
        unsafe {
            let a = _mm256_shuffle_epi8(a, reversed);
            // The first bit of each word moves to the next word, and that of the last word to c.
            let first = _mm256_shuffle_epi32::<0x93>(_mm256_srai_epi32::<31>(a));
            let a = self.xor(_mm256_slli_epi32::<1>(a), self.and(first, c));
            _mm256_shuffle_epi8(a, reversed)
        }
    }

    #[inline(always)]
    fn over_x(self, a: __m256i) -> __m256i {
        let (reversed, c) = (self.splat(&REVERSED), self.splat(&OVER_X));
        // SAFETY: `self` is proof of avx2.
        unsafe {
            let a = _mm256_shuffle_epi8(a, reversed);
            // The last bit of each word moves to the previous word, and that of the first word also
            // to c.
            let last = _mm256_slli_epi32::<31>(a);
            let moved = _mm256_shuffle_epi32::<0x39>(last);
            let c = self.and(_mm256_srai_epi32::<31>(last), c);
            _mm256_shuffle_epi8(self.xor3(_mm256_srli_epi32::<1>(a), moved, c), reversed)
        }
    }
}
