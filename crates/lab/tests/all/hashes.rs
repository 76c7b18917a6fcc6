//! Published values of other projects' hashes.

use tagmac_lab::hashes::{cryptographic_crc, hash127};

/// CRC-64 of ECMA-182 has this check value, by the same division.
#[test]
fn crc_of_ecma_182() {
    let p = 0x42f0_e1eb_a9ea_3693u64.to_be_bytes();
    let check = cryptographic_crc(&p, b"123456789");
    assert_eq!(u64::from_be_bytes(check), 0x6c40_df5f_0b49_7347);
}

/// r = 1 sums all words and a one; the words are signed.
#[test]
fn hash127_of_one() {
    let one = 1u128.to_le_bytes();
    let of = |words: &[i32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        u128::from_le_bytes(hash127(&one, &bytes))
    };
    assert_eq!(of(&[]), 1);
    assert_eq!(of(&[5, -3]), 3);
    assert_eq!(of(&[-2]), (1 << 127) - 2);
}
