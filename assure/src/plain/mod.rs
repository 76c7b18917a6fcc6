//! A second implementation of the registry's MACs, except HMAC and UMAC of 1999: slow, on numbers,
//! from the papers, and without shared code. The ciphers are RustCrypto's AES, and PRESENT, RC6 and
//! the short AES of EliMAC from their definitions.

mod aes_rounds;
mod blockwise;
mod ciphers;
mod poly1305;
mod present;
mod rc6;
mod umac;

pub use ciphers::Cipher;
pub use poly1305::{clamped, poly1305, prime as poly1305_prime};
pub use umac::{NhKey, nh, nh_key};

/// Returns the full tag under the algorithm with this name in the registry; `None` if it is not
/// here.
pub fn tag(name: &str, key: &[u8], nonce: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    if let Some(bits) = name.strip_prefix("UMAC-") {
        return Some(umac::umac(key, nonce, message, bits.parse().ok()?));
    }
    if name == "POLY1305-AES" {
        return Some(poly1305::poly1305_aes(key, nonce, message));
    }
    if name == "ELIMAC-AES128" {
        return Some(blockwise::elimac(key, message));
    }
    if let Some(cipher) = name.strip_prefix("PMAC-") {
        return Some(blockwise::pmac(&Cipher::new(cipher, key)?, message));
    }
    if let Some(cipher) = name.strip_prefix("CMAC-") {
        return Some(blockwise::cmac(&Cipher::new(cipher, key)?, message));
    }
    let (cipher, s) = name.strip_prefix("LIGHTMAC-")?.rsplit_once("-S")?;
    let (first, second) = key.split_at(key.len() / 2);
    let ciphers = [Cipher::new(cipher, first)?, Cipher::new(cipher, second)?];
    Some(blockwise::lightmac(&ciphers, s.parse().ok()?, message))
}
