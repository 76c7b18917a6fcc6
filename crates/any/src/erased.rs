//! Type-erased MACs, streams, parts and nonce sequences.

use core::ops::Range;
use std::any::Any;
use std::sync::Arc;

use tagmac::batch::BatchError;
use tagmac::hazmat::PartError;
use tagmac::isa::Level;
use tagmac::save::{Reader, SaveError, Sealer, Writer};
use tagmac::{Bits, Error, Tag};

use crate::nonce::AnyNonce;

/// A MAC under a key. The nonces of a deterministic MAC are empty.
pub(crate) trait DynMac: Send + Sync {
    /// Access to the concrete type.
    fn as_any(&self) -> &dyn Any;
    /// The level in use; `None` if another library chooses it.
    fn level(&self) -> Option<Level>;
    /// Maximum bits of a message, as [`Hash::limit_bits`](tagmac::hazmat::Hash::limit_bits) defines
    /// it.
    fn limit_bits(&self) -> u64;
    fn tag_bits(&self) -> usize;
    fn tag(&self, nonce: &[u8], message: Bits<'_>) -> Result<Tag, Error>;
    fn tag_many(
        &self,
        nonces: &[&[u8]],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError>;
    fn stream(self: Arc<Self>, nonce: &[u8]) -> Result<Box<dyn DynStream>, Error>;
    /// Returns a tagger of messages whose nonces count up from `next`, or are all empty if `next`
    /// is.
    fn sequence(self: Arc<Self>, next: &[u8]) -> Result<Box<dyn DynSequence>, Error>;
    /// The operations on parts; `None` if the MAC's hash cannot be split into parts.
    fn parts(&self) -> Option<&dyn DynParts> {
        None
    }
    /// Restores a [saved](DynStream::save) stream.
    fn restore(
        self: Arc<Self>,
        _: &Sealer,
        _: &[&[u8]],
        _: &[u8],
    ) -> Result<Box<dyn DynStream>, SaveError> {
        Err(SaveError::NoSavedState)
    }
}

/// A message in pieces.
pub(crate) trait DynStream: Send + Sync {
    fn update(&mut self, data: &[u8]);
    fn fork(&self) -> Box<dyn DynStream>;
    fn save(&self, _: &Sealer, _: &[&[u8]]) -> Result<Vec<u8>, SaveError> {
        Err(SaveError::NoSavedState)
    }
    fn tag(self: Box<Self>) -> Result<Tag, Error>;
    /// Returns the tag of the message followed by `end`.
    fn tag_with_end(&self, end: &[u8]) -> Result<Tag, Error> {
        let mut stream = self.fork();
        stream.update(end);
        stream.tag()
    }
}

/// Tags messages one after the other.
pub(crate) trait DynSequence: Send + Sync {
    /// The next nonce; `None` for a deterministic MAC.
    fn peek(&self) -> Result<Option<AnyNonce>, Error>;
    /// Returns the tag and writes its nonce to `nonce`.
    fn tag(&mut self, message: &[u8], nonce: &mut AnyNonce) -> Result<Tag, Error>;
}

/// A sequence without nonces, for a deterministic MAC.
pub(crate) struct Deterministic<M>(pub(crate) Arc<M>);

impl<M: DynMac> DynSequence for Deterministic<M> {
    fn peek(&self) -> Result<Option<AnyNonce>, Error> {
        Ok(None)
    }

    fn tag(&mut self, message: &[u8], _: &mut AnyNonce) -> Result<Tag, Error> {
        DynMac::tag(&*self.0, &[], message.into())
    }
}

/// A type-erased [`Part`](tagmac::hazmat::Part).
pub(crate) type ErasedPart = Box<dyn Any + Send + Sync>;

/// The operations on parts.
pub(crate) trait DynParts: Send + Sync {
    fn block(&self) -> usize;
    fn last_block_distinct(&self) -> bool;
    fn part(&self, start: u64, blocks: &[u8]) -> Result<ErasedPart, PartError>;
    fn extend(&self, part: &mut ErasedPart, blocks: &[u8]) -> Result<(), PartError>;
    fn join(&self, left: ErasedPart, right: &ErasedPart) -> Result<ErasedPart, PartError>;
    /// Appends `right` to `left`, and replaces it by the empty part at its end.
    fn append(&self, left: &mut ErasedPart, right: &mut ErasedPart) -> Result<(), PartError>;
    fn check(&self, part: &ErasedPart, blocks: &[u8]) -> Result<(), PartError>;
    fn finish(&self, part: ErasedPart, nonce: &[u8], rest: Bits<'_>) -> Result<Tag, PartError>;
    fn save(&self, part: &ErasedPart, out: &mut Writer) -> Result<(), SaveError>;
    /// Saves the part of these blocks.
    fn save_new(&self, start: u64, blocks: &[u8], out: &mut Writer) -> Result<(), PartError>;
    fn load(&self, input: &mut Reader<'_>) -> Result<(Range<u64>, ErasedPart), SaveError>;
}
