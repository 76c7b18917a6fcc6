//! LightMAC with any counter: any number of bits, as integer or Gray code. Blocks of the message
//! need not end on bytes, so each block is extracted and stored before it is loaded.
//!
//! These functions are not inlined and cold, because every kernel also contains the fast case.

use super::key::LightMac;
use crate::algo::xor::{XorDigest, XorSum};
use crate::bits::Bits;
use crate::cipher::{Cipher, CipherBlock};
use crate::isa::{Isa, Lanes, MAX_LANES};

/// Adds whole blocks to a sum. The first block starts at byte `at`.
#[cold]
#[inline(never)]
pub(super) fn absorb<I: Isa, C: Cipher>(
    mac: &LightMac<C>,
    isa: I,
    sum: XorSum<C::Block>,
    at: u64,
    blocks: &[u8],
) -> XorSum<C::Block> {
    let mut strings = BitReader::new(mac, at, blocks);
    add(isa, &mut strings, sum, 8 * blocks.len() / mac.r())
}

/// Adds the rest of the message, whole blocks and a partial last block, and closes the hash.
#[cold]
#[inline(never)]
pub(super) fn finish<I: Isa, C: Cipher>(
    mac: &LightMac<C>,
    isa: I,
    sum: XorSum<C::Block>,
    at: u64,
    tail: Bits<'_>,
) -> XorDigest<C::Block> {
    let mut strings = BitReader::new(mac, at, tail.bytes());
    let (n, bits) = (tail.bits() as usize / mac.r(), tail.bits() as usize % mac.r());
    let sum = add(isa, &mut strings, sum, n);
    let last = strings.take(0, bits);
    XorDigest(sum.0.xor(&last).xor(&C::Block::one_at(bits)))
}

/// Adds the terms of the next `n` blocks to a sum. Only this part runs on the level.
#[inline(never)]
fn add<I: Isa, C: Cipher>(
    isa: I,
    strings: &mut BitReader<'_, C>,
    sum: XorSum<C::Block>,
    n: usize,
) -> XorSum<C::Block> {
    if n == 0 {
        return sum;
    }
    isa.run_outlined(
        #[inline(always)]
        || {
            let (lanes, keys) = (C::lanes(isa), strings.mac.k1.keys(isa));
            let mut terms = C::sum(isa, &keys);
            let whitening = C::whiten(isa, &keys, lanes.splat(&C::Block::ZERO));
            let (mut sum, mut left) = (sum, n);
            while left > 0 {
                let now = left.min(C::Lanes::<I>::LANES);
                let mut blocks = [C::Block::ZERO; MAX_LANES];
                strings.fill(&mut blocks[..now]);
                let x = lanes.xor(lanes.load_lanes(C::Block::flatten(&blocks[..now])), whitening);
                C::add_whitened_lanes(isa, &keys, &mut terms, x, now);
                left -= now;
            }
            sum.add(lanes, C::finish(isa, &keys, &mut terms));
            sum
        },
    )
}

/// Reads a part of a message block by block. Its functions are compiled once, without a level.
struct BitReader<'a, C: Cipher> {
    mac: &'a LightMac<C>,
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
    /// The number of the next block.
    i: u64,
}

impl<'a, C: Cipher> BitReader<'a, C> {
    /// Starts at byte `at` of the message, where a block starts.
    #[inline(never)]
    fn new(mac: &'a LightMac<C>, at: u64, bytes: &'a [u8]) -> Self {
        let before = (8 * at as u128 / mac.r() as u128) as u64;
        BitReader { mac, bytes, at: 0, i: before + 1 }
    }

    /// Fills `blocks` with the next i_s || M_i.
    #[inline(never)]
    fn fill(&mut self, blocks: &mut [C::Block]) {
        let mac = self.mac;
        for block in blocks {
            // Block number 2^s is encoded as 0^s: its leading one is dropped here or by the shift.
            let i = self.i & u64::MAX.checked_shr(64 - mac.s.min(64) as u32).unwrap_or(0);
            let number = if mac.gray { i ^ i >> 1 } else { i };
            let number = ((number as u128) << (128 - mac.s)).to_be_bytes();
            *block = self.take(mac.s, mac.r());
            for (byte, number) in block.as_mut().iter_mut().zip(number) {
                *byte |= number;
            }
            self.i += 1;
        }
    }

    /// The next `bits` bits, after `before` zeros and followed by zeros.
    #[inline(never)]
    fn take(&mut self, before: usize, bits: usize) -> C::Block {
        let mut block = C::Block::ZERO;
        let (first, turn) = (before / 8, before % 8);
        // Byte j of the string starts with bit `at + 8j`; it is split over two bytes of the block.
        let byte = |i: usize| self.bytes.get(i).copied().unwrap_or(0) as u16;
        for j in 0..bits.div_ceil(8) {
            let (i, shift) = ((self.at + 8 * j) / 8, (self.at + 8 * j) % 8);
            let next = (byte(i) << 8 | byte(i + 1)) << shift >> 8;
            let spread = ((next as u8) as u16) << 8 >> turn;
            let bytes = block.as_mut();
            bytes[first + j] |= (spread >> 8) as u8;
            if let Some(after) = bytes.get_mut(first + j + 1) {
                *after |= spread as u8;
            }
        }
        self.at += bits;
        block.and(&C::Block::first_ones(before + bits))
    }
}
