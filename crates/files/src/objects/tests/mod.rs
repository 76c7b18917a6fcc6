//! Manifests are read exactly as they were written.

mod audits;
mod hostile;
mod page;
mod places;

use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};
use zeroize::Zeroizing;

use crate::objects::{ManifestKey, Object, Root, RootBuilder, Shard, ShardBuilder, ShardRecord};
use crate::raw_key::RawKey;

/// A MAC and a manifest key, from a repeated byte.
fn key(algorithm: &str, bits: usize, byte: u8) -> (AnyMac, ManifestKey) {
    let algorithm = Algorithm::from_name(algorithm).unwrap();
    let bytes = Zeroizing::new(vec![byte; *algorithm.key_bytes().end()]);
    let mac = AnyMac::with_options(algorithm, &bytes, bits, Level::best()).unwrap();
    let manifest = ManifestKey::new(&mac, &RawKey::new(algorithm, bytes).unwrap());
    (mac, manifest)
}

/// An object whose content is its name.
fn object(mac: &AnyMac, name: &[u8]) -> Object {
    let nonce: Vec<u8> =
        (0..*mac.algorithm().nonce_bytes().end()).map(|i| i as u8 ^ name.len() as u8).collect();
    let tag: Tag = mac.tag(&nonce, name).unwrap();
    Object { name: name.to_vec(), size: name.len() as u64, nonce, tag }
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
        let read = Shard::open(&key, &record, text, "s").unwrap();
        assert!(read.into_objects().eq(objects.iter().cloned()));
        let mut root = RootBuilder::new(&key);
        root.push(&record).unwrap();
        let root = Root::open(&key, root.seal(), "r").unwrap();
        assert_eq!(
            (root.shards, root.entries, root.bytes),
            (1, record.entries, objects.iter().map(|object| object.size).sum())
        );
        assert!(root.records().eq([record]));
    }
}

#[test]
fn no_objects_are_a_root_without_shards() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let root = Root::open(&key, RootBuilder::new(&key).seal(), "r").unwrap();
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
    assert_eq!(with(&|o| o.tag = tag), "c: expected a tag of 64 bits, found 32");
    assert_eq!(with(&|o| o.size = u64::MAX), "c: the objects have 2^64 bytes or more in all");
}
