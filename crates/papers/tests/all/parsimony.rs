//! PMAC's parsimony on every level: recovered blocks and the wide-block cipher.

use std::error::Error as _;
use std::fmt::Debug;

use crate::common::{hex, rows, string, text};
use serde_json::Value;
use tagmac::cipher::{Aes128, Aes192, Aes256, Cipher, CipherBlock, CipherKey, Decrypt, Field};
use tagmac::cipher::{Present80, Present128, RustCrypto};
use tagmac::isa::{Isa, Kernel, Level};
use tagmac::{Bits, Error, Mismatch, Pmac, Tag};
use tagmac_papers::{ParsimonyError, Rc6, WideBlock, recover_block, replace_block};

fn key<K: CipherKey>(bytes: &[u8]) -> K {
    K::try_from(bytes).ok().expect("a key")
}

/// Pseudorandom bytes.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// The cipher under pseudorandom keys.
fn wide<C: Decrypt<Block: Field>>(level: Level) -> WideBlock<C> {
    let keys = bytes(2 * C::KEY_BYTES, 1);
    let (k1, k2) = keys.split_at(C::KEY_BYTES);
    WideBlock::with_level(&key(k1), &key(k2), level)
}

fn check_wide<C: Decrypt<Block: Field>>(row: &Value, level: Level) {
    let keys = hex(text(row, "key"));
    let (k1, k2) = keys.split_at(C::KEY_BYTES);
    let cipher = WideBlock::<C>::with_level(&key(k1), &key(k2), level);
    let (pt, bits) = string(row, "pt").into_parts();
    let (ct, _) = string(row, "ct").into_parts();
    let mut data = pt.clone();
    cipher.encipher_bits(&mut data, bits).expect("a message");
    assert!(data == ct, "enciphered on {level}: {row}");
    cipher.decipher_bits(&mut data, bits).expect("a ciphertext");
    assert!(data == pt, "deciphered on {level}: {row}");
    if bits.is_multiple_of(8) {
        cipher.encipher(&mut data).expect("a message");
        assert!(data == ct, "bytes enciphered on {level}: {row}");
        cipher.decipher(&mut data).expect("a ciphertext");
        assert!(data == pt, "bytes deciphered on {level}: {row}");
    }
}

fn check_recovery<C: Decrypt<Block: Field>>(row: &Value, level: Level) {
    let mac = Pmac::<C>::with_level(&key(&hex(text(row, "key"))), level);
    let rest = string(row, "msg");
    let tag = Tag::try_from(&hex(text(row, "tag"))[..]).expect("a tag");
    let number = row["missing"].as_u64().expect("a number");
    let block = recover_block(&mac, rest.bits(), number, &tag).expect("a block");
    assert!(block.as_ref() == hex(text(row, "block")), "{level}: {row}");
}

fn check<C: Decrypt<Block: Field>>(row: &Value, level: Level) {
    match text(row, "family") {
        "PMAC-WIDE" => check_wide::<C>(row, level),
        _ => check_recovery::<C>(row, level),
    }
}

#[test]
fn vectors() {
    let parsimony = |row: &Value| ["PMAC-WIDE", "PMAC-RECOVER"].contains(&text(row, "family"));
    let rows: Vec<Value> = rows("parameters.json").into_iter().filter(parsimony).collect();
    for level in Level::all() {
        for row in &rows {
            match text(row, "cipher") {
                "AES128" => check::<Aes128>(row, level),
                "PRESENT80" => check::<Present80>(row, level),
                "RC6" => check::<Rc6>(row, level),
                cipher => panic!("unknown cipher {cipher}"),
            }
        }
    }
    assert_eq!(rows.len(), 64);
}

struct Inverse<'a, C: Decrypt>(&'a C, C::Block);

impl<C: Decrypt> Kernel for Inverse<'_, C> {
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        self.0.decrypt_one(isa, &self.1)
    }
}

struct Forward<'a, C: Cipher>(&'a C, C::Block);

impl<C: Cipher> Kernel for Forward<'_, C> {
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        self.0.encrypt_one(isa, &self.1)
    }
}

/// Encrypts and decrypts a row of a block cipher.
fn check_block<C: Decrypt>(row: &Value, level: Level) {
    let cipher = C::new(&key(&hex(text(row, "key"))), level);
    let (pt, ct) = (hex(text(row, "pt")), hex(text(row, "ct")));
    let block = |bytes: &[u8]| C::Block::zero_filled(bytes);
    assert!(level.run(Forward(&cipher, block(&pt))).as_ref() == ct, "{level}: {row}");
    assert!(level.run(Inverse(&cipher, block(&ct))).as_ref() == pt, "{level}: {row}");
}

/// A cipher that was made on one level works on any other, although each level has its own form of
/// round keys.
fn check_levels<C: Decrypt + Debug>(name: &str) {
    let bytes = bytes(C::KEY_BYTES + C::Block::BYTES, 7);
    let (k, plain) = bytes.split_at(C::KEY_BYTES);
    let plain = C::Block::zero_filled(plain);
    let portable = Level::all().next().expect("the portable level");
    let expected = portable.run(Forward(&C::new(&key(k), portable), plain));
    for made in Level::all() {
        let cipher = C::new(&key(k), made);
        assert_eq!(format!("{cipher:?}"), format!("{name}(..)"));
        for level in Level::all() {
            let at = format!("{name} made on {made}, run on {level}");
            let found = level.run(Forward(&cipher, plain));
            assert!(found.as_ref() == expected.as_ref(), "{at}");
            assert!(level.run(Inverse(&cipher, found)).as_ref() == plain.as_ref(), "{at}");
        }
    }
}

#[test]
fn ciphers_of_one_level_run_on_every_other() {
    check_levels::<Aes128>("Aes");
    check_levels::<Aes192>("Aes");
    check_levels::<Aes256>("Aes");
    check_levels::<Present80>("Present");
    check_levels::<Present128>("Present");
    check_levels::<Rc6>("Rc6");
}

#[test]
fn block_ciphers_forwards_and_backwards() {
    let rows: Vec<Value> = ["aes.json", "present.json", "rc6.json"].map(rows).concat();
    for level in Level::all() {
        let mut checked = 0;
        for row in &rows {
            match (text(row, "algorithm"), text(row, "key").len() / 2) {
                // Reduced AES cannot decrypt here.
                _ if row["rounds"].as_u64().is_some_and(|rounds| rounds < 10) => continue,
                ("AES128", _) => check_block::<Aes128>(row, level),
                ("AES192", _) => check_block::<Aes192>(row, level),
                ("AES256", _) => check_block::<Aes256>(row, level),
                ("PRESENT80", _) => check_block::<Present80>(row, level),
                ("PRESENT128", _) => check_block::<Present128>(row, level),
                ("RC6", 16) => check_block::<Rc6>(row, level),
                ("RC6", 24) => check_block::<Rc6<24>>(row, level),
                ("RC6", 32) => check_block::<Rc6<32>>(row, level),
                other => panic!("unknown cipher {other:?}"),
            }
            checked += 1;
        }
        assert_eq!(checked, 17 + 16 + 10, "{level}");
    }
}

/// All lengths in bits from n to 5n, and lengths around the batches of wide levels.
fn lengths<C: Cipher>() -> impl Iterator<Item = usize> {
    let n = 8 * C::Block::BYTES;
    let around = move |m: usize| [m * n - 1, m * n, m * n + 1, m * n + 8];
    (n..=5 * n)
        .chain([8, 9, 16, 17, 31, 32, 33, 34, 64, 65, 66, 67, 131].into_iter().flat_map(around))
}

fn there_and_back<C: Decrypt<Block: Field>>() {
    let n = 8 * C::Block::BYTES;
    for bits in lengths::<C>() {
        let mut message = bytes(bits.div_ceil(8), bits as u64);
        let unused = 0xff_u8 << (8 * message.len() - bits);
        let mut first: Option<Vec<u8>> = None;
        for level in Level::all() {
            let cipher = wide::<C>(level);
            let mut data = message.clone();
            cipher.encipher_bits(&mut data, bits).expect("a message");
            assert_eq!(data[data.len() - 1] & !unused, 0, "{bits} bits on {level}");
            let first = first.get_or_insert(data.clone());
            assert!(*first == data, "{bits} bits on {level}");
            cipher.decipher_bits(&mut data, bits).expect("a ciphertext");
            *message.last_mut().expect("a byte") &= unused;
            assert!(message == data, "{bits} bits on {level}");
        }
        let tag = Pmac::<C>::new(&key(&bytes(C::KEY_BYTES, 1)));
        let tag = tag.tag(Bits::new(&message, bits).expect("bits")).expect("a tag");
        assert_eq!(first.expect("a level")[..n / 8], *tag.as_bytes(), "IV of {bits} bits");
    }
}

#[test]
fn deciphering_undoes_enciphering() {
    there_and_back::<Aes128>();
    there_and_back::<Aes192>();
    there_and_back::<Aes256>();
}

#[test]
fn a_flipped_bit_changes_half_of_the_others() {
    let cipher = wide::<Aes128>(Level::best());
    let ones =
        |a: &[u8], b: &[u8]| -> u32 { a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum() };
    for bits in [128, 300, 1024, 2000] {
        let message = bytes(bits / 8 + 1, 2)[..bits.div_ceil(8)].to_vec();
        let mut enciphered = message.clone();
        cipher.encipher_bits(&mut enciphered, bits).expect("a message");
        let mut changed = 0;
        for bit in 0..bits {
            let mut data = message.clone();
            data[bit / 8] ^= 0x80 >> (bit % 8);
            cipher.encipher_bits(&mut data, bits).expect("a message");
            let now = ones(&data, &enciphered);
            // Five standard deviations of sqrt(bits) / 2.
            let (half, wide) = (bits as f64 / 2.0, 2.5 * (bits as f64).sqrt());
            assert!((now as f64 - half).abs() < wide, "bit {bit} of {bits} changes {now}");
            changed += now as usize;
        }
        let rate = changed as f64 / (bits * bits) as f64;
        assert!((0.49..0.51).contains(&rate), "{rate} of {bits} bits");
    }
}

/// The malleability that the docs of `WideBlock` warn about.
#[test]
fn a_flipped_bit_of_the_ciphertext_changes_that_bit_and_one_block() {
    let cipher = wide::<Aes128>(Level::best());
    let message = bytes(100, 3);
    let mut enciphered = message.clone();
    cipher.encipher(&mut enciphered).expect("a message");
    // C_2 is the third block of the ciphertext, and M_6 is the omitted one.
    enciphered[2 * 16 + 5] ^= 4;
    cipher.decipher(&mut enciphered).expect("a ciphertext");
    let mut expected = message;
    expected[16 + 5] ^= 4;
    let differs = |range: std::ops::Range<usize>| enciphered[range.clone()] != expected[range];
    assert!(!differs(0..80) && differs(80..96) && !differs(96..100));
}

fn every_block<C: Decrypt<Block: Field>>() {
    let n = C::Block::BYTES;
    for level in Level::all() {
        let mac = Pmac::<C>::with_level(&key(&bytes(C::KEY_BYTES, 4)), level);
        for blocks in [1, 2, 3, 32, 33, 34, 65, 100] {
            for extra in [0, 1, 7, 8, 13] {
                let bits = 8 * n * blocks + extra;
                let message = bytes(bits.div_ceil(8), 5);
                let tag = mac.tag(Bits::new(&message, bits).expect("bits")).expect("a tag");
                for number in 1..=blocks {
                    let hole = n * (number - 1);
                    let rest = [&message[..hole], &message[hole + n..]].concat();
                    let rest = Bits::new(&rest, bits - 8 * n).expect("bits");
                    let block = recover_block(&mac, rest, number as u64, &tag);
                    let expected = &message[hole..hole + n];
                    assert!(
                        block.expect("a block").as_ref() == expected,
                        "{number} of {bits} bits"
                    );
                }
                let rest = Bits::new(&message[n..], bits - 8 * n).expect("bits");
                for found in [0, blocks as u64 + 1, u64::MAX] {
                    let error = recover_block(&mac, rest, found, &tag).err();
                    assert_eq!(
                        error,
                        Some(ParsimonyError::NoSuchBlock { last: blocks as u64, found })
                    );
                }
            }
        }
    }
}

/// Replaces each full block, from the old tag and only the two blocks.
fn every_replacement<C: Decrypt<Block: Field>>() {
    let n = C::Block::BYTES;
    for level in Level::all() {
        let mac = Pmac::<C>::with_level(&key(&bytes(C::KEY_BYTES, 4)), level);
        for blocks in [1, 2, 3, 33, 100] {
            for extra in [0, 1, 8, 13] {
                let bits = 8 * n * blocks + extra;
                let mut message = bytes(bits.div_ceil(8), 5);
                let tag_of = |message: &[u8]| mac.tag(Bits::new(message, bits).expect("bits"));
                let mut tag = tag_of(&message).expect("a tag");
                for number in 1..=blocks {
                    let block = &mut message[n * (number - 1)..n * number];
                    let old = C::Block::zero_filled(block);
                    let new = C::Block::zero_filled(&bytes(n, 6 + number as u64));
                    block.copy_from_slice(new.as_ref());
                    tag = replace_block(&mac, bits as u64, number as u64, &old, &new, &tag)
                        .expect("a block");
                    assert!(tag == tag_of(&message).expect("a tag"), "{number} of {bits} bits");
                }
                let block = C::Block::ZERO;
                for found in [0, blocks as u64 + 1, u64::MAX] {
                    let last = blocks as u64;
                    let error = replace_block(&mac, bits as u64, found, &block, &block, &tag).err();
                    assert_eq!(error, Some(ParsimonyError::NoSuchBlock { last, found }));
                }
                let short = Tag::try_from(&tag.as_bytes()[1..]).expect("some bytes");
                let error = replace_block(&mac, bits as u64, 1, &block, &block, &short).err();
                let found = 8 * (n - 1);
                let wrong = Error::TagBits { min: 8 * n, max: 8 * n, step: 1, found };
                assert_eq!(error, Some(ParsimonyError::Mac(wrong)));
            }
        }
    }
}

#[test]
fn a_block_is_replaced_by_the_old_tag_alone() {
    every_replacement::<Aes128>();
    every_replacement::<Present80>();
}

/// C = IV || C_1 .. C_m: that of the wide-block cipher, with the block that it omits.
#[test]
fn deterministic_encryption_comes_back_and_is_checked() {
    for level in Level::all() {
        let cipher = wide::<Aes128>(level);
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 100, 128, 1000, 5000] {
            let message = bytes(length, 7);
            let mut data = message.clone();
            let iv = cipher.encrypt(&mut data).expect("no limit");
            if length >= 16 {
                let mut enciphered = message.clone();
                cipher.encipher(&mut enciphered).expect("a block or more");
                let last = (length - 1) / 16 * 16;
                let hole = last.saturating_sub(16);
                let same = [&iv[..], &data[..hole], &data[last..]].concat();
                let all = if last == 0 { &iv[..] } else { &same[..] };
                assert!(all == enciphered, "{level}, {length} bytes");
            }
            let encrypted = data.clone();
            assert_eq!(cipher.decrypt(&iv, &mut data), Ok(()), "{level}, {length} bytes");
            assert!(data == message, "{level}, {length} bytes");
            for byte in [0, length / 2, length.saturating_sub(1)] {
                let mut data = encrypted.clone();
                let Some(place) = data.get_mut(byte) else { continue };
                *place ^= 0x10;
                assert_eq!(cipher.decrypt(&iv, &mut data), Err(Mismatch));
                assert!(data.iter().all(|byte| *byte == 0), "nothing that is not checked");
            }
            let mut other = iv;
            other[5] ^= 1;
            assert_eq!(cipher.decrypt(&other, &mut encrypted.clone()), Err(Mismatch));
        }
    }
}

#[test]
fn every_full_block_comes_back() {
    every_block::<Aes128>();
    every_block::<Aes256>();
}

#[test]
fn what_cannot_be_is_refused() {
    let mac = Pmac::<Aes128>::new(&[7; 16]);
    for bits in [64, 127] {
        let mac = mac.clone().with_tag_bits(bits).expect("a length");
        let tag = mac.tag(&[0; 40]).expect("a tag");
        let error = recover_block(&mac, &[0; 24], 1, &tag).err();
        assert_eq!(error, Some(Error::TagBits { min: 128, max: 128, step: 1, found: bits }.into()));
    }
    let cipher = wide::<Aes128>(Level::best());
    for bits in [0, 1, 8, 127] {
        let mut data = bytes(usize::div_ceil(bits, 8), 6);
        let before = data.clone();
        let short = Err(ParsimonyError::TooShort { min_bits: 128, found: bits });
        assert_eq!(cipher.encipher_bits(&mut data, bits), short);
        assert_eq!(cipher.decipher_bits(&mut data, bits), short);
        assert_eq!(data, before);
    }
    for found in [0, 128, 129, 136, 145, usize::MAX] {
        let wrong = Err(Error::MessageBits { bytes: 18, found }.into());
        assert_eq!(cipher.encipher_bits(&mut [0; 18], found), wrong);
        assert_eq!(cipher.decipher_bits(&mut [0; 18], found), wrong);
    }
    assert_eq!(format!("{cipher:?}"), "WideBlock(..)");
}

#[test]
fn aes_of_rust_crypto_backwards() {
    type Theirs = RustCrypto<aes::Aes128>;
    let (k1, k2) = (key(&bytes(16, 1)), key(&bytes(16, 2)));
    let (theirs, ours) = (WideBlock::<Theirs>::new(&k1, &k2), WideBlock::<Aes128>::new(&k1, &k2));
    for bits in lengths::<Aes128>() {
        let data = bytes(bits.div_ceil(8), bits as u64);
        let (mut a, mut b) = (data.clone(), data);
        let done = (theirs.encipher_bits(&mut a, bits), ours.encipher_bits(&mut b, bits));
        assert_eq!((done.0, &a), (done.1, &b), "enciphering {bits} bits");
        let done = (theirs.decipher_bits(&mut a, bits), ours.decipher_bits(&mut b, bits));
        assert_eq!((done.0, &a), (done.1, &b), "deciphering {bits} bits");
    }
}

#[test]
fn triple_des_backwards() {
    type Tdes = RustCrypto<des::TdesEde3>;
    let [k1, k2] = [1, 2].map(|seed| key(&bytes(24, seed)));
    for level in Level::all() {
        let pmac = Pmac::<Tdes>::with_level(&k1, level);
        let wide = WideBlock::<Tdes>::with_level(&k1, &k2, level);
        for bits in lengths::<Tdes>() {
            let data = bytes(bits.div_ceil(8), bits as u64);
            let tag = pmac.tag(Bits::new(&data, bits).expect("bits")).expect("a tag");
            let rest = Bits::new(&data[8..], bits - 64).expect("bits");
            let block = recover_block(&pmac, rest, 1, &tag).expect("a block");
            assert_eq!(block, data[..8], "block 1 of {bits} bits on {level}");
            let whole = &data[..bits / 8];
            let mut there = whole.to_vec();
            wide.encipher(&mut there).expect("a message");
            assert_ne!(there, whole);
            wide.decipher(&mut there).expect("a ciphertext");
            assert_eq!(there, whole, "{bits} bits there and back on {level}");
        }
    }
}

#[test]
fn what_is_refused_is_said() {
    let short = ParsimonyError::TooShort { min_bits: 128, found: 127 };
    assert_eq!(short.to_string(), "expected a message of at least 128 bits, found 127");
    let none = ParsimonyError::NoSuchBlock { last: 3, found: 4 };
    assert_eq!(none.to_string(), "expected the number of a full block, 1 to 3, found 4");
    let mac = Pmac::<Aes128>::new(&[7; 16]);
    let tag = mac.clone().with_tag_bits(8).unwrap().tag(b"message").unwrap();
    let short = recover_block(&mac, b"message", 1, &tag).unwrap_err();
    let expected = "expected a tag length of 128 bits, found 8";
    assert_eq!(short.to_string(), expected);
    assert_eq!(short.source().map(ToString::to_string).as_deref(), Some(expected));
    assert!(none.source().is_none());
}
