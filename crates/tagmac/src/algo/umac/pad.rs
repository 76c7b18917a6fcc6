//! Pads: AES of a nonce. In UMAC-32 and UMAC-64, four or two nonces share a block (RFC 4418,
//! section 3.3).

use core::ops::RangeInclusive;

use zeroize::Zeroize;

use super::uhash::UmacDigest;
use crate::cipher::Cipher;
use crate::error::Error;
use crate::isa::{Block, CipherBlock, Isa, Lanes, Words};
use crate::nonce::{Nonce, check_length};
use crate::sealed::Sealed;
use crate::tag::Tag;

/// A nonce of UMAC, of 1 to 16 bytes. All nonces under a key must have the same length, because a
/// shorter nonce is padded with zeros.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UmacNonce {
    /// The nonce, padded with zeros.
    block: Block,
    bytes: usize,
}

impl Sealed for UmacNonce {}

impl Nonce for UmacNonce {
    const BYTES: RangeInclusive<usize> = 1..=16;

    #[inline]
    fn from_slice(bytes: &[u8]) -> Result<Self, Error> {
        check_length(Self::BYTES, bytes.len())?;
        Ok(UmacNonce { block: crate::isa::zero_filled(bytes), bytes: bytes.len() })
    }

    #[inline]
    fn from_block(block: Block, bytes: usize) -> Result<Self, Error> {
        check_length(Self::BYTES, bytes)?;
        Ok(UmacNonce { block, bytes })
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        &self.block[..self.bytes]
    }
}

/// A packet number, big-endian as in SSH.
impl From<u64> for UmacNonce {
    #[inline]
    fn from(number: u64) -> Self {
        UmacNonce { block: ((number as u128) << 64).to_be_bytes(), bytes: 8 }
    }
}

impl From<[u8; 16]> for UmacNonce {
    #[inline]
    fn from(block: [u8; 16]) -> Self {
        UmacNonce { block, bytes: 16 }
    }
}

impl core::fmt::Debug for UmacNonce {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("UmacNonce(")?;
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// The pad of the last nonces. In UMAC-32 and UMAC-64, four or two nonces share a block. Secret:
/// prints nothing in `Debug`.
#[derive(Clone, Copy, Default)]
pub struct UmacPad {
    /// The last input of the cipher and its output.
    last: Option<(Block, Block)>,
}

impl Zeroize for UmacPad {
    fn zeroize(&mut self) {
        // `Option`'s own implementation ends by writing a `None` whose other bytes are old stack
        // contents, possibly the pad.
        if let Some((input, output)) = &mut self.last {
            input.zeroize();
            output.zeroize();
        }
        self.last = None;
    }
}

/// The number of pads of 32 T bits in a block of the cipher.
pub(super) const fn pads_in_block<const T: usize>() -> u8 {
    if T <= 2 { 4 / T as u8 } else { 1 }
}

/// The cipher's input for a nonce, and the index of the nonce's pad among the `pads` pads in the
/// block. The index is the low bits of the nonce.
#[inline(always)]
pub(super) fn pad_of(nonce: &UmacNonce, pads: u8) -> (Block, usize) {
    /// For 1, 2 and 4 pads, ones except for the low bits of byte 15. A window into it masks these
    /// bits in any byte of a block: a block written bytewise could not be forwarded to the load.
    static KEPT: [[u8; 31]; 3] = {
        let mut kept = [[0xff; 31]; 3];
        (kept[1][15], kept[2][15]) = (!1, !3);
        kept
    };
    let last = (nonce.bytes - 1) % 16;
    let place = (nonce.block[last] & (pads - 1)) as usize;
    let kept = &KEPT[pads.trailing_zeros() as usize][15 - last..];
    (nonce.block.and(kept.first_chunk().expect("16 of 31 bytes")), place)
}

/// Pad number `place` of a block, of 32 T bits.
#[inline(always)]
pub(super) fn pad_in<const T: usize>(output: &Block, place: usize) -> u128 {
    match T {
        1 => u32::from_le_bytes(output.as_chunks().0[place]) as u128,
        2 => u64::from_le_bytes(output.as_chunks().0[place]) as u128,
        _ => u128::from_le_bytes(*output) & u128::MAX >> (128 - 32 * T),
    }
}

/// A digest xored with pad number `place` of a block, as a tag's bytes.
#[inline(always)]
pub(super) fn hidden<I: Isa, const T: usize>(
    isa: I,
    digest: &UmacDigest<T>,
    output: &Block,
    place: usize,
) -> Block {
    let pad = pad_in::<T>(output, place);
    if T > 2 {
        let (narrow, pad) = (isa.narrow(), pad.to_le_bytes());
        return narrow.lane0(narrow.xor(narrow.splat(&digest.0), narrow.splat(&pad)));
    }
    // In one word, and stored at once.
    let (words, [digest, _]) = (isa.words().narrow(), halves(&digest.0));
    words.lane0(words.load(&[digest ^ pad as u64, 0]))
}

/// The words of a block, little-endian.
#[inline(always)]
fn halves(block: &Block) -> [u64; 2] {
    let number = u128::from_le_bytes(*block);
    [number as u64, (number >> 64) as u64]
}

/// The tag of a digest.
#[inline(always)]
pub(super) fn finalize<I: Isa, C: Cipher<Block = Block>, const T: usize>(
    isa: I,
    cipher: &C,
    pads: u8,
    nonce: &UmacNonce,
    pad: &mut UmacPad,
    digest: &UmacDigest<T>,
) -> Tag {
    let (input, place) = pad_of(nonce, pads);
    let output = match pad.last {
        // With AES instructions, the output is computed while the message is hashed.
        _ if I::AES_INSTRUCTIONS || pads == 1 => cipher.encrypt_one(isa, &input),
        Some((last, output)) if last == input => output,
        _ => {
            let output = cipher.encrypt_one(isa, &input);
            pad.last = Some((input, output));
            output
        }
    };
    Tag::from_block(hidden(isa, digest, &output, place), 32 * T as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bits_of_a_nonce_choose_a_pad() {
        for bytes in 1..=16 {
            for last in [0u8, 1, 2, 3, 0xfc, 0xff] {
                let mut nonce = [0xa5; 16];
                nonce[bytes - 1] = last;
                let nonce = UmacNonce::from_slice(&nonce[..bytes]).expect("1 to 16 bytes");
                for pads in [1, 2, 4] {
                    let mut input = nonce.block;
                    input[bytes - 1] &= !(pads - 1);
                    let place = (last & (pads - 1)) as usize;
                    assert_eq!(pad_of(&nonce, pads), (input, place), "{bytes} bytes, {pads} pads");
                }
            }
        }
        assert_eq!([pads_in_block::<1>(), pads_in_block::<2>(), pads_in_block::<3>()], [4, 2, 1]);
    }

    #[test]
    fn a_pad_is_a_part_of_the_block() {
        let block: Block = core::array::from_fn(|i| i as u8);
        assert_eq!(pad_in::<1>(&block, 2), 0x0b0a0908);
        assert_eq!(pad_in::<2>(&block, 1), 0x0f0e0d0c0b0a0908);
        assert_eq!(pad_in::<3>(&block, 0), 0x0b0a09080706050403020100);
        assert_eq!(pad_in::<4>(&block, 0), u128::from_le_bytes(block));
    }
}
