//! The interface of a MAC for batches.

use crate::algo::xor::{OneBlock, Truncation};
use crate::cipher::{Cipher, vectors};
use crate::isa::{CipherBlock, Isa, Lanes};

/// An xor MAC whose terms are a function of block xor mask.
pub(in crate::algo) trait Masked {
    /// A block.
    type Block: CipherBlock;
    /// The vectors of blocks on a level.
    type Lanes<I: Isa>: Lanes<Block = Self::Block>;
    /// The keys of the terms, prepared for a level.
    type Keys<'a, I: Isa>: Copy
    where
        Self: 'a;
    /// The cipher of the last call.
    type Last: Cipher<Block = Self::Block>;

    /// Returns the vectors of a level.
    fn lanes<I: Isa>(isa: I) -> Self::Lanes<I>;
    /// The length in bytes of the piece of message in a term.
    fn piece(&self) -> usize;
    /// The number of terms of a message of `bytes` bytes.
    fn terms_in(&self, bytes: usize) -> usize;
    /// Fills in the masks of terms 1, 2 and so on.
    fn masks<I: Isa>(&self, isa: I, masks: &mut [Self::Block]);
    /// Prepares the terms' keys, once per batch.
    fn keys<I: Isa>(&self, isa: I) -> Self::Keys<'_, I>;
    /// Compute terms by vectors if AES is an instruction. Otherwise terms are computed from many
    /// blocks at once.
    const BY_VECTORS: bool;
    /// The terms of masked blocks.
    fn terms<I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'_, I>,
        x: [VOf<Self, I>; N],
    ) -> [VOf<Self, I>; N];
    /// Replaces masked blocks by their terms.
    #[inline(always)]
    fn make_terms<I: Isa>(isa: I, keys: &Self::Keys<'_, I>, blocks: &mut [Self::Block]) {
        vectors(
            Self::lanes(isa),
            blocks,
            #[inline(always)]
            |x| {
                let [x] = Self::terms(isa, keys, [x]);
                x
            },
        );
    }
    /// The value that the rest of a message adds to its terms.
    fn last<I: Isa>(&self, isa: I, rest: &[u8]) -> OneBlock<Self::Lanes<I>>;
    /// The cipher of the last call, with its key.
    fn last_cipher(&self) -> &Self::Last;
    /// The truncation of tags.
    fn truncation(&self) -> &Truncation<Self::Block>;
}

/// A vector of the blocks of M.
pub(super) type VOf<M, I> = <<M as Masked>::Lanes<I> as Lanes>::V;
