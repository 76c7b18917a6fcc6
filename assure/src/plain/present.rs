//! PRESENT, bit by bit (Bogdanov et al., CHES 2007, sections 3 and 3.1, appendix II).

const S: [u64; 16] = [0xc, 5, 6, 0xb, 9, 0, 0xa, 0xd, 3, 0xe, 0xf, 8, 4, 7, 1, 2];

/// Returns K_1 .. K_32: the highest 64 bits of a register that rotates by 61 bits after each.
pub(super) fn round_keys(key: &[u8]) -> Vec<u64> {
    let size = 8 * key.len() as u32;
    let mask = u128::MAX >> (128 - size);
    let mut register = key.iter().fold(0u128, |all, &byte| all << 8 | u128::from(byte));
    let words = if size == 80 { 1 } else { 2 };
    let counter = if size == 80 { 15 } else { 62 };
    let mut keys = Vec::new();
    for round in 1..=32u128 {
        keys.push((register >> (size - 64)) as u64);
        register = (register << 61 | register >> (size - 61)) & mask;
        for word in 1..=words {
            let at = size - 4 * word;
            let old = register >> at & 15;
            register ^= (old ^ u128::from(S[old as usize])) << at;
        }
        register ^= round << counter;
    }
    keys
}

pub(super) fn encrypt(keys: &[u64], block: u64) -> u64 {
    let (last, keys) = keys.split_last().expect("32 round keys");
    keys.iter().fold(block, |state, key| {
        let state = state ^ key;
        (0..64).fold(0, |out, bit| {
            let word = S[(state >> (bit & !3) & 15) as usize];
            let to = if bit == 63 { 63 } else { 16 * bit % 63 };
            out | (word >> (bit & 3) & 1) << to
        })
    }) ^ last
}
