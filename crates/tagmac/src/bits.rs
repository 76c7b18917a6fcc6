//! Bit strings: bytes, of which the last may count in part.

use crate::error::Error;

/// A string of bits, first bit first: the high bit of the first byte. Any bytes are one.
///
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
    /// The first `bits` bits of `bytes`, which holds no byte more than they need.
    pub fn new(bytes: &'a [u8], bits: usize) -> Result<Self, Error> {
        if bits.div_ceil(8) != bytes.len() {
            return Err(Error::MessageBits { bytes: bytes.len(), found: bits });
        }
        Ok(Bits { bytes, unused: (bytes.len() * 8 - bits) as u8 })
    }

    /// The length in bits.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.bytes.len() as u64 * 8 - self.unused as u64
    }

    /// The bytes, the last one perhaps in part.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes that count as a whole.
    #[inline(always)]
    pub(crate) fn whole_bytes(self) -> usize {
        self.bytes.len() - (self.unused != 0) as usize
    }

    /// All but the first `at` bytes.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[inline(always)]
    pub fn after(self, at: usize) -> Bits<'a> {
        Bits { bytes: &self.bytes[at..], unused: self.unused }
    }

    /// Ones in the last byte's used bits.
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
