//! The types of nonces. `sequence.rs` generates them.

use core::ops::RangeInclusive;

use crate::error::Error;
use crate::isa::{Block, be_block};
use crate::sealed::Sealed;

/// The maximum length of a nonce in bytes.
pub const MAX_BYTES: usize = 16;

/// A MAC's nonce: `()` for a deterministic MAC, an array of up to 16 bytes, or a type of this
/// crate. Other crates cannot implement it.
pub trait Nonce: Sealed + Copy + Send + Sync {
    /// The valid lengths in bytes.
    const BYTES: RangeInclusive<usize>;

    /// Returns the nonce of these bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] unless the length is in [`BYTES`](Nonce::BYTES).
    fn from_slice(bytes: &[u8]) -> Result<Self, Error>;
    /// Returns `number` as a big-endian nonce of `bytes` bytes.
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
    /// Returns the first `bytes` bytes of a block as a nonce. The other bytes of the block must be
    /// zero.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] as [`from_slice`](Nonce::from_slice).
    #[inline]
    fn from_block(block: Block, bytes: usize) -> Result<Self, Error> {
        check_length(Self::BYTES, bytes)?;
        Self::from_slice(&block[..bytes])
    }
    /// Returns the nonce's bytes.
    fn as_bytes(&self) -> &[u8];
}

impl Sealed for () {}

/// The MAC is deterministic and needs no nonce.
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

/// Refuses a nonce of an invalid length.
#[inline]
pub fn check_length(expected: RangeInclusive<usize>, found: usize) -> Result<(), Error> {
    let (min, max) = expected.into_inner();
    if (min..=max).contains(&found) { Ok(()) } else { Err(Error::NonceLength { min, max, found }) }
}

/// Fills `bytes` from the system's random generator.
#[cfg(feature = "std")]
pub fn fill_random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|_| Error::NoRandomBytes)
}
