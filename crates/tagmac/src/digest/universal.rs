//! RustCrypto's `UniversalHash` for hashes whose results are as long as their blocks.

use ::digest::array::{Array, ArraySize};
use ::digest::common::{BlockSizeUser, ParBlocks, ParBlocksSizeUser};
use ::digest::consts::{U16, U32};
use ::universal_hash::{Block, UhfBackend, UhfClosure, UniversalHash};
use zeroize::Zeroize;

use super::keyed::{Algorithm, Keyed, Message, Owned};
use crate::algo::{AesFamilies, EliHash, Poly1305, Poly1305Hash};
use crate::bits::Bits;
use crate::construction;
use crate::construction::{Hash, check_length};
use crate::hashes::HashValue;
use crate::isa::{Isa, Kernel, Level, Levels};
use crate::stream::Stream;

/// A hash of whole blocks with results as long as a block. The [module](super) lists them.
pub trait BlockHash: Algorithm {
    /// The length of a block and of the result in bytes.
    type BlockSize: ArraySize;
}

impl<M: BlockHash> BlockSizeUser for Keyed<M> {
    type BlockSize = M::BlockSize;
}

impl<M: BlockHash> UniversalHash for Keyed<M> {
    fn update_with_backend(&mut self, f: impl UhfClosure<BlockSize = Self::BlockSize>) {
        f.call(&mut Backend::<M>(&mut self.message));
    }

    fn update(&mut self, blocks: &[Block<Self>]) {
        self.message.update(Array::slice_as_flattened(blocks));
    }

    fn finalize(mut self) -> Block<Self> {
        let mut out = Block::<Self>::default();
        self.message.finish(&mut out);
        out
    }
}

/// Accepts blocks from code with its own loop.
struct Backend<'a, M: BlockHash>(&'a mut M::Message);

impl<M: BlockHash> BlockSizeUser for Backend<'_, M> {
    type BlockSize = M::BlockSize;
}

/// Enough blocks for vectors to pay on every level.
impl<M: BlockHash> ParBlocksSizeUser for Backend<'_, M> {
    type ParBlocksSize = U32;
}

impl<M: BlockHash> UhfBackend for Backend<'_, M> {
    fn proc_block(&mut self, block: &Block<Self>) {
        self.0.update(block);
    }

    fn proc_par_blocks(&mut self, blocks: &ParBlocks<Self>) {
        self.0.update(Array::slice_as_flattened(blocks));
    }
}

impl Algorithm for Poly1305 {
    type KeySize = U32;
    type Message = Stream<Owned<Self>>;

    fn begin(key: &[u8]) -> Self::Message {
        Stream::new(Owned(Poly1305::new(key.try_into().expect("32 bytes"))), &())
    }
}

impl BlockHash for Poly1305 {
    type BlockSize = U16;
}

impl Algorithm for Poly1305Hash {
    type KeySize = U16;
    type Message = Blocks<Self>;

    fn begin(key: &[u8]) -> Self::Message {
        Blocks::new(Poly1305Hash::new(key.try_into().expect("16 bytes")))
    }
}

impl BlockHash for Poly1305Hash {
    type BlockSize = U16;
}

impl<const H: usize, const I: usize> Algorithm for EliHash<AesFamilies<H, I>> {
    type KeySize = U16;
    type Message = Blocks<Self>;

    fn begin(key: &[u8]) -> Self::Message {
        let level = Level::best();
        let families = AesFamilies::new(key.try_into().expect("16 bytes"), level);
        Blocks::new(EliHash::with_level(families, level))
    }
}

impl<const H: usize, const I: usize> BlockHash for EliHash<AesFamilies<H, I>> {
    type BlockSize = U16;
}

/// A keyed hash and the sum of whole blocks. Wiped on drop.
#[derive(Clone)]
pub struct Blocks<H: Hash> {
    hash: H,
    sum: H::Sum,
    /// Bytes absorbed.
    at: u64,
}

impl<H: Hash> Drop for Blocks<H> {
    fn drop(&mut self) {
        self.sum.zeroize();
    }
}

impl<H: Hash> Blocks<H> {
    fn new(hash: H) -> Self {
        let sum = hash.empty();
        Blocks { hash, sum, at: 0 }
    }
}

impl<H: Hash<Digest: Into<HashValue>>> Message for Blocks<H> {
    fn update(&mut self, blocks: &[u8]) {
        // If the last block were treated differently, a full block could not be absorbed yet.
        const { assert!(!H::LAST_BLOCK_DISTINCT, "a full block is a block") };
        if let Err(error) = check_length(&self.hash, self.at, blocks.into()) {
            panic!("{error}");
        }
        construction::absorb(&self.hash, &mut self.sum, self.at, blocks);
        self.at += blocks.len() as u64;
    }

    fn finish(&mut self, out: &mut [u8]) {
        let value: HashValue = self.hash.level().run(Finish(self)).into();
        out.copy_from_slice(value.as_bytes());
    }
}

struct Finish<'a, H: Hash>(&'a Blocks<H>);

impl<H: Hash> Kernel for Finish<'_, H> {
    const LEVELS: Levels = H::PLAN.short;
    type Out = H::Digest;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> H::Digest {
        let Finish(Blocks { hash, sum, at }) = self;
        hash.finish(isa, sum, *at, Bits::from(&[]))
    }
}
