//! Poly1305 and Poly1305-AES (Bernstein 2005) on numbers of any size.

use num_bigint::BigUint;

use super::ciphers::Cipher;

/// Returns 2^130 - 5.
pub fn prime() -> BigUint {
    (BigUint::from(1u8) << 130u8) - 5u8
}

/// Returns r with the required bits cleared.
pub fn clamped(r: &[u8]) -> BigUint {
    BigUint::from_bytes_le(r) & BigUint::from(0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffffu128)
}

/// Returns (sum of c_i r^(q + 1 - i) mod 2^130 - 5) + s mod 2^128.
pub fn poly1305(r: &[u8], s: u128, message: &[u8]) -> Vec<u8> {
    let (p, r) = (prime(), clamped(r));
    let sum: BigUint = message.chunks(16).fold(BigUint::ZERO, |h, chunk| {
        let c = BigUint::from_bytes_le(&[chunk, &[1]].concat());
        (h + c) * &r % &p
    });
    let tag: BigUint = (sum + s) % (BigUint::from(1u8) << 128u8);
    let mut bytes = tag.to_bytes_le();
    bytes.resize(16, 0);
    bytes
}

/// The key is k || r, and s is AES_k(nonce).
pub(super) fn poly1305_aes(key: &[u8], nonce: &[u8], message: &[u8]) -> Vec<u8> {
    let (k, r) = key.split_at(16);
    let nonce = u128::from_be_bytes(nonce.try_into().expect("16 bytes"));
    let s = Cipher::new("AES128", k).expect("16 bytes").encrypt(nonce);
    poly1305(r, s.swap_bytes(), message)
}
