//! The types of nonces, and what must be true of them: see `sequence.rs` for where they come from.

use core::ops::RangeInclusive;

use crate::error::Error;
use crate::isa::{Block, be_block};
use crate::sealed::Sealed;

/// Bytes of the longest nonce.
pub const MAX_BYTES: usize = 16;

/// What a MAC takes as a nonce: `()` if it takes none, an array of up to 16 bytes, or a type of the
/// library. No other crate can implement it.
pub trait Nonce: Sealed + Copy + Send + Sync {
    /// The valid lengths in bytes.
    const BYTES: RangeInclusive<usize>;

    /// The nonce of these bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] unless it has one of the lengths in [`BYTES`](Nonce::BYTES).
    fn from_slice(bytes: &[u8]) -> Result<Self, Error>;
    /// The nonce of `bytes` bytes that is this number, big-endian.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] as [`from_slice`](Nonce::from_slice).
    #[inline]
    fn from_number(number: u128, bytes: usize) -> Result<Self, Error> {
        check_length(Self::BYTES, bytes)?;
        let number = number.checked_shl(8 * (MAX_BYTES - bytes) as u32).unwrap_or(0);
        Self::from_block(be_block(number), bytes)
    }
    /// The nonce of the first `bytes` bytes of a block, the others zero.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] as [`from_slice`](Nonce::from_slice).
    #[inline]
    fn from_block(block: Block, bytes: usize) -> Result<Self, Error> {
        check_length(Self::BYTES, bytes)?;
        Self::from_slice(&block[..bytes])
    }
    /// The nonce's bytes.
    fn as_bytes(&self) -> &[u8];
}

impl Sealed for () {}

/// No nonce: the MAC is deterministic.
impl Nonce for () {
    const BYTES: RangeInclusive<usize> = 0..=0;

    fn from_slice(bytes: &[u8]) -> Result<(), Error> {
        check_length(Self::BYTES, bytes.len())
    }

    fn as_bytes(&self) -> &[u8] {
        &[]
    }
}

impl<const N: usize> Nonce for [u8; N] {
    const BYTES: RangeInclusive<usize> = {
        assert!(N <= MAX_BYTES, "a nonce has at most 16 bytes");
        N..=N
    };

    #[inline]
    fn from_slice(bytes: &[u8]) -> Result<Self, Error> {
        check_length(Self::BYTES, bytes.len())?;
        Ok(bytes.try_into().expect("N bytes"))
    }

    fn as_bytes(&self) -> &[u8] {
        self
    }
}

/// Refuses a nonce of a length that there is not.
#[inline]
pub fn check_length(expected: RangeInclusive<usize>, found: usize) -> Result<(), Error> {
    let (min, max) = expected.into_inner();
    if (min..=max).contains(&found) { Ok(()) } else { Err(Error::NonceLength { min, max, found }) }
}

/// Random bytes from the system.
#[cfg(feature = "std")]
pub fn fill_random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|_| Error::NoRandomBytes)
}
