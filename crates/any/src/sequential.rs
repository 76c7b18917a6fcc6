//! CMAC (SP 800-38B) and HMAC (FIPS 198-1), for users who may use only approved algorithms. They
//! are no product of parts: one block waits for the one before it.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use tagmac::cipher::{Cipher, Field};
use tagmac::internals::finalize_cmac;
use tagmac::isa::Level;
use tagmac::{Cmac, CmacStream, Tag};

/// A MAC that takes its message in order.
pub(crate) trait Sequential: Send + Sync {
    /// The length of the tag in bits.
    fn tag_bits(&self) -> usize;
    /// The level in use, if it is one of this library's.
    fn level(&self) -> Option<Level>;
    /// The tag of a message.
    fn tag(&self, message: &[u8]) -> Tag;
    /// The tags of many messages.
    fn tag_many(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        for (message, tag) in messages.iter().zip(tags) {
            *tag = self.tag(message);
        }
    }
    /// An empty message.
    fn stream(self: Arc<Self>) -> Box<dyn SequentialStream>;
}

/// The state of one message.
pub(crate) trait SequentialStream: Send + Sync {
    /// Adds to the message.
    fn update(&mut self, data: &[u8]);
    /// The tag of the message.
    fn tag(self: Box<Self>) -> Tag;
    /// The same state again.
    fn fork(&self) -> Box<dyn SequentialStream>;
}

impl<C: Cipher<Block: Field> + 'static> Sequential for Cmac<C> {
    fn tag_bits(&self) -> usize {
        Cmac::tag_bits(self)
    }

    fn level(&self) -> Option<Level> {
        Some(Cmac::level(self))
    }

    fn tag(&self, message: &[u8]) -> Tag {
        Cmac::tag(self, message)
    }

    fn tag_many(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        Cmac::tag_many(self, messages, tags);
    }

    fn stream(self: Arc<Self>) -> Box<dyn SequentialStream> {
        Box::new(CmacStream::new(self))
    }
}

impl<C: Cipher<Block: Field> + 'static> SequentialStream for CmacStream<Arc<Cmac<C>>, C> {
    fn update(&mut self, data: &[u8]) {
        CmacStream::update(self, data);
    }

    fn tag(self: Box<Self>) -> Tag {
        finalize_cmac(&self)
    }

    fn fork(&self) -> Box<dyn SequentialStream> {
        Box::new(self.clone())
    }
}

/// HMAC after the first bytes of a message, or none.
#[derive(Clone)]
struct HmacSha256 {
    state: Hmac<Sha256>,
    tag_bits: usize,
}

impl HmacSha256 {
    /// The first bits of a finished HMAC.
    fn truncate(&self, state: Hmac<Sha256>) -> Tag {
        let full = state.finalize().into_bytes();
        Tag::new(&full[..self.tag_bits / 8], self.tag_bits).expect("a length of the registry")
    }
}

impl Sequential for HmacSha256 {
    fn tag_bits(&self) -> usize {
        self.tag_bits
    }

    fn level(&self) -> Option<Level> {
        None
    }

    fn tag(&self, message: &[u8]) -> Tag {
        let mut state = self.state.clone();
        state.update(message);
        self.truncate(state)
    }

    fn stream(self: Arc<Self>) -> Box<dyn SequentialStream> {
        self.fork()
    }
}

impl SequentialStream for HmacSha256 {
    fn update(&mut self, data: &[u8]) {
        self.state.update(data);
    }

    fn tag(self: Box<Self>) -> Tag {
        // Where the state is, it is wiped; moved out of its box, it would stay there.
        self.truncate(self.state.clone())
    }

    fn fork(&self) -> Box<dyn SequentialStream> {
        Box::new(self.clone())
    }
}

/// HMAC-SHA256 under a key of any length.
pub(crate) fn hmac_sha256(key: &[u8], tag_bits: usize) -> Arc<dyn Sequential> {
    let state = Hmac::new_from_slice(key).expect("HMAC takes keys of any length");
    Arc::new(HmacSha256 { state, tag_bits })
}
