//! A nonce of any MAC.

use core::fmt;

use tagmac::Error;
use tagmac::internals::{MAX_NONCE_BYTES, check_nonce_length, zero_filled};

/// A nonce of any MAC, of 0 to 16 bytes. That of a deterministic MAC is empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AnyNonce {
    /// The nonce, padded with zeros.
    block: [u8; MAX_NONCE_BYTES],
    bytes: usize,
}

impl AnyNonce {
    /// The empty nonce.
    pub(crate) const NONE: AnyNonce = AnyNonce { block: [0; MAX_NONCE_BYTES], bytes: 0 };

    /// Copies a nonce.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] if there are more than 16.
    #[inline]
    pub fn from_slice(bytes: &[u8]) -> Result<AnyNonce, Error> {
        check_nonce_length(0..=MAX_NONCE_BYTES, bytes.len())?;
        Ok(AnyNonce { block: zero_filled(bytes), bytes: bytes.len() })
    }

    /// The nonce's bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.block[..self.bytes]
    }

    /// The nonce, padded with zeros.
    pub(crate) fn block(&self) -> [u8; MAX_NONCE_BYTES] {
        self.block
    }

    /// Number of larger nonces of this length.
    pub(crate) fn over(&self) -> u128 {
        // The complement of a nonce is the number of larger ones.
        let unused = 8 * (MAX_NONCE_BYTES - self.bytes) as u32;
        (!u128::from_be_bytes(self.block)).checked_shr(unused).unwrap_or(0)
    }

    /// The nonce `n` steps after this one.
    pub(crate) fn plus(&self, n: u64) -> Result<AnyNonce, Error> {
        let unused = 8 * (MAX_NONCE_BYTES - self.bytes) as u32;
        let number = u128::from_be_bytes(self.block).checked_shr(unused).unwrap_or(0);
        if u128::from(n) > self.over() {
            return Err(Error::NoncesUsedUp { bytes: self.bytes });
        }
        let number = (number + u128::from(n)).checked_shl(unused).unwrap_or(0);
        Ok(AnyNonce { block: number.to_be_bytes(), bytes: self.bytes })
    }
}

impl AsRef<[u8]> for AnyNonce {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for AnyNonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyNonce(")?;
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}
