//! A message that comes in pieces.

use core::fmt;

use tagmac::internals::matches;
use tagmac::{Error, Mismatch, Tag};

use crate::erased::DynStream;
use crate::key_id::KeyId;
use crate::sequential::SequentialStream;

/// A message that comes in pieces, for any MAC.
pub struct AnyStream {
    pub(crate) id: KeyId,
    pub(crate) inner: StreamInner,
}

pub(crate) enum StreamInner {
    Product(Box<dyn DynStream>),
    Sequential(Box<dyn SequentialStream>),
}

/// Silent about the key and the message.
impl fmt::Debug for AnyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyStream(..)")
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
    /// [`Stream::fork`](tagmac::Stream::fork) for what that forbids.
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
