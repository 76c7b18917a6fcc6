//! Graded verification (section 9 of the paper): checks part of a UMAC-128 tag for part of the
//! cost.

use super::Umac;
use super::key::HashKey;
use super::pad::{UmacNonce, UmacPad, finalize};
use super::uhash::{UmacDigest, UmacHash};
use crate::bits::Bits;
use crate::cipher::Cipher;
use crate::construction::Construction;
use crate::error::Mismatch;
use crate::isa::{Block, Isa};
use crate::mac::Mac;
use crate::tag::Tag;

/// The strength of a single check of a UMAC-128 tag, see
/// [`Umac128::verify_prefix`](super::Umac128::verify_prefix). If a verifier answers at several
/// grades, many checks are weaker than this suggests, see `tagmac_bounds::umac::graded`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assurance {
    /// One stream: a forgery passes with a probability of 2^-30.
    Bits30,
    /// Two streams: 2^-60.
    Bits60,
    /// Three streams: 2^-90.
    Bits90,
    /// All four streams: 2^-120.
    Bits120,
}

impl Assurance {
    /// All grades, by their number of words.
    const ALL: [Assurance; 4] = [Self::Bits30, Self::Bits60, Self::Bits90, Self::Bits120];

    /// Returns the grade that checks `words` words of 4 bytes, 1 to 4.
    pub const fn from_words(words: usize) -> Option<Assurance> {
        match words {
            1..=4 => Some(Self::ALL[words - 1]),
            _ => None,
        }
    }

    /// Returns the number of 4-byte words that are checked.
    pub const fn words(self) -> usize {
        self as usize + 1
    }
}

impl<C: Cipher<Block = Block>> Umac<C, 4> {
    /// Checks the first 4, 8, 12 or 16 bytes of a tag in constant time, for a quarter, half, three
    /// quarters or all of the work: graded verification (section 9 of the paper). A receiver with
    /// little time, or with many copies to check, can check less now and the rest later.
    ///
    /// **A verifier that answers at lower grades reveals the tag word by word.** A forger with
    /// several attempts tries values of the first word at [`Assurance::Bits30`], keeps the one that
    /// passes, and continues with the second word at [`Assurance::Bits60`]. The four words of a
    /// whole tag take at most 4 * 2^32 = 2^34 attempts, and 2^33 on average, while whole tags alone
    /// pass with at most about 2^-120. Answers at the first grade alone also reveal words of the
    /// hash's key, since all streams share NH's key.
    ///
    /// Therefore check each tag that passes a lower grade in full before the next attempt, and stop
    /// using the key at the first tag that fails there. (Anyone who can change the last bytes of a
    /// right tag in transit can thereby end the key.) Also count the failures of each grade:
    /// `Metered::verify_prefix` of the crate `tagmac-any` does, under a budget from
    /// `Budget::with_grades`. `tagmac_bounds::umac::graded` bounds the probability that any attempt
    /// ever passes.
    ///
    /// ```
    /// use tagmac::{Assurance, Mac, Umac128, UmacNonce};
    /// let mac = Umac128::new(&[7; 16]);
    /// let nonce = UmacNonce::from(1);
    /// let tag = mac.tag_with(&nonce, b"a frame of a film")?;
    /// assert!(mac.verify_prefix(&nonce, b"a frame of a film", &tag, Assurance::Bits30).is_ok());
    /// # Ok::<(), tagmac::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` has 128 bits and starts as the tag of the message.
    pub fn verify_prefix<'m>(
        &self,
        nonce: &UmacNonce,
        message: impl Into<Bits<'m>>,
        tag: &Tag,
        grade: Assurance,
    ) -> Result<(), Mismatch> {
        let message = message.into();
        match grade {
            Assurance::Bits30 => self.prefix::<1>().verify(nonce, message, tag),
            Assurance::Bits60 => self.prefix::<2>().verify(nonce, message, tag),
            Assurance::Bits90 => self.prefix::<3>().verify(nonce, message, tag),
            Assurance::Bits120 => self.verify_with(nonce, message, tag),
        }
    }

    fn prefix<const T: usize>(&self) -> Prefix<'_, C, T> {
        let hash = UmacHash { key: &self.hash.key, level: self.hash.level };
        Prefix { hash, cipher: &self.cipher }
    }
}

/// The first `T` streams of UMAC-128.
struct Prefix<'a, C, const T: usize> {
    hash: UmacHash<T, &'a HashKey>,
    cipher: &'a C,
}

impl<C: Cipher<Block = Block>, const T: usize> Prefix<'_, C, T> {
    fn verify(&self, nonce: &UmacNonce, message: Bits<'_>, tag: &Tag) -> Result<(), Mismatch> {
        if tag.bits() != 128 {
            return Err(Mismatch);
        }
        let begin = Tag::try_from(&tag.as_bytes()[..4 * T]).map_err(|_| Mismatch)?;
        self.verify_with(nonce, message, &begin)
    }
}

impl<'a, C: Cipher<Block = Block>, const T: usize> Construction for Prefix<'a, C, T> {
    type Hash = UmacHash<T, &'a HashKey>;
    type Nonce = UmacNonce;
    type PadCache = UmacPad;
    const MAX_TAG_BITS: usize = 32 * T;

    #[inline(always)]
    fn hash(&self) -> &Self::Hash {
        &self.hash
    }

    #[inline(always)]
    fn output_bits(&self) -> usize {
        32 * T
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        nonce: &UmacNonce,
        pad: &mut UmacPad,
        digest: UmacDigest<T>,
    ) -> Tag {
        finalize(isa, self.cipher, 1, nonce, pad, &digest)
    }
}
