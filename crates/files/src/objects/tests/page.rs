//! The example of the documentation, and its independent reader.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use tagmac::isa::Level;
use tagmac_any::{AnyMac, KeyFile};
use zeroize::Zeroizing;

use super::{names, object};
use crate::chain::Chain;
use crate::day::Day;
use crate::objects::{
    Folder, FormatVersion, ManifestKey, Object, ObjectManifest, ROOT, Root, RootBuilder,
    RootHeader, SHARD_ENTRIES, ShardBuilder, Start, Writer,
};
use crate::raw_key::RawKey;

const PAGE: &str = include_str!("../../../docs/formats/object-manifest.md");
const KEY_PAGE: &str = include_str!("../../../docs/formats/key-file.md");
const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/object_manifest.py");

/// Returns the text after `start`, up to the end of the code block.
fn block<'a>(page: &'a str, start: &str) -> &'a str {
    let text = &page[page.find(start).unwrap() + start.len()..];
    &text[..text.find("```").unwrap()]
}

fn keys(file: &KeyFile) -> (AnyMac, ManifestKey) {
    let (algorithm, bytes) = (file.algorithm(), Zeroizing::new(file.key().to_vec()));
    let bits = algorithm.default_tag_bits();
    let mac = AnyMac::with_options(algorithm, &bytes, bits, Level::best()).unwrap();
    let manifest = ManifestKey::new(&mac, &RawKey::new(algorithm, bytes).unwrap());
    (mac, manifest)
}

fn write(key: &ManifestKey, place: &Path, objects: &[Object]) {
    let place = Folder::new(place);
    let mut writer = Writer::new(key, &place, Start::default()).unwrap();
    objects.iter().for_each(|object| writer.push(object).unwrap());
    writer.finish().unwrap();
}

/// Writes the manifest of the example, the second of its chain, to a folder. Returns its objects.
fn write_example(mac: &AnyMac, key: &ManifestKey, place: &Path) -> Vec<Object> {
    let content = [
        ("a\\b", &b"\0\x01\x02"[..], "b95f67f61ebb03619622d798f45fc2d3"),
        ("photos/café", b"", "d41d8cd98f00b204e9800998ecf8427e"),
        ("to\ttab", b"tag me", "320b493cf7974ad41a7132c66b9c8a57"),
    ];
    let days = ["2026-11-27", "2026-11-28"].map(|day| Day::parse(day.as_bytes()).unwrap());
    let objects = content.map(|(name, content, md5)| Object {
        name: name.into(),
        size: content.len() as u64,
        nonce: Vec::new(),
        tag: Some(mac.tag(&[], content).unwrap()),
        read: Some(days[0]),
        stamp: Some(format!("\"{md5}\"").into()),
    });
    let made = |objects: &[Object], chain: Chain| {
        let mut shard = ShardBuilder::new(key, 0);
        objects.iter().for_each(|object| shard.push(object).unwrap());
        let (shard, record) = shard.seal().unwrap();
        let header =
            RootHeader { listed: false, chain, filters: vec![b"*.tmp".into()], leaves: None };
        let mut root = RootBuilder::new(key, &header);
        root.push(&record).unwrap();
        (root.seal(), record.file_name(), shard)
    };
    let (first, ..) = made(&objects, Chain::start(days[0]));
    let first = Root::open(key, first, "first").unwrap();
    let mut objects = objects.to_vec();
    objects[2].read = Some(days[1]);
    let (root, name, shard) = made(&objects, first.header.chain.next(first.seal, days[1]));
    fs::write(place.join(ROOT), root).unwrap();
    fs::write(place.join(name), shard).unwrap();
    objects
}

#[test]
fn the_documentation_shows_a_manifest_to_the_byte() {
    let file = KeyFile::parse(block(KEY_PAGE, "```text\n").as_bytes()).unwrap();
    let (mac, key) = keys(&file);
    let folder = tempfile::tempdir().unwrap();
    let objects = write_example(&mac, &key, folder.path());
    let files: BTreeMap<String, String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    assert_eq!(files.len(), 2);
    for (name, text) in files {
        assert_eq!(text, block(PAGE, &format!("`{name}`:\n\n```text\n")));
    }
    let place = Folder::new(folder.path());
    let manifest = ObjectManifest::open(&key, &place).unwrap();
    assert!(manifest.objects().map(Result::unwrap).eq(objects));
}

#[test]
fn another_implementation_reads_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for (algorithm, count) in [
        ("PMAC-AES128", SHARD_ENTRIES + 3),
        ("UMAC-64", 3),
        ("UMAC99-STD-30", 1),
        ("HMAC-SHA256", 0),
    ] {
        let algorithm = tagmac_any::Algorithm::from_name(algorithm).unwrap();
        let file = KeyFile::generate(algorithm, std::time::SystemTime::now()).unwrap();
        let (mac, key) = keys(&file);
        let [key_file, place] =
            ["key", "m"].map(|what| folder.path().join(format!("{what} {algorithm}")));
        fs::write(&key_file, file.to_text().as_bytes()).unwrap();
        // Names with every byte value, filled up to `count`.
        let mut names = if count > 0 { names() } else { Vec::new() };
        names.extend((names.len()..count).map(|i| format!("photos/{i:08}").into_bytes()));
        names.sort();
        let objects: Vec<Object> = names.iter().map(|name| object(&mac, name)).collect();
        write(&key, &place, &objects);
        let mut expected = Vec::new();
        objects.iter().for_each(|object| object.write(FormatVersion::V2, &mut expected));
        let ran = Command::new("python3").arg(READER).args([&key_file, &place]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "{algorithm}");
        assert!(ran.stdout == expected, "{algorithm}");
    }
}
