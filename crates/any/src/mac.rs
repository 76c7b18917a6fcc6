//! A MAC of the registry under a key.

use core::fmt;
use std::sync::Arc;

use tagmac::batch::BatchError;
use tagmac::internals::{matches, with_stack_wiped, write_verdicts};
use tagmac::isa::Level;
use tagmac::{Bits, Error, Mismatch, Tag};

use crate::erased::DynMac;
use crate::key_id::KeyId;
use crate::parts::Parts;
use crate::registry::{Algorithm, max_bytes};
use crate::stream::AnyStream;

/// A MAC of the registry under a key.
#[derive(Clone)]
pub struct AnyMac {
    pub(crate) algorithm: Algorithm,
    pub(crate) id: KeyId,
    pub(crate) mac: Arc<dyn DynMac>,
}

/// Shows nothing of the key.
impl fmt::Debug for AnyMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyMac(..)")
    }
}

impl Drop for AnyMac {
    /// Wipes secrets that calls left on this thread's stack. The key itself is wiped with the last
    /// of the MAC's clones, streams and sessions.
    fn drop(&mut self) {
        self.algorithm.wipe_calls();
    }
}

impl AnyMac {
    /// Creates the MAC with its longest tag, on the best level of this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] if the algorithm has no keys of that length.
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        AnyMac::with_options(algorithm, key, algorithm.default_tag_bits(), Level::best())
    }

    /// Creates the MAC with tags of `tag_bits` bits, on a level of your choice.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] or [`Error::TagBits`] if the algorithm has no keys or tags of that
    /// length.
    pub fn with_options(
        algorithm: Algorithm,
        key: &[u8],
        tag_bits: usize,
        level: Level,
    ) -> Result<Self, Error> {
        algorithm.check_key(key.len())?;
        algorithm.check_tag_bits(tag_bits)?;
        with_stack_wiped(|| {
            let (id, mac) =
                (KeyId::new(algorithm.name(), key), algorithm.make(key, tag_bits, level)?);
            Ok(AnyMac { algorithm, id, mac })
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The key's public id.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The length of the tags in bits.
    pub fn tag_bits(&self) -> usize {
        self.mac.tag_bits()
    }

    /// Maximum length of a message in bytes; `None` if no message can reach the limit.
    pub fn max_message_bytes(&self) -> Option<u64> {
        max_bytes(self.mac.limit_bits())
    }

    /// The level in use; `None` for HMAC, whose crate chooses it.
    pub fn level(&self) -> Option<Level> {
        self.mac.level()
    }

    /// Returns the tag of `message`. `nonce` is empty for deterministic MACs.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] for a nonce of the wrong length, [`Error::TooLong`] if the message
    /// exceeds the limit, [`Error::PartialByte`] if it ends within a byte and the MAC accepts only
    /// whole bytes.
    pub fn tag<'m>(&self, nonce: &[u8], message: impl Into<Bits<'m>>) -> Result<Tag, Error> {
        self.mac.tag(nonce, message.into())
    }

    /// Writes the tags of many messages, with a nonce for each (empty for deterministic MACs).
    /// Short messages share vectors if the MAC supports it, see [`batch`](tagmac::batch).
    ///
    /// # Errors
    ///
    /// [`BatchError`] if a nonce has the wrong length or a message exceeds the limit. The tags of
    /// earlier messages may be written.
    ///
    /// # Panics
    ///
    /// If `nonces` and `tags` do not have one entry for each message.
    pub fn tag_many(
        &self,
        nonces: &[&[u8]],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError> {
        let n = messages.len();
        assert!(nonces.len() == n && tags.len() == n, "a nonce and a tag for each message");
        self.mac.tag_many(nonces, messages, tags)
    }

    /// Checks the tag of `message` in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the message's tag, of this MAC's tag length.
    pub fn verify<'m>(
        &self,
        nonce: &[u8],
        message: impl Into<Bits<'m>>,
        tag: &Tag,
    ) -> Result<(), Mismatch> {
        matches(self.tag(nonce, message), tag)
    }

    /// Checks the tags of many messages, each in constant time, and writes a verdict for each. A
    /// message that the MAC refuses does not verify.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless all verify.
    ///
    /// # Panics
    ///
    /// If `nonces`, `tags` and `verdicts` do not have one entry for each message.
    pub fn verify_many(
        &self,
        nonces: &[&[u8]],
        messages: &[&[u8]],
        tags: &[Tag],
        verdicts: &mut [Result<(), Mismatch>],
    ) -> Result<(), Mismatch> {
        let n = messages.len();
        let equal = nonces.len() == n && tags.len() == n && verdicts.len() == n;
        assert!(equal, "a nonce, a tag and a verdict for each message");
        let mut expected = vec![Tag::default(); n];
        let made = self.tag_many(nonces, messages, &mut expected);
        write_verdicts(made, &expected, tags, verdicts, |i| {
            self.verify(nonces[i], messages[i], &tags[i])
        })
    }

    /// Starts a message in pieces. `nonce` is empty for deterministic MACs.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] for a nonce of the wrong length.
    pub fn stream(&self, nonce: &[u8]) -> Result<AnyStream, Error> {
        self.algorithm.wipe_before_stream();
        let inner = self.mac.clone().stream(nonce)?;
        Ok(AnyStream { id: self.id, inner })
    }

    /// The operations on parts; `None` if the MAC's hash cannot be split into parts.
    pub fn parts(&self) -> Option<Parts<'_>> {
        self.mac.parts().map(|mac| Parts { mac, id: self.id })
    }
}
