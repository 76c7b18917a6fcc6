//! Bit strings: bytes, possibly with a partial last byte.

use crate::error::Error;

/// A string of bits. The first bit is the high bit of the first byte. Every byte string is also a
/// bit string.
/// ```
/// use tagmac::Bits;
/// let ten = Bits::new(&[0b1010_1010, 0b1100_0000], 10)?;
/// assert_eq!(ten.bits(), 10);
/// assert_eq!(Bits::from(b"abc").bits(), 24);
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    /// Low bits of the last byte that do not belong to the string, 0..=7.
    unused: u8,
}

impl<'a> Bits<'a> {
    /// Returns the first `bits` bits of `bytes`.
    ///
    /// # Errors
    ///
    /// [`Error::MessageBits`] unless the string ends in the last byte of `bytes`.
    pub fn new(bytes: &'a [u8], bits: usize) -> Result<Self, Error> {
        if bits.div_ceil(8) != bytes.len() {
            return Err(Error::MessageBits { bytes: bytes.len(), found: bits });
        }
        Ok(Bits { bytes, unused: (bytes.len() * 8 - bits) as u8 })
    }

    /// Returns the length in bits.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.bytes.len() as u64 * 8 - self.unused as u64
    }

    /// Returns the bytes. The last one may be used only in part.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The number of bytes that are used in full.
    #[inline(always)]
    pub(crate) fn whole_bytes(self) -> usize {
        self.bytes.len() - (self.unused != 0) as usize
    }

    /// Returns the bits after the first `at` bytes.
    ///
    /// # Panics
    ///
    /// If there are fewer than `at` bytes.
    #[inline(always)]
    pub fn after(self, at: usize) -> Bits<'a> {
        Bits { bytes: &self.bytes[at..], unused: self.unused }
    }

    /// The used bits of a partial last byte, as ones.
    #[inline(always)]
    pub(crate) fn last_mask(self) -> Option<u8> {
        (self.unused != 0).then(|| 0xff << self.unused)
    }
}

impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for Bits<'a> {
    #[inline(always)]
    fn from(bytes: &'a T) -> Self {
        Bits { bytes: bytes.as_ref(), unused: 0 }
    }
}
