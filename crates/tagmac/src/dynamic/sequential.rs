//! CMAC (SP 800-38B) and HMAC (FIPS 198-1), for users who may use only approved algorithms. They
//! are no product of parts: one block waits for the one before it.

use aes::{Aes128, Aes256};
use cmac::{Cmac, KeyInit, Mac};
use hmac::Hmac;
use sha2::Sha256;

use crate::error::Error;
use crate::tag::Tag;

/// A MAC that takes its message in order: the state of one message.
pub trait Sequential: Send + Sync {
    /// Adds to the message.
    fn update(&mut self, data: &[u8]);
    /// The tag of the message.
    fn tag(self: Box<Self>) -> Tag;
    /// The length of the tag in bits.
    fn tag_bits(&self) -> usize;
    /// The same state again.
    fn boxed_clone(&self) -> Box<dyn Sequential>;
}

impl Clone for Box<dyn Sequential> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

#[derive(Clone)]
struct State<M> {
    mac: M,
    tag_bits: usize,
}

impl<M: Mac + Clone + Send + Sync + 'static> Sequential for State<M> {
    fn update(&mut self, data: &[u8]) {
        self.mac.update(data);
    }

    fn tag(self: Box<Self>) -> Tag {
        let full = self.mac.finalize().into_bytes();
        Tag::new(&full[..self.tag_bits / 8], self.tag_bits).expect("a length of the registry")
    }

    fn tag_bits(&self) -> usize {
        self.tag_bits
    }

    fn boxed_clone(&self) -> Box<dyn Sequential> {
        Box::new(self.clone())
    }
}

fn make<M: Mac + KeyInit + Clone + Send + Sync + 'static>(
    key: &[u8],
    tag_bits: usize,
) -> Result<Box<dyn Sequential>, Error> {
    let wrong = |_| Error::KeyLength { min: M::key_size(), max: M::key_size(), found: key.len() };
    let mac = <M as KeyInit>::new_from_slice(key).map_err(wrong)?;
    Ok(Box::new(State { mac, tag_bits }))
}

pub(super) fn cmac_aes128(key: &[u8], tag_bits: usize) -> Result<Box<dyn Sequential>, Error> {
    make::<Cmac<Aes128>>(key, tag_bits)
}

pub(super) fn cmac_aes256(key: &[u8], tag_bits: usize) -> Result<Box<dyn Sequential>, Error> {
    make::<Cmac<Aes256>>(key, tag_bits)
}

pub(super) fn hmac_sha256(key: &[u8], tag_bits: usize) -> Result<Box<dyn Sequential>, Error> {
    make::<Hmac<Sha256>>(key, tag_bits)
}
