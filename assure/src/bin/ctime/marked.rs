//! Messages with UMAC's marked words (RFC 4418, section 5.3.2), which random messages never reach:
//! a word of POLY-64 above 2^64 - 2^32 takes two steps in a plain program.
//!
//! Under the key of stream 0's NH, which is `AES_K(1 || i)` for i = 1, 2, .., the words of the
//! first chunk are chosen so that
//!
//! ```text
//! NH = (2^32 - 1)^2 + 2^16 2^16 + 8192 = 2^64 - 2^32 + 8193
//! ```
//!
//! where 8192 is the chunk's length in bits, and all other products are zero.

use assure::plain::{nh, nh_key};
use tagmac::{Mac, Poly1305Aes};

use crate::tally::Tally;

/// Number of bytes that NH compresses to a word.
const CHUNK: usize = 1024;
/// Length of a message whose chunks are hashed by POLY-64.
pub const BYTES: usize = 2 * CHUNK;

/// Returns a message whose first chunk is a marked word of stream 0 under a UMAC key.
pub fn message(key: &[u8; 16]) -> [u8; BYTES] {
    let mut message = [0; BYTES];
    for (i, block) in (1u64..).zip(message[..CHUNK].chunks_exact_mut(16)) {
        let key_words = aes(key, 1, i);
        for (word, (bytes, key)) in
            block.chunks_exact_mut(4).zip(key_words.chunks_exact(4)).enumerate()
        {
            // Words j and j + 4 of a group of eight are multiplied: of the first two pairs of the
            // message, one is (2^32 - 1, 2^32 - 1) and the other (2^16, 2^16).
            let sum = match (i, word) {
                (1 | 2, 0) => u32::MAX,
                (1 | 2, 1) => 1 << 16,
                _ => 0,
            };
            let key = u32::from_be_bytes(key.try_into().expect("4 bytes"));
            bytes.copy_from_slice(&sum.wrapping_sub(key).to_le_bytes());
        }
    }
    message
}

/// Checks that such messages have a marked word, with NH as in the RFC.
pub fn check() -> Tally {
    let mut tally = Tally::default();
    for byte in 0..=255 {
        let key = [byte; 16];
        let found = nh(&nh_key(&key, 0), &message(&key)[..CHUNK]);
        let wrong =
            || format!("marked words, key {byte:02x}: expected 32 leading ones, found {found:x}");
        tally.check((found >> 32 != u64::from(u32::MAX)).then(wrong));
    }
    tally
}

/// Returns AES-128 of two numbers: the Poly1305-AES tag of an empty message is its pad.
fn aes(key: &[u8; 16], high: u64, low: u64) -> [u8; 16] {
    let mut both = [0; 32];
    both[..16].copy_from_slice(key);
    let nonce = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
    let tag = Poly1305Aes::new(&both).tag_with(&nonce, b"").expect("no limit");
    tag.as_bytes().try_into().expect("16 bytes")
}
