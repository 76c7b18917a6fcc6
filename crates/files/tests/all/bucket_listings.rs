//! Listings and look-ups of a bucket's manifest, compared with a map of its objects.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tagmac_files::ErrorKind;
use tagmac_files::dir::EntryKind;
use tagmac_files::leaves::content::Contents;
use tagmac_files::manifest::entry::Entry;
use tagmac_files::objects::{Folder, ManifestKey, Object, SHARD_ENTRIES, Start, Writer};

use super::key;

/// Names with empty segments, folders that are objects too, and neighbours of `/` in byte order.
const NAMES: [&str; 22] = [
    "/lead", "a", "a-b", "a/", "a//x", "a/b", "a/b-c", "a/b/c", "a/b/d", "a/b/d/e", "a/b0", "a0",
    "b/", "b/x", "c/", "d/e/f/g", "d/e0", "m", "m/", "m/n", "m/n/o", "z",
];
/// Folders for users: empty objects whose names end with a slash.
const MARKERS: [&str; 3] = ["a/", "b/", "m/"];
/// The last object, which has leaf tags.
const LARGE: (&str, u64) = ("z", 3 * LEAF);
const LEAF: u64 = 4096;
/// Objects of one folder, which is in two shards.
const MANY: usize = SHARD_ENTRIES + 100;

/// The sizes of the objects by their names.
type Objects = BTreeMap<Vec<u8>, u64>;

fn objects() -> Objects {
    let size = |name: &str| match name {
        _ if MARKERS.contains(&name) => 0,
        _ if name == LARGE.0 => LARGE.1,
        _ => name.len() as u64,
    };
    let few = NAMES.iter().map(|name| (name.as_bytes().to_vec(), size(name)));
    let many = (0..MANY).map(|number| (format!("f/{number:06}").into_bytes(), 1));
    few.chain(many).collect()
}

/// Seals the objects in a new folder, and opens the manifest.
fn sealed(objects: &Objects, place: &Path) -> Contents {
    let (key, raw) = key();
    let (manifest_key, folder) = (ManifestKey::new(&key.mac, &raw), Folder::new(place));
    let tag = key.mac.tag(&[], b"x").unwrap();
    let start = Start { leaves: Some(LEAF), ..Start::default() };
    let mut writer = Writer::new(&manifest_key, &folder, start).unwrap();
    for (name, size) in objects {
        let name = name.clone();
        let object = Object {
            name,
            size: *size,
            nonce: Vec::new(),
            tag: Some(tag),
            read: None,
            stamp: None,
        };
        let tags = if object.size == LARGE.1 { &[1; 48][..] } else { &[] };
        writer.push_with_leaves(&object, tags).unwrap();
    }
    writer.finish().unwrap();
    Contents::open(&key, &raw, place).unwrap()
}

/// The name and the size of an entry; no size for a directory.
fn facts(entry: &Entry) -> (Vec<u8>, Option<u64>) {
    assert_eq!(entry.content.is_none(), entry.kind == EntryKind::Directory);
    (entry.path.clone(), entry.content.as_ref().map(|content| content.size))
}

fn with_slash(path: &[u8]) -> Vec<u8> {
    if path.is_empty() { Vec::new() } else { [path, b"/"].concat() }
}

/// All paths of directories and objects, and some that do not exist.
fn paths(objects: &Objects) -> Vec<Vec<u8>> {
    let of = |name: &Vec<u8>| -> Vec<Vec<u8>> {
        let cuts = (0..name.len()).filter(|&at| name[at] == b'/');
        cuts.map(|at| name[..at].to_vec()).chain([name.clone()]).collect()
    };
    let others = ["", "/", "a/b/", "e", "f", "f/", "f/000", "n", "zz"].map(|path| path.into());
    let mut paths: Vec<_> = NAMES.iter().flat_map(|name| of(&name.as_bytes().to_vec())).collect();
    paths.extend(others);
    let last = objects.last_key_value().unwrap().0;
    paths.extend([last.clone(), [last, &b"0"[..]].concat()]);
    paths.sort();
    paths.dedup();
    paths
}

#[test]
fn listings_are_those_of_a_map() {
    let (objects, place) = (objects(), tempfile::tempdir().unwrap());
    let contents = sealed(&objects, place.path());
    assert!(contents.is_bucket() && contents.has_leaf_tags());
    assert_eq!(contents.chain().sequence, 1);
    let large = contents.content(LARGE.0.as_bytes(), Path::new(LARGE.0)).unwrap();
    assert_eq!((large.size(), large.leaf(), large.memory()), (LARGE.1, LEAF, 48));
    assert!(!large.is_sealed(0, &[0; LEAF as usize]).unwrap());
    assert_eq!(contents.totals(), (objects.len() as u64, objects.values().sum()));
    let paths = paths(&objects);
    for path in &paths {
        let prefix = with_slash(path);
        let below =
            || objects.range(prefix.clone()..).take_while(|(name, _)| name.starts_with(&prefix));
        let shown = String::from_utf8_lossy(path);

        let expected = match objects.get(path) {
            Some(size) => Some((path.clone(), Some(*size))),
            None => below().next().map(|_| (path.clone(), None)),
        };
        // The root has no entry.
        match (path.is_empty(), contents.entry(path), expected) {
            (true, ..) => {}
            (_, Ok(entry), Some(expected)) => assert_eq!(facts(&entry), expected),
            (_, Err(error), None) => assert_eq!(error.kind(), ErrorKind::Usage, "{shown}: {error}"),
            (_, entry, expected) => panic!("{shown}: {expected:?}, found {:?}", entry.is_ok()),
        }

        let mut children = Vec::new();
        for (name, size) in below() {
            let rest = &name[prefix.len()..];
            let child = match rest.iter().position(|&byte| byte == b'/') {
                None if rest.is_empty() => continue,
                None => (name.clone(), Some(*size)),
                Some(0) => continue,
                Some(end) => (name[..prefix.len() + end].to_vec(), None),
            };
            if children.last() != Some(&child) {
                children.push(child);
            }
        }
        let found = contents.children(path).unwrap();
        assert!(found.iter().map(facts).eq(children), "{shown}: children");

        let is_marker = |name: &[u8], size: u64| size == 0 && name.ends_with(b"/");
        let itself = objects.get_key_value(path);
        let all: Vec<_> = itself.into_iter().chain(below()).collect();
        let starts = paths.iter().filter(|start| *start == path || start.starts_with(&prefix));
        // Some starts are enough for a long listing.
        for start in starts.step_by(if all.len() > MANY { 9 } else { 1 }) {
            let expected =
                all.iter().filter(|(name, size)| *name >= start && !is_marker(name, **size));
            let expected = expected.map(|(name, size)| ((*name).clone(), Some(**size)));
            let found = contents.entries_from(path, start);
            let found = found.map(|entry| facts(&entry.unwrap()));
            assert!(found.eq(expected), "{shown} from {}", String::from_utf8_lossy(start));
        }
        if !path.is_empty() {
            let until = objects.range(prefix.clone()..contents.after(path));
            assert!(until.eq(below()), "{shown}: after");
        }
    }
    // At the border of two shards.
    let names: Vec<_> = objects.keys().collect();
    for number in SHARD_ENTRIES - 2..SHARD_ENTRIES + 2 {
        let next = contents.entries_from(b"f", names[number]).take(3);
        let next = next.map(|entry| entry.unwrap().path);
        assert!(next.eq(names[number..].iter().take(3).map(|name| (*name).clone())));
    }
}

/// Moves all files but the root.
fn move_shards(from: &Path, to: &Path) {
    for file in fs::read_dir(from).unwrap() {
        let name = file.unwrap().file_name();
        if name != "root" {
            fs::rename(from.join(&name), to.join(&name)).unwrap();
        }
    }
}

#[test]
fn a_shard_is_kept_from_the_second_look_up_on() {
    let (objects, place) = (objects(), tempfile::tempdir().unwrap());
    let (bucket, away) = (place.path().join("bucket"), place.path().join("away"));
    fs::create_dir(&away).unwrap();
    let contents = sealed(&objects, &bucket);
    let names: Vec<_> = objects.keys().collect();
    let is_found = |number: usize| match contents.entry(names[number]) {
        Ok(entry) => entry.path == *names[number],
        Err(_) => false,
    };
    // The first look-up keeps one name only.
    assert!(is_found(1));
    move_shards(&bucket, &away);
    assert!(is_found(1) && !is_found(2));
    move_shards(&away, &bucket);
    assert!(is_found(2));
    move_shards(&bucket, &away);
    assert!([0, 1, 2, SHARD_ENTRIES - 1].into_iter().all(is_found));
    assert!(!is_found(SHARD_ENTRIES), "the other shard was read too");
}
