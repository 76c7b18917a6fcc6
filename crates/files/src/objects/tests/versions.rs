//! Manifests of version 1 are read, and those of version 2 continue their chain.

use std::fs;
use std::path::Path;

use tagmac::Tag;

use super::{header, key, object, shard};
use crate::chain::Chain;
use crate::day::Day;
use crate::objects::{
    Earlier, Folder, FormatVersion, ManifestKey, Object, ObjectManifest, ROOT, Root, RootBuilder,
    Shard, ShardRecord, Start, Writer,
};

/// A shard and a root of version 1.
fn old_files(key: &ManifestKey, objects: &[Object]) -> (Vec<u8>, ShardRecord, Vec<u8>) {
    let ManifestKey { algorithm, bits, key_id, .. } = key;
    let head = format!("algorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n");
    let mut text = format!("tagmac-object-shard-1\n{head}shard: 0\n").into_bytes();
    objects.iter().for_each(|object| object.write(FormatVersion::V1, &mut text));
    let bytes = objects.iter().map(|object| object.size).sum();
    text.extend(format!("entries: {}\nbytes: {bytes}\n", objects.len()).into_bytes());
    let seal = key.close(&mut text);
    let record = ShardRecord {
        number: 0,
        length: text.len() as u64,
        entries: objects.len() as u64,
        bytes,
        seal,
        first: objects.first().unwrap().name.clone(),
        last: objects.last().unwrap().name.clone(),
    };
    let mut root = format!("tagmac-object-root-1\n{head}").into_bytes();
    root.extend(record.to_line());
    let end = format!("\nshards: 1\nentries: {}\nbytes: {bytes}\n", objects.len());
    root.extend(end.into_bytes());
    key.close(&mut root);
    (text, record, root)
}

/// Objects as version 1 has them.
fn old_objects(algorithm: &str) -> (ManifestKey, Vec<Object>) {
    let (mac, key) = key(algorithm, 64, 7);
    let objects = [b"a", b"b", b"c"].map(|name| object(&mac, name));
    let objects = objects.map(|object| Object { read: None, stamp: None, ..object });
    (key, objects.to_vec())
}

fn write_old(place: &Path, key: &ManifestKey, objects: &[Object]) {
    let (text, record, root) = old_files(key, objects);
    fs::write(place.join(record.file_name()), text).unwrap();
    fs::write(place.join(ROOT), root).unwrap();
}

#[test]
fn version_1_is_read() {
    for algorithm in ["PMAC-AES128", "UMAC-64"] {
        let (key, objects) = old_objects(algorithm);
        let folder = tempfile::tempdir().unwrap();
        write_old(folder.path(), &key, &objects);
        let place = Folder::new(folder.path());
        let manifest = ObjectManifest::open(&key, &place).unwrap();
        assert_eq!(manifest.root.version, FormatVersion::V1);
        assert_eq!(manifest.root.header.chain, Chain::default());
        assert!(manifest.objects().map(Result::unwrap).eq(objects));
    }
}

#[test]
fn a_root_takes_no_shard_of_the_other_version() {
    let (key, objects) = old_objects("PMAC-AES128");
    let (old, old_record, old_root) = old_files(&key, &objects);
    let (new, new_record) = shard(&key, 0, &objects);
    let open = |version, record: &ShardRecord, text: &[u8]| {
        Shard::open(&key, version, record, text.to_vec(), "s").map(drop).map_err(|e| e.to_string())
    };
    let expected = |number| Err(format!("s: line 1: expected 'tagmac-object-shard-{number}'"));
    assert_eq!(open(FormatVersion::V1, &old_record, &old), Ok(()));
    assert_eq!(open(FormatVersion::V2, &new_record, &new), Ok(()));
    assert_eq!(open(FormatVersion::V2, &old_record, &old), expected(2));
    assert_eq!(open(FormatVersion::V1, &new_record, &new), expected(1));
    // Each byte of the old root and shard counts.
    for at in 0..old.len() {
        let mut bad = old.clone();
        bad[at] ^= 1;
        assert!(open(FormatVersion::V1, &old_record, &bad).is_err(), "{at}");
    }
    for at in 0..old_root.len() {
        let mut bad = old_root.clone();
        bad[at] ^= 1;
        assert!(Root::open(&key, bad, "r").is_err(), "{at}");
    }
}

/// Replaces a text in the root of [`header`] and seals it again.
fn changed(from: &str, to: &str) -> Result<Root, String> {
    let (_, key) = key("PMAC-AES128", 64, 7);
    let text = String::from_utf8(RootBuilder::new(&key, &header()).seal()).unwrap();
    let (text, _) = text.split_once("seal: ").unwrap();
    assert!(text.contains(from), "{text}");
    let mut text = text.replacen(from, to, 1).into_bytes();
    key.close(&mut text);
    Root::open(&key, text, "r").map_err(|error| error.to_string())
}

#[test]
fn sealed_headers_have_one_form() {
    assert_eq!(changed("", "").unwrap().header, header());
    let listed = changed("options: none", "options: listed").unwrap().header;
    assert!(listed.listed);
    let leaves = changed("options: none", "options: listed leaves=65536").unwrap().header;
    assert_eq!((leaves.listed, leaves.leaves), (true, Some(65_536)));
    for (from, to, why) in [
        (
            "options: none",
            "options: mode",
            "line 5: expected the options 'none', 'listed' or 'leaves='",
        ),
        ("options: none", "options: leaves=64 mode", "line 5: expected the options"),
        ("options: none", "options: leaves=64", "line 5: expected the options"),
        ("sequence: 2 ", "sequence: 02 ", "line 6: expected a number from 1 and a day as"),
        ("2026-11-28", "2026-02-30", "line 6: expected a number from 1 and a day as"),
        ("sequence: 2 ", "sequence: 3 ", "the links do not lead to the first manifest"),
        ("links: 1\n", "links: 4097\n", "line 8: expected a number of links, at most 4096"),
        ("links: 1\n", "links: 18446744073709551616\n", "line 8: expected a number of links"),
        ("links: 1\n", "links: +1\n", "in canonical form"),
        ("filters: 2\n", "filters: 1025\n", "line 10: expected a number of filters, at most 1024"),
        ("filters: 2\n", "filters: 02\n", "line 10: expected a number of filters, at most 1024"),
        ("filters: 2\n", "filters: 1\n", "line 12: expected a number"),
        ("filters: 2\n", "filters: 3\n", "line 14: expected a number"),
        ("!a\\tb", "!a\tb", "in canonical form"),
        ("!a\\tb", "\\x", "expected a pattern of at most 4096 bytes"),
    ] {
        let found = changed(from, to).err().unwrap();
        assert!(found.starts_with("r: ") && found.contains(why), "{from} -> {to}: {found}");
    }
}

/// Seals no objects.
fn seal(key: &ManifestKey, place: &Path, start: Start<'_>) -> Result<(Chain, Tag), String> {
    let place = Folder::new(place);
    let start = Start { replace: true, ..start };
    let writer = Writer::new(key, &place, start).map_err(|error| error.to_string())?;
    writer.finish().unwrap();
    let root = ObjectManifest::open(key, &place).unwrap().root;
    Ok((root.header.chain, root.seal))
}

#[test]
fn a_manifest_continues_the_chain_of_the_one_that_it_replaces() {
    let (key, objects) = old_objects("PMAC-AES128");
    let folder = tempfile::tempdir().unwrap();
    let [m, n, old] = ["m", "n", "old"].map(|name| folder.path().join(name));
    let before = Day::today();
    let (first, first_seal) = seal(&key, &m, Start::default()).unwrap();
    assert_eq!((first.sequence, first.first, first.links.len()), (1, None, 0));
    assert!((before..=Day::today()).contains(&first.day.unwrap()));
    let (second, second_seal) = seal(&key, &m, Start::default()).unwrap();
    assert_eq!(second, first.next(first_seal, second.day.unwrap()));
    // A new place continues the chain of --since; a place with a manifest continues its own.
    let since = Start { since: Some((&second, second_seal)), ..Start::default() };
    let (third, _) = seal(&key, &n, since).unwrap();
    assert_eq!(third, second.next(second_seal, third.day.unwrap()));
    let (fourth, _) = seal(&key, &n, Start { since: Some((&first, first_seal)), ..since }).unwrap();
    assert_eq!(
        (fourth.sequence, fourth.name(Tag::try_from(&[0; 32][..]).unwrap())),
        (4, first_seal)
    );
    let (new, _) = seal(&key, &n, Start { new_chain: true, ..since }).unwrap();
    assert_eq!((new.sequence, new.links.len()), (1, 0));
    // A manifest of version 1 becomes the link with number 0.
    fs::create_dir(&old).unwrap();
    write_old(&old, &key, &objects);
    let old_seal = ObjectManifest::open(&key, &Folder::new(&old)).unwrap().root.seal;
    let (next, _) = seal(&key, &old, Start::default()).unwrap();
    assert_eq!((next.sequence, next.first, next.links[0].sequence), (1, Some(old_seal), 0));
    assert_eq!(fs::read_dir(&old).unwrap().count(), 1);
}

#[test]
fn a_manifest_that_cannot_be_opened_has_no_successor() {
    let (_, key) = key("PMAC-AES128", 64, 7);
    let (_, other) = super::key("PMAC-AES128", 64, 8);
    let folder = tempfile::tempdir().unwrap();
    seal(&key, folder.path(), Start::default()).unwrap();
    let root = folder.path().join(ROOT);
    let text = fs::read(&root).unwrap();
    let why = seal(&other, folder.path(), Start::default()).unwrap_err();
    assert!(why.starts_with("the new manifest cannot continue the old one: "), "{why}");
    assert!(why.contains("the manifest is sealed under another key"), "{why}");
    let at = text.len() - 3;
    fs::write(&root, [&text[..at], &[text[at] ^ 1], &text[at + 1..]].concat()).unwrap();
    let why = seal(&key, folder.path(), Start::default()).unwrap_err();
    assert!(why.contains("the seal does not match"), "{why}");
    let new_chain = Start { new_chain: true, ..Start::default() };
    assert_eq!(seal(&key, folder.path(), new_chain).unwrap().0.sequence, 1);
}

#[test]
fn an_earlier_manifest_follows_a_listing() {
    let (mac, key) = key("PMAC-AES128", 64, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let objects = [b"b", b"d", b"f"].map(|name| object(&mac, name));
    let mut writer = Writer::new(&key, &place, Start::default()).unwrap();
    objects.iter().for_each(|object| writer.push(object).unwrap());
    writer.finish().unwrap();
    let manifest = ObjectManifest::open(&key, &place).unwrap();
    let mut earlier = Earlier::new(&manifest, None);
    let mut found = |name: &[u8]| earlier.find(name).unwrap().map(|old| old.object);
    assert_eq!(found(b"a"), None);
    assert_eq!(found(b"b").as_ref(), Some(&objects[0]));
    assert_eq!(found(b"c"), None);
    assert_eq!(found(b"f").as_ref(), Some(&objects[2]));
    assert_eq!(found(b"g"), None);
    let one = &objects[0];
    assert!(one.is_as_sealed(1, Some(b"\"b")));
    assert!(!one.is_as_sealed(2, Some(b"\"b")) && !one.is_as_sealed(1, Some(b"b")));
    assert!(!one.is_as_sealed(1, None));
    assert!(!Object { stamp: None, ..one.clone() }.is_as_sealed(1, None));
    // Nothing comes from a shard that was changed.
    let shard = folder.path().join(manifest.root.records().next().unwrap().file_name());
    let mut text = fs::read(&shard).unwrap();
    text[200] ^= 1;
    fs::write(shard, text).unwrap();
    let why = Earlier::new(&manifest, None).find(b"b").map(drop).unwrap_err().to_string();
    assert!(why.contains("the seal does not match"), "{why}");
}
