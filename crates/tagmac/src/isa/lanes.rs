//! Vectors of cipher blocks: what a mode of operation needs of a level.

use super::block::CipherBlock;
use super::sealed::Sealed;

/// The most blocks in a vector, of any size and on any level.
pub(crate) const MAX_LANES: usize = 16;

/// Blocks of one size in vectors.
///
/// A vector [`V`](Lanes::V) holds [`LANES`](Lanes::LANES) blocks. Each level of instruction sets
/// has vectors of 16-byte blocks, which AES works on; ciphers that take their blocks one by one
/// have [`ScalarBlocks`](super::ScalarBlocks). All methods are safe because a value of the type exists only
/// where the CPU has the level.
pub trait Lanes: Sealed + Copy + Send + Sync + 'static {
    /// Blocks in a vector.
    const LANES: usize;
    /// Vectors worth having in flight: 8 where instructions overlap, 1 where a vector keeps the
    /// CPU busy by itself.
    const UNROLL: usize;
    /// Blocks of as many vectors as a loop is unrolled to.
    const UNROLLED_BLOCKS: usize = Self::UNROLL * Self::LANES;

    /// A block.
    type Block: CipherBlock;
    /// A vector of blocks.
    type V: Copy;
    /// A counter in each lane.
    type Counter: Copy;
    /// How a lane's counter is written into its block.
    type CounterLayout: Copy;
    /// How pieces shorter than a block are spread over lanes, see [`Lanes::stride`].
    type Stride: Copy;
    /// One block at a time. Only lane 0 of its vectors counts.
    type Narrow: Lanes<Block = Self::Block, Narrow = Self::Narrow>;

    /// One block at a time, for tails and single blocks.
    fn narrow(self) -> Self::Narrow;

    /// `b` in every lane.
    fn splat(self, b: &Self::Block) -> Self::V;
    /// Lane j is block j of `p`, which holds exactly `LANES` blocks.
    fn load(self, p: &[u8]) -> Self::V;
    /// As [`load`](Lanes::load) for up to `LANES` whole blocks; the other lanes are zero.
    fn load_lanes(self, p: &[u8]) -> Self::V;
    /// Writes the first lanes of `a` to `p`, as many as whole blocks fit.
    fn store_lanes(self, a: Self::V, p: &mut [u8]);
    /// The first `n` lanes of `a`; the other lanes are zero.
    fn keep_lanes(self, a: Self::V, n: usize) -> Self::V;
    /// `b` in the last lane; the other lanes are zero.
    fn set_last_lane(self, b: &Self::Block) -> Self::V;
    /// Lane 0.
    fn lane0(self, a: Self::V) -> Self::Block;
    /// Xor of all lanes.
    fn xor_lanes(self, a: Self::V) -> <Self::Narrow as Lanes>::V;

    /// `a ^ b`.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a ^ b ^ c`.
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }

    /// Lane j holds `first + j` (mod 2^64).
    fn counter(self, first: u64) -> Self::Counter;
    /// Adds `LANES` to each lane (mod 2^64).
    fn advance(self, c: Self::Counter) -> Self::Counter;
    /// Prepares the layout in which the low `bytes` bytes of a counter, 1 to 8, come first in the
    /// block, big-endian, with zeros after them.
    fn be_prefix(self, bytes: usize) -> Self::CounterLayout;
    /// Each lane's counter in this layout.
    fn encode_counter(self, c: Self::Counter, layout: Self::CounterLayout) -> Self::V;

    /// Prepares pieces of `step` bytes, from half a block to a block.
    fn stride(self, step: usize) -> Self::Stride;
    /// `N` vectors of pieces: lane j of vector v ends with the `step` bytes of `data` from
    /// `at + (v * LANES + j) * step`; the bytes before them are zero. At least as many bytes as a
    /// piece is shorter than a block come before `at`. Many at once, so that bounds are checked
    /// once.
    fn load_strided<const N: usize>(
        self,
        data: &[u8],
        at: usize,
        stride: Self::Stride,
    ) -> [Self::V; N];
    /// As one vector of [`load_strided`](Lanes::load_strided), but only the first `n` lanes are
    /// loaded; the other lanes are zero. No bytes need to come before `at`.
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, stride: Self::Stride) -> Self::V;

    /// Lane j ends with the last bytes of block `block(j)`, those of a piece; the bytes before them
    /// are zero.
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

    /// As many bytes as a block has or fewer, filled up with zeros, as a vector of one block.
    #[inline(always)]
    fn tail(self, p: &[u8]) -> <Self::Narrow as Lanes>::V {
        self.narrow().splat(&Self::Block::zero_filled(p))
    }
}
