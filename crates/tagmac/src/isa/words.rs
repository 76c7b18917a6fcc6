//! Arithmetic on 64-bit words: what universal hashes are made of.

use super::block::Block;
use crate::sealed::Sealed;

/// The most words in a vector, on any level.
pub(crate) const MAX_WORDS: usize = 8;

/// Vectors of 64-bit words on a level.
///
/// A vector [`W`](Words::W) has [`LANES`](Words::LANES) lanes of 16 bytes, two words each, the
/// first byte lowest. All methods are safe because a value of the type exists only where the CPU
/// has the level.
pub trait Words: Sealed + Copy + Send + Sync + 'static {
    /// Lanes of 16 bytes in a vector.
    const LANES: usize;
    /// Whether the words of a vector are multiplied by one instruction.
    const HAS_VECTOR_MUL: bool;
    /// Whether [`mul52`](Words::mul52) is an instruction.
    const MUL52: bool;

    /// A vector of words.
    type W: Copy;
    /// One lane alone.
    type Narrow: Words<Narrow = Self::Narrow>;

    /// One lane alone.
    fn narrow(self) -> Self::Narrow;

    /// `x` in every word.
    fn splat(self, x: u64) -> Self::W;
    /// `x` in word 0, zero in the others.
    fn first(self, x: u64) -> Self::W;
    /// Word j goes to `p[j]`, of exactly `2 * LANES`.
    fn store(self, a: Self::W, p: &mut [u64]);
    /// Lane 0 as bytes, stored at once.
    fn lane0(self, a: Self::W) -> Block;
    /// Lane j is block j of `p`, which holds exactly `LANES` blocks.
    fn blocks(self, p: &[u8]) -> Self::W;
    /// `b` in every lane.
    #[inline(always)]
    fn splat_block(self, b: &Block) -> Self::W {
        self.gather(
            #[inline(always)]
            |_| b,
        )
    }
    /// Lane j is the block `block(j)`.
    #[inline(always)]
    fn gather<'a>(self, block: impl Fn(usize) -> &'a [u8]) -> Self::W {
        let mut blocks = [[0; 16]; MAX_WORDS / 2];
        for (j, to) in blocks[..Self::LANES].iter_mut().enumerate() {
            to.copy_from_slice(block(j));
        }
        self.blocks(blocks[..Self::LANES].as_flattened())
    }
    /// Of `2 * LANES` blocks: those with even numbers, and those with odd numbers.
    fn even_odd(self, p: &[u8]) -> (Self::W, Self::W);
    /// Of `2 * LANES` blocks: their first words, and their second words. Both in the same order,
    /// which is the level's own, begins with block 0 and never changes.
    fn deinterleave(self, p: &[u8]) -> (Self::W, Self::W);
    /// As [`deinterleave`](Words::deinterleave), for the blocks in two vectors.
    fn deinterleave_pair(self, a: Self::W, b: Self::W) -> (Self::W, Self::W);
    /// As [`deinterleave`](Words::deinterleave), for blocks that are little-endian numbers.
    fn deinterleave_numbers(self, p: &[u128]) -> (Self::W, Self::W);

    /// Writes what [`deinterleave_numbers`](Words::deinterleave_numbers) takes apart.
    fn interleave_numbers(self, columns: (Self::W, Self::W), p: &mut [u128]);

    /// `a & b`.
    fn and(self, a: Self::W, b: Self::W) -> Self::W;
    /// `a | b`.
    fn or(self, a: Self::W, b: Self::W) -> Self::W;
    /// `a + b` in each word, mod 2^64.
    fn add(self, a: Self::W, b: Self::W) -> Self::W;
    /// `a + b` in each half of a word, mod 2^32.
    fn add32(self, a: Self::W, b: Self::W) -> Self::W;
    /// The product of the low halves of each word.
    fn mul32(self, a: Self::W, b: Self::W) -> Self::W;
    /// The high half of each word in its low half, whatever in its high half.
    fn high32(self, a: Self::W) -> Self::W;
    /// Each word times 2^n, mod 2^64; n is constant, at least in a loop.
    fn shl(self, a: Self::W, n: u32) -> Self::W;
    /// Each word over 2^n, rounded down; n is constant.
    fn shr(self, a: Self::W, n: u32) -> Self::W;
    /// The low word of `(high, low)` over 2^n, for 0 < n < 64; n is constant.
    #[inline(always)]
    fn shr_pair(self, low: Self::W, high: Self::W, n: u32) -> Self::W {
        self.or(self.shr(low, n), self.shl(high, 64 - n))
    }
    /// Adds bits 0..52 of each product to `sums[0]` and bits 52..104 to `sums[1]`. The factors are
    /// below 2^52.
    #[inline(always)]
    fn mul52(self, sums: [Self::W; 2], a: Self::W, b: Self::W) -> [Self::W; 2] {
        // From 26-bit halves, for levels without the instruction: right, not fast.
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

    /// The sum of the lanes, word by word.
    fn sum_lanes(self, a: Self::W) -> <Self::Narrow as Words>::W;
    /// The sum of all words, mod 2^64.
    fn sum(self, a: Self::W) -> u64;
    /// The sum of all words of `a`, and that of `b`.
    #[inline(always)]
    fn sum_pair(self, a: Self::W, b: Self::W) -> [u64; 2] {
        [self.sum(a), self.sum(b)]
    }

    /// `a + b` in each quarter of a word, mod 2^16.
    fn add16(self, a: Self::W, b: Self::W) -> Self::W;
    /// In each half of a word, the sum of the signed products of its two 16-bit fields, mod 2^32.
    fn madd16(self, a: Self::W, b: Self::W) -> Self::W;
    /// The signed product of the low halves of each word.
    fn mul32_signed(self, a: Self::W, b: Self::W) -> Self::W;

    /// `a ^ b`.
    fn xor(self, a: Self::W, b: Self::W) -> Self::W;
    /// `a & !b`.
    fn and_not(self, a: Self::W, b: Self::W) -> Self::W;
    /// Word j is `p[j]`, of exactly `2 * LANES`.
    fn load(self, p: &[u64]) -> Self::W;
    /// The bytes of each word in the opposite order.
    fn swap_bytes(self, a: Self::W) -> Self::W;
}
