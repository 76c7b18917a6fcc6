//! Blocks of block ciphers as bytes.

use zeroize::Zeroize;

use crate::sealed::Sealed;

/// Sixteen bytes: a block of AES.
pub type Block = [u8; 16];

/// A block of a block cipher: n = `8 * BYTES` bits, first bit first.
///
/// Implemented for byte arrays of every length.
pub trait CipherBlock:
    Sealed + Copy + AsRef<[u8]> + AsMut<[u8]> + Zeroize + Send + Sync + Sized + 'static
{
    /// The length of a block in bytes.
    const BYTES: usize;
    /// A block of zeros.
    const ZERO: Self;

    /// Returns the bytes of consecutive blocks.
    fn flatten(blocks: &[Self]) -> &[u8];
    /// As [`flatten`](CipherBlock::flatten), mutable.
    fn flatten_mut(blocks: &mut [Self]) -> &mut [u8];
    /// Returns `self ^ other`.
    fn xor(&self, other: &Self) -> Self;
    /// Returns `self & mask`.
    fn and(&self, mask: &Self) -> Self;
    /// Returns up to a block of bytes, padded with zeros.
    fn zero_filled(p: &[u8]) -> Self;
    /// Returns the block `0^bits 1 0*`, the padding `10*` after `bits` bits. `bits` must be smaller
    /// than the block.
    fn one_at(bits: usize) -> Self;
    /// Returns a block with ones in the first `bits` bits, followed by zeros.
    fn first_ones(bits: usize) -> Self;
}

impl<const N: usize> Sealed for [u8; N] {}

impl<const N: usize> CipherBlock for [u8; N] {
    const BYTES: usize = N;
    const ZERO: Self = [0; N];

    #[inline(always)]
    fn flatten(blocks: &[Self]) -> &[u8] {
        blocks.as_flattened()
    }

    #[inline(always)]
    fn flatten_mut(blocks: &mut [Self]) -> &mut [u8] {
        blocks.as_flattened_mut()
    }

    #[inline(always)]
    fn xor(&self, other: &Self) -> Self {
        let mut xor = *self;
        combine(&mut xor, other, |a, b| a ^ b);
        xor
    }

    #[inline(always)]
    fn and(&self, mask: &Self) -> Self {
        let mut and = *self;
        combine(&mut and, mask, |a, b| a & b);
        and
    }

    #[inline(always)]
    fn zero_filled(p: &[u8]) -> Self {
        let mut block = [0; N];
        if N == 16 {
            // The length is constant here, so this is not a call.
            block.copy_from_slice(&zero_filled(p));
        } else {
            block[..p.len()].copy_from_slice(p);
        }
        block
    }

    #[inline(always)]
    fn one_at(bits: usize) -> Self {
        let mut block = [0; N];
        if N == 16 {
            block.copy_from_slice(&one_at(bits));
        } else {
            block[bits / 8] = 0x80 >> (bits % 8);
        }
        block
    }

    #[inline]
    fn first_ones(bits: usize) -> Self {
        let mut block = [0; N];
        for (i, byte) in block.iter_mut().enumerate() {
            *byte = !(0xff_u16 >> bits.saturating_sub(8 * i).min(8)) as u8;
        }
        block
    }
}

/// Combines the bits of `a` and `b`: 16 bytes at once, then 8, then single bytes.
#[inline(always)]
fn combine<const N: usize>(a: &mut [u8; N], b: &[u8; N], bits: impl Fn(u128, u128) -> u128) {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks_mut(), b.as_chunks());
    for (a, b) in a.iter_mut().zip(b) {
        *a = bits(u128::from_ne_bytes(*a), u128::from_ne_bytes(*b)).to_ne_bytes();
    }
    let ((a, a_rest), (b, b_rest)) = (a_rest.as_chunks_mut(), b_rest.as_chunks());
    for (a, b) in a.iter_mut().zip(b) {
        let word = bits(u64::from_ne_bytes(*a) as u128, u64::from_ne_bytes(*b) as u128);
        *a = (word as u64).to_ne_bytes();
    }
    for (a, b) in a_rest.iter_mut().zip(b_rest) {
        *a = bits(*a as u128, *b as u128) as u8;
    }
}

/// Up to 16 bytes, padded with zeros. Two overlapping reads instead of a copy of unknown length,
/// which would be a call.
#[inline(always)]
pub fn zero_filled(p: &[u8]) -> Block {
    let n = p.len();
    let value = if let Some(b) = p.first_chunk::<16>() {
        u128::from_le_bytes(*b)
    } else if let (Some(low), Some(high)) = (p.first_chunk::<8>(), p.last_chunk::<8>()) {
        let high = u64::from_le_bytes(*high) as u128;
        u64::from_le_bytes(*low) as u128 | high << (8 * (n - 8))
    } else if let (Some(low), Some(high)) = (p.first_chunk::<4>(), p.last_chunk::<4>()) {
        let high = u32::from_le_bytes(*high) as u64;
        (u32::from_le_bytes(*low) as u64 | high << (8 * (n - 4))) as u128
    } else if let [first, .., last] = p {
        let middle = p[n / 2];
        (*first as u32 | (middle as u32) << (8 * (n / 2)) | (*last as u32) << (8 * (n - 1))) as u128
    } else {
        p.first().copied().unwrap_or(0) as u128
    };
    value.to_le_bytes()
}

/// 8 to 16 bytes, after leading zeros.
#[inline(always)]
pub(crate) fn zeros_before(p: &[u8]) -> Block {
    let low = u64::from_le_bytes(*p.first_chunk().expect("8 bytes"));
    let low = low.checked_shl(8 * (16 - p.len() as u32)).unwrap_or(0);
    let high = u64::from_le_bytes(*p.last_chunk().expect("8 bytes"));
    ((high as u128) << 64 | low as u128).to_le_bytes()
}

/// The block `0^bits 1 0*`, for fewer than 128 bits.
#[inline(always)]
fn one_at(bits: usize) -> Block {
    const BYTES: [[u8; 31]; 8] = {
        let mut rows = [[0; 31]; 8];
        let mut bit = 0;
        while bit < 8 {
            rows[bit][15] = 0x80 >> bit;
            bit += 1;
        }
        rows
    };
    let row = &BYTES[bits % 8];
    let first = 15 - bits / 8;
    *row[first..].first_chunk().expect("fewer than 128 bits")
}
