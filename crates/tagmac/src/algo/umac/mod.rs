//! UMAC (RFC 4418; Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC: Fast and Secure Message
//! Authentication", CRYPTO 1999).
//!
//! A tag of 4t bytes consists of t streams, xored with a pad. Each stream has its own POLY and L3
//! keys. NH has one key, shifted by 16 bytes from stream to stream:
//!
//! ```text
//! L1    8 bytes for each 1024 of the message: NH, plus their length in bits    nh.rs
//! L2    those to 16 bytes: POLY-64 up to 2^24 bytes, POLY-128 from there       poly.rs
//!       (a message of up to 1024 bytes skips L2)
//! L3    those to 4 bytes                                                       l3.rs
//! pad   AES_K'(nonce); UMAC-32 and UMAC-64 cut it into 4 or 2 pads             pad.rs
//! ```
//!
//! L1 to L3 are the hash, UHASH, in `uhash.rs`; their keys are in `key.rs`.
//!
//! The code is fast because NH needs two multiplications per 16 bytes and stream, in vectors, and
//! everything else works on 1/128 of the message.

mod each;
mod key;
mod l3;
mod many;
mod nh;
mod pad;
mod poly;
mod prefix;
mod uhash;

use super::known_answer;
use crate::batch::one_by_one;
use crate::cipher::{Aes128, Cipher};
use crate::construction::{Construction, PADS_AT_ONCE};
use crate::error::silent;
use crate::isa::{Block, Facts, Isa, KnownAnswer, Level};
use crate::mac::Mac;
use crate::tag::Tag;
use key::{HashKey, ShortKeys};
use nh::{CHUNK, STREAMS};
use pad::{finalize, pads_in_block};

pub(super) use each::HashKeys;
pub use pad::{UmacNonce, UmacPad};
pub use prefix::Assurance;
pub use uhash::{Uhash32, Uhash64, Uhash96, Uhash128, UmacDigest, UmacHash, UmacSum};

impl<const T: usize> UmacHash<T> {
    /// Returns UHASH under the keys that RFC 4418 derives from this key with AES-128 (section 3.2),
    /// on the best level of this CPU.
    pub fn new(key: &[u8; 16]) -> Self {
        UmacHash::with_level(key, Level::best())
    }

    /// As [`new`](UmacHash::new), on a given level.
    pub fn with_level(key: &[u8; 16], level: Level) -> Self {
        let level = Umac::<Aes128, T>::passing(level);
        let cipher = Aes128::new(key, level);
        let mut hash = UmacHash { key: HashKey::ZERO, level };
        let mut short = ShortKeys::new::<T>(0);
        short.derive(&cipher, level);
        hash.key.derive(&cipher, level, &short);
        hash
    }
}

/// UMAC in `T` streams, with tags of 32 T bits: see [`Umac32`], [`Umac64`], [`Umac96`] and
/// [`Umac128`].
///
/// Nonces have 1 to 16 bytes, with one length per key, and must never repeat, see
/// [`NonceSequence`](crate::NonceSequence). The RFC also allows AES-192 and AES-256, but has
/// vectors only for AES-128.
#[derive(Clone)]
pub struct Umac<C: Cipher<Block = Block>, const T: usize> {
    hash: UmacHash<T>,
    /// The cipher under the key of the pads.
    cipher: C,
}

/// UMAC-32. Each forgery succeeds with a probability of at most about 2^-30. For many short
/// messages where a forgery does little damage.
pub type Umac32 = Umac<Aes128, 1>;
/// UMAC-64. Each forgery succeeds with a probability of at most about 2^-60.
///
/// ```
/// use tagmac::{Mac, Umac64, UmacNonce};
/// let mac = Umac64::new(&[7; 16]);
/// let nonce = UmacNonce::from(1);
/// let tag = mac.tag_with(&nonce, b"message")?;
/// assert!(mac.verify_with(&nonce, b"message", &tag).is_ok());
/// assert!(mac.verify_with(&nonce, b"massage", &tag).is_err());
/// # Ok::<(), tagmac::Error>(())
/// ```
pub type Umac64 = Umac<Aes128, 2>;
/// UMAC-96. Each forgery succeeds with a probability of at most about 2^-90. A tag is the first 12
/// bytes of UMAC-128's.
pub type Umac96 = Umac<Aes128, 3>;
/// UMAC-128. Each forgery succeeds with a probability of at most about 2^-120.
pub type Umac128 = Umac<Aes128, 4>;

silent!(Umac32, Umac64, Umac96, Umac128);

impl<C: Cipher<Block = Block>, const T: usize> Umac<C, T> {
    /// The length of a tag in bits.
    const TAG_BITS: u16 = {
        assert!(T >= 1 && T <= STREAMS, "UMAC has one to four streams");
        32 * T as u16
    };

    /// Returns UMAC on the best level of this CPU.
    pub fn new(key: &C::Key) -> Self {
        Umac::with_level(key, Level::best())
    }

    /// Returns UMAC on a given level.
    pub fn with_level(key: &C::Key, level: Level) -> Self {
        // Another cipher changes only the pads and the keys, so AES-128 tests the level.
        Umac::build(key, Umac::<Aes128, T>::passing(level))
    }

    /// See [`known_answer::passing`].
    fn passing(level: Level) -> Level {
        static KNOWN: [KnownAnswer; STREAMS] = [
            KnownAnswer::new(0xdd387109000000000000000000000000),
            KnownAnswer::new(0x0d98457f448dbe4d0000000000000000),
            KnownAnswer::new(0xa1b3a3faae8662c7401a6da900000000),
            KnownAnswer::new(0xa1b3a3faae8662c7401a6da95eccedaf),
        ];
        known_answer::passing(&KNOWN[T - 1], level, |level| {
            let key = known_answer::KEYS.first_chunk().expect("16 of 64 bytes");
            let mac = Umac::<Aes128, T>::build(key, level);
            move |message| mac.tag_with(&known_answer::NONCE.into(), message)
        })
    }

    fn build(key: &C::Key, level: Level) -> Self {
        let cipher = C::new(key, level);
        let mut short = ShortKeys::new::<T>(C::KEY_BYTES);
        short.derive(&cipher, level);
        // Made first, because CPUs derive NH's key while they wait for this key schedule.
        let pads = C::from_slice(short.pads(), level).expect("a key of the cipher's length");
        let mut mac = Umac { hash: UmacHash { key: HashKey::ZERO, level }, cipher: pads };
        mac.hash.key.derive(&cipher, level, &short);
        mac
    }
}

impl<C: Cipher<Block = Block>, const T: usize> Construction for Umac<C, T> {
    type Hash = UmacHash<T>;
    type Nonce = UmacNonce;
    type PadCache = UmacPad;
    const MAX_TAG_BITS: usize = 32 * T;

    #[inline(always)]
    fn hash(&self) -> &UmacHash<T> {
        &self.hash
    }

    #[inline(always)]
    fn output_bits(&self) -> usize {
        Self::TAG_BITS.into()
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        nonce: &UmacNonce,
        pad: &mut UmacPad,
        digest: UmacDigest<T>,
    ) -> Tag {
        finalize(isa, &self.cipher, pads_in_block::<T>(), nonce, pad, &digest)
    }

    #[inline(always)]
    fn batch_max_len(&self) -> usize {
        let facts = self.hash.level.facts();
        facts.batch_max_len(facts.batching_helps_umac(), CHUNK)
    }

    #[inline(always)]
    fn tag_batch<I: Isa>(
        &self,
        isa: I,
        nonces: &[UmacNonce],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) {
        if const { !Facts::new::<I>().batching_helps_umac() } {
            return one_by_one(self, nonces, messages, tags);
        }
        let batches = nonces.chunks(PADS_AT_ONCE).zip(messages.chunks(PADS_AT_ONCE));
        for ((nonces, messages), tags) in batches.zip(tags.chunks_mut(PADS_AT_ONCE)) {
            self.tag_together(isa, nonces, messages, tags);
        }
    }
}
