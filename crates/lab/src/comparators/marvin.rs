//! MARVIN (Simplicio and others 2009) with AES-128, as drawn in EliMAC's appendix A and as public
//! programs implement its algorithm 1. Its square-complete transform is four rounds of AES.
//!
//! ```text
//! R   = E_K(c) ^ c, c = 2a        mask_i = R x^(8 i)
//! Tag = E_K(R ^ 80 00 .. ^ the bits of M ^ Theta(M_1 ^ mask_1) ^ .. ^ Theta(M_l ^ mask_l))
//! ```
//!
//! Zeros fill the last block. 80 00 .. means that the tag has all its bits. Our choices: masks in
//! PMAC's field, and MixColumns in all four rounds.

use tagmac::cipher::{Aes128, Cipher, CipherBlock};
use tagmac::isa::{Block, Isa, Kernel, Lanes, Level, Levels};

use crate::blocks::encrypt;
use crate::field::{number, power_of_x, times};

/// MARVIN with AES-128.
pub struct Marvin {
    cipher: Aes128,
    r: Block,
    level: Level,
}

impl Marvin {
    /// Makes MARVIN under a key.
    pub fn with_level(key: &[u8; 16], level: Level) -> Self {
        let cipher = Aes128::new(key, level);
        let c: Block = number(0x2a);
        let r = encrypt(&cipher, &c, level).xor(&c);
        Marvin { cipher, r, level }
    }

    /// Returns the tag of a message.
    pub fn tag(&self, message: &[u8]) -> Block {
        let (mut mask, step) = (self.r, power_of_x(8));
        let bits: Block = number(8 * message.len() as u128);
        let mut sum = self.r.xor(&CipherBlock::one_at(0)).xor(&bits);
        for block in message.chunks(16) {
            mask = times(&step, &mask);
            let block = Block::zero_filled(block).xor(&mask);
            sum = sum.xor(&self.level.run(FourRounds(block)));
        }
        encrypt(&self.cipher, &sum, self.level)
    }
}

/// Four rounds of AES without keys, each with MixColumns.
pub(super) struct FourRounds(pub(super) Block);

impl Kernel for FourRounds {
    const LEVELS: Levels = Levels::Narrow;
    type Out = Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Block {
        let isa = isa.narrow();
        let zero = isa.splat(&[0; 16]);
        isa.lane0((0..4).fold(
            isa.splat(&self.0),
            #[inline(always)]
            |x, _| isa.aes(x, zero),
        ))
    }
}
