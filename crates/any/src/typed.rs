//! Implements the erased traits for the library's MACs whose hashes have parts.

use core::ops::Range;
use std::any::Any;
use std::sync::Arc;

use tagmac::batch::BatchError;
use tagmac::hazmat::{Hash, Part, PartError};
use tagmac::internals;
use tagmac::isa::Level;
use tagmac::save::{Reader, Save, SaveError, Sealer, Writer};
use tagmac::{Bits, Error, Mac, Nonce, NonceSequence, Stream, Tag};

use crate::erased::{Deterministic, DynMac, DynParts, DynSequence, DynStream, ErasedPart};
use crate::nonce::AnyNonce;

impl<M: Mac<Hash: Hash<Sum: Save> + 'static> + 'static> DynMac for M {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn level(&self) -> Option<Level> {
        Some(self.hash().level())
    }

    fn limit_bits(&self) -> u64 {
        self.hash().limit_bits()
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

    fn sequence(self: Arc<Self>, next: &[u8]) -> Result<Box<dyn DynSequence>, Error> {
        let nonce = M::Nonce::from_slice(next)?;
        if next.is_empty() {
            return Ok(Box::new(Deterministic(self)));
        }
        Ok(Box::new(NonceSequence::resume(self, &nonce)?))
    }

    fn parts(&self) -> Option<&dyn DynParts> {
        Some(self)
    }

    fn restore(
        self: Arc<Self>,
        sealer: &Sealer,
        associated_data: &[&[u8]],
        saved: &[u8],
    ) -> Result<Box<dyn DynStream>, SaveError> {
        Ok(Box::new(internals::restore_stream(self, sealer, associated_data, saved)?))
    }
}

impl<M: Mac<Hash: Hash<Sum: Save> + 'static> + 'static> DynStream for Stream<Arc<M>> {
    fn update(&mut self, data: &[u8]) {
        Stream::update(self, data);
    }

    fn fork(&self) -> Box<dyn DynStream> {
        Box::new(Stream::fork(self))
    }

    fn save(&self, sealer: &Sealer, associated_data: &[&[u8]]) -> Result<Vec<u8>, SaveError> {
        internals::save_stream(self, sealer, associated_data)
    }

    fn tag(mut self: Box<Self>) -> Result<Tag, Error> {
        internals::finalize_stream(&mut self)
    }
}

impl<M: Mac> DynSequence for NonceSequence<Arc<M>> {
    fn peek(&self) -> Result<Option<AnyNonce>, Error> {
        AnyNonce::from_slice(NonceSequence::peek(self)?.as_bytes()).map(Some)
    }

    fn tag(&mut self, message: &[u8], nonce: &mut AnyNonce) -> Result<Tag, Error> {
        let (made, tag) = NonceSequence::tag(self, message)?;
        *nonce = AnyNonce::from_slice(made.as_bytes())?;
        Ok(tag)
    }
}

impl<M: Mac<Hash: Hash<Sum: Save> + 'static> + 'static> DynParts for M {
    fn block(&self) -> usize {
        self.hash().block()
    }

    fn last_block_distinct(&self) -> bool {
        M::Hash::LAST_BLOCK_DISTINCT
    }

    fn part(&self, start: u64, blocks: &[u8]) -> Result<ErasedPart, PartError> {
        Ok(Box::new(Part::new(self.hash(), start, blocks)?))
    }

    fn extend(&self, part: &mut ErasedPart, blocks: &[u8]) -> Result<(), PartError> {
        part.downcast_mut::<Part<M::Hash>>()
            .ok_or(PartError::ForeignPart)?
            .extend(self.hash(), blocks)
    }

    fn join(&self, left: ErasedPart, right: &ErasedPart) -> Result<ErasedPart, PartError> {
        let right = right.downcast_ref().ok_or(PartError::ForeignPart)?;
        let mut left = typed::<M::Hash>(left)?;
        internals::append_part(&mut left, self.hash(), right)?;
        Ok(left)
    }

    fn append(&self, left: &mut ErasedPart, right: &mut ErasedPart) -> Result<(), PartError> {
        let left = left.downcast_mut::<Part<M::Hash>>().ok_or(PartError::ForeignPart)?;
        let right = right.downcast_mut::<Part<M::Hash>>().ok_or(PartError::ForeignPart)?;
        let next = Part::new(self.hash(), right.end(), &[])?;
        internals::append_part(left, self.hash(), right)?;
        *right = next;
        Ok(())
    }

    fn check(&self, part: &ErasedPart, blocks: &[u8]) -> Result<(), PartError> {
        part.downcast_ref::<Part<M::Hash>>()
            .ok_or(PartError::ForeignPart)?
            .check(self.hash(), blocks)
    }

    fn finish(&self, part: ErasedPart, nonce: &[u8], rest: Bits<'_>) -> Result<Tag, PartError> {
        let nonce = M::Nonce::from_slice(nonce)?;
        internals::finalize_part(&mut *typed(part)?, self, &nonce, rest)
    }

    fn save(&self, part: &ErasedPart, out: &mut Writer) -> Result<(), SaveError> {
        let part = part.downcast_ref::<Part<M::Hash>>().ok_or(SaveError::ForeignPart)?;
        internals::save_part(part, out)
    }

    fn save_new(&self, start: u64, blocks: &[u8], out: &mut Writer) -> Result<(), PartError> {
        let part = Part::new(self.hash(), start, blocks)?;
        internals::save_part(&part, out).map_err(|_| PartError::ForeignPart)
    }

    fn load(&self, input: &mut Reader<'_>) -> Result<(Range<u64>, ErasedPart), SaveError> {
        let part = internals::load_part(self.hash(), input)?;
        Ok((part.start()..part.end(), Box::new(part)))
    }
}

fn typed<H: Hash + 'static>(part: ErasedPart) -> Result<Box<Part<H>>, PartError> {
    part.downcast().map_err(|_| PartError::ForeignPart)
}
