//! MACs, streams and parts without their types.

use core::ops::Range;
use std::any::Any;
use std::sync::Arc;

use super::key_id::KeyId;
use super::sequential::Sequential;
use crate::batch::BatchError;
use crate::bits::Bits;
use crate::error::Error;
use crate::hash::Hash;
use crate::isa::Level;
use crate::mac::Mac;
use crate::nonce::Nonce;
use crate::part::{Part, PartError};
use crate::save::{Reader, Save, SaveError, Sealer, Writer};
use crate::stream::Stream;
use crate::tag::Tag;

#[derive(Clone)]
pub(super) enum Inner {
    Product(Arc<dyn DynMac>),
    Sequential(Arc<dyn Sequential>),
}

/// A part of a message, for any MAC that has parts. Secret, wiped on drop, silent in `Debug`.
pub struct AnyPart {
    pub(super) id: KeyId,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) part: ErasedPart,
}

impl core::fmt::Debug for AnyPart {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "AnyPart({}..{})", self.start, self.end)
    }
}

impl AnyPart {
    /// The id of the key that it is under.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The first byte of the range.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The byte after the range.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// [`Mac`] without types, for MACs whose hash is a product of parts.
pub(super) trait DynMac: Send + Sync {
    fn level(&self) -> Level;
    fn block(&self) -> usize;
    fn limit_bits(&self) -> u64;
    fn last_block_distinct(&self) -> bool;
    fn tag_bits(&self) -> usize;
    fn tag(&self, nonce: &[u8], message: Bits<'_>) -> Result<Tag, Error>;
    fn tag_many(
        &self,
        nonces: &[&[u8]],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError>;
    fn stream(self: Arc<Self>, nonce: &[u8]) -> Result<Box<dyn DynStream>, Error>;
    fn part(&self, start: u64, blocks: &[u8]) -> Result<ErasedPart, PartError>;
    fn join(&self, left: ErasedPart, right: &ErasedPart) -> Result<ErasedPart, PartError>;
    fn check(&self, part: &ErasedPart, blocks: &[u8]) -> Result<(), PartError>;
    fn finish(&self, part: ErasedPart, nonce: &[u8], rest: Bits<'_>) -> Result<Tag, PartError>;
    fn save(&self, part: &ErasedPart, out: &mut Writer) -> Result<(), SaveError>;
    fn load(&self, input: &mut Reader<'_>) -> Result<(Range<u64>, ErasedPart), SaveError>;
    fn restore(
        self: Arc<Self>,
        sealer: &Sealer,
        associated_data: &[&[u8]],
        saved: &[u8],
    ) -> Result<Box<dyn DynStream>, SaveError>;
}

pub(super) trait DynStream: Send + Sync {
    fn update(&mut self, data: &[u8]);
    fn fork(&self) -> Box<dyn DynStream>;
    fn save(&self, sealer: &Sealer, associated_data: &[&[u8]]) -> Result<Vec<u8>, SaveError>;
    fn tag(self: Box<Self>) -> Result<Tag, Error>;
}

impl<M: Mac<Hash: Hash<Sum: Save> + 'static> + 'static> DynStream for Stream<Arc<M>> {
    fn update(&mut self, data: &[u8]) {
        Stream::update(self, data);
    }

    fn fork(&self) -> Box<dyn DynStream> {
        Box::new(Stream::fork(self))
    }

    fn save(&self, sealer: &Sealer, associated_data: &[&[u8]]) -> Result<Vec<u8>, SaveError> {
        self.save_with(sealer, associated_data)
    }

    fn tag(self: Box<Self>) -> Result<Tag, Error> {
        Stream::tag(*self)
    }
}

/// A [`Part`] without its type.
pub(super) type ErasedPart = Box<dyn Any + Send + Sync>;

fn typed<H: Hash + 'static>(part: ErasedPart) -> Result<Part<H>, PartError> {
    part.downcast().map(|part| *part).map_err(|_| PartError::ForeignPart)
}

impl<M: Mac<Hash: Hash<Sum: Save> + 'static> + 'static> DynMac for M {
    fn level(&self) -> Level {
        self.hash().level()
    }

    fn block(&self) -> usize {
        self.hash().block()
    }

    fn limit_bits(&self) -> u64 {
        self.hash().limit_bits()
    }

    fn last_block_distinct(&self) -> bool {
        M::Hash::LAST_BLOCK_DISTINCT
    }

    fn tag_bits(&self) -> usize {
        Mac::tag_bits(self)
    }

    fn tag(&self, nonce: &[u8], message: Bits<'_>) -> Result<Tag, Error> {
        self.tag_with(&M::Nonce::from_slice(nonce)?, message)
    }

    fn tag_many(
        &self,
        nonces: &[&[u8]],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError> {
        let typed = |(index, nonce): (usize, &&[u8])| {
            M::Nonce::from_slice(nonce).map_err(|error| BatchError { index, error })
        };
        let nonces: Vec<_> = nonces.iter().enumerate().map(typed).collect::<Result<_, _>>()?;
        self.tag_many_with(&nonces, messages, tags)
    }

    fn stream(self: Arc<Self>, nonce: &[u8]) -> Result<Box<dyn DynStream>, Error> {
        Ok(Box::new(Stream::new(self, &M::Nonce::from_slice(nonce)?)))
    }

    fn part(&self, start: u64, blocks: &[u8]) -> Result<ErasedPart, PartError> {
        Ok(Box::new(Part::new(self.hash(), start, blocks)?))
    }

    fn join(&self, left: ErasedPart, right: &ErasedPart) -> Result<ErasedPart, PartError> {
        let right = right.downcast_ref().ok_or(PartError::ForeignPart)?;
        Ok(Box::new(typed::<M::Hash>(left)?.join(self.hash(), right)?))
    }

    fn check(&self, part: &ErasedPart, blocks: &[u8]) -> Result<(), PartError> {
        part.downcast_ref::<Part<M::Hash>>()
            .ok_or(PartError::ForeignPart)?
            .check(self.hash(), blocks)
    }

    fn finish(&self, part: ErasedPart, nonce: &[u8], rest: Bits<'_>) -> Result<Tag, PartError> {
        typed(part)?.finish(self, &M::Nonce::from_slice(nonce)?, rest)
    }

    fn save(&self, part: &ErasedPart, out: &mut Writer) -> Result<(), SaveError> {
        part.downcast_ref::<Part<M::Hash>>().ok_or(SaveError::ForeignPart)?.save(out)
    }

    fn load(&self, input: &mut Reader<'_>) -> Result<(Range<u64>, ErasedPart), SaveError> {
        let part = Part::load(self.hash(), input)?;
        Ok((part.start()..part.end(), Box::new(part)))
    }

    fn restore(
        self: Arc<Self>,
        sealer: &Sealer,
        associated_data: &[&[u8]],
        saved: &[u8],
    ) -> Result<Box<dyn DynStream>, SaveError> {
        Ok(Box::new(Stream::restore_with(self, sealer, associated_data, saved)?))
    }
}
