//! A key with an unfinished message, for RustCrypto's traits.

use core::ops::Deref;

use ::digest::array::ArraySize;
use ::digest::common::KeySizeUser;
use ::digest::{Key, KeyInit};

/// A MAC or a hash with a key of one length. The [module](super) lists them.
pub trait Algorithm: Sized {
    /// The length of a key in bytes.
    type KeySize: ArraySize;
    /// A key and the message so far: `Stream<Owned<M>>` for a MAC M.
    type Message: Message;

    /// Starts an empty message under a key of this length.
    fn begin(key: &[u8]) -> Self::Message;
}

/// A message that arrives in pieces, together with its key.
pub trait Message {
    /// Appends `data` to the message.
    fn update(&mut self, data: &[u8]);
    /// Writes the tag or the hash. `out` has its length.
    fn finish(&mut self, out: &mut [u8]);
}

/// A key of M and an unfinished message, for RustCrypto's traits. See the [module](super) for an
/// example.
///
/// # Panics
///
/// The traits return no errors, so a message over M's limit panics: when its tag is requested or,
/// for a hash, when it grows over the limit. The limit is 2^S (n - S) bits for
/// [`LightMacS`](super::LightMacS) and 2^36 bytes for EliMAC. Reject longer messages first, or use
/// a MAC without a limit within reach: PMAC, CMAC, LightMAC with S = 64.
#[must_use]
pub struct Keyed<M: Algorithm> {
    pub(super) message: M::Message,
}

crate::error::silent!(Keyed<M: Algorithm>);

// A derive would require `M: Clone`.
impl<M: Algorithm<Message: Clone>> Clone for Keyed<M> {
    fn clone(&self) -> Self {
        Keyed { message: self.message.clone() }
    }
}

impl<M: Algorithm> KeySizeUser for Keyed<M> {
    type KeySize = M::KeySize;
}

impl<M: Algorithm> KeyInit for Keyed<M> {
    fn new(key: &Key<Self>) -> Self {
        Keyed { message: M::begin(key) }
    }
}

/// Owns a MAC where a stream expects a reference to it.
#[derive(Clone)]
pub struct Owned<M>(pub M);

impl<M> Deref for Owned<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}
