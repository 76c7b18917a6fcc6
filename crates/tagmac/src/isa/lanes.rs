//! The operations of a level for kernels: vectors of cipher blocks, and AES rounds on them.

use super::bit_slices::BitSlices;
use super::block::{Block, CipherBlock};
use super::gf128;
use crate::sealed::Sealed;

/// The maximum number of blocks in a vector, of any size and on any level.
pub(crate) const MAX_LANES: usize = 16;

/// Blocks of one size in vectors.
///
/// A vector [`V`](Lanes::V) holds [`LANES`](Lanes::LANES) blocks. Each instruction-set level has
/// vectors of 16-byte blocks for AES. Ciphers that encrypt single blocks use
/// [`ScalarBlocks`](super::ScalarBlocks). All methods are safe because a value of the type exists
/// only if the CPU has the level.
pub trait Lanes: Sealed + Copy + Send + Sync + 'static {
    /// The number of blocks in a vector.
    const LANES: usize;
    /// The number of vectors to process in parallel: 8 if instructions overlap, 1 if one vector
    /// keeps the CPU busy.
    const UNROLL: usize;
    /// The number of blocks in an unrolled loop iteration.
    const UNROLLED_BLOCKS: usize = Self::UNROLL * Self::LANES;

    /// A block.
    type Block: CipherBlock;
    /// A vector of blocks.
    type V: Copy;
    /// A counter in each lane.
    type Counter: Copy;
    /// The encoding of a lane's counter in its block.
    type CounterLayout: Copy;
    /// The distribution of pieces shorter than a block over lanes, see [`Lanes::stride`].
    type Stride: Copy;
    /// One block at a time. Only lane 0 of its vectors is used.
    type Narrow: Lanes<Block = Self::Block, Narrow = Self::Narrow>;

    /// Returns the lanes for one block at a time, for tails and single blocks.
    fn narrow(self) -> Self::Narrow;

    /// Returns `b` in every lane.
    fn splat(self, b: &Self::Block) -> Self::V;
    /// Loads block j of `p` into lane j. `p` holds exactly `LANES` blocks.
    fn load(self, p: &[u8]) -> Self::V;
    /// As [`load`](Lanes::load), for up to `LANES` whole blocks; the other lanes are zero.
    fn load_lanes(self, p: &[u8]) -> Self::V;
    /// Writes the first lanes of `a` to `p`, as far as whole blocks fit.
    fn store_lanes(self, a: Self::V, p: &mut [u8]);
    /// Keeps the first `n` lanes of `a`; the other lanes are zero.
    fn keep_lanes(self, a: Self::V, n: usize) -> Self::V;
    /// Returns `b` in the last lane; the other lanes are zero.
    fn set_last_lane(self, b: &Self::Block) -> Self::V;
    /// Returns lane 0.
    fn lane0(self, a: Self::V) -> Self::Block;
    /// Returns the xor of all lanes.
    fn xor_lanes(self, a: Self::V) -> <Self::Narrow as Lanes>::V;

    /// Returns `a ^ b`.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a ^ b ^ c`.
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }

    /// Returns a counter with `first + j` (mod 2^64) in lane j.
    fn counter(self, first: u64) -> Self::Counter;
    /// Adds `LANES` to each lane (mod 2^64).
    fn advance(self, c: Self::Counter) -> Self::Counter;
    /// Prepares a layout in which the low `bytes` bytes of a counter, 1 to 8, come first in the
    /// block, big-endian and followed by zeros.
    fn be_prefix(self, bytes: usize) -> Self::CounterLayout;
    /// Encodes each lane's counter in this layout.
    fn encode_counter(self, c: Self::Counter, layout: Self::CounterLayout) -> Self::V;

    /// Prepares for pieces of `step` bytes, from half a block to a block.
    fn stride(self, step: usize) -> Self::Stride;
    /// Loads `N` vectors of pieces. Lane j of vector v ends with the `step` bytes of `data` from
    /// `at + (v * LANES + j) * step`, and its other bytes are zero. At least `BYTES - step` bytes
    /// must come before `at`, where `BYTES` is the length of a block. Loads many vectors, so that
    /// bounds are checked once.
    fn load_strided<const N: usize>(
        self,
        data: &[u8],
        at: usize,
        stride: Self::Stride,
    ) -> [Self::V; N];
    /// As one vector of [`load_strided`](Lanes::load_strided), but loads only the first `n` lanes;
    /// the other lanes are zero. No bytes need to come before `at`.
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, stride: Self::Stride) -> Self::V;

    /// Loads a piece into each lane: lane j ends with the last bytes of block `block(j)`, and its
    /// other bytes are zero.
    #[inline(always)]
    fn gather<'a>(
        self,
        stride: (usize, Self::Stride),
        block: impl Fn(usize) -> &'a [u8],
    ) -> Self::V {
        let mut blocks = [Self::Block::ZERO; MAX_LANES];
        for (lane, to) in blocks[..Self::LANES].iter_mut().enumerate() {
            let before = Self::Block::BYTES - stride.0;
            to.as_mut()[before..].copy_from_slice(&block(lane)[before..]);
        }
        self.load(Self::Block::flatten(&blocks[..Self::LANES]))
    }

    /// As [`gather`](Lanes::gather), but lane j ends with the first bytes of block `block(j)`.
    #[inline(always)]
    fn gather_first<'a>(self, step: usize, block: impl Fn(usize) -> &'a [u8]) -> Self::V {
        let mut blocks = [Self::Block::ZERO; MAX_LANES];
        for (lane, to) in blocks[..Self::LANES].iter_mut().enumerate() {
            to.as_mut()[Self::Block::BYTES - step..].copy_from_slice(&block(lane)[..step]);
        }
        self.load(Self::Block::flatten(&blocks[..Self::LANES]))
    }

    /// Returns the last `n` bytes of a block, followed by zeros, as a vector of one block.
    #[inline(always)]
    fn last_bytes(self, block: &[u8], n: usize) -> <Self::Narrow as Lanes>::V {
        self.tail(&block[Self::Block::BYTES - n..])
    }

    /// Returns up to a block of bytes, padded with zeros, as a vector of one block.
    #[inline(always)]
    fn tail(self, p: &[u8]) -> <Self::Narrow as Lanes>::V {
        self.narrow().splat(&Self::Block::zero_filled(p))
    }
}

/// An instruction-set level, a bundle of CPU features: vectors of AES blocks, and the other
/// operations of its instructions. A value of the type is the proof that this CPU has the features.
pub trait Isa: Lanes<Block = Block, Narrow = Self::One> {
    /// The maximum number of AES blocks in messages with their own kernel on the one-block level,
    /// at most 8. Zero on a one-block level where code without loops is not faster.
    const NARROW_PATH_MAX_BLOCKS: usize;

    /// `R` round keys, in the level's preferred form for a loop.
    type Keys<'a, const R: usize>: Copy;
    /// The vectors of 64-bit words, see [`Isa::words`].
    type Words: BitSlices;
    /// The one-block level: [`Narrow`](Lanes::Narrow) as a level.
    type One: Isa<One = Self::One>;

    /// Runs `f`, compiled with this level's instructions, in a separate function. Use it for large
    /// code that occurs in many kernels.
    fn run_outlined<R>(self, f: impl FnOnce() -> R) -> R;

    /// Aligns the stack frame of the kernel that calls it, if vectors are as long as a line of the
    /// cache. Otherwise compilers may align it to 16 bytes only. Then, at three of four depths of the
    /// stack, the vectors stored there because registers run out cross lines.
    #[inline(always)]
    fn align_frame(self) {}

    /// Returns arithmetic on words, at the level's full width.
    fn words(self) -> Self::Words;

    /// Prepares round keys, once per range, before the loop.
    fn keys<'a, const R: usize>(self, keys: &'a [Block; R]) -> Self::Keys<'a, R>;
    /// Returns the same round keys for one iteration of a loop. A level with few registers reloads
    /// them in each iteration: if they were loaded before the loop, most of them would only move to
    /// the stack.
    #[inline(always)]
    fn reload_keys<'a, const R: usize>(self, keys: &Self::Keys<'a, R>) -> Self::Keys<'a, R> {
        *keys
    }
    /// Returns round key `r` in every lane.
    fn key<const R: usize>(self, keys: &Self::Keys<'_, R>, r: usize) -> Self::V;
    /// Computes one AES round in each lane: `MixColumns(ShiftRows(SubBytes(a))) ^ k`.
    fn aes(self, a: Self::V, k: Self::V) -> Self::V;
    /// Computes the last AES round in each lane: `ShiftRows(SubBytes(a)) ^ k`.
    fn aes_last(self, a: Self::V, k: Self::V) -> Self::V;
    /// AES rounds are instructions. Otherwise all rounds are one call, because they are kilobytes
    /// of code.
    const AES_INSTRUCTIONS: bool = true;
    /// Computes all rounds but the last.
    #[inline(always)]
    fn aes_first_rounds<const R: usize, const N: usize>(
        self,
        keys: &Self::Keys<'_, R>,
        mut x: [Self::V; N],
    ) -> [Self::V; N] {
        // Four keys stay in registers on every level.
        let keys = if N == 8 && R > 4 { self.reload_keys(keys) } else { *keys };
        for r in 0..R - 1 {
            let key = self.key(&keys, r);
            for x in &mut x {
                *x = self.aes(*x, key);
            }
        }
        x
    }
    /// Computes all `R` rounds.
    #[inline(always)]
    fn aes_rounds<const R: usize, const N: usize>(
        self,
        keys: &Self::Keys<'_, R>,
        x: [Self::V; N],
    ) -> [Self::V; N] {
        let mut x = self.aes_first_rounds(keys, x);
        let key = self.key(keys, R - 1);
        for x in &mut x {
            *x = self.aes_last(*x, key);
        }
        x
    }

    /// Prepares a layout: byte i of a block is byte `layout[i]` of the little-endian counter, or
    /// zero if `layout[i]` is [`ZERO`](super::ZERO).
    fn counter_layout(self, layout: &Block) -> Self::CounterLayout;

    /// Computes four words of AES's key schedule (FIPS-197, section 5.2) in each lane. Word j is
    /// the xor of words 0 to j of `before` and of SubWord of the last word of `last`. With an
    /// `rcon`, RotWord is applied before SubWord, and `rcon` is added.
    fn next_key_words(self, before: Self::V, last: Self::V, rcon: Option<u8>) -> Self::V;
    /// Returns `a & b`.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Multiplies each lane by x in GF(2^128) as in PMAC: modulo x^128 + x^7 + x^2 + x + 1, where
    /// the first bit of a block is the coefficient of x^127.
    #[inline(always)]
    fn times_x(self, a: Self::V) -> Self::V {
        each_lane(self, a, gf128::times_x)
    }
    /// Divides each lane by x.
    #[inline(always)]
    fn over_x(self, a: Self::V) -> Self::V {
        each_lane(self, a, gf128::over_x)
    }
}

/// Applies a function to each lane separately.
#[inline(always)]
fn each_lane<I: Isa>(isa: I, a: I::V, f: impl Fn(Block) -> Block) -> I::V {
    let mut lanes = [[0; 16]; MAX_LANES];
    let lanes = &mut lanes[..I::LANES];
    isa.store_lanes(a, lanes.as_flattened_mut());
    for lane in &mut *lanes {
        *lane = f(*lane);
    }
    isa.load(lanes.as_flattened())
}
