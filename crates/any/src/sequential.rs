//! CMAC (SP 800-38B) and HMAC (FIPS 198-1), for users who may use only approved algorithms. Their
//! messages cannot be split into parts: each block depends on the previous one.

use core::ops::Deref;
use std::any::Any;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tagmac::batch::BatchError;
use tagmac::cipher::{Cipher, Field};
use tagmac::internals::finalize_cmac;
use tagmac::isa::Level;
use tagmac::{Bits, Cmac, CmacStream, Error, Nonce, Tag};

use crate::erased::{Deterministic, DynMac, DynSequence, DynStream};

/// The bytes of a message, for MACs that accept only whole bytes.
fn whole_bytes(message: Bits<'_>) -> Result<&[u8], Error> {
    if message.bits().is_multiple_of(8) {
        Ok(message.bytes())
    } else {
        Err(Error::PartialByte { found: message.bits() })
    }
}

/// Checks that all nonces are empty.
fn without_nonces(nonces: &[&[u8]]) -> Result<(), BatchError> {
    nonces.iter().enumerate().try_for_each(|(index, nonce)| {
        <()>::from_slice(nonce).map_err(|error| BatchError { index, error })
    })
}

/// CMAC as a type of this crate: the library's type might become a [`tagmac::Mac`], whose
/// implementation would then conflict.
pub(crate) struct SequentialCmac<C: Cipher<Block: Field>>(pub(crate) Cmac<C>);

/// The key that a stream refers to.
struct Shared<C: Cipher<Block: Field>>(Arc<SequentialCmac<C>>);

// A derived `Clone` would require the cipher to be `Clone`.
impl<C: Cipher<Block: Field>> Clone for Shared<C> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<C: Cipher<Block: Field>> Deref for Shared<C> {
    type Target = Cmac<C>;

    fn deref(&self) -> &Cmac<C> {
        &self.0.0
    }
}

impl<C: Cipher<Block: Field> + 'static> DynMac for SequentialCmac<C> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn level(&self) -> Option<Level> {
        Some(self.0.level())
    }

    fn limit_bits(&self) -> u64 {
        u64::MAX
    }

    fn tag_bits(&self) -> usize {
        self.0.tag_bits()
    }

    fn tag(&self, nonce: &[u8], message: Bits<'_>) -> Result<Tag, Error> {
        <()>::from_slice(nonce)?;
        Ok(self.0.tag(whole_bytes(message)?))
    }

    fn tag_many(
        &self,
        nonces: &[&[u8]],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError> {
        without_nonces(nonces)?;
        self.0.tag_many(messages, tags);
        Ok(())
    }

    fn stream(self: Arc<Self>, nonce: &[u8]) -> Result<Box<dyn DynStream>, Error> {
        <()>::from_slice(nonce)?;
        Ok(Box::new(CmacStream::new(Shared(self))))
    }

    fn sequence(self: Arc<Self>, next: &[u8]) -> Result<Box<dyn DynSequence>, Error> {
        <()>::from_slice(next)?;
        Ok(Box::new(Deterministic(self)))
    }
}

impl<C: Cipher<Block: Field> + 'static> DynStream for CmacStream<Shared<C>, C> {
    fn update(&mut self, data: &[u8]) {
        CmacStream::update(self, data);
    }

    fn fork(&self) -> Box<dyn DynStream> {
        Box::new(self.clone())
    }

    fn tag(self: Box<Self>) -> Result<Tag, Error> {
        Ok(finalize_cmac(&self))
    }
}

/// HMAC after any number of message bytes.
#[derive(Clone)]
pub(crate) struct HmacSha256 {
    state: Hmac<Sha256>,
    tag_bits: usize,
}

impl HmacSha256 {
    /// HMAC under a key of any length.
    pub(crate) fn new(key: &[u8], tag_bits: usize) -> HmacSha256 {
        let state = Hmac::new_from_slice(key).expect("HMAC keys may have any length");
        HmacSha256 { state, tag_bits }
    }

    /// Finishes an HMAC and truncates it.
    fn truncate(&self, state: Hmac<Sha256>) -> Tag {
        let full = state.finalize().into_bytes();
        Tag::new(&full[..self.tag_bits / 8], self.tag_bits).expect("a length of the registry")
    }

    fn tag_of(&self, message: &[u8]) -> Tag {
        let mut state = self.state.clone();
        state.update(message);
        self.truncate(state)
    }
}

impl DynMac for HmacSha256 {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn level(&self) -> Option<Level> {
        None
    }

    fn limit_bits(&self) -> u64 {
        u64::MAX
    }

    fn tag_bits(&self) -> usize {
        self.tag_bits
    }

    fn tag(&self, nonce: &[u8], message: Bits<'_>) -> Result<Tag, Error> {
        <()>::from_slice(nonce)?;
        Ok(self.tag_of(whole_bytes(message)?))
    }

    fn tag_many(
        &self,
        nonces: &[&[u8]],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError> {
        without_nonces(nonces)?;
        for (message, tag) in messages.iter().zip(tags) {
            *tag = self.tag_of(message);
        }
        Ok(())
    }

    fn stream(self: Arc<Self>, nonce: &[u8]) -> Result<Box<dyn DynStream>, Error> {
        <()>::from_slice(nonce)?;
        Ok(self.fork())
    }

    fn sequence(self: Arc<Self>, next: &[u8]) -> Result<Box<dyn DynSequence>, Error> {
        <()>::from_slice(next)?;
        Ok(Box::new(Deterministic(self)))
    }
}

impl DynStream for HmacSha256 {
    fn update(&mut self, data: &[u8]) {
        self.state.update(data);
    }

    fn fork(&self) -> Box<dyn DynStream> {
        Box::new(self.clone())
    }

    fn tag_with_end(&self, end: &[u8]) -> Result<Tag, Error> {
        Ok(self.tag_of(end))
    }

    fn tag(self: Box<Self>) -> Result<Tag, Error> {
        // The state is wiped in place. Moving it out of its box would leave a copy there.
        Ok(self.truncate(self.state.clone()))
    }
}
