//! The key of CMAC.

use zeroize::Zeroize;

use super::super::known_answer;
use super::super::xor::{self, OneBlock, Truncation};
use crate::bits::Bits;
use crate::cipher::{Cipher, Encrypt, Field};
use crate::error::{Error, silent};
use crate::isa::{CipherBlock, Isa, Kernel, Lanes, Level, Levels};
use crate::tag::Tag;

/// CMAC under a key.
///
/// Deterministic. Accepts messages of any bit length. Tags have n bits, or fewer with
/// [`with_tag_bits`](Cmac::with_tag_bits). Secure up to about 2^(n/2) blocks under a key; SP
/// 800-38B recommends at most 2^48 messages with AES and 2^21 with a cipher of 64-bit blocks.
///
/// One message is one chain and cannot be split over vectors or threads.
/// [`tag_many`](Cmac::tag_many) is many times as fast.
///
/// ```
/// use tagmac::{Cmac, cipher::Aes128};
/// let mac = Cmac::<Aes128>::new(&[7; 16]);
/// let tag = mac.tag(b"message");
/// assert!(mac.verify(b"message", &tag).is_ok());
/// assert!(mac.verify(b"massage", &tag).is_err());
/// ```
#[derive(Clone)]
pub struct Cmac<C: Cipher<Block: Field>> {
    pub(super) cipher: C,
    pub(super) level: Level,
    pub(super) truncation: Truncation<C::Block>,
    pub(super) k1: C::Block,
    pub(super) k2: C::Block,
}

silent!(Cmac<C: Cipher<Block: Field>>);

impl<C: Cipher<Block: Field>> Drop for Cmac<C> {
    #[inline(never)]
    fn drop(&mut self) {
        self.k1.zeroize();
        self.k2.zeroize();
    }
}

impl<C: Cipher<Block: Field>> Cmac<C> {
    /// Returns the MAC on the best level of this CPU.
    pub fn new(key: &C::Key) -> Self {
        Cmac::with_level(key, Level::best())
    }

    /// Returns the MAC on a given level.
    #[inline(never)]
    pub fn with_level(key: &C::Key, level: Level) -> Self {
        let level = Self::passing(level);
        level.run(Build::<C> { key, level })
    }

    /// CMAC with a keyed cipher that was made for the same level.
    pub(crate) fn from_cipher(cipher: C, level: Level) -> Self {
        let level = Self::passing(level);
        let l = level.run(Encrypt(&cipher, &C::Block::ZERO));
        Cmac::with_l(cipher, l, level)
    }

    /// See [`known_answer::passing`].
    fn passing(level: Level) -> Level {
        let Some(known) = C::KNOWN_ANSWERS else { return level };
        known_answer::passing(&known.cmac, level, |level| {
            let mac = level.run(Build::<C> { key: &known_answer::key::<C>(), level });
            move |message| Ok(mac.tag(message))
        })
    }

    /// CMAC with L = E_K(0).
    #[inline(always)]
    fn with_l(cipher: C, mut l: C::Block, level: Level) -> Self {
        let k1 = l.times_x();
        l.zeroize();
        Cmac { cipher, level, truncation: Truncation::none(), k1, k2: k1.times_x() }
    }

    /// Truncates tags to their first `bits` bits, 1 to n.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
        self.truncation = Truncation::to(bits)?;
        Ok(self)
    }

    /// Returns the length of the tags in bits.
    pub fn tag_bits(&self) -> usize {
        self.truncation.bits()
    }

    /// Returns the level in use.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The padded last block xor K1 or K2, to be added to the chain.
    #[inline(always)]
    pub(super) fn last<L: Lanes<Block = C::Block>>(&self, lanes: L, last: Bits<'_>) -> OneBlock<L> {
        let full = last.bits() == 8 * C::Block::BYTES as u64;
        let key = if full { &self.k1 } else { &self.k2 };
        let narrow = lanes.narrow();
        narrow.xor(xor::padded(lanes, last), narrow.splat(key))
    }

    /// The tag from an output of E_K.
    #[inline(always)]
    pub(super) fn truncate(&self, output: C::Block) -> Tag {
        let mut tag = Tag::default();
        self.truncation.write(&output, &mut tag);
        tag
    }
}

/// Makes a key, see [`Cipher::new_in`].
struct Build<'a, C: Cipher> {
    key: &'a C::Key,
    level: Level,
}

impl<C: Cipher<Block: Field>> Kernel for Build<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = Cmac<C>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Cmac<C> {
        let cipher = C::new_in(isa, self.key, self.level);
        let l = cipher.encrypt_one(isa, &C::Block::ZERO);
        Cmac::with_l(cipher, l, self.level)
    }
}
