//! The contents of a manifest, and reads of files in whole leaves.

use std::fs;

use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::Leaf;
use tagmac_files::manifest::options::ManifestOptions;
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
    }
    for at in [0, 8192, 8193, 16384, 19_999] {
        let (mut out, mut leaf) = ([0; 5000], Leaf::default());
        let count = file.read_at(&mut out, at as u64, &mut leaf).unwrap();
        assert!(count > 0 && out[..count] == bytes[at..at + count]);
    }
}
