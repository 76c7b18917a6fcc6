//! Nonces. [`NonceSequence`] counts and never repeats one; `random_nonce` draws nonces, which
//! repeat eventually.

use core::ops::Deref;

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::construction::Construction;
use crate::error::Error;
use crate::isa::be_block;
use crate::mac::Mac;
#[cfg(feature = "std")]
use crate::nonce::fill_random;
use crate::nonce::{MAX_BYTES, Nonce, check_length};
use crate::tag::Tag;

/// Returns a random nonce of the MAC's full length.
///
/// Among q random nonces of 16 bytes, two are equal with a probability of at most q^2 / 2^129:
/// 2^-32 for 2^48.5 messages. `bounds::NonceKind` includes this in a key's limits. The 8-byte
/// nonces of the UMAC of 1999 repeat sooner, but there a repeat costs only a collision of two
/// hashes.
/// ```
/// use tagmac::{Mac, Poly1305Aes, random_nonce};
/// let mac = Poly1305Aes::new(&[7; 32]);
/// let nonce = random_nonce(&mac)?;
/// let tag = mac.tag_with(&nonce, b"message")?;
/// assert!(mac.verify_with(&nonce, b"message", &tag).is_ok());
/// # Ok::<(), tagmac::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::NoRandomBytes`] if the system's random generator failed.
#[cfg(feature = "std")]
pub fn random_nonce<M: Mac>(_mac: &M) -> Result<M::Nonce, Error> {
    let mut bytes = [0; MAX_BYTES];
    let bytes = &mut bytes[..*M::Nonce::BYTES.end()];
    fill_random(bytes)?;
    M::Nonce::from_slice(bytes)
}

/// Tags messages under nonces that count up, big-endian, all of one length. `R` refers to the MAC:
/// `&M`, `Arc<M>`, `Box<M>`.
///
/// **Use one sequence per key**: two sequences may use the same nonces, and two tags under one
/// nonce help to forge others, see below. Without AES instructions, consecutive nonces are cheap
/// for UMAC-32 and UMAC-64: four or two of them share a call of the block cipher. To enforce a
/// budget as well, see `meter` of the crate `tagmac-any`.
///
/// ```
/// use tagmac::{Mac, NonceSequence, Umac64};
/// let mac = Umac64::new(&[7; 16]);
/// let mut sequence = NonceSequence::new(&mac, 8)?;
/// let (nonce, tag) = sequence.tag(b"first")?;
/// assert!(mac.verify_with(&nonce, b"first", &tag).is_ok());
///
/// // To continue after a restart, store the next nonce after each tag, before you send the tag.
/// let saved = sequence.peek()?;
/// drop(sequence);
/// let mut sequence = NonceSequence::resume(&mac, &saved)?;
/// assert_ne!(sequence.tag(b"second")?.0, nonce);
/// # Ok::<(), tagmac::Error>(())
/// ```
///
/// # What a repeated nonce reveals
///
/// Poly1305-AES and UMAC are a hash hidden by a pad: `tag = hash(message) + pad(nonce)`. Two tags
/// under one nonce share the pad, so their difference is that of the two hashes, which reveals
/// something about the hash's key. (The UMAC of 1999 hides the hash in a PRF: a repeat costs only
/// the chance that two hashes are equal.) The following code forges a Poly1305-AES tag. It has seen
/// two messages of one block under one nonce, and does not know the key:
///
/// ```
/// use tagmac::{Mac, Poly1305Aes, Tag};
/// let mac = Poly1305Aes::new(&[7; 32]);
/// let number = |tag: &Tag| u128::from_le_bytes(tag.as_bytes().try_into().unwrap());
/// let used_twice = [9; 16];
/// let one = number(&mac.tag_with(&used_twice, &1u128.to_le_bytes())?);
/// let two = number(&mac.tag_with(&used_twice, &2u128.to_le_bytes())?);
///
/// // tag = (message + 2^128) r mod p + pad, so the difference of the tags is r, or r - p, which is
/// // r + 5 mod 2^128. So is the next difference.
/// let step = two.wrapping_sub(one);
/// let forged = two.wrapping_add(step).to_le_bytes();
/// let forged = Tag::try_from(&forged[..])?;
/// assert!(mac.verify_with(&used_twice, &3u128.to_le_bytes(), &forged).is_ok());
/// # Ok::<(), tagmac::Error>(())
/// ```
pub struct NonceSequence<R: Deref<Target: Construction>> {
    mac: R,
    /// The length of a nonce in bytes.
    bytes: usize,
    /// The next nonce, extended to 16 bytes, as a big-endian number.
    next: u128,
    /// The last nonce of its length.
    last: u128,
    used_up: bool,
    pad: <R::Target as Construction>::PadCache,
}

impl<R: Deref<Target: Construction>> Drop for NonceSequence<R> {
    fn drop(&mut self) {
        self.pad.zeroize();
    }
}

impl<R: Deref<Target: Construction>> core::fmt::Debug for NonceSequence<R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("NonceSequence(..)")
    }
}

/// The nonce type of the sequence's MAC.
type NonceOf<R> = <<R as Deref>::Target as Construction>::Nonce;

impl<R: Deref<Target: Construction>> NonceSequence<R> {
    /// Starts a sequence of all nonces of `bytes` bytes, from 0.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] if the MAC does not accept nonces of this length.
    pub fn new(mac: R, bytes: usize) -> Result<Self, Error> {
        check_length(NonceOf::<R>::BYTES, bytes)?;
        let last = u128::MAX.checked_shl(8 * (MAX_BYTES - bytes) as u32).unwrap_or(0);
        Ok(NonceSequence { mac, bytes, next: 0, last, used_up: false, pad: Default::default() })
    }

    /// Continues a sequence at `next`, with nonces of its length.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] if the MAC does not accept nonces of this length.
    pub fn resume(mac: R, next: &NonceOf<R>) -> Result<Self, Error> {
        let mut sequence = NonceSequence::new(mac, next.as_bytes().len())?;
        sequence.skip_to(next)?;
        Ok(sequence)
    }

    /// Returns the nonce that will be used next.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesUsedUp`] if all are used.
    #[inline]
    pub fn peek(&self) -> Result<NonceOf<R>, Error> {
        if self.used_up {
            return Err(Error::NoncesUsedUp { bytes: self.bytes });
        }
        NonceOf::<R>::from_block(be_block(self.next), self.bytes)
    }

    /// Returns the next nonce and uses it up, for a [`Stream`](crate::Stream) or threads.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesUsedUp`] if all are used.
    #[inline]
    pub fn take(&mut self) -> Result<NonceOf<R>, Error> {
        let nonce = self.peek()?;
        // The last nonce is all ones in its bytes, so subtracting it adds one in the lowest of
        // them.
        let (next, below_last) = self.next.overflowing_sub(self.last);
        (self.next, self.used_up) = (next, !below_last);
        Ok(nonce)
    }

    /// Continues at a given nonce and skips all smaller ones.
    ///
    /// # Errors
    ///
    /// [`Error::NonceReused`] if it is smaller than the next nonce, [`Error::NonceLength`] if its
    /// length is not that of the sequence's nonces.
    pub fn skip_to(&mut self, nonce: &NonceOf<R>) -> Result<(), Error> {
        let (bytes, found) = (self.bytes, nonce.as_bytes().len());
        if found != bytes {
            return Err(Error::NonceLength { min: bytes, max: bytes, found });
        }
        let mut block = [0; MAX_BYTES];
        block[..bytes].copy_from_slice(nonce.as_bytes());
        let number = u128::from_be_bytes(block);
        if self.used_up || number < self.next {
            return Err(Error::NonceReused);
        }
        self.next = number;
        Ok(())
    }

    /// Returns the next nonce and the tag of a message under it. A message that is refused still
    /// uses up its nonce.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesUsedUp`] if no nonce is left, [`Error::TooLong`] if the message is over the
    /// limit of the MAC's definition.
    #[inline]
    pub fn tag<'m>(&mut self, message: impl Into<Bits<'m>>) -> Result<(NonceOf<R>, Tag), Error> {
        self.tag_or(message)
    }

    /// As [`tag`](NonceSequence::tag), with the caller's error type: a conversion from this one
    /// would move the result.
    #[inline(always)]
    pub(crate) fn tag_or<'m, E: From<Error>>(
        &mut self,
        message: impl Into<Bits<'m>>,
    ) -> Result<(NonceOf<R>, Tag), E> {
        let nonce = self.take()?;
        let tag = self.mac.tag_with_pad(&nonce, &mut self.pad, message)?;
        Ok((nonce, tag))
    }
}
