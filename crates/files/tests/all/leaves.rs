//! The contents of a manifest, and reads of files in whole leaves.

use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::ErrorKind;
use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::Leaf;
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealOptions, Sealing};

use super::key;

/// Directories with more entries than a listing of their parent reads one by one.
#[test]
fn a_directory_is_listed_without_what_is_below_it() {
    let ((key, raw), place) = (key(), tempfile::tempdir().unwrap());
    let (root, output) = (place.path().join("t"), place.path().join("m"));
    for folder in ["a", "a\u{1}", "a-b/c", "d"] {
        fs::create_dir_all(root.join(folder)).unwrap();
        for number in 0..1500 {
            fs::write(root.join(folder).join(format!("{number:04}")), "").unwrap();
        }
    }
    fs::write(root.join("e"), "").unwrap();
    Sealing::new(&key, &raw, SealOptions::new(&root, &output)).unwrap().run(&()).unwrap();
    let contents = Contents::open(&key, &raw, &output).unwrap();
    let names = |path: &str| {
        let children = contents.children(path.as_bytes()).unwrap().into_iter();
        children.map(|entry| String::from_utf8(entry.path).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(names(""), ["a", "a\u{1}", "a-b", "d", "e"]);
    assert_eq!(names("a-b"), ["a-b/c"]);
    for folder in ["a", "a\u{1}", "a-b/c", "d"] {
        assert!(names(folder).into_iter().eq((0..1500).map(|n| format!("{folder}/{n:04}"))));
    }
    for path in ["e", "none", "a/0000", "a-"] {
        assert!(names(path).is_empty());
    }
}

#[test]
fn listings_begin_at_any_entry_and_have_all_below_a_path() {
    let ((key, raw), place) = (key(), tempfile::tempdir().unwrap());
    let (root, output) = (place.path().join("t"), place.path().join("m"));
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    fs::create_dir_all(root.join("a-b")).unwrap();
    for name in ["a/b/c/x", "a/b/y", "a/b-", "a/b0", "a-b/z", "a0", "e"] {
        fs::write(root.join(name), name).unwrap();
    }
    Sealing::new(&key, &raw, SealOptions::new(&root, &output)).unwrap().run(&()).unwrap();
    let contents = Contents::open(&key, &raw, &output).unwrap();
    assert!(!contents.is_bucket() && !contents.has_leaf_tags());
    assert_eq!(contents.chain().sequence, 1);
    let names = |path: &str, start: &str| {
        let entries = contents.entries_from(path.as_bytes(), start.as_bytes());
        let names = entries.map(|entry| String::from_utf8(entry.unwrap().path).unwrap());
        names.collect::<Vec<_>>()
    };
    let all = names("", "");
    let expected =
        ["a", "a/b", "a/b/c", "a/b/c/x", "a/b/y", "a/b-", "a/b0", "a-b", "a-b/z", "a0", "e"];
    assert_eq!(all, expected);
    assert_eq!(contents.totals(), (all.len() as u64, 7 + 5 + 4 + 4 + 5 + 2 + 1));
    for path in all.iter().map(String::as_str).chain([""]) {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = all.iter().filter(|name| *name == path || name.starts_with(&prefix));
        let below: Vec<_> = below.map(String::as_str).collect();
        assert_eq!(names(path, path), below);
        for (number, start) in below.iter().enumerate() {
            assert_eq!(names(path, start), below[number..]);
        }
    }
}

/// Whole leaves are read straight into the caller's buffer.
#[test]
fn a_buffer_has_no_byte_of_a_leaf_that_differs() {
    let ((key, raw), place) = (key(), tempfile::tempdir().unwrap());
    let (root, output) = (place.path().join("t"), place.path().join("m"));
    fs::create_dir(&root).unwrap();
    let mut bytes: Vec<u8> = (0..20_000u32).map(|i| ((i * i) >> 5) as u8 | 1).collect();
    fs::write(root.join("f"), &bytes).unwrap();
    let sealed = ManifestOptions { leaves: Some(4096), ..ManifestOptions::default() };
    let options = SealOptions { sealed, ..SealOptions::new(&root, &output) };
    Sealing::new(&key, &raw, options).unwrap().run(&()).unwrap();
    bytes[5000] ^= 1;
    fs::write(root.join("f"), &bytes).unwrap();
    let file = SealedTree::open(&key, &raw, &output, &root).unwrap().file(b"f").unwrap();
    for at in [4096, 4097, 8191] {
        let (mut out, mut leaf) = ([9; 5000], Leaf::default());
        let error = file.read_at(&mut out, at, &mut leaf).unwrap_err().to_string();
        assert!(error.ends_with("f: bytes 4096 to 8192 differ from those sealed"), "{error}");
        assert!(leaf.is_empty() && out.iter().all(|byte| [0, 9].contains(byte)));
        let mut new = [MaybeUninit::new(9); 5000];
        assert!(file.read_new_at(&mut new, at, &mut leaf).is_err() && leaf.is_empty());
    }
    for at in [0, 8192, 8193, 16384, 19_999] {
        let (mut out, mut leaf) = ([0; 5000], Leaf::default());
        let count = file.read_at(&mut out, at as u64, &mut leaf).unwrap();
        assert!(count > 0 && out[..count] == bytes[at..at + count]);
    }
}

/// The limit counts the wrong leaves of all files of an open manifest.
#[test]
fn wrong_reads_are_counted_and_limited() {
    let algorithm = Algorithm::from_name("PMAC-PRESENT80").unwrap();
    let raw = RawKey::new(algorithm, vec![7; algorithm.new_key_bytes()].into()).unwrap();
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let (root, output) = (place.path().join("t"), place.path().join("m"));
    fs::create_dir(&root).unwrap();
    let bytes = vec![7; 1 << 20];
    fs::write(root.join("a"), &bytes).unwrap();
    fs::write(root.join("b"), &bytes[..8192]).unwrap();
    let sealed = ManifestOptions { leaves: Some(4096), ..ManifestOptions::default() };
    let options = SealOptions { sealed, ..SealOptions::new(&root, &output) };
    Sealing::new(&key, &raw, options).unwrap().run(&()).unwrap();
    let max = algorithm.theorem().unwrap().reads(1 << 20, 2f64.powi(-32)).unwrap();
    assert_eq!(max, 2047);
    let mut tree = SealedTree::open(&key, &raw, &output, &root).unwrap();
    let files = [&b"a"[..], b"b"].map(|path| tree.file(path).unwrap());
    for name in ["a", "b"] {
        let file = fs::File::options().write(true).open(root.join(name)).unwrap();
        file.write_all_at(b"x", 9).unwrap();
    }
    let mut leaf = Leaf::default();
    for number in 0..max {
        let error = files[number as usize % 2].read(0, &mut leaf).unwrap_err();
        assert!(error.to_string().ends_with("bytes 0 to 4096 differ from those sealed"), "{error}");
    }
    // The limit is reached and not exceeded.
    files[1].read(4096, &mut leaf).unwrap();
    let over = "m: the limit of wrong reads under this key is 2047, and more were rejected";
    for (file, at) in [(&files[0], 0), (&files[1], 4096), (&tree.file(b"a").unwrap(), 4096)] {
        let error = file.read(at, &mut leaf).unwrap_err();
        assert!(error.to_string().contains(over) && leaf.is_empty(), "{error}");
        assert_eq!(error.kind(), ErrorKind::Mismatch);
    }
}
