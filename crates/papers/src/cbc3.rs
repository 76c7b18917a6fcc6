//! The CBC MAC with three keys (Black and Rogaway; the 1999 paper on UMAC, section 8.4): a PRF from
//! any cipher.
//!
//! With X = X_1 .. X_m in blocks of n bits:
//!
//! ```text
//! Y_0 = 0      Y_i = E_K1(X_i ^ Y_{i-1})      for i < m
//! PRF(X) = E_K2(X_m ^ Y_{m-1})                if X_m is full
//! PRF(X) = E_K3(X_m 10* ^ Y_{m-1})            if not; X_m is empty where X is
//! ```
//!
//! Each block depends on the previous one, so this is slow on long messages; it is meant for the
//! end of a hash. The parallel MACs are faster.

use tagmac::cipher::{Cipher, CipherBlock};
use tagmac::hazmat::Chain;
use tagmac::isa::{Isa, Kernel, Level, Levels};
use tagmac::{Bits, Mismatch, Tag};

use crate::silent;

/// The CBC MAC with three keys of the cipher C.
///
/// Deterministic. Accepts messages of any bit length; tags have n bits. q messages of sigma blocks
/// in all are distinguished from random strings with an advantage of at most (C(d, 2) + 2 C(q, 2))
/// / (2^n - d), where d = sigma - q. Attacks on the cipher add to this, see `umac::cbc3_prf` of the
/// crate `tagmac-bounds`. For n = 128 the bound is 2^-32 after 2^48 messages of one block or 2^48.5
/// blocks of long ones, and for n = 64 after about 2^16. After 2^(n/2) blocks it is not a PRF any
/// more.
///
/// ```
/// use tagmac::cipher::Present80;
/// use tagmac_papers::Cbc3;
/// let mac = Cbc3::<Present80>::new(&[1; 10], &[2; 10], &[3; 10]);
/// let tag = mac.tag(b"message");
/// assert!(mac.verify(b"message", &tag).is_ok());
/// assert!(mac.verify(b"massage", &tag).is_err());
/// ```
#[derive(Clone)]
pub struct Cbc3<C: Cipher> {
    k1: C,
    k2: C,
    k3: C,
    level: Level,
}

silent!(Cbc3<C: Cipher>);

impl<C: Cipher> Cbc3<C> {
    /// Returns the MAC on the best level of this CPU. The keys must be independent.
    pub fn new(k1: &C::Key, k2: &C::Key, k3: &C::Key) -> Self {
        Cbc3::with_level(k1, k2, k3, Level::best())
    }

    /// Returns the MAC on a given level.
    pub fn with_level(k1: &C::Key, k2: &C::Key, k3: &C::Key, level: Level) -> Self {
        Cbc3::from_ciphers(C::new(k1, level), C::new(k2, level), C::new(k3, level), level)
    }

    /// The MAC with keyed ciphers that were made for the same level.
    pub(crate) fn from_ciphers(k1: C, k2: C, k3: C, level: Level) -> Self {
        Cbc3 { k1, k2, k3, level }
    }

    /// Returns the level that the ciphers were made for.
    #[cfg(feature = "rustcrypto")]
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// Returns the tag of a message.
    #[must_use]
    pub fn tag<'m>(&self, message: impl Into<Bits<'m>>) -> Tag {
        const { assert!(C::Block::BYTES <= Tag::MAX_BYTES, "tags have at most 256 bits") };
        let block = self.level.run(OneShot { mac: self, message: message.into() });
        Tag::try_from(block.as_ref()).expect("at most 256 bits")
    }

    /// Checks a tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message.
    pub fn verify<'m>(&self, message: impl Into<Bits<'m>>, tag: &Tag) -> Result<(), Mismatch> {
        if self.tag(message) == *tag { Ok(()) } else { Err(Mismatch) }
    }
}

struct OneShot<'a, C: Cipher> {
    mac: &'a Cbc3<C>,
    message: Bits<'a>,
}

impl<C: Cipher> Kernel for OneShot<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        let mut chain = Chain::new(&[]);
        self.mac.update(isa, &mut chain, self.message.bytes());
        let unused = 8 * self.message.bytes().len() as u64 - self.message.bits();
        let bits = 8 * chain.held_bytes() - unused as usize;
        self.mac.finish(isa, &chain, bits)
    }
}

impl<C: Cipher> Cbc3<C> {
    /// Appends to the input of a chain.
    #[inline(always)]
    pub(crate) fn update<I: Isa>(&self, isa: I, chain: &mut Chain<C::Block>, data: &[u8]) {
        chain.update(isa, &self.k1, data);
    }

    /// The output for whole bytes.
    #[inline(always)]
    pub(crate) fn finish_bytes<I: Isa>(&self, isa: I, chain: &Chain<C::Block>) -> C::Block {
        self.finish(isa, chain, 8 * chain.held_bytes())
    }

    /// The output for the last block's first `bits` bits.
    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, chain: &Chain<C::Block>, bits: usize) -> C::Block {
        if bits == 8 * C::Block::BYTES {
            return self.k2.encrypt_one(isa, &chain.value().xor(chain.held()));
        }
        let last = chain.held().and(&C::Block::first_ones(bits)).xor(&C::Block::one_at(bits));
        self.k3.encrypt_one(isa, &chain.value().xor(&last))
    }
}
