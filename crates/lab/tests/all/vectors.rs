//! Compares every comparator, Deoxys and the hashes with vectors from elsewhere and from
//! `reference/`.

use std::collections::HashMap;

use tagmac::isa::{Block, Isa, Kernel, Level};
use tagmac_lab::comparators::{COMPARATORS, ComparatorKind, Status, find};
use tagmac_lab::deoxys::Deoxys;
use tagmac_lab::hashes;
use tagmac_papers::{Nh, NhShape};

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
    for comparator in COMPARATORS.iter().filter(|one| one.kind == ComparatorKind::Mac) {
        let rows = checked.get(comparator.name).copied().unwrap_or(0);
        let expected = if comparator.status == Status::NotFound { 0..=0 } else { 40..=usize::MAX };
        assert!(expected.contains(&rows), "{}: {rows} rows", comparator.name);
    }
}

/// The first design of LeMac, with the message one step earlier in its state, has other tags.
#[test]
fn lemac_is_not_lemac_0() {
    let comparator = find("LEMAC").expect("LeMac");
    let mut checked = 0;
    for row in rows("lemac-0.json") {
        let (key, nonce) = (hex(row["keys"][0].as_str().expect("hex")), hex(text(&row, "nonce")));
        let mac = comparator.with_keys(&[&key], Level::best()).expect("a key");
        let tag = mac.tag(&nonce, &message(&row)).expect("a tag");
        assert_ne!(tag.as_bytes(), hex(text(&row, "tag")), "{row}");
        checked += 1;
    }
    assert_eq!(checked, 6);
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
    let mut checked = HashMap::new();
    for row in rows("hashes.json") {
        let bytes = |field: &str| -> Vec<u8> {
            let words: Vec<u32> = serde_json::from_value(row[field].clone()).expect("words");
            words.into_iter().flat_map(u32::to_le_bytes).collect()
        };
        let (name, value) = (text(&row, "hash"), row["value"].as_u64().expect("a number"));
        let comparator = find(name).unwrap_or_else(|| panic!("no hash for {row}"));
        let (key, message) = (bytes("key"), bytes("msg"));
        let hash = comparator.with_keys(&[&key], Level::best()).expect("a key");
        let found = hash.tag(&[], &message).expect("a value");
        let mut expected = [0; 8];
        expected[..comparator.tag].copy_from_slice(found.as_bytes());
        assert_eq!(u64::from_le_bytes(expected), value, "{row}");
        *checked.entry(name.to_string()).or_insert(0) += 1;
    }
    for row in rows("byte-hashes.json") {
        let [key, message, value] = ["key", "msg", "value"].map(|field| hex(text(&row, field)));
        let name = text(&row, "hash");
        let comparator = find(name).unwrap_or_else(|| panic!("no hash for {row}"));
        let hash = comparator.with_keys(&[&key], Level::best()).expect("a key");
        assert_eq!(hash.tag(&[], &message).expect("a value").as_bytes(), value, "{row}");
        *checked.entry(name.to_string()).or_insert(0) += 1;
    }
    for hash in COMPARATORS.iter().filter(|one| one.kind == ComparatorKind::Hash) {
        assert!(
            checked.get(hash.name).is_some_and(|rows| *rows >= 40),
            "{}: {checked:?}",
            hash.name
        );
    }
}

/// This NH is the library's, which adds the length of the message after each hash.
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
