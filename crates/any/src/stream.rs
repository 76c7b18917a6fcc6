//! A message that comes in pieces.

use core::fmt;

use tagmac::internals::matches;
use tagmac::{Error, Mismatch, Tag};

use crate::erased::DynStream;
use crate::key_id::KeyId;

/// A message that comes in pieces, for any MAC.
pub struct AnyStream {
    pub(crate) id: KeyId,
    pub(crate) inner: Box<dyn DynStream>,
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
        self.inner.update(data);
    }

    /// The tag of the message.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message is over the limit.
    pub fn tag(self) -> Result<Tag, Error> {
        self.inner.tag()
    }

    /// A second stream that begins with the same bytes, under the same nonce: see
    /// [`Stream::fork`](tagmac::Stream::fork) for what that forbids.
    pub fn fork(&self) -> AnyStream {
        AnyStream { id: self.id, inner: self.inner.fork() }
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
