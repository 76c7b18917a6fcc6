//! A key and a message in the making.

use core::ops::Deref;

use ::digest::array::ArraySize;
use ::digest::common::KeySizeUser;
use ::digest::{Key, KeyInit};

/// A MAC or a hash with a key of one length. The [module](super) lists them.
pub trait Algorithm: Sized {
    /// Bytes of a key.
    type KeySize: ArraySize;
    /// A key and the message so far: `Stream<Owned<M>>` for a MAC M.
    type Message: Message;

    /// No message yet, under a key of this length.
    fn begin(key: &[u8]) -> Self::Message;
}

/// A message that comes in pieces, under a key that it has.
pub trait Message {
    /// Adds to the message.
    fn update(&mut self, data: &[u8]);
    /// Writes the tag or the hash, which has the length of `out`.
    fn finish(&mut self, out: &mut [u8]);
}

/// A key of M and a message in the making, for RustCrypto's traits. See the [module](super) for an
/// example.
///
/// # Panics
///
/// The traits have no errors. A message over M's limit ends in a panic, when its tag is asked for or,
/// of a hash, when it grows over the limit: 2^S (n - S) bits for [`LightMacS`](super::LightMacS), 2^36
/// bytes for EliMAC. Refuse longer messages first, or take a MAC without a limit in reach: PMAC, CMAC,
/// LightMAC with S = 64.
#[must_use]
pub struct Keyed<M: Algorithm> {
    pub(super) message: M::Message,
}

crate::error::silent!(Keyed<M: Algorithm>);

// Derived, it would ask for an M that is `Clone`.
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

/// What a stream refers to where it has the MAC itself.
#[derive(Clone)]
pub struct Owned<M>(pub M);

impl<M> Deref for Owned<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
}
