//! PMAC, LightMAC, EliMAC and CMAC, block by block.

use super::aes_rounds::AesRounds;
use super::ciphers::Cipher;

/// Reads bytes as a number of `bits` bits, highest byte first and padded with zeros.
fn number(bytes: &[u8], bits: u32) -> u128 {
    let bytes_of_block = bits as usize / 8;
    (0..bytes_of_block).fold(0, |all, i| all << 8 | u128::from(*bytes.get(i).unwrap_or(&0)))
}

/// Returns M || 10*.
fn padded(bytes: &[u8], bits: u32) -> u128 {
    number(bytes, bits) | 1 << (bits - 1 - 8 * bytes.len() as u32)
}

fn bytes(number: u128, bits: u32) -> Vec<u8> {
    number.to_be_bytes()[16 - bits as usize / 8..].to_vec()
}

/// Returns 2 X in GF(2^n), with x^128 = x^7 + x^2 + x + 1 or x^64 = x^4 + x^3 + x + 1.
fn double(x: u128, bits: u32) -> u128 {
    let carry = x >> (bits - 1) & 1;
    let low = if bits == 128 { 0x87 } else { 0x1b };
    let mask = u128::MAX >> (128 - bits);
    (x << 1 & mask) ^ (carry * low)
}

/// Returns X / 2, the number whose double is X.
fn half(x: u128, bits: u32) -> u128 {
    // Shifts, and first adds the polynomial if X is odd.
    if x & 1 == 0 {
        return x >> 1;
    }
    let low = if bits == 128 { 0x87 } else { 0x1b };
    (x ^ low) >> 1 | 1 << (bits - 1)
}

/// Returns a X by schoolbook multiplication, for a small number a.
fn multiple(a: u64, x: u128, bits: u32) -> u128 {
    (0..64).rev().fold(0, |sum, i| {
        let sum = double(sum, bits);
        if a >> i & 1 == 1 { sum ^ x } else { sum }
    })
}

/// PMAC (Rogaway 2002): offset i is the i-th number of the Gray code times L.
pub(super) fn pmac(cipher: &Cipher, message: &[u8]) -> Vec<u8> {
    let bits = cipher.bits;
    let size = bits as usize / 8;
    let l = cipher.encrypt(0);
    let before = message.len().saturating_sub(1) / size;
    let mut sum = 0;
    for i in 1..=before {
        let gray = (i ^ i >> 1) as u64;
        let block = number(&message[size * (i - 1)..size * i], bits);
        sum ^= cipher.encrypt(block ^ multiple(gray, l, bits));
    }
    let last = &message[size * before..];
    sum ^= if last.len() == size { number(last, bits) ^ half(l, bits) } else { padded(last, bits) };
    bytes(cipher.encrypt(sum), bits)
}

/// LightMAC (Luykx, Preneel, Tischhauser, Yasuda 2016), Algorithm 1, with counters of s bits.
pub(super) fn lightmac([first, second]: &[Cipher; 2], s: u32, message: &[u8]) -> Vec<u8> {
    let bits = first.bits;
    let size = (bits - s) as usize / 8;
    let before = message.len() / size;
    let mut sum = 0;
    for i in 1..=before {
        let counter = i as u128 & (u128::MAX >> (128 - s));
        let block = number(&message[size * (i - 1)..size * i], bits - s);
        sum ^= first.encrypt(counter << (bits - s) | block);
    }
    bytes(second.encrypt(sum ^ padded(&message[size * before..], bits)), bits)
}

/// EliMAC-AES (Dobraunig, Mennink, Neves 2023), section 5.1.
pub(super) fn elimac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let rounds = AesRounds::new();
    let h_keys = rounds.round_keys(&key[..16], 7);
    let i_keys = rounds.round_keys(&[0; 16], 4);
    let e_keys = rounds.round_keys(&key[16..], 10);
    let before = message.len() / 16;
    let mut sum = 0;
    for i in 1..=before as u128 {
        let mask = rounds.encrypt(&h_keys, i << 96 | i << 64 | i << 32 | i);
        let block = number(&message[16 * (i as usize - 1)..], 128);
        sum ^= rounds.encrypt(&i_keys, mask ^ block);
    }
    bytes(rounds.encrypt(&e_keys, sum ^ padded(&message[16 * before..], 128)), 128)
}

/// CMAC (NIST SP 800-38B).
pub(super) fn cmac(cipher: &Cipher, message: &[u8]) -> Vec<u8> {
    let bits = cipher.bits;
    let size = bits as usize / 8;
    let k1 = double(cipher.encrypt(0), bits);
    let before = message.len().saturating_sub(1) / size;
    let chain = (0..before).fold(0, |chain, i| {
        cipher.encrypt(chain ^ number(&message[size * i..size * (i + 1)], bits))
    });
    let last = &message[size * before..];
    let last = if last.len() == size {
        number(last, bits) ^ k1
    } else {
        padded(last, bits) ^ double(k1, bits)
    };
    bytes(cipher.encrypt(chain ^ last), bits)
}
