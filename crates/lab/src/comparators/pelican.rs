//! Pelican (Daemen and Rijmen 2005): a CBC-MAC whose middle has four rounds of AES without keys.
//!
//! ```text
//! Y_0 = E_K(0)      Y_i = four rounds of (Y_{i-1} ^ M_i)      Tag = E_K(Y_m ^ the rest 10*)
//! ```
//!
//! This is the version of LibTomCrypt and its vectors, the first one; Pelican 2.0 begins with
//! another constant. All four rounds have MixColumns.

use tagmac::cipher::{Aes128, Cipher, CipherBlock};
use tagmac::isa::{Block, Level};

use super::marvin::FourRounds;
use crate::blocks::{blocks, encrypt, padded};

/// Pelican.
pub struct Pelican {
    cipher: Aes128,
    level: Level,
}

impl Pelican {
    /// Makes Pelican under a key.
    pub fn with_level(key: &[u8; 16], level: Level) -> Self {
        Pelican { cipher: Aes128::new(key, level), level }
    }

    /// Returns the tag of a message.
    pub fn tag(&self, message: &[u8]) -> Block {
        let (whole, rest) = message.split_at(message.len() / 16 * 16);
        let first = encrypt(&self.cipher, &[0; 16], self.level);
        let last = blocks::<Block>(whole)
            .fold(first, |y, block| self.level.run(FourRounds(y.xor(&block))));
        encrypt(&self.cipher, &last.xor(&padded(rest)), self.level)
    }
}
