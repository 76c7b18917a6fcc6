//! MACs, nonces, streams and parts without their types.

use core::fmt;
use core::ops::Range;
use std::any::Any;
use std::sync::Arc;

use tagmac::batch::BatchError;
use tagmac::hazmat::{Hash, Part, PartError};
use tagmac::internals::{self, MAX_NONCE_BYTES, check_nonce_length, zero_filled};
use tagmac::isa::Level;
use tagmac::save::{Reader, Save, SaveError, Sealer, Writer};
use tagmac::{Bits, Error, Mac, Nonce, NonceSequence, Stream, Tag};

use crate::key_id::KeyId;
use crate::sequential::Sequential;

#[derive(Clone)]
pub(crate) enum Inner {
    Product(Arc<dyn DynMac>),
    Sequential(Arc<dyn Sequential>),
}

/// A part of a message, for any MAC that has parts. Secret, wiped on drop, silent in `Debug`.
pub struct AnyPart {
    pub(crate) id: KeyId,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) part: ErasedPart,
}

impl fmt::Debug for AnyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// A nonce of any MAC, of 0 to 16 bytes: none for a deterministic one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AnyNonce {
    /// Zeros after the nonce.
    block: [u8; MAX_NONCE_BYTES],
    bytes: usize,
}

impl AnyNonce {
    /// No nonce.
    pub(crate) const NONE: AnyNonce = AnyNonce { block: [0; MAX_NONCE_BYTES], bytes: 0 };

    /// The nonce of these bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] if there are more than 16.
    #[inline]
    pub fn from_slice(bytes: &[u8]) -> Result<AnyNonce, Error> {
        check_nonce_length(0..=MAX_NONCE_BYTES, bytes.len())?;
        Ok(AnyNonce { block: zero_filled(bytes), bytes: bytes.len() })
    }

    /// The nonce's bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.block[..self.bytes]
    }

    /// The nonce and zeros behind it.
    pub(crate) fn block(&self) -> [u8; MAX_NONCE_BYTES] {
        self.block
    }

    /// The nonces of this length that are over this one.
    pub(crate) fn over(&self) -> u128 {
        // Those that come after it if it is filled up by ones.
        let unused = 8 * (MAX_NONCE_BYTES - self.bytes) as u32;
        (!u128::from_be_bytes(self.block)).checked_shr(unused).unwrap_or(0)
    }

    /// The nonce that is `n` over this one.
    pub(crate) fn plus(&self, n: u64) -> Result<AnyNonce, Error> {
        let unused = 8 * (MAX_NONCE_BYTES - self.bytes) as u32;
        let number = u128::from_be_bytes(self.block).checked_shr(unused).unwrap_or(0);
        if u128::from(n) > self.over() {
            return Err(Error::NoncesUsedUp { bytes: self.bytes });
        }
        let number = (number + u128::from(n)).checked_shl(unused).unwrap_or(0);
        Ok(AnyNonce { block: number.to_be_bytes(), bytes: self.bytes })
    }
}

impl AsRef<[u8]> for AnyNonce {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for AnyNonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyNonce(")?;
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// [`Mac`] without types, for MACs whose hash is a product of parts.
pub(crate) trait DynMac: Send + Sync {
    fn as_any(&self) -> &dyn Any;
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
    fn sequence(self: Arc<Self>, next: &[u8]) -> Result<Box<dyn DynSequence>, Error>;
    fn part(&self, start: u64, blocks: &[u8]) -> Result<ErasedPart, PartError>;
    fn extend(&self, part: &mut ErasedPart, blocks: &[u8]) -> Result<(), PartError>;
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

pub(crate) trait DynStream: Send + Sync {
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
        internals::save_stream(self, sealer, associated_data)
    }

    fn tag(mut self: Box<Self>) -> Result<Tag, Error> {
        internals::finalize_stream(&mut self)
    }
}

/// A [`NonceSequence`] without its type.
pub(crate) trait DynSequence: Send + Sync {
    fn peek(&self) -> Result<AnyNonce, Error>;
    /// The tag, and the nonce that goes with it in its place.
    fn tag(&mut self, message: &[u8], nonce: &mut AnyNonce) -> Result<Tag, Error>;
}

impl<M: Mac> DynSequence for NonceSequence<Arc<M>> {
    fn peek(&self) -> Result<AnyNonce, Error> {
        AnyNonce::from_slice(NonceSequence::peek(self)?.as_bytes())
    }

    fn tag(&mut self, message: &[u8], nonce: &mut AnyNonce) -> Result<Tag, Error> {
        let (made, tag) = NonceSequence::tag(self, message)?;
        *nonce = AnyNonce::from_slice(made.as_bytes())?;
        Ok(tag)
    }
}

/// A [`Part`] without its type.
pub(crate) type ErasedPart = Box<dyn Any + Send + Sync>;

fn typed<H: Hash + 'static>(part: ErasedPart) -> Result<Box<Part<H>>, PartError> {
    part.downcast().map_err(|_| PartError::ForeignPart)
}

impl<M: Mac<Hash: Hash<Sum: Save> + 'static> + 'static> DynMac for M {
    fn as_any(&self) -> &dyn Any {
        self
    }

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

    fn sequence(self: Arc<Self>, next: &[u8]) -> Result<Box<dyn DynSequence>, Error> {
        Ok(Box::new(NonceSequence::resume(self, &M::Nonce::from_slice(next)?)?))
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

    fn load(&self, input: &mut Reader<'_>) -> Result<(Range<u64>, ErasedPart), SaveError> {
        let part = internals::load_part(self.hash(), input)?;
        Ok((part.start()..part.end(), Box::new(part)))
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
