//! Every comparator, Deoxys and the hashes against vectors from elsewhere and from `reference/`.

use std::collections::HashMap;

use tagmac::NhShape;
use tagmac::hashes::Nh;
use tagmac::isa::{Block, Isa, Kernel, Level};
use tagmac_lab::comparators::{COMPARATORS, Status, find};
use tagmac_lab::deoxys::Deoxys;
use tagmac_lab::hashes::{self, Inner, Outer};

use crate::rows::{hex, message, rows, text};

#[test]
fn comparators_on_every_level() {
    let mut checked = HashMap::new();
    for row in ["macs.json", "ours.json"].into_iter().flat_map(rows) {
        let name = text(&row, "algorithm");
        let comparator = find(name).unwrap_or_else(|| panic!("no comparator for {row}"));
        let keys: Vec<Vec<u8>> = row["keys"]
            .as_array()
            .expect("keys")
            .iter()
            .map(|key| hex(key.as_str().expect("hex")))
            .collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let nonce = row.get("nonce").map(|_| hex(text(&row, "nonce"))).unwrap_or_default();
        let (message, expected) = (message(&row), hex(text(&row, "tag")));
        assert!(expected.len() >= 8, "{row}");
        for level in Level::all() {
            let mac = comparator.with_keys(&keys, level).expect("keys of the right sizes");
            let tag = mac.tag(&nonce, &message).expect("a tag");
            assert_eq!(tag.as_bytes().len(), comparator.tag, "{name}");
            assert!(tag.as_bytes().starts_with(&expected), "{level}: found {tag} for {row}");
        }
        *checked.entry(name.to_string()).or_insert(0) += 1;
    }
    for comparator in COMPARATORS {
        let rows = checked.get(comparator.name).copied().unwrap_or(0);
        let expected = if comparator.status == Status::NotFound { 0..=0 } else { 40..=usize::MAX };
        assert!(expected.contains(&rows), "{}: {rows} rows", comparator.name);
    }
}

struct Encrypt<'a>(&'a Deoxys, &'a Block, &'a Block);

impl Kernel for Encrypt<'_> {
    type Out = Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Block {
        self.0.encrypt_one(isa, self.1, self.2)
    }
}

#[test]
fn deoxys_on_every_level() {
    let mut checked = 0;
    for row in ["deoxys.json", "deoxys-ours.json"].into_iter().flat_map(rows) {
        checked += 1;
        let [key, tweak, pt, ct]: [Block; 4] = ["key", "tweak", "pt", "ct"]
            .map(|field| hex(text(&row, field)).try_into().expect("16 bytes"));
        let cipher = Deoxys::new(&key);
        for level in Level::all() {
            assert_eq!(level.run(Encrypt(&cipher, &tweak, &pt)), ct, "{level}: {row}");
        }
    }
    assert!(checked >= 40, "{checked} rows");
}

#[test]
fn universal_hashes() {
    let hash = |name: &str, key: &[u32], message: &[u32]| match name {
        "MH" => hashes::mh(key, message),
        "MMH" => hashes::mmh(key, message).into(),
        "NH" => hashes::nh(key, message),
        "NMH" => hashes::nmh(key, message).into(),
        "NMH*" => hashes::nmh_star(key, message),
        "SQUARE" => hashes::square_hash(key, message),
        "NH inner xor" => hashes::nh_variant(key, message, Inner::Xor, Outer::Add),
        "NH outer xor" => hashes::nh_variant(key, message, Inner::AddMod, Outer::Xor),
        "NH no inner moduli" => hashes::nh_variant(key, message, Inner::Add, Outer::Add),
        _ => panic!("no hash {name}"),
    };
    let mut checked = HashMap::new();
    for row in rows("hashes.json") {
        let words = |field: &str| -> Vec<u32> {
            serde_json::from_value(row[field].clone()).expect("words")
        };
        let (name, value) = (text(&row, "hash"), row["value"].as_u64().expect("a number"));
        assert_eq!(hash(name, &words("key"), &words("msg")), value, "{row}");
        *checked.entry(name.to_string()).or_insert(0) += 1;
    }
    assert!(checked.len() == 9 && checked.values().all(|rows| *rows >= 40), "{checked:?}");
}

/// NH here is the library's, which has the length of the message after each hash.
#[test]
fn nh_is_the_librarys() {
    const WORDS: usize = 64;
    let words =
        |step: u32| -> Vec<u32> { (1..=WORDS as u32).map(|i| i.wrapping_mul(step)).collect() };
    let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let (key, message) = (words(0x9e37_79b9), words(0x85eb_ca6b));
    let nh = Nh::new(NhShape::new(WORDS, 32).expect("a shape"), &bytes(&key), &[]).expect("a key");
    let expected = hashes::nh(&key, &message).to_le_bytes();
    assert!(nh.hash(&bytes(&message)).starts_with(&expected));
}
