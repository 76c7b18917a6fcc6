//! What a MAC is to a batch.

use crate::algo::xor::{OneBlock, Truncation};
use crate::cipher::{Cipher, vectors};
use crate::isa::{CipherBlock, Isa, Lanes};

/// A xor MAC whose terms are a function of block xor mask.
pub(in crate::algo) trait Masked {
    /// A block.
    type Block: CipherBlock;
    /// Vectors of blocks on a level.
    type Lanes<I: Isa>: Lanes<Block = Self::Block>;
    /// What a level needs of the terms' keys.
    type Keys<'a, I: Isa>: Copy
    where
        Self: 'a;
    /// The cipher of the last call.
    type Last: Cipher<Block = Self::Block>;

    /// The vectors of a level.
    fn lanes<I: Isa>(isa: I) -> Self::Lanes<I>;
    /// Bytes of a message that go into a term.
    fn piece(&self) -> usize;
    /// Terms of a message of so many bytes.
    fn terms_in(&self, bytes: usize) -> usize;
    /// The masks of terms 1, 2 and so on.
    fn masks<I: Isa>(&self, isa: I, masks: &mut [Self::Block]);
    /// Prepares the terms' keys: once per batch.
    fn keys<I: Isa>(&self, isa: I) -> Self::Keys<'_, I>;
    /// Whether terms are made by vectors where AES has instructions. Others are made of many blocks at
    /// once.
    const BY_VECTORS: bool;
    /// The terms of masked blocks.
    fn terms<I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'_, I>,
        x: [VOf<Self, I>; N],
    ) -> [VOf<Self, I>; N];
    /// Makes terms of masked blocks.
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
    /// What the rest of a message adds to its terms.
    fn last<I: Isa>(&self, isa: I, rest: &[u8]) -> OneBlock<Self::Lanes<I>>;
    /// What the last call is of.
    fn last_cipher(&self) -> &Self::Last;
    /// How long tags are.
    fn truncation(&self) -> &Truncation<Self::Block>;
}

/// A vector of the blocks of M.
pub(super) type VOf<M, I> = <<M as Masked>::Lanes<I> as Lanes>::V;
