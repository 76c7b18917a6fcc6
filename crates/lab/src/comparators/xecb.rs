//! XECB-MAC (Gligor and Donescu), as the PMAC paper has it in section 4.4.
//!
//! 10* always, M = M_1 .. M_l, R = E_K(nonce), + modulo 2^n of big-endian numbers:
//!
//! ```text
//! Sigma = E_K(M_1 + R) ^ .. ^ E_K(M_l + l R)      Tag = Sigma ^ R
//! ```
//!
//! Every term depends on the nonce, so a value of the library's traits is the MAC under one nonce.

use tagmac::Tag;
use tagmac::cipher::{Cipher, CipherBlock, Field};
use tagmac::isa::{Isa, Level, Levels};

use crate::blocks::{blocks, encrypt, encrypt_each, padded};
use crate::field::number;
use crate::parallel::{Mode, Parallel, Sums, whole};

/// XECB-MAC with the cipher C, of blocks of at most 128 bits.
#[derive(Clone)]
pub struct XecbMac<C: Cipher> {
    cipher: C,
    level: Level,
}

/// XECB-MAC for the one message that has a nonce.
#[derive(Clone)]
pub struct XecbMessage<C: Cipher> {
    cipher: C,
    r: u128,
}

impl<C: Cipher<Block: Field + PartialEq>> XecbMac<C> {
    /// XECB-MAC under a key.
    pub fn with_level(key: &C::Key, level: Level) -> Self {
        const { assert!(C::Block::BYTES <= 16) };
        XecbMac { cipher: C::new(key, level), level }
    }

    /// The MAC of the message that has this nonce.
    pub fn under(&self, nonce: &C::Block) -> Parallel<XecbMessage<C>> {
        let r = value(&encrypt(&self.cipher, nonce, self.level));
        Parallel::new(XecbMessage { cipher: self.cipher.clone(), r }, self.level)
    }
}

/// A block as a number, big-endian.
#[inline(always)]
fn value<B: CipherBlock>(block: &B) -> u128 {
    let mut bytes = [0; 16];
    bytes[16 - B::BYTES..].copy_from_slice(block.as_ref());
    u128::from_be_bytes(bytes)
}

impl<C: Cipher<Block: Field + PartialEq>> XecbMessage<C> {
    /// Block number i, counted from 1, plus i R.
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
        let mut xor = sums.xor;
        let inputs = (at + 1..).zip(blocks(bytes)).map(
            #[inline(always)]
            |(i, block)| self.masked(i, &block),
        );
        encrypt_each(
            isa,
            &self.cipher,
            inputs,
            #[inline(always)]
            |y| xor = xor.xor(y),
        );
        sums.xor = xor;
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
