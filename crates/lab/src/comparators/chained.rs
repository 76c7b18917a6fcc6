//! MACs that chain blocks. Each block waits for the previous one, so its rounds run one after the
//! other. SUM-ECBC's two chains run side by side, in the time of one.
//!
//! ```text
//! Y_0 = 0      Y_i = E_K1(X_i ^ Y_{i-1})      CBC(X) = Y_m
//!
//! CBC-MAC  = CBC(M), for nonzero multiples of the block alone
//! EMAC     = E_K2(CBC(M 10*))
//! EDE      = E_K1(D_K2(CBC(M 10*))), CBC-MAC with triple encryption of the last block
//! SUM-ECBC = EMAC_{K1,K2} ^ EMAC_{K3,K4}
//! 3kf9     = E_K2(Y_m) ^ E_K3(Y_1 ^ .. ^ Y_m), of M 10*
//! XCBC     = CBC(M with K2 xored into the last block, if that is full)
//!            CBC(M 10* with K3 xored into the last block, if not)
//! ```
//!
//! All except XCBC always add `10*`.
//!
//! CBC-MAC is FIPS 113 without its padding. EMAC is from the LightMAC paper, with our padding. EDE
//! is algorithm 3 of ISO/IEC 9797-1, as remembered. SUM-ECBC is from Yasuda, CT-RSA 2010, and 3kf9
//! from Zhang, Wu, Sui and Wang, ASIACRYPT 2012, both as remembered. XCBC is from Black and
//! Rogaway, CRYPTO 2000, and RFC 3566.

use tagmac::cipher::{Cipher, CipherBlock, CipherKey, Decrypt};
use tagmac::isa::{Isa, Kernel, Level, Levels};

use crate::blocks::{Chained, chains, encrypt, padded};

/// CBC-MAC with the cipher C.
pub struct CbcMac<C> {
    cipher: C,
    level: Level,
}

impl<C: Cipher> CbcMac<C> {
    /// Makes CBC-MAC under a key.
    pub fn with_level(key: &C::Key, level: Level) -> Self {
        CbcMac { cipher: C::new(key, level), level }
    }

    /// Returns the tag of a message of whole blocks.
    ///
    /// # Errors
    ///
    /// Returns one line unless the message is a nonzero multiple of the block.
    pub fn tag(&self, message: &[u8]) -> Result<C::Block, String> {
        let (block, found) = (C::Block::BYTES, message.len());
        if found == 0 || !found.is_multiple_of(block) {
            return Err(format!(
                "message: expected a nonzero multiple of {block} bytes, found {found} bytes"
            ));
        }
        let (before, last) = message.split_at(found - block);
        let [y] = chains([&self.cipher], before, &C::Block::zero_filled(last), self.level);
        Ok(y.last)
    }
}

/// Computes chains over a message with 10* always added.
fn padded_chains<C: Cipher, const N: usize>(
    ciphers: [&C; N],
    message: &[u8],
    level: Level,
) -> [Chained<C::Block>; N] {
    let (blocks, rest) = message.split_at(message.len() / C::Block::BYTES * C::Block::BYTES);
    chains(ciphers, blocks, &padded(rest), level)
}

/// EMAC with the cipher C.
pub struct Emac<C> {
    k1: C,
    k2: C,
    level: Level,
}

impl<C: Cipher> Emac<C> {
    /// Makes EMAC under two keys.
    pub fn with_level(k1: &C::Key, k2: &C::Key, level: Level) -> Self {
        Emac { k1: C::new(k1, level), k2: C::new(k2, level), level }
    }

    /// Returns the tag of a message.
    pub fn tag(&self, message: &[u8]) -> C::Block {
        let [y] = padded_chains([&self.k1], message, self.level);
        encrypt(&self.k2, &y.last, self.level)
    }
}

/// CBC-MAC with triple encryption of the last block, with the cipher C.
pub struct CbcMacEde<C> {
    k1: C,
    k2: C,
    level: Level,
}

impl<C: Decrypt> CbcMacEde<C> {
    /// Makes CBC-MAC-EDE under two keys.
    pub fn with_level(k1: &C::Key, k2: &C::Key, level: Level) -> Self {
        CbcMacEde { k1: C::new(k1, level), k2: C::new(k2, level), level }
    }

    /// Returns the tag of a message.
    pub fn tag(&self, message: &[u8]) -> C::Block {
        let [y] = padded_chains([&self.k1], message, self.level);
        let middle = self.level.run(DecryptOne { cipher: &self.k2, block: &y.last });
        encrypt(&self.k1, &middle, self.level)
    }
}

struct DecryptOne<'a, C: Cipher> {
    cipher: &'a C,
    block: &'a C::Block,
}

impl<C: Decrypt> Kernel for DecryptOne<'_, C> {
    const LEVELS: Levels = Levels::Narrow;
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        self.cipher.decrypt_one(isa, self.block)
    }
}

/// SUM-ECBC with the cipher C.
pub struct SumEcbc<C> {
    keys: [C; 4],
    level: Level,
}

impl<C: Cipher> SumEcbc<C> {
    /// Makes SUM-ECBC under four keys.
    pub fn with_level(keys: [&C::Key; 4], level: Level) -> Self {
        SumEcbc { keys: keys.map(|key| C::new(key, level)), level }
    }

    /// Returns the tag of a message.
    pub fn tag(&self, message: &[u8]) -> C::Block {
        let [k1, k2, k3, k4] = &self.keys;
        let [y, z] = padded_chains([k1, k3], message, self.level);
        encrypt(k2, &y.last, self.level).xor(&encrypt(k4, &z.last, self.level))
    }
}

/// 3kf9 with the cipher C.
pub struct ThreeKf9<C> {
    keys: [C; 3],
    level: Level,
}

impl<C: Cipher> ThreeKf9<C> {
    /// Makes 3kf9 under three keys.
    pub fn with_level(keys: [&C::Key; 3], level: Level) -> Self {
        ThreeKf9 { keys: keys.map(|key| C::new(key, level)), level }
    }

    /// Returns the tag of a message.
    pub fn tag(&self, message: &[u8]) -> C::Block {
        let [k1, k2, k3] = &self.keys;
        let [y] = padded_chains([k1], message, self.level);
        encrypt(k2, &y.last, self.level).xor(&encrypt(k3, &y.xor, self.level))
    }
}

/// XCBC with the cipher C.
pub struct Xcbc<C: Cipher> {
    k1: C,
    k2: C::Block,
    k3: C::Block,
    level: Level,
}

impl<C: Cipher> Xcbc<C> {
    /// Makes XCBC under a key and two blocks.
    pub fn with_level(k1: &C::Key, k2: &C::Block, k3: &C::Block, level: Level) -> Self {
        Xcbc { k1: C::new(k1, level), k2: *k2, k3: *k3, level }
    }

    /// Makes XCBC as in RFC 3566, under K1 = E_K(0101..), K2 = E_K(0202..) and K3 = E_K(0303..),
    /// for a cipher with a key of one block.
    pub fn derived<K: CipherBlock + CipherKey>(key: &K, level: Level) -> Self
    where
        C: Cipher<Block = K, Key = K>,
    {
        let cipher = C::new(key, level);
        let [k1, k2, k3] = [1, 2, 3].map(|byte| {
            let mut block = K::ZERO;
            block.as_mut().fill(byte);
            encrypt(&cipher, &block, level)
        });
        Self::with_level(&k1, &k2, &k3, level)
    }

    /// Returns the tag of a message.
    pub fn tag(&self, message: &[u8]) -> C::Block {
        let before = message.len().saturating_sub(1) / C::Block::BYTES * C::Block::BYTES;
        let (before, last) = message.split_at(before);
        let last = if last.len() == C::Block::BYTES {
            C::Block::zero_filled(last).xor(&self.k2)
        } else {
            padded::<C::Block>(last).xor(&self.k3)
        };
        let [y] = chains([&self.k1], before, &last, self.level);
        y.last
    }
}
