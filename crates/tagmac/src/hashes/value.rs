//! The hash of a whole message, as bytes.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::algo::{Poly1305Digest, UmacDigest, XorDigest};
use crate::bits::Bits;
use crate::construction::{Hash, absorbable_len, check_length};
use crate::error::Error;
use crate::isa::{CipherBlock, Isa, Kernel, Levels};

/// The maximum length of a hash in bytes.
const MAX_HASH_BYTES: usize = 32;

/// The hash of a message. Secret: wiped on drop, prints nothing in `Debug`. `==` runs in constant
/// time.
#[derive(Clone)]
#[must_use]
pub struct HashValue {
    bytes: [u8; MAX_HASH_BYTES],
    length: usize,
}

impl Drop for HashValue {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl HashValue {
    fn new(bytes: &[u8]) -> Self {
        let mut value = HashValue { bytes: [0; MAX_HASH_BYTES], length: bytes.len() };
        value.bytes[..bytes.len()].copy_from_slice(bytes);
        value
    }

    /// Returns the hash's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl PartialEq for HashValue {
    fn eq(&self, other: &HashValue) -> bool {
        self.length == other.length && bool::from(self.bytes.ct_eq(&other.bytes))
    }
}

impl Eq for HashValue {}

impl fmt::Debug for HashValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HashValue({} bytes)", self.length)
    }
}

impl<B: CipherBlock> From<XorDigest<B>> for HashValue {
    fn from(mut digest: XorDigest<B>) -> HashValue {
        let value = HashValue::new(digest.block().as_ref());
        digest.block().zeroize();
        value
    }
}

/// Little-endian, as in the tags of Poly1305.
impl From<Poly1305Digest> for HashValue {
    fn from(mut digest: Poly1305Digest) -> HashValue {
        let value = HashValue::new(&digest.number().to_le_bytes());
        digest.number().zeroize();
        value
    }
}

/// Four bytes per stream, as in the tags of UMAC.
impl<const T: usize> From<UmacDigest<T>> for HashValue {
    fn from(mut digest: UmacDigest<T>) -> HashValue {
        let value = HashValue::new(&digest.block()[..4 * T]);
        digest.block().zeroize();
        value
    }
}

/// A keyed hash with values of a few bytes. See the [module](super) for its bounds.
pub trait Universal: Hash<Digest: Into<HashValue>> {
    /// Returns the hash of a message.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message is over the hash's limit, [`Error::PartialByte`] if it
    /// ends within a byte and the hash accepts only whole bytes.
    fn value<'m>(&self, message: impl Into<Bits<'m>>) -> Result<HashValue, Error>
    where
        Self: Sized,
    {
        let message = message.into();
        check_length(self, 0, message)?;
        Ok(self.level().run(Whole { hash: self, message }).into())
    }
}

impl<H: Hash<Digest: Into<HashValue>>> Universal for H {}

struct Whole<'a, H> {
    hash: &'a H,
    message: Bits<'a>,
}

impl<H: Hash> Kernel for Whole<'_, H> {
    const LEVELS: Levels = H::PLAN.long;
    type Out = H::Digest;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> H::Digest {
        let (cut, mut sum) = (absorbable_len(self.hash, self.message), self.hash.empty());
        self.hash.absorb(isa, &mut sum, 0, &self.message.bytes()[..cut]);
        let digest = self.hash.finish(isa, &sum, cut as u64, self.message.after(cut));
        sum.zeroize();
        digest
    }
}
