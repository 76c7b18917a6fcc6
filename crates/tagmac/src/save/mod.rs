//! What leaves the process: sums, sealed.
//!
//! Sums are as secret as the key, so they are written down under a [`Sealer`] alone: an AEAD under
//! a key of its own, which comes from the MAC's key. What is sealed says what it is and what it
//! belongs to, and opens as nothing else.

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

/// A sum that can be written down and read again, on any machine and level.
pub trait Save: Sized {
    /// Appends the sum.
    ///
    /// # Errors
    ///
    /// [`SaveError::NoSavedState`] if the sum feeds a PRF whose state cannot be read.
    fn save(&self, out: &mut Writer) -> Result<(), SaveError>;
    /// The sum that was appended, which is of these bytes of a message, whole blocks. `None` unless
    /// one was. What a sum counts follows from the range, so it is not written down.
    fn load(input: &mut Reader<'_>, range: Range<u64>) -> Option<Self>;
}

/// Bytes that are secret and grow: what they move away from is wiped, and so are they on drop.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Writer {
    /// One that need not move before it has this many bytes.
    pub fn with_capacity(bytes: usize) -> Writer {
        Writer(Vec::with_capacity(bytes))
    }

    /// Appends bytes of a number that both sides know.
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

    /// Appends a number, little-endian.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Appends bytes and before them how many.
    pub fn length_prefixed(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64).bytes(bytes)
    }

    /// All bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Reads what a [`Writer`] wrote.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// From the first byte on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    /// The next `n` bytes, if there are as many.
    pub fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (now, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(now)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (now, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*now)
    }

    /// The next number.
    pub fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The next bytes, as many as the number before them says.
    pub fn length_prefixed(&mut self) -> Option<&'a [u8]> {
        let n = self.number()?;
        self.bytes(n.try_into().ok()?)
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
