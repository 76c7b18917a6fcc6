//! What the author of a MAC implements: a keyed hash of the message, finalized by a PRF under a nonce or
//! under none. Callers have [`Mac`](crate::Mac), which every construction has.
//!
//! A keyed hash of a message is the product of its parts. With `||` for joining messages:
//!
//! * `absorb(absorb(s, a), b) = absorb(s, a || b)`
//! * `join` is associative and `empty` is neutral
//! * `join(absorb(empty, a at 0), absorb(empty, b at |a|)) = absorb(empty, a || b at 0)`
//!
//! One-shot calls, streams, threads and parts are all written on these operations, once.

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::error::Error;
use crate::isa::{Isa, Level, Levels};
use crate::nonce::Nonce;
use crate::tag::Tag;

/// A keyed hash whose values over neighbouring ranges join.
///
/// The methods that take an [`Isa`] run inside a kernel: the driver enters the level once per call
/// and passes the proof on. They need `#[inline(always)]`.
pub trait Hash: Send + Sync {
    /// The hash of a range of blocks. Secret: anyone who sees sums can forge.
    type Sum: Clone + Zeroize + Send + Sync;
    /// The hash of a whole message.
    type Digest;
    /// The levels that have kernels of their own for whole blocks.
    const LONG: Levels;
    /// The levels that have kernels of their own for short messages and for what follows the last
    /// whole block.
    const SHORT: Levels;
    /// Room for one block, for streams.
    type BlockBuffer: AsMut<[u8]> + Clone + Zeroize + Send + Sync;

    /// Whether the last block is treated apart even when it is full (PMAC), so that a driver must
    /// hold it back. Otherwise any full block can be absorbed.
    const LAST_BLOCK_DISTINCT: bool;
    /// Whether a message may end within a byte.
    const ACCEPTS_BIT_STRINGS: bool;
    /// Whether the sum of a range is the same wherever the range stands, so that blocks can be put
    /// in between or taken out. None that [`LAST_BLOCK_DISTINCT`](Hash::LAST_BLOCK_DISTINCT) is.
    const POSITION_INDEPENDENT: bool = false;
    /// Whether messages of few blocks have kernels of their own, on the one-block level.
    const HAS_NARROW_PATH: bool = true;

    /// Whether one-shot calls use the kernels of streams where AES is not an instruction, and have none
    /// of their own there.
    const SHARES_STREAM_KERNELS: bool = false;
    /// Whether the kernels of one-shot calls and of streams share one [`finish`](Hash::finish).
    const SHARED_FINISH: SharedFinish = SharedFinish::Never;

    /// The level that the key was made for.
    fn level(&self) -> Level;
    /// Bytes of a block.
    fn block(&self) -> usize;
    /// The number of whole blocks in `bytes` bytes.
    #[inline(always)]
    fn blocks_in(&self, bytes: usize) -> usize {
        bytes / self.block()
    }
    /// The longest message in bytes that costs less on the one-block level, if
    /// [`HAS_NARROW_PATH`](Hash::HAS_NARROW_PATH).
    #[inline(always)]
    fn narrow_path_max_bytes(&self) -> usize {
        self.level().facts().narrow_path_max_blocks * self.block()
    }
    /// The most bits of a message; `u64::MAX` where the definition has no limit in reach.
    fn limit_bits(&self) -> u64;
    /// The sum of no blocks.
    fn empty(&self) -> Self::Sum;
    /// A cleared block.
    fn new_buffer(&self) -> Self::BlockBuffer;
    /// Adds whole blocks, of which the first starts at byte `at` of the message.
    fn absorb<I: Isa>(&self, isa: I, sum: &mut Self::Sum, at: u64, blocks: &[u8]);
    /// As [`absorb`](Hash::absorb), for at most [`narrow_path_max_bytes`](Hash::narrow_path_max_bytes) bytes at the start of a message,
    /// on a one-block level.
    #[inline(always)]
    fn absorb_narrow<I: Isa>(&self, isa: I, sum: &mut Self::Sum, blocks: &[u8]) {
        self.absorb(isa, sum, 0, blocks);
    }
    /// `left := left || right`, for neighbouring ranges.
    fn join(&self, left: &mut Self::Sum, right: &Self::Sum);
    /// Whether two sums are of the same blocks, in a time that depends on nothing secret.
    #[must_use]
    fn ct_eq(&self, one: &Self::Sum, other: &Self::Sum) -> bool;
    /// Adds the rest of the message, which starts at byte `at`, and closes the hash. The rest is
    /// shorter than a block, or a full last block where [`LAST_BLOCK_DISTINCT`](Hash::LAST_BLOCK_DISTINCT); it is
    /// empty only if the whole message is, or if the hash does not hold the last block.
    fn finish<I: Isa>(&self, isa: I, sum: &Self::Sum, at: u64, tail: Bits<'_>) -> Self::Digest;
}

/// When kernels share one [`finish`](Hash::finish), in a function of its own: where it is kilobytes of
/// code, beside which the call is nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SharedFinish {
    /// It is small, or a call would be felt.
    Never,
    /// On levels without AES instructions, where it is slow.
    WithoutAesInstructions,
    /// On all levels.
    Always,
}

impl SharedFinish {
    /// Whether they do so on a level.
    pub(crate) const fn applies<I: Isa>(self) -> bool {
        match self {
            SharedFinish::Never => false,
            SharedFinish::WithoutAesInstructions => !I::AES_INSTRUCTIONS,
            SharedFinish::Always => true,
        }
    }
}

/// How many of the next bytes, the last ones of a message, can be absorbed as whole blocks.
#[inline(always)]
pub(crate) fn absorbable_len<H: Hash>(hash: &H, rest: Bits<'_>) -> usize {
    let block = hash.block();
    if H::LAST_BLOCK_DISTINCT {
        hash.blocks_in(rest.bytes().len().saturating_sub(1)) * block
    } else {
        hash.blocks_in(rest.whole_bytes()) * block
    }
}

/// Refuses a message of `at` bytes and `rest` if it is over the limit, or ends within a byte where
/// that cannot be.
#[inline(always)]
pub(crate) fn check_length<H: Hash>(hash: &H, at: u64, rest: Bits<'_>) -> Result<(), Error> {
    if !H::ACCEPTS_BIT_STRINGS && rest.last_mask().is_some() {
        return Err(Error::PartialByte { found: rest.bits() });
    }
    let limit_bits = hash.limit_bits();
    match at.checked_mul(8).and_then(|bits| bits.checked_add(rest.bits())) {
        Some(bits) if bits <= limit_bits => Ok(()),
        _ => Err(Error::TooLong { limit_bits }),
    }
}

/// Messages of a batch whose pads are made at once, where tags have pads.
pub(crate) const PADS_AT_ONCE: usize = 32;

/// How a MAC is made of a keyed hash.
pub trait Construction: Send + Sync {
    /// The hash of the message.
    type Hash: Hash;
    /// What must never repeat under a key; `()` for a deterministic MAC.
    type Nonce: Nonce;
    /// What may be kept between messages with consecutive nonces. Secret.
    type PadCache: Default + Zeroize + Send + Sync;

    /// The hash of the message.
    fn hash(&self) -> &Self::Hash;
    /// The most bits of a tag. One-shot calls return tags of at most 128 bits in registers.
    const MAX_TAG_BITS: usize = 8 * Tag::MAX_BYTES;

    /// The length of the tags in bits.
    fn output_bits(&self) -> usize;
    /// The sum that a message under this nonce begins with. A MAC whose sums grow with the message
    /// gives one that feeds its PRF at once, so that one-shot calls and streams take constant
    /// memory.
    #[inline(always)]
    fn begin(&self, _nonce: &Self::Nonce) -> <Self::Hash as Hash>::Sum {
        self.hash().empty()
    }
    /// Turns the digest of a message into its tag. Runs inside a kernel.
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        nonce: &Self::Nonce,
        pad: &mut Self::PadCache,
        digest: <Self::Hash as Hash>::Digest,
    ) -> Tag;

    /// The most bytes of a message that is faster in a batch, see [`tag_batch`](Construction::tag_batch).
    #[inline(always)]
    fn batch_max_len(&self) -> usize {
        0
    }
    /// The tags of messages of at most [`batch_max_len`](Construction::batch_max_len) bytes, a nonce for each, side by side.
    /// Runs inside a kernel.
    #[inline(always)]
    fn tag_batch<I: Isa>(
        &self,
        _isa: I,
        _nonces: &[Self::Nonce],
        _messages: &[&[u8]],
        _tags: &mut [Tag],
    ) {
        unreachable!("no message is short")
    }
}
