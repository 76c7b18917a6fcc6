//! The key of LightMAC and its parameters.

use super::super::known_answer;
use super::super::xor::Truncation;
use crate::cipher::{Aes128, Aes192, Aes256, Cipher, CipherBlock};
use crate::error::{Error, silent};
use crate::isa::Level;
use crate::mac::deterministic;

/// LightMAC under a key, with a counter of s bits.
///
/// Deterministic. Tags have 1 to n bits, where n is the length of the cipher's block in bits. The
/// two keys must be independent. A short counter is faster and limits the message to 2^s (n - s)
/// bits. The number of tags that a key may authenticate hardly depends on the length of messages.
/// Fast if s is a multiple of 8 and at most 64.
///
/// ```
/// use tagmac::LightMacAes128;
/// let mac = LightMacAes128::new(&[1; 16], &[2; 16], 32)?;
/// let tag = mac.tag(b"message")?;
/// assert!(mac.verify(b"message", &tag).is_ok());
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct LightMac<C: Cipher> {
    pub(super) k1: C,
    pub(super) k2: C,
    pub(super) level: Level,
    pub(super) truncation: Truncation<C::Block>,
    pub(super) s: usize,
    pub(super) gray: bool,
    /// See [`Hash::block`].
    pub(super) block: usize,
    /// (2^64 - 1) / block, rounded down: a division would cost more than a block of a short
    /// message.
    pub(super) inverse: u64,
    /// See [`Hash::limit_bits`].
    pub(super) limit_bits: u64,
    /// The fast case: counters are integers of whole bytes, followed by whole bytes of the message.
    pub(super) in_bytes: bool,
}

/// LightMAC-AES128.
pub type LightMacAes128 = LightMac<Aes128>;
/// LightMAC-AES192.
pub type LightMacAes192 = LightMac<Aes192>;
/// LightMAC-AES256.
pub type LightMacAes256 = LightMac<Aes256>;

/// Returns the maximum length of a message in bits, for a cipher with blocks of n bits and a
/// counter of `s` bits: 2^s (n - s), or `u64::MAX` if that is larger.
pub const fn limit_bits(n: usize, s: usize) -> u64 {
    if s >= 64 {
        return u64::MAX;
    }
    let bits = ((n - s) as u128) << s;
    if bits > u64::MAX as u128 { u64::MAX } else { bits as u64 }
}

/// The greatest common divisor of a positive number and 8.
const fn gcd8(a: usize) -> usize {
    let ones = a.trailing_zeros();
    1 << if ones < 3 { ones } else { 3 }
}

impl<C: Cipher> LightMac<C> {
    /// Returns LightMAC with the cipher C and a counter of `s` bits on the best level of this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is 1 to n/2.
    #[inline]
    pub fn new(k1: &C::Key, k2: &C::Key, s: usize) -> Result<Self, Error> {
        LightMac::with_level(k1, k2, s, Level::best())
    }

    /// Returns LightMAC with the cipher C and a counter of `s` bits on a given level.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is 1 to n/2.
    #[inline]
    pub fn with_level(k1: &C::Key, k2: &C::Key, s: usize, level: Level) -> Result<Self, Error> {
        LightMac::from_ciphers(C::new(k1, level), C::new(k2, level), s, level)
    }

    /// LightMAC with keyed ciphers that were made for the same level.
    #[inline]
    pub(crate) fn from_ciphers(k1: C, k2: C, s: usize, level: Level) -> Result<Self, Error> {
        let max = 4 * C::Block::BYTES;
        if !(1..=max).contains(&s) {
            return Err(Error::CounterBits { max, found: s });
        }
        let level = C::KNOWN_ANSWERS.map_or(level, |known| {
            known_answer::passing(&known.lightmac, level, |level| {
                let [k1, k2] = [0, 1].map(|k| {
                    let key = &known_answer::KEYS[k * C::KEY_BYTES..][..C::KEY_BYTES];
                    C::from_slice(key, level).expect("a key of the cipher's length")
                });
                let mac = LightMac::build(k1, k2, 32, level);
                move |message| mac.tag(message)
            })
        });
        Ok(LightMac::build(k1, k2, s, level))
    }

    /// `s` must be 1 to n/2.
    #[inline]
    fn build(k1: C, k2: C, s: usize, level: Level) -> Self {
        let r = 8 * C::Block::BYTES - s;
        let (truncation, in_bytes) = (Truncation::none(), s.is_multiple_of(8) && s <= 64);
        let (block, limit_bits) = (r / gcd8(r), limit_bits(8 * C::Block::BYTES, s));
        let inverse = u64::MAX / block as u64;
        LightMac { k1, k2, level, truncation, s, gray: false, block, inverse, limit_bits, in_bytes }
    }

    /// Truncates tags to their first `bits` bits, 1 to n.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
        self.truncation = Truncation::to(bits)?;
        Ok(self)
    }

    /// Uses the Gray code of i mod 2^s instead of i. Tags differ and are equally secure, but are
    /// computed more slowly here. Neighbouring counters differ in one bit, which suits hardware.
    #[must_use]
    pub fn with_gray_code(mut self) -> Self {
        (self.gray, self.in_bytes) = (true, false);
        self
    }

    /// Returns the length of the counter in bits.
    pub fn s(&self) -> usize {
        self.s
    }

    /// The length of a message block in bits.
    #[inline(always)]
    pub(super) fn r(&self) -> usize {
        8 * C::Block::BYTES - self.s
    }
}

deterministic!(LightMac<C: Cipher>);
silent!(LightMac<C: Cipher>);
