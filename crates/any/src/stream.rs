//! A message in pieces.

use core::fmt;

use tagmac::internals::matches;
use tagmac::{Error, Mismatch, Tag};

use crate::erased::DynStream;
use crate::key_id::KeyId;

/// A message in pieces, for any MAC.
pub struct AnyStream {
    pub(crate) id: KeyId,
    pub(crate) inner: Box<dyn DynStream>,
}

/// Shows nothing of the key and the message.
impl fmt::Debug for AnyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyStream(..)")
    }
}

impl AnyStream {
    /// Appends to the message. If the message exceeds the MAC's limit, [`tag`](AnyStream::tag)
    /// returns the error.
    pub fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
    }

    /// Returns the tag of the message.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message exceeds the limit.
    pub fn tag(self) -> Result<Tag, Error> {
        self.inner.tag()
    }

    /// Returns a second stream with the same bytes so far, under the same nonce.
    /// [`Stream::fork`](tagmac::Stream::fork) says what that forbids.
    pub fn fork(&self) -> AnyStream {
        AnyStream { id: self.id, inner: self.inner.fork() }
    }

    /// Returns the tag of the message followed by `end`, without a change of the stream. With
    /// a nonce, the rules of [`fork`](AnyStream::fork) apply.
    ///
    /// # Errors
    ///
    /// As [`tag`](AnyStream::tag).
    pub fn tag_with_end(&self, end: &[u8]) -> Result<Tag, Error> {
        self.inner.tag_with_end(end)
    }

    /// Checks the message's tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the message's tag, of the MAC's tag length.
    pub fn verify(self, tag: &Tag) -> Result<(), Mismatch> {
        matches(self.tag(), tag)
    }
}
