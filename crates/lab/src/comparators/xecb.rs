//! XECB-MAC (Gligor and Donescu), as in section 4.4 of the PMAC paper.
//!
//! 10* always, M = M_1 .. M_l, R = E_K(nonce), + modulo 2^n of big-endian numbers:
//!
//! ```text
//! Sigma = E_K(M_1 + R) ^ .. ^ E_K(M_l + l R)      Tag = Sigma ^ R
//! ```
//!
//! Every term depends on the nonce, so the MAC of the library's traits is for one nonce.

use tagmac::Tag;
use tagmac::cipher::{Cipher, CipherBlock, Field};
use tagmac::isa::{Isa, Level, Levels};

use crate::batch::{Aligned, BATCH};
use crate::blocks::{add_vectors, encrypt, load, padded};
use crate::field::number;
use crate::parallel::{Mode, Parallel, Sums, whole};

/// XECB-MAC with the cipher C, of blocks of 64 or 128 bits.
#[derive(Clone)]
pub struct XecbMac<C: Cipher> {
    cipher: C,
    level: Level,
}

/// XECB-MAC for the one message under a nonce.
#[derive(Clone)]
pub struct XecbMessage<C: Cipher> {
    cipher: C,
    r: u128,
}

impl<C: Cipher<Block: Field + PartialEq>> XecbMac<C> {
    /// Makes XECB-MAC under a key.
    pub fn with_level(key: &C::Key, level: Level) -> Self {
        const { assert!(matches!(C::Block::BYTES, 8 | 16)) };
        XecbMac { cipher: C::new(key, level), level }
    }

    /// Returns the MAC of the message under this nonce.
    pub fn under(&self, nonce: &C::Block) -> Parallel<XecbMessage<C>> {
        let r = value(&encrypt(&self.cipher, nonce, self.level));
        Parallel::new(XecbMessage { cipher: self.cipher.clone(), r }, self.level)
    }
}

/// Returns the words of a number, the higher first. Compilers vectorise sums of these, but not of
/// u128.
#[inline(always)]
fn halves(number: u128) -> [u64; 2] {
    [(number >> 64) as u64, number as u64]
}

#[inline(always)]
fn add(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
    let low = a[1].wrapping_add(b[1]);
    [a[0].wrapping_add(b[0]).wrapping_add(u64::from(low < b[1])), low]
}

#[inline(always)]
fn load_halves(block: &[u8]) -> [u64; 2] {
    let (high, low) = block.split_at(block.len() - 8);
    let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u64::from_be_bytes(*word));
    [word(high), word(low)]
}

#[inline(always)]
fn store<B: CipherBlock>([high, low]: [u64; 2], block: &mut B) {
    let (first, second) = block.as_mut().split_at_mut(B::BYTES - 8);
    second.copy_from_slice(&low.to_be_bytes());
    if B::BYTES == 16 {
        first.copy_from_slice(&high.to_be_bytes());
    }
}

/// Returns a block as a big-endian number.
#[inline(always)]
fn value<B: CipherBlock>(block: &B) -> u128 {
    let mut bytes = [0; 16];
    bytes[16 - B::BYTES..].copy_from_slice(block.as_ref());
    u128::from_be_bytes(bytes)
}

impl<C: Cipher<Block: Field + PartialEq>> XecbMessage<C> {
    /// Returns block number i, counted from 1, plus i R.
    #[inline(always)]
    fn masked(&self, i: u64, block: &C::Block) -> C::Block {
        number(value(block).wrapping_add(self.r.wrapping_mul(i.into())))
    }
}

impl<C: Cipher<Block: Field + PartialEq>> Mode for XecbMessage<C> {
    type Word = C::Block;
    type Digest = C::Block;
    type Nonce = ();
    const LEVELS: Levels = C::LEVELS;
    const BLOCK_BYTES: usize = C::Block::BYTES;
    const TAG_BYTES: usize = C::Block::BYTES;

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<C::Block>, at: u64, bytes: &[u8]) {
        let (lanes, keys) = (C::lanes(isa), self.cipher.keys(isa));
        let mut sum = C::sum(isa, &keys);
        let mut offsets = [[0; BATCH]; 2];
        let [high, low] = &mut offsets;
        let mut offset = self.r.wrapping_mul(u128::from(at) + 1);
        for (high, low) in high.iter_mut().zip(low) {
            [*high, *low] = halves(offset);
            offset = offset.wrapping_add(self.r);
        }
        let step = halves(self.r.wrapping_mul(BATCH as u128));
        for bytes in bytes.chunks(BATCH * C::Block::BYTES) {
            let mut x = Aligned([C::Block::ZERO; BATCH]);
            for (j, block) in bytes.chunks_exact(C::Block::BYTES).enumerate() {
                let offset = [offsets[0][j], offsets[1][j]];
                store(add(load_halves(block), offset), &mut x.0[j]);
                [offsets[0][j], offsets[1][j]] = add(offset, step);
            }
            add_vectors::<I, C>(
                isa,
                &keys,
                &mut sum,
                bytes.len() / C::Block::BYTES,
                #[inline(always)]
                |j, n| load(lanes, C::Block::flatten(&x.0[j..][..n])),
            );
        }
        sums.add_xor(lanes, C::finish(isa, &keys, &mut sum));
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sums: Sums<C::Block>, at: u64, last: &[u8]) -> C::Block {
        let last = self.masked(at + 1, &padded(last));
        sums.xor.xor(&self.cipher.encrypt_one(isa, &last))
    }

    #[inline(always)]
    fn tag<I: Isa>(&self, _: I, (): &(), sigma: C::Block) -> Tag {
        whole(&sigma.xor(&number(self.r)))
    }
}
