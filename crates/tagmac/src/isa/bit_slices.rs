//! 64-bit blocks in words, and their bits in planes: the operations for PRESENT.

use core::convert::Infallible;

use super::block::Block;
use super::words::Words;

/// Words as blocks of a cipher that is bitsliced or works on nibbles.
pub trait BitSlices: Words {
    /// Words with half the lanes if that is a separate level, otherwise the same.
    type Half: BitSlices;
    /// The type of [`NIBBLES`](BitSlices::NIBBLES); [`Infallible`] if that is `None`.
    type Nibbles: Nibbles<Self>;
    /// Operations on nibbles, on levels where all of them are instructions.
    const NIBBLES: Option<Self::Nibbles>;

    /// `x`, which is zero or all ones, in both halves of every word.
    fn splat32(self, x: u32) -> Self::W;
    /// Loads pieces of `step` bytes, 4 to 8, into words. Word j ends with the bytes of `data` from
    /// `at + j * step`, and its other bytes are zero. At least `8 - step` bytes must come before
    /// `at`.
    #[inline(always)]
    fn pieces(self, data: &[u8], at: usize, step: usize) -> Self::W {
        let data = &data[at + step - 8..at + 2 * Self::LANES * step];
        let mut words = [0; 8];
        for (j, word) in words[..2 * Self::LANES].iter_mut().enumerate() {
            *word = u64::from_le_bytes(*data[j * step..].first_chunk().expect("a word"));
        }
        let words = self.load(&words[..2 * Self::LANES]);
        self.and(words, self.splat(u64::MAX << (64 - 8 * step)))
    }
    /// Transposes rows of big-endian numbers to planes. Bit r of word i of plane p is bit p of word
    /// i of row r, after its bytes were swapped and `key` was added. There are 64 rows and 64
    /// planes of `2 * LANES` words each.
    #[inline(always)]
    fn transpose_bits(self, rows: &[u64], key: u64, planes: &mut [u64]) {
        let words = 2 * Self::LANES;
        assert!(rows.len() == 64 * words && planes.len() == 64 * words);
        let key = self.splat(key.swap_bytes());
        // Swap bits of the row's number with bits of the bit's position, three at a time in eight
        // rows.
        for r in 0..8 {
            let row = |i: usize| self.xor(self.load(&rows[words * (r + 8 * i)..][..words]), key);
            let x = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
            for (i, x) in exchange::<Self, 32, 16, 8>(self, x).into_iter().enumerate() {
                // Swapping bytes only changes the order of planes.
                self.store(x, &mut planes[words * (r + 8 * (7 - i))..][..words]);
            }
        }
        for rows in planes.chunks_exact_mut(8 * words) {
            let row = |i: usize| self.load(&rows[words * i..][..words]);
            let x = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
            for (i, x) in exchange::<Self, 4, 2, 1>(self, x).into_iter().enumerate() {
                self.store(x, &mut rows[words * i..][..words]);
            }
        }
    }
    /// Runs `f` on half the lanes, compiled for the level with only those.
    fn with_half<R>(self, f: impl FnOnce(Self::Half) -> R) -> R;
}

/// Operations on the nibbles of vectors of words and on the bits of their bytes.
pub trait Nibbles<A: Words>: Copy {
    /// For each byte, looks up the low nibble in the first table and the high nibble in the second,
    /// and returns their xor.
    fn look_up(self, words: A, a: A::W, tables: &[Block; 2]) -> A::W;
    /// Sets bit `7 - j` of byte i in each word to the parity of byte j masked by byte i of
    /// `columns`.
    fn transpose_bytes(self, words: A, a: A::W, columns: u64) -> A::W;
    /// Swaps the low and the high 16 bits in each half of a word.
    fn swap_quarters(self, words: A, a: A::W) -> A::W;
}

/// For levels without such instructions: the type has no values.
impl<A: Words> Nibbles<A> for Infallible {
    #[inline(always)]
    fn look_up(self, _words: A, _a: A::W, _tables: &[Block; 2]) -> A::W {
        match self {}
    }

    #[inline(always)]
    fn transpose_bytes(self, _words: A, _a: A::W, _columns: u64) -> A::W {
        match self {}
    }

    #[inline(always)]
    fn swap_quarters(self, _words: A, _a: A::W) -> A::W {
        match self {}
    }
}

/// Eight rows, after swapping the bits of weight `A`, `B` and `C` of a bit's position with those of
/// its row's number.
#[inline(always)]
fn exchange<W: Words, const A: u32, const B: u32, const C: u32>(
    words: W,
    [x0, x1, x2, x3, x4, x5, x6, x7]: [W::W; 8],
) -> [W::W; 8] {
    let (x0, x4) = exchange_pair::<W, A>(words, x0, x4);
    let (x1, x5) = exchange_pair::<W, A>(words, x1, x5);
    let (x2, x6) = exchange_pair::<W, A>(words, x2, x6);
    let (x3, x7) = exchange_pair::<W, A>(words, x3, x7);
    let (x0, x2) = exchange_pair::<W, B>(words, x0, x2);
    let (x1, x3) = exchange_pair::<W, B>(words, x1, x3);
    let (x4, x6) = exchange_pair::<W, B>(words, x4, x6);
    let (x5, x7) = exchange_pair::<W, B>(words, x5, x7);
    let (x0, x1) = exchange_pair::<W, C>(words, x0, x1);
    let (x2, x3) = exchange_pair::<W, C>(words, x2, x3);
    let (x4, x5) = exchange_pair::<W, C>(words, x4, x5);
    let (x6, x7) = exchange_pair::<W, C>(words, x6, x7);
    [x0, x1, x2, x3, x4, x5, x6, x7]
}

/// Swaps the bits of `a` at positions with the bit of weight `SHIFT` and those of `b` at positions
/// without it.
#[inline(always)]
fn exchange_pair<W: Words, const SHIFT: u32>(words: W, a: W::W, b: W::W) -> (W::W, W::W) {
    let low = words.splat(u64::MAX / ((1 << SHIFT) + 1));
    let differ = words.and(words.xor(words.shr(a, SHIFT), b), low);
    (words.xor(a, words.shl(differ, SHIFT)), words.xor(b, differ))
}
