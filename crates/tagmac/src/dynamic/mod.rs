//! Every MAC by its name: what the command and the bindings for other languages drive.
//!
//! ```
//! use tagmac::dynamic::{Algorithm, AnyMac};
//! let algorithm = Algorithm::from_name("pmac-aes128")?;
//! let mac = AnyMac::new(algorithm, &[7; 16])?;
//! let tag = mac.tag(&[], b"message")?;
//! assert!(mac.verify(&[], b"message", &tag).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod erased;
mod grade;
mod key_file;
mod key_id;
mod partial;
mod registry;
mod saved;
mod sequential;
mod session;

pub use erased::{AnyNonce, AnyPart};
pub use grade::GradeError;
pub use key_file::{KeyFile, KeyFileError};
pub use key_id::KeyId;
pub use partial::{CheckedPartial, Partial, PartialError};
pub use registry::{Algorithm, Capabilities, UnknownAlgorithm};
pub use session::{Session, SessionError};

use erased::{DynMac, DynStream, Inner};
use registry::max_bytes;
use sequential::SequentialStream;

use crate::batch::{BatchError, write_verdicts};
use crate::bits::Bits;
use crate::error::{Error, Mismatch, silent};
use crate::isa::Level;
use crate::nonce::Nonce;
use crate::part::PartError;
use crate::save::{Reader, SaveError, Writer};
use crate::tag::{Tag, matches};
use crate::wipe::with_stack_wiped;

/// A MAC of the registry under a key.
#[derive(Clone)]
pub struct AnyMac {
    algorithm: Algorithm,
    id: KeyId,
    mac: Inner,
}

/// A message that comes in pieces, for any MAC.
pub struct AnyStream {
    id: KeyId,
    inner: StreamInner,
}

enum StreamInner {
    Product(Box<dyn DynStream>),
    Sequential(Box<dyn SequentialStream>),
}

silent!(AnyMac, AnyStream);

impl Drop for AnyMac {
    /// Wipes what calls have left on this thread's stack. The key itself is wiped with the last of its
    /// clones, streams and sessions.
    fn drop(&mut self) {
        self.algorithm.wipe_calls();
    }
}

impl AnyMac {
    /// The MAC under a key, with its full tag, on the best level of this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] if the algorithm takes no key of that length.
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        AnyMac::with_options(algorithm, key, algorithm.default_tag_bits(), Level::best())
    }

    /// The MAC under a key, with tags of `tag_bits` bits, on a level of your choice.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] or [`Error::TagBits`] if the algorithm has no such key or tag.
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
        match &self.mac {
            Inner::Product(mac) => mac.tag_bits(),
            Inner::Sequential(mac) => mac.tag_bits(),
        }
    }

    /// The most bytes of a message; `None` where a limit, if there is one, is out of reach.
    pub fn max_message_bytes(&self) -> Option<u64> {
        match &self.mac {
            Inner::Product(mac) => max_bytes(mac.limit_bits()),
            Inner::Sequential(_) => None,
        }
    }

    /// The level in use; `None` for HMAC, which chooses its own.
    pub fn level(&self) -> Option<Level> {
        match &self.mac {
            Inner::Product(mac) => Some(mac.level()),
            Inner::Sequential(mac) => mac.level(),
        }
    }

    /// The tag of a message. `nonce` is empty for deterministic MACs.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] for a nonce of the wrong length, [`Error::TooLong`] if the message
    /// is over the limit, [`Error::PartialByte`] if it ends within a byte and the MAC takes bytes
    /// alone.
    pub fn tag<'m>(&self, nonce: &[u8], message: impl Into<Bits<'m>>) -> Result<Tag, Error> {
        let message = message.into();
        match &self.mac {
            Inner::Product(mac) => mac.tag(nonce, message),
            Inner::Sequential(mac) => {
                <()>::from_slice(nonce)?;
                if message.last_mask().is_some() {
                    return Err(Error::PartialByte { found: message.bits() });
                }
                Ok(mac.tag(message.bytes()))
            }
        }
    }

    /// The tags of many messages, a nonce for each, empty for deterministic MACs. Short messages
    /// share vectors where the MAC can, see [`batch`](crate::batch).
    ///
    /// # Errors
    ///
    /// [`BatchError`] if a nonce has the wrong length or a message is over the limit. Those before it
    /// may have their tags.
    ///
    /// # Panics
    ///
    /// If `nonces` and `tags` do not have one entry per message.
    pub fn tag_many(
        &self,
        nonces: &[&[u8]],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError> {
        let n = messages.len();
        assert!(nonces.len() == n && tags.len() == n, "a nonce and a tag for each message");
        match &self.mac {
            Inner::Product(mac) => mac.tag_many(nonces, messages, tags),
            Inner::Sequential(mac) => {
                for (index, nonce) in nonces.iter().enumerate() {
                    <()>::from_slice(nonce).map_err(|error| BatchError { index, error })?;
                }
                mac.tag_many(messages, tags);
                Ok(())
            }
        }
    }

    /// Checks a tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the message's tag, of this MAC's own length.
    pub fn verify<'m>(
        &self,
        nonce: &[u8],
        message: impl Into<Bits<'m>>,
        tag: &Tag,
    ) -> Result<(), Mismatch> {
        matches(self.tag(nonce, message), tag)
    }

    /// Checks the tags of many messages, each in constant time, and writes a verdict for each. A
    /// message that is refused does not verify.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless all verify.
    ///
    /// # Panics
    ///
    /// If `nonces`, `tags` and `verdicts` do not have one entry per message.
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

    /// A stream of one message. `nonce` is empty for deterministic MACs.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] for a nonce of the wrong length.
    pub fn stream(&self, nonce: &[u8]) -> Result<AnyStream, Error> {
        self.algorithm.wipe_before_stream();
        let inner = match &self.mac {
            Inner::Product(mac) => StreamInner::Product(mac.clone().stream(nonce)?),
            Inner::Sequential(mac) => {
                <()>::from_slice(nonce)?;
                StreamInner::Sequential(mac.clone().stream())
            }
        };
        Ok(AnyStream { id: self.id, inner })
    }

    /// The calls on parts; `None` if the MAC's hash is no product of parts.
    pub fn parts(&self) -> Option<Parts<'_>> {
        match &self.mac {
            Inner::Product(mac) => Some(Parts { mac: &**mac, id: self.id }),
            Inner::Sequential(_) => None,
        }
    }
}

impl AnyStream {
    /// Adds to the message. Once it is over the MAC's limit, [`tag`](AnyStream::tag) says so.
    pub fn update(&mut self, data: &[u8]) {
        match &mut self.inner {
            StreamInner::Product(stream) => stream.update(data),
            StreamInner::Sequential(state) => state.update(data),
        }
    }

    /// The tag of the message.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message is over the limit.
    pub fn tag(self) -> Result<Tag, Error> {
        match self.inner {
            StreamInner::Product(stream) => stream.tag(),
            StreamInner::Sequential(state) => Ok(state.tag()),
        }
    }

    /// A second stream that begins with the same bytes, under the same nonce: see
    /// [`Stream::fork`](crate::Stream::fork) for what that forbids.
    pub fn fork(&self) -> AnyStream {
        let inner = match &self.inner {
            StreamInner::Product(stream) => StreamInner::Product(stream.fork()),
            StreamInner::Sequential(state) => StreamInner::Sequential(state.fork()),
        };
        AnyStream { id: self.id, inner }
    }

    /// Checks the message's tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    pub fn verify(self, tag: &Tag) -> Result<(), Mismatch> {
        matches(self.tag(), tag)
    }
}

/// The calls on parts of a MAC that has them, see [`Part`](crate::hazmat::Part).
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    mac: &'a dyn DynMac,
    id: KeyId,
}

impl Parts<'_> {
    /// Bytes of a block: parts start and end at multiples of it.
    pub fn block(self) -> usize {
        self.mac.block()
    }

    /// Whether the last block is treated differently, so that at least one byte of a message that is
    /// not empty must be left for [`finish`](Parts::finish).
    pub fn last_block_distinct(self) -> bool {
        self.mac.last_block_distinct()
    }

    /// The part of whole blocks that starts at byte `start`.
    ///
    /// # Errors
    ///
    /// As [`Part::new`](crate::hazmat::Part::new).
    pub fn new_part(self, start: u64, blocks: &[u8]) -> Result<AnyPart, PartError> {
        let part = self.mac.part(start, blocks)?;
        Ok(AnyPart { id: self.id, start, end: start + blocks.len() as u64, part })
    }

    /// Adds the whole blocks that follow to a part.
    ///
    /// # Errors
    ///
    /// As [`Part::extend`](crate::hazmat::Part::extend); [`PartError::ForeignPart`] also if the part is
    /// of another key. The part is then as it was.
    pub fn extend(self, part: &mut AnyPart, blocks: &[u8]) -> Result<(), PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.extend(&mut part.part, blocks)?;
        part.end += blocks.len() as u64;
        Ok(())
    }

    /// Two neighbouring parts as one.
    ///
    /// # Errors
    ///
    /// [`PartError::Gap`] if they are no neighbours, [`PartError::ForeignPart`] if one is of another
    /// MAC or key.
    pub fn join(self, left: AnyPart, right: &AnyPart) -> Result<AnyPart, PartError> {
        if left.id != self.id || right.id != self.id {
            return Err(PartError::ForeignPart);
        }
        let part = self.mac.join(left.part, &right.part)?;
        Ok(AnyPart { id: self.id, start: left.start, end: right.end, part })
    }

    /// Checks in constant time that a part is of these blocks.
    ///
    /// # Errors
    ///
    /// As [`Part::check`](crate::hazmat::Part::check); [`PartError::ForeignPart`] if the part is of
    /// another MAC or key.
    pub fn check(self, part: &AnyPart, blocks: &[u8]) -> Result<(), PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.check(&part.part, blocks)
    }

    /// The tag of the message that `part` begins and `rest` ends.
    ///
    /// # Errors
    ///
    /// As [`Part::finish`](crate::hazmat::Part::finish), [`PartError::Mac`] with
    /// [`Error::NonceLength`] for a nonce of the wrong length; [`PartError::ForeignPart`] if the part
    /// is of another MAC or key.
    pub fn finish(self, part: AnyPart, nonce: &[u8], rest: &[u8]) -> Result<Tag, PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.finish(part.part, nonce, rest.into())
    }

    /// Appends a part, which nothing hides: seal what comes of it.
    ///
    /// # Errors
    ///
    /// [`SaveError::ForeignPart`] if the part is of another MAC or key.
    pub fn save(self, part: &AnyPart, out: &mut Writer) -> Result<(), SaveError> {
        if part.id != self.id {
            return Err(SaveError::ForeignPart);
        }
        self.mac.save(&part.part, out)
    }

    /// The part that was appended under this key: that it was is up to the seal.
    ///
    /// # Errors
    ///
    /// [`SaveError::Saved`] unless one was, [`SaveError::ForeignPart`] if it has another block,
    /// [`SaveError::Mac`] with [`Error::TooLong`] if it ends over the MAC's limit.
    pub fn load(self, input: &mut Reader<'_>) -> Result<AnyPart, SaveError> {
        let (range, part) = self.mac.load(input)?;
        Ok(AnyPart { id: self.id, start: range.start, end: range.end, part })
    }
}
