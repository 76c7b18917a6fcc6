//! Tags: up to 256 bits, compared in constant time only.

use core::fmt;

use crate::error::{Error, Mismatch};
use crate::isa::{CipherBlock, Isa, Register, Words, opaque_word};

/// A tag of 1 to 256 bits: the first bits of its bytes. Unused low bits of the last byte are zero.
/// `Tag::default()` has no bits: it is a placeholder that matches no message.
///
/// `==` runs in constant time. `{}` and `{:x}` write lower-case hex, `{:X}` upper-case, and `#` adds
/// the prefix `0x`. `Debug` prints nothing, because the right tag of a rejected message must not end
/// up in a log.
#[derive(Clone, Copy, Default)]
pub struct Tag {
    bytes: [u8; Tag::MAX_BYTES],
    // A word, so that a tag is whole words and is moved by loads that match the stores.
    bits: usize,
}

impl Tag {
    /// The maximum length of a tag in bytes.
    pub const MAX_BYTES: usize = 32;

    /// Returns the tag of `bits` bits in `bytes`. For whole bytes use `Tag::try_from(bytes)`.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`], [`Error::TagBytes`] or [`Error::UnusedTagBits`].
    ///
    /// ```
    /// use tagmac::Tag;
    /// assert!(Tag::new(&[0xab, 0xc0], 12).is_ok());
    /// assert!(Tag::new(&[0xab, 0xcd], 12).is_err(), "an unused bit is set");
    /// assert!(Tag::new(&[0xab], 12).is_err(), "one byte is too few");
    /// ```
    pub fn new(bytes: &[u8], bits: usize) -> Result<Tag, Error> {
        if !(1..=8 * Self::MAX_BYTES).contains(&bits) {
            let max = 8 * Self::MAX_BYTES;
            return Err(Error::TagBits { min: 1, max, step: 1, found: bits });
        }
        if bits.div_ceil(8) != bytes.len() {
            return Err(Error::TagBytes { expected: bits.div_ceil(8), found: bytes.len() });
        }
        let unused = bytes.len() * 8 - bits;
        if bytes[bytes.len() - 1] & !(0xff << unused) != 0 {
            return Err(Error::UnusedTagBits);
        }
        let mut tag = Tag { bytes: [0; Self::MAX_BYTES], bits };
        tag.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(tag)
    }

    /// The first `bits` bits of a block. The other bits must be zero.
    #[inline(always)]
    pub(crate) fn from_block<B: CipherBlock>(block: B, bits: u16) -> Tag {
        let mut bytes = [0; Self::MAX_BYTES];
        bytes[..B::BYTES].copy_from_slice(block.as_ref());
        Tag { bytes, bits: bits.into() }
    }

    /// The tag of `bits` bits, at most 128, that a one-shot call returned in a register.
    #[inline(always)]
    pub(crate) fn from_register(register: Register, bits: usize) -> Tag {
        let mut tag = Tag { bytes: [0; Self::MAX_BYTES], bits };
        tag.bytes[..16].copy_from_slice(&register.block());
        tag
    }

    /// The bytes of a tag of at most 128 bits, to return in a register.
    #[inline(always)]
    pub(crate) fn register(&self) -> Register {
        Register::new(self.bytes.first_chunk().expect("32 bytes"))
    }

    /// Compares with the tag of `bits` bits, at most 128, in a register. Lengths are public.
    #[inline(always)]
    pub(crate) fn is_in(&self, register: Register, bits: usize) -> bool {
        self.bits == bits && register.ct_eq(self.bytes.first_chunk().expect("32 bytes"))
    }

    /// As [`from_block`](Tag::from_block), in place.
    #[inline(always)]
    pub(crate) fn set<B: CipherBlock>(&mut self, block: &B, bits: u16) {
        let (first, rest) = self.bytes.split_at_mut(B::BYTES);
        first.copy_from_slice(block.as_ref());
        rest.fill(0);
        self.bits = bits.into();
    }

    /// The first `bits` bits of a little-endian number. The other bits must be zero. Stored in one
    /// piece: two halves cannot be forwarded to one load until both have reached the cache.
    #[inline(always)]
    pub(crate) fn from_number<I: Isa>(isa: I, number: u128, bits: u16) -> Tag {
        let words = isa.words().narrow();
        let number = words.load(&[number as u64, (number >> 64) as u64]);
        Tag::from_block(words.lane0(number), bits)
    }

    /// Returns the tag's bytes. Unused low bits of the last one are zero.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.bits.div_ceil(8)]
    }

    /// Returns the tag's length in bits.
    #[inline]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Writes the bytes as digits, with the width, fill and `#` of the format.
    fn hex(&self, f: &mut fmt::Formatter<'_>, digits: &[u8; 16]) -> fmt::Result {
        let mut text = [0; 2 * Self::MAX_BYTES];
        for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(self.as_bytes()) {
            *pair = [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]];
        }
        let text = &text[..2 * self.as_bytes().len()];
        f.pad_integral(true, "0x", str::from_utf8(text).expect("digits are text"))
    }
}

/// Compares a tag with the expected one. A message that was refused matches no tag.
#[inline]
pub fn matches(expected: Result<Tag, Error>, tag: &Tag) -> Result<(), Mismatch> {
    match expected {
        Ok(expected) if expected == *tag => Ok(()),
        _ => Err(Mismatch),
    }
}

impl TryFrom<&[u8]> for Tag {
    type Error = Error;

    /// Returns a tag of whole bytes.
    #[inline]
    fn try_from(bytes: &[u8]) -> Result<Tag, Error> {
        // The usual lengths need no calls, which would be noticeable when checking short messages.
        if let Ok(block) = <[u8; 16]>::try_from(bytes) {
            return Ok(Tag::from_block(block, 128));
        }
        if let Ok(block) = <[u8; 8]>::try_from(bytes) {
            return Ok(Tag::from_block(block, 64));
        }
        if let Ok(block) = <[u8; 4]>::try_from(bytes) {
            return Ok(Tag::from_block(block, 32));
        }
        Tag::new(bytes, 8 * bytes.len())
    }
}

impl AsRef<[u8]> for Tag {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Tag {
    #[inline]
    fn eq(&self, other: &Tag) -> bool {
        // Bytes past the tag are zero in both. The difference is hidden from the optimiser once and
        // without a call; `subtle` makes one, which is noticeable for short messages.
        let words = self.bytes.as_chunks().0.iter().zip(other.bytes.as_chunks().0);
        let differ = words
            .fold(0, |differ, (a, b)| differ | (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b)));
        // Apart, so that no load joins the end of the bytes and the length: it would wait for both
        // of their stores.
        opaque_word(differ) | (self.bits ^ other.bits) as u64 == 0
    }
}

impl Eq for Tag {}

#[cfg(feature = "rustcrypto")]
impl subtle::ConstantTimeEq for Tag {
    #[inline]
    fn ct_eq(&self, other: &Tag) -> subtle::Choice {
        // Bytes past the tag are zero in both.
        self.bytes.ct_eq(&other.bytes) & (self.bits as u64).ct_eq(&(other.bits as u64))
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::LowerHex for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex(f, b"0123456789abcdef")
    }
}

impl fmt::UpperHex for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex(f, b"0123456789ABCDEF")
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({} bits)", self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        for bits in [256usize, 251, 128, 64, 7, 1] {
            let tag = Tag::new(&[0; 32][..bits.div_ceil(8)], bits).expect("a tag");
            for wrong in 0..bits {
                let mut bytes = [0; 32];
                bytes[wrong / 8] = 0x80 >> (wrong % 8);
                let other = Tag::new(&bytes[..bits.div_ceil(8)], bits).expect("a tag");
                assert!(other != tag, "bit {wrong} of {bits}");
                #[cfg(feature = "rustcrypto")]
                assert!(
                    !bool::from(subtle::ConstantTimeEq::ct_eq(&other, &tag)),
                    "bit {wrong} of {bits}"
                );
                assert!(bits > 128 || !tag.is_in(other.register(), bits), "bit {wrong} of {bits}");
            }
            #[cfg(feature = "rustcrypto")]
            {
                use subtle::ConstantTimeEq;
                let longer = Tag { bits: tag.bits + 1, ..tag };
                assert!(
                    bool::from(tag.ct_eq(&tag)) && !bool::from(tag.ct_eq(&longer)),
                    "{bits} bits"
                );
            }
            if bits <= 128 {
                assert!(tag.is_in(tag.register(), bits) && !tag.is_in(tag.register(), bits + 1));
                assert!(Tag::from_register(tag.register(), bits) == tag);
            }
            assert!(
                bits == 1
                    || tag
                        != Tag::new(&[0; 32][..(bits - 1).div_ceil(8)], bits - 1).expect("a tag")
            );
        }
    }

    #[test]
    fn changes_do_not_cancel() {
        let half = |bytes: &[u8; 32]| Tag::new(&bytes[..16], 128).expect("a tag");
        let right = [0x5a; 32];
        for (one, other) in [(0, 8), (7, 15), (1, 17), (8, 24)] {
            let mut bytes = right;
            bytes[one] ^= 0x80;
            bytes[other] ^= 0x80;
            let [tag, changed] = [right, bytes].map(|bytes| Tag::new(&bytes, 256).expect("a tag"));
            assert!(changed != tag, "bytes {one} and {other}");
            assert!(!half(&bytes).is_in(half(&right).register(), 128), "bytes {one} and {other}");
        }
    }

    #[test]
    fn whole_bytes_are_tags_of_any_length() {
        for length in 0..=33 {
            let bytes: [u8; 33] = core::array::from_fn(|i| i as u8 + 1);
            let (whole, new) =
                (Tag::try_from(&bytes[..length]), Tag::new(&bytes[..length], 8 * length));
            assert_eq!(whole.is_ok(), (1..=32).contains(&length));
            assert!(whole == new, "{length} bytes");
        }
    }

    #[test]
    #[cfg(feature = "std")]
    fn hex_has_every_digit_and_the_width_of_the_format() {
        let tag = Tag::new(&[0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef], 64).expect("a tag");
        assert_eq!(std::format!("{tag:x}"), "0123456789abcdef");
        assert_eq!(std::format!("{tag:x}"), std::format!("{tag}"));
        assert_eq!(std::format!("{tag:X}"), "0123456789ABCDEF");
        assert_eq!(std::format!("{tag:#x}"), "0x0123456789abcdef");
        assert_eq!(std::format!("{tag:#020X}"), "0x000123456789ABCDEF");
        assert_eq!(std::format!("{tag:>18x}"), "  0123456789abcdef");
        assert_eq!(std::format!("{:x}", Tag::default()), "");
        assert_eq!(
            std::format!("{:x}", Tag::new(&[0xab; 32], 256).expect("a tag")),
            "ab".repeat(32)
        );
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn one_in_a_result_is_aligned() {
        let made: Result<Tag, Error> = Ok(Tag::default());
        let tag = core::ptr::from_ref(made.as_ref().expect("a tag"));
        assert_eq!(tag.addr() - core::ptr::from_ref(&made).addr(), 8);
        assert_eq!(size_of_val(&made), 48);
    }
}
