//! `vectors/parameters.json` on every level: parameters of the papers that have no name in the
//! registry. `vectors/README.md` describes the schema of the rows.

use crate::common::{hex, rows, string, text};
use serde_json::Value;
use tagmac::cipher::{Aes128, Aes192, Aes256, Cipher, Present80, Present128};
use tagmac::hashes::AesFamilies;
use tagmac::isa::Level;
use tagmac::{Bits, EliMac, Error, LightMac, Mac, Tag};
use tagmac_papers::{Cbc3, Nh, NhError, NhShape, Rc6};
use tagmac_papers::{Umac99Graded, Umac99Parameters, Umac99Prf, Umac99Set};

fn number(row: &Value, field: &str) -> usize {
    row[field].as_u64().unwrap_or_else(|| panic!("no number in '{field}' of {row}")) as usize
}

fn expected(row: &Value) -> Tag {
    Tag::new(&hex(text(row, "tag")), number(row, "tag_bits")).expect("a tag of that many bits")
}

/// The rows of a family. Checks their number.
fn family(name: &str, count: usize) -> Vec<Value> {
    let mut rows = rows("parameters.json");
    rows.retain(|row| row["family"] == name);
    assert_eq!(rows.len(), count, "{name}");
    rows
}

fn lightmac_row<const N: usize, C: Cipher<Key = [u8; N]>>(row: &Value, level: Level) {
    let key = hex(text(row, "key"));
    let (k1, k2) = key.split_at(N);
    let key = |k: &[u8]| C::from_slice(k, level).map(|_| k.try_into().expect("N bytes"));
    let (k1, k2): ([u8; N], [u8; N]) = (key(k1).expect("a key"), key(k2).expect("a key"));
    let mut mac = LightMac::<C>::with_level(&k1, &k2, number(row, "s"), level).expect("1 to n/2");
    if text(row, "counter") == "gray" {
        mac = mac.with_gray_code();
    }
    let message = string(row, "msg");
    if row["valid"] == false {
        assert_eq!(text(row, "refuse"), "message");
        let refused = mac.tag(message.bits()).expect_err("a message over the limit");
        assert!(matches!(refused, Error::TooLong { .. }), "{row}");
        return;
    }
    let tag = expected(row);
    let mac = mac.with_tag_bits(tag.bits()).expect("1 to n bits");
    assert_eq!(mac.tag(message.bits()), Ok(tag), "{level}: {row}");
    if let Some(bytes) = message.whole() {
        for cut in [1, 7, 16, 64, 1000] {
            let mut stream = mac.stream();
            bytes.chunks(cut).for_each(|piece| {
                stream.update(piece);
            });
            assert_eq!(stream.tag(), Ok(tag), "{level}, pieces of {cut}: {row}");
        }
    }
}

#[test]
fn lightmac() {
    for row in family("LIGHTMAC", 183) {
        for level in Level::all() {
            match text(&row, "cipher") {
                "AES128" => lightmac_row::<16, Aes128>(&row, level),
                "AES192" => lightmac_row::<24, Aes192>(&row, level),
                "AES256" => lightmac_row::<32, Aes256>(&row, level),
                "PRESENT80" => lightmac_row::<10, Present80>(&row, level),
                "PRESENT128" => lightmac_row::<16, Present128>(&row, level),
                "RC6" => lightmac_row::<16, Rc6>(&row, level),
                other => panic!("unknown cipher {other}"),
            }
        }
    }
}

#[test]
fn elimac() {
    fn check<const H: usize, const I: usize>(row: &Value, level: Level) {
        let key = hex(text(row, "key"));
        let (k1, k2) = key.split_at(16);
        let families = AesFamilies::<H, I>::new(k1.try_into().expect("16 bytes"), level);
        let mac = EliMac::<_, Aes128>::from_families_with_level(
            families,
            k2.try_into().expect("16 bytes"),
            level,
        );
        let message = string(row, "msg");
        if row["valid"] == false {
            assert_eq!(text(row, "refuse"), "message");
            let refused = mac.tag(message.bits()).expect_err("a message over the limit");
            assert!(matches!(refused, Error::TooLong { .. }), "{row}");
            return;
        }
        let tag = expected(row);
        let mac = mac.with_tag_bits(tag.bits()).expect("1 to 128 bits");
        assert_eq!(mac.tag(message.bits()), Ok(tag), "{level}: {row}");
        assert_eq!(mac.with_cache(100).tag(message.bits()), Ok(tag), "{level}: {row}");
    }
    for row in family("ELIMAC", 31) {
        for level in Level::all() {
            match (number(&row, "h_rounds"), number(&row, "i_rounds")) {
                (10, 10) => check::<10, 10>(&row, level),
                (4, 7) => check::<4, 7>(&row, level),
                (4, 4) => check::<4, 4>(&row, level),
                (5, 4) => check::<5, 4>(&row, level),
                (6, 4) => check::<6, 4>(&row, level),
                (7, 10) => check::<7, 10>(&row, level),
                other => panic!("no such rounds: {other:?}"),
            }
        }
    }
}

fn prf_of(row: &Value) -> Umac99Prf {
    match text(row, "prf") {
        "HMAC-SHA1" => Umac99Prf::HmacSha1,
        "CBC3-RC6" => Umac99Prf::Cbc3Rc6,
        "CBC3-AES128" => Umac99Prf::Cbc3Aes128,
        other => panic!("unknown PRF {other}"),
    }
}

fn with_streams(row: &Value, streams: usize) -> Result<NhShape, NhError> {
    let mut shape = NhShape::new(number(row, "n"), number(row, "w"))?;
    if row["signed"] == true {
        shape = shape.signed();
    }
    if text(row, "pairing") == "strided" {
        shape = shape.strided()?;
    }
    if text(row, "endian") == "big" {
        shape = shape.big_endian();
    }
    shape = shape.toeplitz(streams, number(row, "shift"))?;
    match row["m"].as_u64() {
        Some(outputs) => shape.two_level(outputs as usize),
        None => Ok(shape),
    }
}

fn parameters(row: &Value) -> Result<Umac99Parameters, NhError> {
    let shape = with_streams(row, number(row, "t"))?;
    Umac99Parameters::new(shape, prf_of(row)).min_length_to_hash(number(row, "min_length"))
}

#[test]
fn umac99() {
    for row in family("UMAC99", 164) {
        let parameters = parameters(&row).unwrap_or_else(|error| panic!("{error}: {row}"));
        let key: [u8; 16] = hex(text(&row, "key")).try_into().expect("16 bytes");
        let nonce: [u8; 8] = hex(text(&row, "nonce")).try_into().expect("8 bytes");
        let (message, tag) = (string(&row, "msg"), expected(&row));
        for level in Level::all() {
            let mac =
                parameters.key_with_level(&key, level).with_tag_bits(tag.bits()).expect("a length");
            assert_eq!(mac.tag_with(&nonce, message.bits()), Ok(tag), "{level}: {row}");
            let mut stream = mac.stream_with(&nonce);
            message.whole().expect("bytes").chunks(300).for_each(|piece| {
                stream.update(piece);
            });
            assert_eq!(stream.tag(), Ok(tag), "{level}: {row}");
        }
    }
}

/// Section 9: checks the tags of all words. Each grade checks only its words, and word j is the tag
/// of a MAC with only stream j.
#[test]
fn graded_umac99() {
    for row in family("UMAC99-GRADED", 55) {
        let parameters = parameters(&row).unwrap_or_else(|error| panic!("{error}: {row}"));
        let key: [u8; 16] = hex(text(&row, "key")).try_into().expect("16 bytes");
        let nonce: [u8; 8] = hex(text(&row, "nonce")).try_into().expect("8 bytes");
        let (message, tag) = (string(&row, "msg"), expected(&row));
        let words = number(&row, "t");
        for level in Level::all() {
            let mac = Umac99Graded::with_level(parameters, &key, level).expect("all are hashed");
            assert_eq!((mac.words(), mac.tag_bits()), (words, 32 * words));
            assert_eq!(mac.tag_with(&nonce, message.bits()), Ok(tag), "{level}: {row}");
            let mut stream = mac.stream_with(&nonce);
            message.whole().expect("bytes").chunks(300).for_each(|piece| {
                stream.update(piece);
            });
            assert_eq!(stream.tag(), Ok(tag), "{level}: {row}");
            for grade in 1..=words {
                let check = |tag: &Tag| mac.verify_prefix(&nonce, message.bits(), tag, grade);
                assert!(check(&tag).is_ok(), "{level}, {grade} words: {row}");
                for word in 0..words {
                    let mut bytes = tag.as_bytes().to_vec();
                    bytes[4 * word + word % 4] ^= 0x10;
                    let other = Tag::try_from(&bytes[..]).expect("as long");
                    assert_eq!(check(&other).is_ok(), word >= grade, "{level}, word {word}: {row}");
                }
                let short = Tag::try_from(&tag.as_bytes()[..4 * words - 1]).expect("some bytes");
                assert!(check(&short).is_err(), "{level}: {row}");
            }
            for grade in [0, words + 1, usize::MAX] {
                let check = mac.verify_prefix(&nonce, message.bits(), &tag, grade);
                assert!(check.is_err(), "{level}, {grade} words");
            }
            // The first word needs one stream and the first PRF.
            let shape = with_streams(&row, 1).expect("a shape");
            let one = Umac99Parameters::new(shape, prf_of(&row)).key_with_level(&key, level);
            let one = one.with_tag_bits(32).expect("a length").tag_with(&nonce, message.bits());
            assert_eq!(one.expect("no limit").as_bytes(), &tag.as_bytes()[..4], "{level}: {row}");
        }
    }
    let set = Umac99Graded::new(Umac99Set::Mmx60, &[7; 16]);
    let other = Umac99Graded::with_level(Umac99Set::Mmx60.into(), &[7; 16], Level::best());
    let other = other.expect("a named set").tag_with(&[1; 8], b"message");
    assert_eq!(set.clone().tag_with(&[1; 8], b"message"), other);
    assert_eq!(format!("{set:?}"), "Umac99Graded(..)");
    let shape = NhShape::new(16, 16).and_then(|shape| shape.toeplitz(9, 2)).expect("a shape");
    let nine = Umac99Parameters::new(shape, Umac99Prf::HmacSha1);
    let refused = Umac99Graded::with_level(nine, &[7; 16], Level::best()).map(|_| ());
    assert_eq!(refused, Err(NhError::Streams { max: 8, found: 9 }));
    let some = Umac99Parameters::from(Umac99Set::Mmx60).min_length_to_hash(1).expect("within");
    let refused = Umac99Graded::with_level(some, &[7; 16], Level::best()).map(|_| ());
    assert_eq!(refused, Err(NhError::MinLengthToHash { max: 0, found: 1 }));
}

/// Checks each error and its message.
#[test]
fn what_is_wrong_with_parameters_is_said() {
    let shape = NhShape::new(12, 64).expect("a shape");
    let nh = Nh::new(shape, &[1; 96], &[]).expect("enough key");
    let parameters = Umac99Parameters::new(shape, Umac99Prf::HmacSha1);
    let refused = |made: Result<NhShape, NhError>| made.map(|_| ());
    let cases = [
        (refused(NhShape::new(12, 8)), "expected words of 16, 32 or 64 bits, found 8"),
        (
            refused(NhShape::new(63, 32)),
            "expected a block of 2 to 16384 words in steps of 2, found 63",
        ),
        (refused(shape.strided()), "expected a block of 8 to 8192 words in steps of 8, found 12"),
        (refused(shape.toeplitz(17, 2)), "expected 1 to 16 streams, found 17"),
        (refused(shape.toeplitz(2, 3)), "expected an even key shift of 2 to 4096 words, found 3"),
        (refused(shape.two_level(683)), "expected a second level of 1 to 682 results, found 683"),
        (Nh::new(shape, &[1; 95], &[]).map(|_| ()), "expected 96 bytes of key material, found 95"),
        (
            parameters.min_length_to_hash(97).map(|_| ()),
            "the minimum length to hash is 97 bytes, expected at most 96",
        ),
        (nh.block(&[2; 97], &mut [0; 16]), "expected a block of 1 to 96 bytes, found 97"),
        (nh.block(&[2; 96], &mut [0; 15]), "expected a buffer of 16 bytes for the hash, found 15"),
    ];
    for (refused, expected) in cases {
        assert_eq!(refused.expect_err(expected).to_string(), expected);
    }
}

/// The CBC MAC with three keys. HMAC-SHA1 is another library's.
#[test]
fn prf() {
    fn check<C: Cipher<Key = [u8; 16]>>(row: &Value, level: Level) {
        let key = hex(text(row, "key"));
        let [k1, k2, k3] = key.as_chunks().0 else { panic!("three keys in {row}") };
        let tag = Cbc3::<C>::with_level(k1, k2, k3, level).tag(string(row, "msg").bits());
        assert_eq!(tag.as_bytes(), hex(text(row, "tag")), "{level}: {row}");
    }
    let mut checked = 0;
    for row in family("PRF", 20) {
        for level in Level::all() {
            match text(&row, "prf") {
                "CBC3-RC6" => check::<Rc6>(&row, level),
                "CBC3-AES128" => check::<Aes128>(&row, level),
                "HMAC-SHA1" => continue,
                other => panic!("unknown PRF {other}"),
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 14 * Level::all().count());
}

/// Padding of every bit length around blocks, by the definition on bits.
#[test]
fn cbc3_of_bits() {
    let mac = Cbc3::<Aes128>::new(&[1; 16], &[2; 16], &[3; 16]);
    let mut seen = std::collections::HashSet::new();
    for bits in 0..=260 {
        let mut bytes = vec![0xff; usize::div_ceil(bits, 8)];
        let tag = mac.tag(Bits::new(&bytes, bits).expect("a bit string"));
        assert!(seen.insert(tag.as_bytes().to_vec()), "{bits} bits");
        // Bits after the end of the message do not matter.
        if let Some(last) = bytes.last_mut() {
            *last &= 0xff << (8 * usize::div_ceil(bits, 8) - bits);
        }
        assert_eq!(mac.tag(Bits::new(&bytes, bits).expect("a bit string")), tag);
    }
}
