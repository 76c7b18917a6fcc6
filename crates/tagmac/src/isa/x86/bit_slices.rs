//! Bit slices in vectors of 128, 256 and 512 bits.

use core::arch::x86_64::*;
use core::convert::Infallible;

use super::Xmm;
use super::words::{Words128, Words256, Words512};
use crate::isa::{Avx2, BitSlices, Block, Nibbles, Words};

/// The low nibble of every byte.
const NIBBLE: u64 = 0x0f0f_0f0f_0f0f_0f0f;
/// Bit i of byte i.
const DIAGONAL: u64 = 0x8040_2010_0804_0201;

/// For pieces of 4..=8 bytes: the source of each byte of eight words. Byte 63 is zero if pieces are
/// shorter than words.
static PLACES: [[u8; 64]; 5] = {
    let mut places = [[63; 64]; 5];
    let mut place = 0;
    while place < 64 * 5 {
        let (step, word, byte) = (4 + place / 64, place % 64 / 8, place % 8);
        if byte >= 8 - step {
            places[step - 4][place % 64] = (word * step + byte + step - 8) as u8;
        }
        place += 1;
    }
    places
};

/// The same for four words: two at the start of one half and two at the end of the other.
static HALVES: [[u8; 32]; 5] = {
    let mut places = [[0x80; 32]; 5];
    let mut place = 0;
    while place < 32 * 5 {
        let (step, word, byte) = (4 + place / 32, place % 32 / 8, place % 8);
        if byte >= 8 - step {
            let first = if word < 2 { 0 } else { 16 - 4 * step as isize };
            places[step - 4][place % 32] = ((word * step + byte + step - 8) as isize + first) as u8;
        }
        place += 1;
    }
    places
};

impl<L: Xmm> BitSlices for Words128<L> {
    type Half = Self;
    type Nibbles = Infallible;
    const NIBBLES: Option<Infallible> = None;

    #[inline(always)]
    fn splat32(self, x: u32) -> __m128i {
        // SAFETY: `self` is proof of the level.
        unsafe { _mm_set1_epi32(x as i32) }
    }

    #[inline(always)]
    fn with_half<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }
}

impl BitSlices for Words256 {
    type Half = Self;
    type Nibbles = Infallible;
    const NIBBLES: Option<Infallible> = None;

    #[inline(always)]
    fn splat32(self, x: u32) -> __m256i {
        // SAFETY: `self` is proof of the level.
        unsafe { _mm256_set1_epi32(x as i32) }
    }

    #[inline(always)]
    fn pieces(self, data: &[u8], at: usize, step: usize) -> __m256i {
        // Two pieces in the first half of a vector, and two at the end of the second.
        let pieces = &data[at..at + 4 * step];
        let (low, high) = (self.narrow().blocks(&pieces[..16]), pieces.len() - 16);
        let high = self.narrow().blocks(&pieces[high..]);
        let places = self.blocks(&HALVES[step - 4]);
        // SAFETY: `self` is proof of avx2.
        unsafe {
            let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
            _mm256_shuffle_epi8(both, places)
        }
    }

    #[inline(always)]
    fn with_half<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }
}

impl BitSlices for Words512 {
    type Half = Words256;
    type Nibbles = Nibbles512;
    const NIBBLES: Option<Nibbles512> = Some(Nibbles512);

    #[inline(always)]
    fn splat32(self, x: u32) -> __m512i {
        // SAFETY: `self` is proof of the level.
        unsafe { _mm512_set1_epi32(x as i32) }
    }

    #[inline(always)]
    fn pieces(self, data: &[u8], at: usize, step: usize) -> __m512i {
        let pieces = self.0.load_bytes(&data[at..at + 8 * step]);
        let places = self.blocks(&PLACES[step - 4]);
        // SAFETY: `self` is proof of avx512vbmi.
        unsafe { _mm512_permutexvar_epi8(places, pieces) }
    }

    #[inline(always)]
    fn transpose_bits(self, rows: &[u64], key: u64, planes: &mut [u64]) {
        let rows: &[u64; 512] = rows.try_into().expect("64 rows of words");
        let planes: &mut [u64; 512] = planes.try_into().expect("64 planes of words");
        let key = self.splat(key.swap_bytes());
        // For rows 8h + l: swap l with the byte's index, then the byte's index with the bit's, then
        // h with the byte's index.
        for (h, group) in rows.as_chunks::<64>().0.iter().enumerate() {
            let row = |l: usize| self.xor(self.load(&group[8 * l..][..8]), key);
            // The instruction that transposes bytes counts bytes from the other end.
            let x = [row(7), row(6), row(5), row(4), row(3), row(2), row(1), row(0)];
            for (byte, x) in self.exchange_bytes(x).into_iter().enumerate() {
                // Swapping bytes only changes the order of planes.
                self.store(
                    Nibbles512.transpose_bytes(self, x, DIAGONAL),
                    &mut planes[64 * (7 - byte) + 8 * h..][..8],
                );
            }
        }
        for group in planes.as_chunks_mut::<64>().0 {
            let row = |l: usize| self.load(&group[8 * l..][..8]);
            let x = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
            for (byte, x) in self.exchange_bytes(x).into_iter().enumerate() {
                self.store(x, &mut group[8 * byte..][..8]);
            }
        }
    }

    #[inline(always)]
    fn with_half<R>(self, f: impl FnOnce(Words256) -> R) -> R {
        // If `f` were compiled for this level, compilers would use 512-bit instructions for truth
        // tables of three inputs.
        let half = Avx2::from(self.0);
        half.call(
            f,
            half,
            (),
            #[inline(always)]
            |f, half, ()| f(Words256(half)),
        )
    }
}

impl Words512 {
    /// Moves byte j of word i in vector v to byte v of word i in vector j.
    #[inline(always)]
    fn exchange_bytes(self, x: [__m512i; 8]) -> [__m512i; 8] {
        let [x0, x1, x2, x3, x4, x5, x6, x7] = x;
        let (x0, x4) = self.exchange_pair::<4>(x0, x4);
        let (x1, x5) = self.exchange_pair::<4>(x1, x5);
        let (x2, x6) = self.exchange_pair::<4>(x2, x6);
        let (x3, x7) = self.exchange_pair::<4>(x3, x7);
        let (x0, x2) = self.exchange_pair::<2>(x0, x2);
        let (x1, x3) = self.exchange_pair::<2>(x1, x3);
        let (x4, x6) = self.exchange_pair::<2>(x4, x6);
        let (x5, x7) = self.exchange_pair::<2>(x5, x7);
        let (x0, x1) = self.exchange_pair::<1>(x0, x1);
        let (x2, x3) = self.exchange_pair::<1>(x2, x3);
        let (x4, x5) = self.exchange_pair::<1>(x4, x5);
        let (x6, x7) = self.exchange_pair::<1>(x6, x7);
        [x0, x1, x2, x3, x4, x5, x6, x7]
    }

    /// Swaps the bytes of `a` at positions with the bit of weight `STEP` and those of `b` at
    /// positions without it.
    #[inline(always)]
    fn exchange_pair<const STEP: u64>(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        const { assert!(STEP == 1 || STEP == 2 || STEP == 4) };
        // The bytes at positions without the bit of that weight.
        let low = u64::MAX / ((1 << STEP) + 1);
        // The position of each byte's partner, in each half of a lane.
        let half = 0x0706_0504_0302_0100 ^ (0x0101_0101_0101_0101 * STEP as i64);
        let upper = half + 0x0808_0808_0808_0808;
        // SAFETY: `self` is proof of avx512bw.
        unsafe {
            let places = _mm512_broadcast_i32x4(_mm_set_epi64x(upper, half));
            (
                _mm512_mask_shuffle_epi8(a, !low, b, places),
                _mm512_mask_shuffle_epi8(b, low, a, places),
            )
        }
    }
}

/// Shuffles look up nibbles, and GFNI multiplies bit matrices.
#[derive(Clone, Copy)]
pub struct Nibbles512;

impl Nibbles<Words512> for Nibbles512 {
    #[inline(always)]
    fn look_up(self, words: Words512, a: __m512i, [low, high]: &[Block; 2]) -> __m512i {
        let (low, high, nibble) =
            (words.splat_block(low), words.splat_block(high), words.splat(NIBBLE));
        // SAFETY: `words` is proof of avx512bw.
        unsafe {
            let low = _mm512_shuffle_epi8(low, _mm512_and_si512(a, nibble));
            let a = _mm512_srli_epi16::<4>(a);
            _mm512_xor_si512(low, _mm512_shuffle_epi8(high, _mm512_and_si512(a, nibble)))
        }
    }

    #[inline(always)]
    fn transpose_bytes(self, words: Words512, a: __m512i, columns: u64) -> __m512i {
        // SAFETY: `words` is proof of gfni.
        unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(words.splat(columns), a) }
    }

    #[inline(always)]
    fn swap_quarters(self, _words: Words512, a: __m512i) -> __m512i {
        // SAFETY: `_words` is proof of avx512f.
        unsafe { _mm512_rol_epi32::<16>(a) }
    }
}
