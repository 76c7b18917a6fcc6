//! MACs whose hash is a sum over the blocks of a message, as types of the library's own traits.
//! With [`Parallel`] they have streams, parts and threads, and run on every level.

use tagmac::cipher::{CipherBlock, Field};
use tagmac::hazmat::{Construction, Hash, Plan};
use tagmac::isa::{Isa, Lanes, Level, Levels};
use tagmac::{Bits, Nonce, Tag};
use zeroize::Zeroize;

use crate::batch::{Aligned, BATCH, Batch, FEW};
use crate::field::{power_of_x, times};

/// The maximum of masks in a mode.
pub const MASKS: usize = 3;

/// The sums of a mode over a range of blocks.
#[derive(Clone, Copy)]
pub struct Sums<B> {
    /// The xor of the terms.
    pub xor: B,
    /// The weighted sum of the terms: a term has one x more for each block after it.
    pub weighted: B,
    /// The number of blocks with a weight in it.
    pub blocks: u64,
    /// The masks of some block, usually of the one after the range. A caller that needs others
    /// seeks to them.
    pub masks: Masks<B>,
}

/// Masks that are multiplied by a power of x from block to block.
#[derive(Clone, Copy)]
pub struct Masks<B> {
    block: u64,
    /// The masks of the current block.
    pub now: [B; MASKS],
}

impl<B: Field> Masks<B> {
    /// Goes to a block, counted from 0.
    #[inline(always)]
    fn seek<M: Mode<Word = B>>(&mut self, mode: &M, block: u64) {
        if self.block == block {
            return;
        }
        self.block = block;
        self.now = mode.first_masks();
        for (mask, step) in self.now.iter_mut().zip(M::MASK_STEPS) {
            *mask = times(&power_of_x(block * u64::from(*step)), mask);
        }
    }

    /// Goes to the next block and returns the masks of the current one.
    #[inline(always)]
    pub fn advance<M: Mode<Word = B>>(&mut self) -> [B; MASKS] {
        let now = self.now;
        self.block += 1;
        for (mask, step) in self.now.iter_mut().zip(M::MASK_STEPS) {
            for _ in 0..*step {
                *mask = mask.times_x();
            }
        }
        now
    }

    /// Calls `f` with whole blocks, at most a batch at a time, and their masks.
    #[inline(always)]
    pub fn with_each_batch<M: Mode<Word = B>>(
        &mut self,
        bytes: &[u8],
        mut f: impl FnMut(&[u8], [&[B]; MASKS]),
    ) {
        let steps = M::MASK_STEPS.iter().enumerate();
        let mut next: [Option<Batch<B>>; MASKS] = [None; MASKS];
        let mut masks = Aligned([[B::ZERO; BATCH]; MASKS]);
        for bytes in bytes.chunks(BATCH * M::BLOCK_BYTES) {
            let count = bytes.len() / M::BLOCK_BYTES;
            self.block += count as u64;
            for (at, step) in steps.clone() {
                let now = &mut self.now[at];
                if count <= FEW && next[at].is_none() {
                    for mask in &mut masks.0[at][..count] {
                        *mask = *now;
                        for _ in 0..*step {
                            *now = now.times_x();
                        }
                    }
                    continue;
                }
                let batch = next[at].get_or_insert_with(
                    #[inline(always)]
                    || Batch::powers(now, *step),
                );
                batch.write(&mut masks.0[at]);
                *now = if count < BATCH {
                    batch.block(count)
                } else {
                    for _ in 0..*step {
                        batch.times_x32();
                    }
                    batch.block(0)
                };
            }
            let masks = masks.0.each_ref().map(
                #[inline(always)]
                |masks| &masks[..count],
            );
            f(bytes, masks);
        }
    }
}

impl<B: Field> Sums<B> {
    /// Returns the sums of no blocks.
    fn empty(first: [B; MASKS]) -> Self {
        let masks = Masks { block: 0, now: first };
        Sums { xor: B::ZERO, weighted: B::ZERO, blocks: 0, masks }
    }

    /// Adds a xor of terms.
    #[inline(always)]
    pub fn add_xor<L: Lanes<Block = B>>(&mut self, lanes: L, terms: <L::Narrow as Lanes>::V) {
        self.xor = self.xor.xor(&lanes.narrow().lane0(terms));
    }
}

impl<B: Field> Zeroize for Sums<B> {
    fn zeroize(&mut self) {
        self.xor.zeroize();
        self.weighted.zeroize();
        self.masks.now.zeroize();
    }
}

/// A mode that sums terms of blocks. The methods with an [`Isa`] run inside a kernel and need
/// `#[inline(always)]`.
pub trait Mode: Send + Sync {
    /// The type of the sums' values.
    type Word: Field + PartialEq;
    /// The hash of a whole message.
    type Digest;
    /// The nonce, or `()`.
    type Nonce: Nonce;
    /// The levels that have their own kernels.
    const LEVELS: Levels;
    /// Bytes of a block of the message.
    const BLOCK_BYTES: usize;
    /// Bytes of a tag.
    const TAG_BYTES: usize;
    /// True if the last block is treated differently even when it is full.
    const LAST_BLOCK_DISTINCT: bool = false;
    /// The maximum of bits in a message.
    const LIMIT_BITS: u64 = u64::MAX;

    /// The power of x that takes each mask to the next block's.
    const MASK_STEPS: &'static [u32] = &[];

    /// Returns the masks of the first block.
    fn first_masks(&self) -> [Self::Word; MASKS] {
        [CipherBlock::ZERO; MASKS]
    }
    /// Adds whole blocks; the first of them is number `at`, counted from 0. The masks are those of
    /// that block.
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<Self::Word>, at: u64, blocks: &[u8]);
    /// Adds the rest of the message after `at` blocks. The masks are those of the block after them.
    fn finish<I: Isa>(&self, isa: I, sums: Sums<Self::Word>, at: u64, last: &[u8]) -> Self::Digest;
    /// Returns the tag of a digest.
    fn tag<I: Isa>(&self, isa: I, nonce: &Self::Nonce, digest: Self::Digest) -> Tag;
}

/// Returns a tag with all bytes of a block.
#[inline(always)]
pub fn whole<B: CipherBlock>(block: &B) -> Tag {
    Tag::try_from(block.as_ref()).expect("at most 32 bytes")
}

/// A mode under its keys on a level, as a MAC of the library's traits.
#[derive(Clone)]
pub struct Parallel<M> {
    mode: M,
    level: Level,
}

impl<M: Mode> Parallel<M> {
    /// Wraps a mode on the level of its ciphers.
    pub fn new(mode: M, level: Level) -> Self {
        Parallel { mode, level }
    }
}

impl<M: Mode> Hash for Parallel<M> {
    type Sum = Sums<M::Word>;
    type Digest = M::Digest;
    type BlockBuffer = Vec<u8>;
    const LAST_BLOCK_DISTINCT: bool = M::LAST_BLOCK_DISTINCT;
    const ACCEPTS_BIT_STRINGS: bool = false;
    const PLAN: Plan =
        Plan { long: M::LEVELS, short: Levels::Narrow, narrow_path: false, ..Plan::DEFAULT };

    #[inline(always)]
    fn level(&self) -> Level {
        self.level
    }

    #[inline(always)]
    fn block(&self) -> usize {
        M::BLOCK_BYTES
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        M::LIMIT_BITS
    }

    #[inline(always)]
    fn empty(&self) -> Self::Sum {
        Sums::empty(self.mode.first_masks())
    }

    fn new_buffer(&self) -> Vec<u8> {
        vec![0; M::BLOCK_BYTES]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sum: &mut Self::Sum, at: u64, blocks: &[u8]) {
        let at = at / M::BLOCK_BYTES as u64;
        sum.masks.seek(&self.mode, at);
        self.mode.absorb(isa, sum, at, blocks);
    }

    fn join(&self, left: &mut Self::Sum, right: &Self::Sum) {
        left.xor = left.xor.xor(&right.xor);
        left.weighted = times(&power_of_x(right.blocks), &left.weighted).xor(&right.weighted);
        left.blocks += right.blocks;
        left.masks = right.masks;
    }

    fn ct_eq(&self, one: &Self::Sum, other: &Self::Sum) -> bool {
        one.xor == other.xor && one.weighted == other.weighted && one.blocks == other.blocks
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sum: &Self::Sum, at: u64, tail: Bits<'_>) -> M::Digest {
        let (mut sum, at) = (*sum, at / M::BLOCK_BYTES as u64);
        sum.masks.seek(&self.mode, at);
        self.mode.finish(isa, sum, at, tail.bytes())
    }
}

impl<M: Mode> Construction for Parallel<M> {
    type Hash = Self;
    type Nonce = M::Nonce;
    type PadCache = ();

    #[inline(always)]
    fn hash(&self) -> &Self {
        self
    }

    #[inline(always)]
    fn output_bits(&self) -> usize {
        8 * M::TAG_BYTES
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        nonce: &M::Nonce,
        _pad: &mut (),
        digest: M::Digest,
    ) -> Tag {
        self.mode.tag(isa, nonce, digest)
    }
}
