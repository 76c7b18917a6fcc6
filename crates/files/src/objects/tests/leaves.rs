//! Leaf tags of objects.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tagmac::isa::Level;

use super::raw;
use crate::error::Error;
use crate::leaf_size;
use crate::leaves::content::Contents;
use crate::leaves::stream::LeafStream;
use crate::leaves::{Leaves, TAG_BYTES};
use crate::objects::{
    Earlier, Folder, ManifestKey, Object, ObjectManifest, SHARD_ENTRIES, Start, Writer,
};
use crate::open_key::OpenKey;
use crate::raw_key::RawKey;

pub const LEAF: u64 = 4096;

/// Contents by name.
pub type Objects = BTreeMap<&'static str, Vec<u8>>;

pub fn keys(algorithm: &str) -> (OpenKey, RawKey) {
    let raw = raw(algorithm, 7);
    let bits = raw.algorithm.default_tag_bits();
    (OpenKey::new(&raw, bits, Level::best()).unwrap(), raw)
}

pub fn bytes(count: usize, seed: u32) -> Vec<u8> {
    (0..count as u32).map(|i| ((i ^ seed).wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

pub fn objects() -> Objects {
    let lengths = [0, 1, 4096, 4097, 5000, 8192, 20_000, 20_000];
    let names = ["a", "a-b", "a/b", "a/c/d", "b/", "c", "d/e", "d/f"];
    names
        .into_iter()
        .zip(lengths)
        .zip(0..)
        .map(|((name, n), seed)| (name, bytes(n, seed)))
        .collect()
}

/// Returns an object and its leaf tags.
fn tagged(
    (key, raw): (&OpenKey, &RawKey),
    leaf: u64,
    name: &str,
    data: &[u8],
) -> (Object, Vec<u8>) {
    let (leaves, size) = (Leaves::new(raw, leaf), data.len() as u64);
    let tag = key.mac.tag(&[], data).unwrap();
    let tags = leaves.size_for(size).map(|leaf| {
        let mut stream = LeafStream::new(key, leaf, size, 0).unwrap();
        data.chunks(1000).for_each(|piece| stream.update(piece).unwrap());
        let hashed = stream.close().unwrap();
        let parts = key.parts().unwrap();
        assert_eq!(parts.finish(hashed.part.unwrap(), &[], &hashed.rest).unwrap(), tag);
        leaves.tags(&tag, size, leaf, &[hashed.sums], &hashed.rest)
    });
    let name = name.as_bytes().to_vec();
    let stamp = Some(b"\"e\"".to_vec());
    let object = Object { name, size, nonce: Vec::new(), tag: Some(tag), read: None, stamp };
    (object, tags.unwrap_or_default())
}

pub fn write(keys: (&OpenKey, &RawKey), leaf: Option<u64>, place: &Path, objects: &Objects) {
    let (key, place) = (ManifestKey::new(&keys.0.mac, keys.1), Folder::new(place));
    let start = Start { replace: true, leaves: leaf, ..Start::default() };
    let mut writer = Writer::new(&key, &place, start).unwrap();
    for (name, data) in objects {
        let (object, tags) = tagged(keys, leaf.unwrap_or(leaf_size::MAX), name, data);
        writer.push_with_leaves(&object, &tags).unwrap();
    }
    writer.finish().unwrap();
}

fn leaf_files(place: &Path) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(place).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.to_str().unwrap().contains("/leaves-")).collect()
}

/// Returns which leaves of an object are accepted with these bytes.
fn accepted(contents: &Contents, name: &str, data: &[u8]) -> Result<Vec<bool>, Error> {
    let content = contents.content(name.as_bytes(), Path::new(name))?;
    let leaf = |start: u64| {
        let range = content.range(start);
        let bytes = match data.len() as u64 == content.size() {
            true => &data[range.start as usize..range.end as usize],
            false => data,
        };
        content.is_sealed(start, bytes)
    };
    content.starts().map(leaf).collect()
}

#[test]
fn leaves_are_those_of_the_object_alone() {
    for algorithm in ["PMAC-AES128", "LIGHTMAC-AES128", "ELIMAC-AES128"] {
        let (key, raw) = keys(algorithm);
        let leaf = key.whole_blocks(LEAF).unwrap();
        let (folder, objects) = (tempfile::tempdir().unwrap(), objects());
        write((&key, &raw), Some(leaf), folder.path(), &objects);
        assert_eq!(leaf_files(folder.path()).len(), 1);
        let contents = Contents::open(&key, &raw, folder.path()).unwrap();
        for (name, data) in &objects {
            for (other, bytes) in &objects {
                let found = accepted(&contents, name, bytes).unwrap();
                assert!(found.iter().all(|is| *is == (name == other)), "{name} {other} {found:?}");
            }
            let mut data = data.clone();
            let Some(last) = data.len().checked_sub(1) else { continue };
            data[last] ^= 1;
            let found = accepted(&contents, name, &data).unwrap();
            assert!(found[..found.len() - 1].iter().all(|is| *is) && !found[found.len() - 1]);
        }
        assert!(accepted(&contents, "none", b"").is_err());
        assert!(accepted(&contents, "d", b"").unwrap_err().to_string().contains("found a dir"));
    }
}

/// A file of leaf tags that someone else wrote is an error, or its tags are wrong.
#[test]
fn leaf_tags_of_other_objects_are_not_accepted() {
    let (key, raw) = keys("PMAC-AES128");
    let (folder, objects) = (tempfile::tempdir().unwrap(), objects());
    write((&key, &raw), Some(LEAF), folder.path(), &objects);
    let [file] = &leaf_files(folder.path())[..] else { panic!() };
    let sealed = fs::read(file).unwrap();
    let check = |bytes: &[u8]| {
        fs::write(file, bytes).unwrap();
        let contents = Contents::open(&key, &raw, folder.path()).unwrap();
        accepted(&contents, "d/f", &objects["d/f"]).map_err(|error| error.to_string())
    };
    assert_eq!(check(&sealed), Ok(vec![true; 5]));
    // Those of `d/e` and `d/f`, which have the same size, change places.
    let (end, own) = (sealed.len(), 5 * TAG_BYTES);
    let swapped =
        [&sealed[..end - 2 * own], &sealed[end - own..], &sealed[end - 2 * own..end - own]]
            .concat();
    assert_eq!(check(&swapped), Ok(vec![false; 5]));
    // So do those of two leaves of one object.
    let mut swapped = sealed.clone();
    let (left, right) = swapped.split_at_mut(end - TAG_BYTES);
    left[end - 2 * TAG_BYTES..].swap_with_slice(right);
    assert_eq!(check(&swapped), Ok(vec![true, true, true, false, false]));
    for wrong in [&sealed[..end - 1], &[&*sealed, b"x"].concat(), b""] {
        let why = check(wrong).unwrap_err();
        let bytes = wrong.len();
        assert!(why.ends_with(&format!(": expected {end} bytes, found {bytes}")), "{why}");
    }
    // The leaf tags of another version of `d/f`, and those of leaves of another length.
    let other = tempfile::tempdir().unwrap();
    let mut newer = objects.clone();
    newer.insert("d/f", bytes(20_000, 99));
    for (leaf, objects) in [(LEAF, &newer), (2 * LEAF, &objects)] {
        write((&key, &raw), Some(leaf), other.path(), objects);
        let [theirs] = &leaf_files(other.path())[..] else { panic!() };
        assert_ne!(theirs.file_name(), file.file_name());
        let mut theirs = fs::read(theirs).unwrap();
        theirs.resize(end, 0);
        assert_eq!(check(&theirs), Ok(vec![false; 5]));
    }
    fs::remove_file(file).unwrap();
    let contents = Contents::open(&key, &raw, folder.path()).unwrap();
    let why = accepted(&contents, "d/f", b"").unwrap_err().to_string();
    assert!(why.ends_with(": the leaf tags are missing"), "{why}");
    // Objects without leaves do not need the file.
    assert_eq!(accepted(&contents, "a-b", &objects["a-b"]).unwrap(), [true]);
}

#[test]
fn a_manifest_keeps_its_leaf_tags_and_no_others() {
    let (key, raw) = keys("PMAC-AES128");
    let (folder, objects) = (tempfile::tempdir().unwrap(), objects());
    let path = folder.path();
    write((&key, &raw), Some(LEAF), path, &objects);
    let first = leaf_files(path);
    let is_whole = || {
        let contents = Contents::open(&key, &raw, path).unwrap();
        objects
            .iter()
            .all(|(name, data)| accepted(&contents, name, data).unwrap().iter().all(|is| *is))
    };
    // A run that is killed or abandoned changes nothing.
    let (manifest_key, place) = (ManifestKey::new(&key.mac, &raw), Folder::new(path));
    for is_killed in [false, true] {
        let start = Start { replace: true, leaves: Some(2 * LEAF), ..Start::default() };
        let mut writer = Writer::new(&manifest_key, &place, start).unwrap();
        let (object, tags) = tagged((&key, &raw), 2 * LEAF, "x", &bytes(30_000, 5));
        writer.push_with_leaves(&object, &tags).unwrap();
        // Writes the shard and its leaf tags.
        writer.flush().unwrap();
        assert_eq!(leaf_files(path).len(), 2);
        match is_killed {
            true => drop(writer),
            false => writer.abandon(),
        }
        assert!(is_whole());
        assert_eq!(leaf_files(path).len(), if is_killed { 2 } else { 1 });
    }
    // The same objects have the same files. Other leaves have others.
    write((&key, &raw), Some(LEAF), path, &objects);
    assert!(is_whole() && first.iter().all(|file| file.exists()));
    write((&key, &raw), Some(2 * LEAF), path, &objects);
    assert!(is_whole() && !first.iter().any(|file| file.exists()));
    write((&key, &raw), None, path, &objects);
    // The killed run's is left.
    assert_eq!(leaf_files(path).len(), 1);
    assert!(is_whole());
}

#[test]
fn leaf_tags_are_carried_over() {
    let (key, raw) = keys("PMAC-AES128");
    let (folder, objects) = (tempfile::tempdir().unwrap(), objects());
    write((&key, &raw), Some(LEAF), folder.path(), &objects);
    let (manifest_key, place) = (ManifestKey::new(&key.mac, &raw), Folder::new(folder.path()));
    let manifest = ObjectManifest::open(&manifest_key, &place).unwrap();
    let tags = |leaf, name: &str| {
        let old = Earlier::new(&manifest, leaf).find(name.as_bytes()).unwrap().unwrap();
        old.leaf_tags
    };
    let mut earlier = Earlier::new(&manifest, Some(LEAF));
    for (name, data) in &objects {
        let old = earlier.find(name.as_bytes()).unwrap().unwrap();
        let (object, leaf_tags) = tagged((&key, &raw), LEAF, name, data);
        assert_eq!((old.object, old.leaf_tags), (object, Some(leaf_tags)));
    }
    // Not wanted; not of this length; not necessary.
    assert_eq!(tags(None, "d/f"), Some(Vec::new()));
    assert_eq!(tags(Some(2 * LEAF), "d/f"), None);
    assert_eq!(tags(Some(2 * LEAF), "a/c/d"), Some(Vec::new()));
    let [file] = &leaf_files(folder.path())[..] else { panic!() };
    let sealed = fs::read(file).unwrap();
    for damaged in [&sealed[1..], &[&*sealed, b"x"].concat(), &[b"x", &sealed[1..]].concat()] {
        fs::write(file, damaged).unwrap();
        assert_eq!(tags(Some(LEAF), "d/f"), None);
    }
    fs::remove_file(file).unwrap();
    assert_eq!(tags(Some(LEAF), "d/f"), None);
    assert_eq!(tags(Some(LEAF), "a"), Some(Vec::new()));
}

/// Two shards, and more leaf tags than one file has.
#[test]
fn a_shard_has_as_many_files_as_it_needs() {
    let (key, raw) = keys("PMAC-AES128");
    let folder = tempfile::tempdir().unwrap();
    let (manifest_key, place) = (ManifestKey::new(&key.mac, &raw), Folder::new(folder.path()));
    let start = Start { leaves: Some(LEAF), ..Start::default() };
    let mut writer = Writer::new(&manifest_key, &place, start).unwrap();
    let (sealed, tags) = tagged((&key, &raw), LEAF, "x", &bytes(20_000, 5));
    // 2^18 leaves, whose tags are not real.
    let size = LEAF << 18;
    let large = Object { size, ..sealed.clone() };
    let zeros = vec![0; TAG_BYTES << 18];
    for number in 0..SHARD_ENTRIES + 2 {
        let name = format!("{number:06}").into_bytes();
        let small = Object { size: 1, ..sealed.clone() };
        let (object, tags) = match number {
            1..=3 => (&large, &zeros[..]),
            5 | 65_536 => (&sealed, &tags[..]),
            _ => (&small, &[][..]),
        };
        writer.push_with_leaves(&Object { name, ..object.clone() }, tags).unwrap();
    }
    writer.finish().unwrap();
    let lengths =
        leaf_files(folder.path()).into_iter().map(|file| fs::metadata(file).unwrap().len());
    let mut lengths: Vec<u64> = lengths.collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [6 * 16, (4 << 20) + 6 * 16, (8 << 20) + 16]);
    let contents = Contents::open(&key, &raw, folder.path()).unwrap();
    for name in ["000005", "065536"] {
        assert_eq!(accepted(&contents, name, &bytes(20_000, 5)).unwrap(), [true; 5]);
    }
    let mut writer = Writer::new(&manifest_key, &place, Start { replace: true, ..start }).unwrap();
    let why = writer.push_with_leaves(&sealed, &tags[1..]).unwrap_err().to_string();
    assert_eq!(why, "x: expected 5 leaf tags, found 4");
}
