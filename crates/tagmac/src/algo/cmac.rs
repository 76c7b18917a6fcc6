//! CMAC (NIST SP 800-38B; RFC 4493 for AES-128), of any cipher.
//!
//! With L = E_K(0), K1 = L x and K2 = L x^2, for M = M_1 .. M_m in blocks of n bits:
//!
//! ```text
//! C_0 = 0      C_i = E_K(M_i ^ C_{i-1})      for i < m
//! Tag = first tau bits of E_K(M_m ^ K1 ^ C_{m-1})         if M_m is full
//!       first tau bits of E_K(M_m 10* ^ K2 ^ C_{m-1})     if not; M_m is empty where M is
//! ```
//!
//! Each block depends on the previous one, so a single message takes the latency of all its blocks,
//! see `cbc.rs`. The chains of many messages run in step, one in each lane of up to eight vectors.

mod key;
mod many;

use super::cbc::{self, Chain, before_last, is_narrow};
use crate::bits::Bits;
use crate::cipher::{Cipher, Field};
use crate::error::{Error, Mismatch, silent};
use crate::isa::{CipherBlock, Isa, Kernel, Lanes, Levels};
use crate::tag::{Tag, matches};
pub use key::Cmac;

impl<C: Cipher<Block: Field>> Cmac<C> {
    /// Returns the tag of a message.
    #[must_use]
    pub fn tag<'m>(&self, message: impl Into<Bits<'m>>) -> Tag {
        self.tag_of(message.into())
    }

    #[inline(never)]
    fn tag_of(&self, message: Bits<'_>) -> Tag {
        self.level.run(OneShot { mac: self, message })
    }

    /// Checks a tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    pub fn verify<'m>(&self, message: impl Into<Bits<'m>>, tag: &Tag) -> Result<(), Mismatch> {
        matches(Ok::<_, Error>(self.tag(message)), tag)
    }

    /// Returns a stream for one message.
    pub fn stream(&self) -> CmacStream<&Self, C> {
        CmacStream::new(self)
    }
}

struct OneShot<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    message: Bits<'a>,
}

impl<C: Cipher<Block: Field>> Kernel for OneShot<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        if const { is_narrow::<C>() } { self.on(isa.narrow()) } else { self.on(isa) }
    }
}

impl<C: Cipher<Block: Field>> OneShot<'_, C> {
    #[inline(always)]
    fn on<I: Isa>(self, isa: I) -> Tag {
        let OneShot { mac, message } = self;
        let (lanes, keys) = (C::lanes(isa), mac.cipher.keys(isa));
        let cut = before_last::<C::Block>(message.bytes().len());
        let last = lanes.narrow().lane0(mac.last(lanes, message.after(cut)));
        let mut x = C::whiten(isa, &keys, lanes.splat(&last));
        if cut > 0 {
            let (first, blocks) = message.bytes()[..cut].split_at(C::Block::BYTES);
            let chain = C::whiten(isa, &keys, lanes.splat(&C::Block::zero_filled(first)));
            let chain = cbc::absorb::<_, C>(isa, &keys, chain, blocks);
            [x] = C::encrypt_chained(isa, &keys, [chain], [x]);
        }
        let [y] = C::encrypt_whitened(isa, &keys, [x]);
        mac.truncate(lanes.lane0(y))
    }
}

/// A message that arrives in pieces. `R` refers to the [`Cmac`]: `&Cmac<C>`, `Arc<Cmac<C>>`.
///
/// ```
/// use tagmac::{Cmac, cipher::Aes256};
/// let mac = Cmac::<Aes256>::new(&[7; 32]);
/// let mut stream = mac.stream();
/// stream.update(b"in ").update(b"pieces");
/// assert_eq!(stream.tag(), mac.tag(b"in pieces"));
/// ```
#[derive(Clone)]
#[must_use = "a stream that is dropped without `tag` or `verify` authenticates nothing"]
pub struct CmacStream<R, C: Cipher> {
    mac: R,
    chain: Chain<C::Block>,
}

silent!(CmacStream<R: Sized, C: Cipher>);

impl<R: core::ops::Deref<Target = Cmac<C>>, C: Cipher<Block: Field>> CmacStream<R, C> {
    /// Starts an empty message.
    pub fn new(mac: R) -> Self {
        CmacStream { mac, chain: Chain::new(&[]) }
    }

    /// Appends to the message.
    pub fn update(&mut self, data: &[u8]) -> &mut Self {
        if self.chain.has_room(data.len()) {
            self.chain.hold(data);
        } else {
            let mac = &*self.mac;
            mac.level.run(Update { mac, chain: &mut self.chain, data });
        }
        self
    }

    /// Returns the tag of the message.
    #[must_use]
    pub fn tag(self) -> Tag {
        self.finalize()
    }

    /// Returns the tag in place: a move would leave a copy of the secret in memory.
    pub(crate) fn finalize(&self) -> Tag {
        let mac = &*self.mac;
        mac.level.run(Close { mac, chain: &self.chain })
    }

    /// Restarts with an empty message. The old state is wiped.
    #[cfg(feature = "rustcrypto")]
    pub(crate) fn restart(&mut self) {
        self.chain = Chain::new(&[]);
    }

    /// Checks the message's tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    pub fn verify(self, tag: &Tag) -> Result<(), Mismatch> {
        matches(Ok::<_, Error>(self.tag()), tag)
    }
}

struct Update<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    chain: &'a mut Chain<C::Block>,
    data: &'a [u8],
}

impl<C: Cipher<Block: Field>> Kernel for Update<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.chain.update(isa, &self.mac.cipher, self.data);
    }
}

struct Close<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    chain: &'a Chain<C::Block>,
}

impl<C: Cipher<Block: Field>> Kernel for Close<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        if const { is_narrow::<C>() } { self.on(isa.narrow()) } else { self.on(isa) }
    }
}

impl<C: Cipher<Block: Field>> Close<'_, C> {
    #[inline(always)]
    fn on<I: Isa>(self, isa: I) -> Tag {
        let Close { mac, chain } = self;
        let (lanes, keys) = (C::lanes(isa), mac.cipher.keys(isa));
        let last = mac.last(lanes, Bits::from(&chain.held.as_ref()[..chain.bytes]));
        let x = lanes.splat(&lanes.narrow().lane0(last).xor(&chain.y));
        let [y] = C::encrypt_whitened(isa, &keys, [C::whiten(isa, &keys, x)]);
        mac.truncate(lanes.lane0(y))
    }
}
