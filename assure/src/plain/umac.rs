//! UMAC of RFC 4418, section by section.

use num_bigint::BigUint;

use super::ciphers::Cipher;

/// Chunk size of NH in bytes.
const CHUNK: usize = 1024;

/// The words of an NH key.
pub type NhKey = Vec<u32>;

/// Section 3.2: AES in counter mode.
fn kdf(key: &[u8], index: u8, length: usize) -> Vec<u8> {
    let cipher = Cipher::new("AES128", key).expect("16 bytes");
    let blocks = (1u128..).map(|i| cipher.encrypt(u128::from(index) << 64 | i).to_be_bytes());
    blocks.take(length.div_ceil(16)).flatten().take(length).collect()
}

/// Section 3.3.
fn pdf(key: &[u8], nonce: &[u8], length: usize) -> Vec<u8> {
    let mut nonce = nonce.to_vec();
    let mut part = 0;
    if length <= 8 {
        let parts = (16 / length) as u8;
        let low = nonce.last_mut().expect("1 to 16 bytes");
        part = usize::from(*low % parts);
        *low -= *low % parts;
    }
    nonce.resize(16, 0);
    let cipher = Cipher::new("AES128", &kdf(key, 0, 16)).expect("16 bytes");
    let pad = cipher.encrypt(u128::from_be_bytes(nonce.try_into().expect("16 bytes")));
    pad.to_be_bytes()[length * part..][..length].to_vec()
}

/// Returns the NH key of an iteration, 0 to 3 (section 5.1): each begins 16 bytes after the
/// previous one.
pub fn nh_key(key: &[u8], iteration: usize) -> NhKey {
    let bytes = kdf(key, 1, CHUNK + 16 * iteration);
    let words = bytes[16 * iteration..].chunks(4);
    words.map(|word| u32::from_be_bytes(word.try_into().expect("4 bytes"))).collect()
}

/// Section 5.2.2, with the length in bits that L1 adds.
pub fn nh(key: &NhKey, chunk: &[u8]) -> u64 {
    let mut padded = chunk.to_vec();
    padded.resize(chunk.len().next_multiple_of(32).max(32), 0);
    let words: Vec<u32> = padded
        .chunks(4)
        .zip(key)
        .map(|(word, k)| u32::from_le_bytes(word.try_into().expect("4 bytes")).wrapping_add(*k))
        .collect();
    let products = words
        .chunks(8)
        .flat_map(|group| (0..4).map(|j| u64::from(group[j]) * u64::from(group[j + 4])));
    products.fold(8 * chunk.len() as u64, u64::wrapping_add)
}

/// Section 5.3.2, on words of 64 or 128 bits that are already numbers.
fn poly(bits: u32, key: &BigUint, words: impl IntoIterator<Item = BigUint>) -> BigUint {
    let one = BigUint::from(1u8);
    let offset = BigUint::from(if bits == 64 { 59u8 } else { 159 });
    let p = (&one << bits) - &offset;
    let range = (&one << bits) - (&one << (bits - 32));
    words.into_iter().fold(one.clone(), |y, m| {
        if m >= range {
            let y = (key * y + (&p - &one)) % &p;
            (key * y + (m - &offset)) % &p
        } else {
            (key * y + m) % &p
        }
    })
}

/// Section 5.3.1: 2^17 bytes in words of 64 bits, the rest in words of 128.
fn l2(key: &[u8], hashes: &[u64]) -> [u8; 16] {
    const WORDS: usize = (1 << 17) / 8;
    let mask = BigUint::from(0x01ff_ffff_01ff_ffff_01ff_ffff_01ff_ffffu128);
    let k64 = BigUint::from_bytes_be(&key[..8]) & BigUint::from(0x01ff_ffff_01ff_ffffu64);
    let k128 = BigUint::from_bytes_be(&key[8..24]) & mask;
    let (near, far) = hashes.split_at(hashes.len().min(WORDS));
    let mut y = poly(64, &k64, near.iter().map(|&word| word.into()));
    if !far.is_empty() {
        let mut bytes: Vec<u8> = far.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.push(0x80);
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        let rest = bytes.chunks(16).map(BigUint::from_bytes_be);
        y = poly(128, &k128, std::iter::once(y).chain(rest));
    }
    let bytes = y.to_bytes_be();
    let mut result = [0; 16];
    result[16 - bytes.len()..].copy_from_slice(&bytes);
    result
}

/// Section 5.4.1.
fn l3(first: &[u8], second: &[u8], hash: &[u8; 16]) -> u32 {
    const P: u128 = (1 << 36) - 5;
    let sum: u128 = hash
        .chunks(2)
        .zip(first.chunks(8))
        .map(|(m, k)| {
            let m = u16::from_be_bytes(m.try_into().expect("2 bytes"));
            let k = u64::from_be_bytes(k.try_into().expect("8 bytes"));
            u128::from(m) * (u128::from(k) % P)
        })
        .sum();
    (sum % P) as u32 ^ u32::from_be_bytes(second.try_into().expect("4 bytes"))
}

/// Sections 4 and 5.1: tags of 32, 64, 96 or 128 bits.
pub(super) fn umac(key: &[u8], nonce: &[u8], message: &[u8], bits: usize) -> Vec<u8> {
    let iterations = bits / 32;
    let l2_key = kdf(key, 2, 24 * iterations);
    let l3_key_1 = kdf(key, 3, 64 * iterations);
    let l3_key_2 = kdf(key, 4, 4 * iterations);
    let hashes = (0..iterations).flat_map(|i| {
        let nh_key = nh_key(key, i);
        let chunks: Vec<&[u8]> =
            if message.is_empty() { vec![message] } else { message.chunks(CHUNK).collect() };
        let hashes: Vec<u64> = chunks.into_iter().map(|chunk| nh(&nh_key, chunk)).collect();
        let hash = match hashes[..] {
            [hash] => u128::from(hash).to_be_bytes(),
            _ => l2(&l2_key[24 * i..][..24], &hashes),
        };
        l3(&l3_key_1[64 * i..][..64], &l3_key_2[4 * i..][..4], &hash).to_be_bytes()
    });
    hashes.zip(pdf(key, nonce, bits / 8)).map(|(a, b)| a ^ b).collect()
}
