//! Encrypted serialisation of intermediate sums.
//!
//! Sums are as secret as the key, so they are written only under a [`Sealer`]: an AEAD whose key is
//! derived from the MAC's. Sealed data is bound to its purpose. Partials, checkpoints and sidecars
//! are also bound to their object.

mod aead;
pub(crate) mod derive;
mod error;
pub(crate) mod sealer;

pub use derive::{Purpose, derive};
pub use error::SaveError;
pub use sealer::Sealer;
pub use zeroize::Zeroizing;

use core::ops::Range;

use zeroize::Zeroize;

/// A sum that can be serialised, on any machine and level.
pub trait Save: Sized {
    /// Appends the sum.
    ///
    /// # Errors
    ///
    /// [`SaveError::NoSavedState`] if the sum feeds a PRF whose state cannot be read.
    fn save(&self, out: &mut Writer) -> Result<(), SaveError>;
    /// Reads a sum that [`save`](Save::save) wrote. It is the sum of `range`, whole blocks of a
    /// message. Returns `None` if the bytes are not a sum. Counts follow from the range, so they
    /// are not written.
    fn load(input: &mut Reader<'_>, range: Range<u64>) -> Option<Self>;
}

/// A growable buffer for secrets. It wipes old allocations, and itself on drop.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Writer {
    /// Returns a buffer that does not reallocate before it holds this many bytes.
    pub fn with_capacity(bytes: usize) -> Writer {
        Writer(Vec::with_capacity(bytes))
    }

    /// Appends bytes without a length: both sides know it.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        if self.0.capacity() - self.0.len() < bytes.len() {
            let mut larger = Vec::with_capacity((2 * self.0.len()).max(64) + bytes.len());
            larger.extend_from_slice(&self.0);
            self.0.zeroize();
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends a number, little-endian, in 8 bytes.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Appends the length of `bytes` and then `bytes`.
    pub fn length_prefixed(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64).bytes(bytes)
    }

    /// Removes all bytes, and keeps the memory. They are wiped on drop, unless others replace them.
    pub fn clear(&mut self) -> &mut Self {
        self.0.clear();
        self
    }

    /// Returns all bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Reads the output of a [`Writer`].
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    /// Returns the next `n` bytes, or `None` if fewer are left.
    pub fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (now, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(now)
    }

    /// Returns the next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (now, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*now)
    }

    /// Returns the next number.
    pub fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Returns the next bytes, prefixed with their length.
    pub fn length_prefixed(&mut self) -> Option<&'a [u8]> {
        let n = self.number()?;
        self.bytes(n.try_into().ok()?)
    }

    /// Returns all remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }

    /// Returns `true` if no bytes are left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
