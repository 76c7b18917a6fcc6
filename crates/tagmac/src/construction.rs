//! What the author of a MAC implements: a keyed hash, finalized by a PRF under a nonce or under none.
//! Callers have [`Mac`](crate::Mac), which every construction has.

use zeroize::Zeroize;

use crate::hash::Hash;
use crate::isa::Isa;
use crate::nonce::Nonce;
use crate::tag::Tag;

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

    /// The most bytes of a message that gains from company, see [`tag_batch`](Construction::tag_batch).
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
