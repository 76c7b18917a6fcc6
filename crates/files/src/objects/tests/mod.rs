//! Manifests are read exactly as they were written.

mod audits;
mod hostile;
mod leaf_samples;
mod leaves;
mod page;
mod places;
mod versions;

use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};
use zeroize::Zeroizing;

use crate::chain::Chain;
use crate::day::Day;
use crate::objects::{
    FormatVersion, MAX_STAMP, ManifestKey, Object, Root, RootBuilder, RootHeader, Shard,
    ShardBuilder, ShardRecord,
};
use crate::raw_key::RawKey;

/// A key from a repeated byte.
fn raw(algorithm: &str, byte: u8) -> RawKey {
    let algorithm = Algorithm::from_name(algorithm).unwrap();
    RawKey::new(algorithm, Zeroizing::new(vec![byte; *algorithm.key_bytes().end()])).unwrap()
}

/// The MAC and the manifest key of [`raw`].
fn key(algorithm: &str, bits: usize, byte: u8) -> (AnyMac, ManifestKey) {
    let raw = raw(algorithm, byte);
    let mac = AnyMac::with_options(raw.algorithm, &raw.bytes, bits, Level::best()).unwrap();
    let manifest = ManifestKey::new(&mac, &raw);
    (mac, manifest)
}

/// An object whose content is its name.
fn object(mac: &AnyMac, name: &[u8]) -> Object {
    let nonce: Vec<u8> =
        (0..*mac.algorithm().nonce_bytes().end()).map(|i| i as u8 ^ name.len() as u8).collect();
    let tag: Tag = mac.tag(&nonce, name).unwrap();
    let read = Day::parse(b"2026-11-28");
    let stamp = name.first().filter(|first| **first != b'-').map(|_| [b"\"", name].concat());
    let stamp = stamp.filter(|stamp| stamp.len() <= MAX_STAMP);
    Object { name: name.to_vec(), size: name.len() as u64, nonce, tag: Some(tag), read, stamp }
}

/// The header of the second manifest of a chain.
fn header() -> RootHeader {
    let first = Tag::try_from(&[1; 32][..]).unwrap();
    let chain = Chain::start(Day::parse(b"2026-11-27").unwrap());
    let chain = chain.next(first, Day::parse(b"2026-11-28").unwrap());
    RootHeader { chain, filters: vec![b"*.tmp".into(), b"!a\tb".into()], ..RootHeader::default() }
}

fn shard(key: &ManifestKey, number: u64, objects: &[Object]) -> (Vec<u8>, ShardRecord) {
    let mut shard = ShardBuilder::new(key, number);
    objects.iter().for_each(|object| shard.push(object).unwrap());
    shard.seal().unwrap()
}

/// Names with every byte value, and names that look like parts of the format.
fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for name in ["entries: 3", "seal: 0", "a//b", "../x", ".", "\\t", "é", "a\tb\n", "-"] {
        names.push(name.into());
    }
    names.push(vec![b'\\'; 4096]);
    names.sort();
    names.dedup();
    names
}

#[test]
fn what_is_sealed_is_read() {
    for (algorithm, bits) in [("PMAC-AES128", 128), ("UMAC-64", 64), ("HMAC-SHA256", 80)] {
        let (mac, key) = key(algorithm, bits, 7);
        let objects: Vec<Object> = names().iter().map(|name| object(&mac, name)).collect();
        let (text, record) = shard(&key, 0, &objects);
        assert_eq!(record.entries, objects.len() as u64);
        assert_eq!(record.length, text.len() as u64);
        assert_eq!(ShardRecord::parse(&record.to_line()).as_ref(), Ok(&record));
        let read = Shard::open(&key, FormatVersion::V2, &record, text, "s").unwrap();
        assert!(read.into_objects().eq(objects.iter().cloned()));
        let mut root = RootBuilder::new(&key, &header());
        root.push(&record).unwrap();
        let root = Root::open(&key, root.seal(), "r").unwrap();
        assert_eq!(
            (root.shards, root.entries, root.bytes),
            (1, record.entries, objects.iter().map(|object| object.size).sum())
        );
        assert!(root.records().eq([record]));
        assert_eq!((root.header, root.version), (header(), FormatVersion::V2));
    }
}

#[test]
fn no_objects_are_a_root_without_shards() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let root = Root::open(&key, RootBuilder::new(&key, &header()).seal(), "r").unwrap();
    assert_eq!((root.shards, root.entries, root.bytes, root.records().count()), (0, 0, 0, 0));
    assert_eq!(
        ShardBuilder::new(&key, 3).seal().unwrap_err().to_string(),
        "shard 3: expected 1 to 65536 entries in a shard"
    );
}

#[test]
fn what_has_no_line_is_not_sealed() {
    let (mac, key) = key("UMAC-64", 64, 7);
    let one = object(&mac, b"b");
    let push = |object: &Object| {
        let mut shard = ShardBuilder::new(&key, 0);
        shard.push(&one).unwrap();
        shard.push(object).unwrap_err().to_string()
    };
    let with = |change: &dyn Fn(&mut Object)| {
        let mut object = object(&mac, b"c");
        change(&mut object);
        push(&object)
    };
    assert_eq!(push(&one), "b: added after b; names must be in byte order");
    assert_eq!(with(&|o| o.name = b"a".into()), "a: added after b; names must be in byte order");
    assert_eq!(with(&|o| o.name.clear()), "$'': the name is empty");
    let long = with(&|o| o.name = vec![b'x'; 4097]);
    assert!(long.ends_with(": the name is longer than 4096 bytes"));
    assert_eq!(with(&|o| o.nonce.clear()), "c: expected a nonce of 16 bytes, found 0");
    let tag = Tag::new(&[0; 4], 32).unwrap();
    assert_eq!(with(&|o| o.tag = Some(tag)), "c: expected a tag of 64 bits, found 32");
    let why = "c: an object without a tag has a nonce, or a day on which it was read";
    assert_eq!(with(&|o| o.tag = None), why);
    for stamp in [vec![], vec![b'-'], vec![b'x'; 1025]] {
        let why = "c: expected a stamp of 1 to 1024 bytes other than '-'";
        assert_eq!(with(&|o| o.stamp = Some(stamp.clone())), why);
    }
    assert_eq!(with(&|o| o.size = u64::MAX), "c: the objects have 2^64 bytes or more in all");
}
