//! Arithmetic on 64-bit words, for universal hashes.

use super::block::Block;
use crate::sealed::Sealed;

/// The maximum number of words in a vector, on any level.
pub(crate) const MAX_WORDS: usize = 8;

/// Vectors of 64-bit words on a level.
///
/// A vector [`W`](Words::W) has [`LANES`](Words::LANES) lanes of 16 bytes, two words each, the
/// first byte lowest. All methods are safe because a value of the type exists only if the CPU has
/// the level.
pub trait Words: Sealed + Copy + Send + Sync + 'static {
    /// The number of 16-byte lanes in a vector.
    const LANES: usize;
    /// One instruction multiplies the words of a vector.
    const HAS_VECTOR_MUL: bool;
    /// [`mul52`](Words::mul52) is an instruction.
    const MUL52: bool;
    /// The level has [`even_odd_padded`](Words::even_odd_padded) and
    /// [`keep_lanes`](Words::keep_lanes).
    const MASKS: bool = false;

    /// A vector of words.
    type W: Copy;
    /// Vectors of one lane.
    type Narrow: Words<Narrow = Self::Narrow>;

    /// Returns the operations on vectors of one lane.
    fn narrow(self) -> Self::Narrow;

    /// Returns `x` in every word.
    fn splat(self, x: u64) -> Self::W;
    /// Returns `x` in word 0 and zero in the others.
    fn first(self, x: u64) -> Self::W;
    /// Writes word j to `p[j]`. `p` has exactly `2 * LANES` words.
    fn store(self, a: Self::W, p: &mut [u64]);
    /// Returns lane 0 as bytes, stored in one piece.
    fn lane0(self, a: Self::W) -> Block;
    /// Loads block j of `p` into lane j. `p` holds exactly `LANES` blocks.
    fn blocks(self, p: &[u8]) -> Self::W;
    /// Returns `b` in every lane.
    #[inline(always)]
    fn splat_block(self, b: &Block) -> Self::W {
        self.gather(
            #[inline(always)]
            |_| b,
        )
    }
    /// Loads the block `block(j)` into lane j.
    #[inline(always)]
    fn gather<'a>(self, block: impl Fn(usize) -> &'a [u8]) -> Self::W {
        let mut blocks = [[0; 16]; MAX_WORDS / 2];
        for (j, to) in blocks[..Self::LANES].iter_mut().enumerate() {
            to.copy_from_slice(block(j));
        }
        self.blocks(blocks[..Self::LANES].as_flattened())
    }
    /// Splits `2 * LANES` blocks into those with even and those with odd numbers.
    fn even_odd(self, p: &[u8]) -> (Self::W, Self::W);
    /// As [`even_odd`](Words::even_odd), for at most `2 * LANES` blocks; the bytes after `p` are
    /// zero. Only with [`MASKS`](Words::MASKS).
    #[inline(always)]
    fn even_odd_padded(self, _p: &[u8]) -> (Self::W, Self::W) {
        unreachable!("a level without masks")
    }
    /// Keeps the first `n` lanes of `a`; the other lanes are zero. Only with
    /// [`MASKS`](Words::MASKS).
    #[inline(always)]
    fn keep_lanes(self, _a: Self::W, _n: usize) -> Self::W {
        unreachable!("a level without masks")
    }
    /// Splits `2 * LANES` blocks into their first words and their second words, both in the same
    /// order. Each level has a fixed order, which starts with block 0.
    fn deinterleave(self, p: &[u8]) -> (Self::W, Self::W);
    /// As [`deinterleave`](Words::deinterleave), for blocks in two vectors.
    fn deinterleave_pair(self, a: Self::W, b: Self::W) -> (Self::W, Self::W);
    /// As [`deinterleave`](Words::deinterleave), for blocks that are little-endian numbers.
    fn deinterleave_numbers(self, p: &[u128]) -> (Self::W, Self::W);

    /// Writes numbers from columns: the inverse of
    /// [`deinterleave_numbers`](Words::deinterleave_numbers).
    fn interleave_numbers(self, columns: (Self::W, Self::W), p: &mut [u128]);

    /// Returns `a & b`.
    fn and(self, a: Self::W, b: Self::W) -> Self::W;
    /// Returns `a | b`.
    fn or(self, a: Self::W, b: Self::W) -> Self::W;
    /// Returns `a + b` in each word, mod 2^64.
    fn add(self, a: Self::W, b: Self::W) -> Self::W;
    /// Returns `a + b` in each half of a word, mod 2^32.
    fn add32(self, a: Self::W, b: Self::W) -> Self::W;
    /// Returns the product of the low halves of each word.
    fn mul32(self, a: Self::W, b: Self::W) -> Self::W;
    /// Moves the high half of each word to its low half. The new high half is arbitrary.
    fn high32(self, a: Self::W) -> Self::W;
    /// Multiplies each word by 2^n, mod 2^64. n is constant, at least in a loop.
    fn shl(self, a: Self::W, n: u32) -> Self::W;
    /// Divides each word by 2^n, rounding down. n is constant.
    fn shr(self, a: Self::W, n: u32) -> Self::W;
    /// Returns the low word of `(high, low)` divided by 2^n, for 0 < n < 64. n is constant.
    #[inline(always)]
    fn shr_pair(self, low: Self::W, high: Self::W, n: u32) -> Self::W {
        self.or(self.shr(low, n), self.shl(high, 64 - n))
    }
    /// Adds bits 0..52 of each product to `sums[0]` and bits 52..104 to `sums[1]`. The factors must
    /// be below 2^52.
    #[inline(always)]
    fn mul52(self, sums: [Self::W; 2], a: Self::W, b: Self::W) -> [Self::W; 2] {
        // From 26-bit halves, for levels without the instruction: correct but slow.
        let half = self.splat((1 << 26) - 1);
        let halves = |x| [self.and(x, half), self.shr(x, 26)];
        let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
        let middle = self.add(self.mul32(a0, b1), self.mul32(a1, b0));
        let low = self.add(self.mul32(a0, b0), self.shl(self.and(middle, half), 26));
        let high = self.add(self.mul32(a1, b1), self.shr(middle, 26));
        let high = self.add(high, self.shr(low, 52));
        let low = self.and(low, self.splat((1 << 52) - 1));
        [self.add(sums[0], low), self.add(sums[1], high)]
    }

    /// Returns the sum of the lanes, word by word.
    fn sum_lanes(self, a: Self::W) -> <Self::Narrow as Words>::W;
    /// Returns the sum of all words, mod 2^64.
    fn sum(self, a: Self::W) -> u64;
    /// Returns the sum of all words of `a`, and that of `b`.
    #[inline(always)]
    fn sum_pair(self, a: Self::W, b: Self::W) -> [u64; 2] {
        [self.sum(a), self.sum(b)]
    }

    /// Returns `a + b` in each quarter of a word, mod 2^16.
    fn add16(self, a: Self::W, b: Self::W) -> Self::W;
    /// Returns, in each half of a word, the sum of the signed products of its two 16-bit fields,
    /// mod 2^32.
    fn madd16(self, a: Self::W, b: Self::W) -> Self::W;
    /// Returns the signed product of the low halves of each word.
    fn mul32_signed(self, a: Self::W, b: Self::W) -> Self::W;

    /// Returns `a ^ b`.
    fn xor(self, a: Self::W, b: Self::W) -> Self::W;
    /// Returns `a & !b`.
    fn and_not(self, a: Self::W, b: Self::W) -> Self::W;
    /// Loads `p[j]` into word j. `p` has exactly `2 * LANES` words.
    fn load(self, p: &[u64]) -> Self::W;
    /// Reverses the bytes of each word.
    fn swap_bytes(self, a: Self::W) -> Self::W;
}
