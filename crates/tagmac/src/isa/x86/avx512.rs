//! Four blocks in an `__m512i`.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::lane::moved;
use super::words::Words512;
use super::{OVER_X, REVERSED, TIMES_X, opaque};
use crate::isa::{Avx2, Avx512, Block, Isa, LAST_WORD, LAST_WORD_TURNED, Lanes, be_prefix};

/// Pieces of `step` bytes, and the source of each byte of the blocks.
#[derive(Clone, Copy)]
pub struct Stride {
    step: usize,
    index: __m512i,
    message: __mmask64,
}

/// For pieces of 8..=16 bytes: byte i of lane j comes from byte `j * step + i - (16 - step)` of the
/// pieces. The mask selects the bytes that come from there.
static SPREADS: [([u8; 64], u64); 9] = {
    let mut spreads = [([0; 64], 0); 9];
    let mut place = 0;
    while place < 64 * 9 {
        let (step, lane, byte) = (8 + place / 64, place % 64 / 16, place % 16);
        if byte >= 16 - step {
            spreads[step - 8].0[place % 64] = (lane * step + byte + step - 16) as u8;
            spreads[step - 8].1 |= 1 << (place % 64);
        }
        place += 1;
    }
    spreads
};

/// The lowest `n` bits, `n` in 0..=64.
#[inline(always)]
fn ones(n: usize) -> u64 {
    if n == 0 { 0 } else { u64::MAX >> (64 - n) }
}

impl Avx512 {
    /// Up to 64 bytes, padded with zeros.
    #[inline(always)]
    pub(super) fn load_bytes(self, p: &[u8]) -> __m512i {
        assert!(p.len() <= 64);
        // SAFETY: the mask keeps the read inside `p`; `self` is proof of avx512bw.
        unsafe { _mm512_maskz_loadu_epi8(ones(p.len()), p.as_ptr().cast()) }
    }

    /// Loads four blocks from their addresses.
    #[inline(always)]
    fn blocks<'a>(self, block: impl Fn(usize) -> &'a [u8]) -> __m512i {
        let lane = self.narrow();
        let (a, b) = (lane.load(block(0)), lane.load(block(1)));
        let (c, d) = (lane.load(block(2)), lane.load(block(3)));
        // SAFETY: `self` is proof of avx512f.
        unsafe {
            let x = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
            _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(x, c), d)
        }
    }
}

impl Lanes for Avx512 {
    type Block = Block;
    const LANES: usize = 4;
    const UNROLL: usize = 8;
    type V = __m512i;
    type Counter = __m512i;
    type CounterLayout = __m512i;
    type Stride = Stride;
    type Narrow = Avx2;

    #[inline(always)]
    fn narrow(self) -> Avx2 {
        self.into()
    }

    #[inline(always)]
    fn splat(self, b: &Block) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_broadcast_i32x4(self.narrow().splat(b)) }
    }

    #[inline(always)]
    fn load(self, p: &[u8]) -> __m512i {
        let p: &[u8; 64] = p.try_into().expect("four blocks");
        // SAFETY: reads the 64 bytes of an array; `self` is proof of avx512f.
        unsafe { _mm512_loadu_si512(p.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_lanes(self, p: &[u8]) -> __m512i {
        self.load_bytes(p)
    }

    #[inline(always)]
    fn store_lanes(self, a: __m512i, p: &mut [u8]) {
        let bytes = p.len().min(64) / 16 * 16;
        // SAFETY: the mask keeps the write inside `p`; `self` is proof of avx512bw.
        unsafe { _mm512_mask_storeu_epi8(p.as_mut_ptr().cast(), ones(bytes), a) };
    }

    #[inline(always)]
    fn keep_lanes(self, a: __m512i, n: usize) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_maskz_mov_epi64(ones(2 * n) as __mmask8, a) }
    }

    #[inline(always)]
    fn set_last_lane(self, b: &Block) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_maskz_broadcast_i32x4(0xf000, self.narrow().splat(b)) }
    }

    #[inline(always)]
    fn lane0(self, a: __m512i) -> Block {
        // SAFETY: `self` is proof of avx512f.
        self.narrow().lane0(unsafe { _mm512_castsi512_si128(a) })
    }

    #[inline(always)]
    fn xor_lanes(self, a: __m512i) -> __m128i {
        // SAFETY: `self` is proof of avx512f, which includes avx2.
        unsafe {
            let half =
                _mm256_xor_si256(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64::<1>(a));
            _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
        }
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    fn xor3(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_ternarylogic_epi64::<0x96>(a, b, c) }
    }

    #[inline(always)]
    fn counter(self, first: u64) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe {
            let places = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0);
            _mm512_add_epi64(_mm512_set1_epi64(first as i64), places)
        }
    }

    #[inline(always)]
    fn advance(self, c: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_add_epi64(c, _mm512_set1_epi64(4)) }
    }

    #[inline(always)]
    fn be_prefix(self, bytes: usize) -> Self::CounterLayout {
        self.counter_layout(&be_prefix(bytes))
    }

    #[inline(always)]
    fn encode_counter(self, c: __m512i, layout: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512bw.
        unsafe { _mm512_shuffle_epi8(c, layout) }
    }

    #[inline(always)]
    fn stride(self, step: usize) -> Stride {
        let (index, message) = &SPREADS[step - 8];
        Stride { step, index: self.load(index), message: *message }
    }

    #[inline(always)]
    fn load_strided<const N: usize>(self, data: &[u8], at: usize, stride: Stride) -> [__m512i; N] {
        let data = &data[at..];
        assert!(data.len() >= 4 * N * stride.step);
        let mut x = [stride.index; N];
        for (v, x) in x.iter_mut().enumerate() {
            let p = data.as_ptr().wrapping_add(4 * v * stride.step);
            // SAFETY: the mask keeps the read inside `data`, as was checked; `self` is proof of
            // avx512bw.
            let pieces = unsafe { _mm512_maskz_loadu_epi8(ones(4 * stride.step), p.cast()) };
            // SAFETY: `self` is proof of avx512vbmi.
            *x = unsafe { _mm512_maskz_permutexvar_epi8(stride.message, stride.index, pieces) };
        }
        x
    }

    #[inline(always)]
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, stride: Stride) -> __m512i {
        let pieces = self.load_bytes(&data[at..at + n * stride.step]);
        // SAFETY: `self` is proof of avx512vbmi.
        unsafe { _mm512_maskz_permutexvar_epi8(stride.message, stride.index, pieces) }
    }

    #[inline(always)]
    fn gather<'a>(
        self,
        (step, stride): (usize, Stride),
        block: impl Fn(usize) -> &'a [u8],
    ) -> __m512i {
        let x = self.blocks(block);
        // SAFETY: `self` is proof of avx512bw.
        if step == 16 { x } else { unsafe { _mm512_maskz_mov_epi8(stride.message, x) } }
    }

    #[inline(always)]
    fn gather_first<'a>(self, step: usize, block: impl Fn(usize) -> &'a [u8]) -> __m512i {
        self.encode_counter(self.blocks(block), self.splat(&moved(step as isize - 16)))
    }
}

impl Isa for Avx512 {
    const NARROW_PATH_MAX_BLOCKS: usize = 8;
    type Keys<'a, const R: usize> = &'a [Block; R];
    type Words = Words512;
    type One = Avx2;

    #[inline(always)]
    fn run_outlined<R>(self, f: impl FnOnce() -> R) -> R {
        self.outlined(f)
    }

    #[inline(always)]
    fn align_frame(self) {
        // A frame that must hold a vector is aligned.
        opaque(&MaybeUninit::<__m512i>::uninit());
    }

    #[inline(always)]
    fn words(self) -> Words512 {
        Words512(self)
    }

    #[inline(always)]
    fn keys<const R: usize>(self, keys: &[Block; R]) -> &[Block; R] {
        keys
    }

    #[inline(always)]
    fn key<const R: usize>(self, keys: &&[Block; R], r: usize) -> Self::V {
        self.splat(&keys[r])
    }

    #[inline(always)]
    fn aes(self, a: __m512i, k: __m512i) -> __m512i {
        // SAFETY: `self` is proof of vaes and avx512f.
        unsafe { _mm512_aesenc_epi128(a, k) }
    }

    #[inline(always)]
    fn aes_last(self, a: __m512i, k: __m512i) -> __m512i {
        // SAFETY: `self` is proof of vaes and avx512f.
        unsafe { _mm512_aesenclast_epi128(a, k) }
    }

    #[inline(always)]
    fn counter_layout(self, layout: &Block) -> __m512i {
        self.splat(layout)
    }

    #[inline(always)]
    fn next_key_words(self, before: __m512i, last: __m512i, rcon: Option<u8>) -> __m512i {
        let (shuffle, rcon) = rcon.map_or((LAST_WORD, 0), |rcon| (LAST_WORD_TURNED, rcon as i32));
        // SAFETY: `self` is proof of avx512f, avx512bw and vaes.
        unsafe {
            let words = _mm512_shuffle_epi8(last, self.splat(&shuffle));
            // ShiftRows does not change a block of four equal words.
            let sub = _mm512_aesenclast_epi128(words, _mm512_set1_epi32(rcon));
            let before = self.xor(before, _mm512_bslli_epi128::<4>(before));
            self.xor3(before, _mm512_bslli_epi128::<8>(before), sub)
        }
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` is proof of avx512f.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    fn times_x(self, a: __m512i) -> __m512i {
        let (reversed, c) = (self.splat(&REVERSED), self.splat(&TIMES_X));
        // SAFETY: `self` is proof of avx512f and avx512bw.
        unsafe {
            let a = _mm512_shuffle_epi8(a, reversed);
            // The first bit of each word moves to the next word, and that of the last word to c.
            let first = _mm512_shuffle_epi32::<0x93>(_mm512_srai_epi32::<31>(a));
            let a = self.xor(_mm512_slli_epi32::<1>(a), self.and(first, c));
            _mm512_shuffle_epi8(a, reversed)
        }
    }

    #[inline(always)]
    fn over_x(self, a: __m512i) -> __m512i {
        let (reversed, c) = (self.splat(&REVERSED), self.splat(&OVER_X));
        // SAFETY: `self` is proof of avx512f and avx512bw.
        unsafe {
            let a = _mm512_shuffle_epi8(a, reversed);
            // The last bit of each word moves to the previous word, and that of the first word also
            // to c.
            let last = _mm512_slli_epi32::<31>(a);
            let moved = _mm512_shuffle_epi32::<0x39>(last);
            let c = self.and(_mm512_srai_epi32::<31>(last), c);
            _mm512_shuffle_epi8(self.xor3(_mm512_srli_epi32::<1>(a), moved, c), reversed)
        }
    }
}
