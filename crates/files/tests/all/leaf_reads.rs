//! Reads of any range, repairs, and the file of leaf tags, compared with the bytes that were sealed.

use std::fs;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::leaves::repair::{Damage, repair};
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::{Leaf, VerifiedFile};
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::Progress;
use tagmac_files::raw_key::RawKey;
use tagmac_files::{Error, ErrorKind};

use super::key;
use super::sealed_tree::{Place, bytes, flip, names, seal};

const LEAF: usize = 4096;

/// Seals files `f0`, `f1`, ... with these contents.
fn sealed(keys: (OpenKey, RawKey), contents: &[&[u8]]) -> Place {
    Place::new(keys, Some(LEAF as u64), contents)
}

impl Place {
    fn open(&self) -> SealedTree {
        SealedTree::open(&self.keys.0, &self.keys.1, &self.manifest, &self.root).unwrap()
    }

    fn verified(&self, number: usize) -> Result<VerifiedFile, Error> {
        self.open().file(format!("f{number}").as_bytes())
    }
}

/// Counts the bytes that are done.
#[derive(Default)]
struct Count(AtomicU64);

impl Progress for Count {
    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn skip(&self, _: u64) {}

    fn file(&self) {}
}

#[test]
fn reads_are_those_of_the_sealed_bytes() {
    let lengths = [0, 1, LEAF - 1, LEAF, LEAF + 1, 2 * LEAF, 5 * LEAF + 77];
    let contents: Vec<_> = lengths.into_iter().map(bytes).collect();
    let place = sealed(key(), &contents.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for (number, content) in contents.iter().enumerate() {
        let file = place.verified(number).unwrap();
        let sealed = file.content();
        assert_eq!((sealed.size(), sealed.memory()), (content.len() as u64, 0));
        let starts: Vec<_> = sealed.starts().collect();
        assert!(starts.iter().copied().eq((0..content.len().max(1) as u64).step_by(LEAF)));
        let mut end = 0;
        for start in starts {
            let range = sealed.range(start);
            assert_eq!((range.start, range.start), (end, start));
            assert!(sealed.is_sealed(start, &content[start as usize..range.end as usize]).unwrap());
            end = range.end;
        }
        assert_eq!(end, content.len() as u64);
        // The last leaf is kept from one read to the next.
        let mut kept = Leaf::default();
        let places = [0, 1, LEAF - 1, LEAF, LEAF + 1, 2 * LEAF, content.len().saturating_sub(1)];
        for at in places.into_iter().chain([content.len(), content.len() + 1]) {
            for count in [0, 1, 100, LEAF - 1, LEAF, LEAF + 1, 3 * LEAF] {
                let left = content.get(at..).unwrap_or_default();
                let expected = &left[..left.len().min(count)];
                for leaf in [&mut kept, &mut Leaf::default()] {
                    let mut out = vec![0; count];
                    let read = file.read_at(&mut out, at as u64, leaf).unwrap();
                    assert_eq!(read == 0, expected.is_empty());
                    assert!(out[..read] == expected[..read], "{number}: {at}");
                }
                // Python's tests read what this writes.
                let (mut out, mut leaf) = (vec![MaybeUninit::new(0); count], Leaf::default());
                let read = file.read_new_at(&mut out, at as u64, &mut leaf).unwrap();
                assert!(read <= expected.len() && (read == 0) == expected.is_empty());
                assert!(read != 1 || expected.len() == 1 || (at + 1).is_multiple_of(LEAF));
            }
        }
    }
}

#[test]
fn only_the_start_of_a_leaf_begins_one() {
    let content = bytes(2 * LEAF);
    let place = sealed(key(), &[&content]);
    let file = place.verified(0).unwrap();
    for start in [1, LEAF as u64 - 1, 2 * LEAF as u64, u64::MAX] {
        let verify = || file.content().is_sealed(start, &content[..LEAF]);
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(verify)).err().unwrap();
        let line = panic.downcast_ref::<String>().unwrap();
        assert_eq!(*line, format!("{start}: no leaf begins there"));
    }
}

#[test]
fn a_file_of_another_size_is_refused() {
    let content = bytes(2 * LEAF + 9);
    let place = sealed(key(), &[&content]);
    let open = place.verified(0).unwrap();
    for (length, start) in [(2 * LEAF + 10, None), (2 * LEAF + 8, Some(2 * LEAF)), (0, Some(0))] {
        fs::File::options()
            .write(true)
            .open(place.file(0))
            .unwrap()
            .set_len(length as u64)
            .unwrap();
        let error = place.verified(0).err().unwrap();
        let line = format!("f0: expected {} bytes, found {length}", content.len());
        assert!(error.to_string().ends_with(&line), "{error}");
        assert_eq!(error.kind(), ErrorKind::Mismatch);
        // A reader that was open before sees only that a leaf is cut off.
        if let Some(start) = start {
            let error = open.read(start as u64, &mut Leaf::default()).unwrap_err();
            let end = content.len().min(start + LEAF);
            let line = format!("f0: bytes {start} to {end} differ from those sealed");
            assert!(error.to_string().ends_with(&line), "{error}");
        }
    }
}

/// All ways to damage four leaves of a file and of its copy.
#[test]
fn a_repair_takes_every_damaged_leaf_from_the_copy_or_writes_nothing() {
    let content = bytes(4 * LEAF - 5);
    let place = sealed(key(), &[b"another", &content]);
    let copy = place.path("copy");
    for (damaged, lacking) in (0..256u32).map(|bits| (bits & 15, bits >> 4)) {
        for (path, leaves) in [(place.file(1), damaged), (copy.clone(), lacking)] {
            fs::write(&path, &content).unwrap();
            for leaf in (0..4).filter(|leaf| leaves >> leaf & 1 == 1) {
                flip(&path, (leaf * LEAF) as u64 + 4000);
            }
        }
        let before = fs::read(place.file(1)).unwrap();
        let mut expected = Damage { of: 4, ..Damage::default() };
        for leaf in (0..4).filter(|leaf| damaged >> leaf & 1 == 1) {
            expected.add((leaf * LEAF) as u64..(content.len().min((leaf + 1) * LEAF)) as u64);
        }
        let mut tree = place.open();
        let count = Count::default();
        assert_eq!(tree.damage(b"f1", &count).unwrap(), expected);
        assert_eq!(count.0.into_inner(), content.len() as u64);
        let repaired = repair(&mut tree, b"f1", &copy, &());
        let both = damaged & lacking;
        if both == 0 {
            assert_eq!(repaired.unwrap(), expected);
            assert!(fs::read(place.file(1)).unwrap() == content);
            continue;
        }
        let error = repaired.unwrap_err();
        let first = both.trailing_zeros() as usize;
        // Adjacent leaves are one range.
        let end = first + (both >> first).trailing_ones() as usize;
        let line = format!(
            "{} of its {} damaged leaves are damaged in {} too, the first at bytes {} to {}",
            both.count_ones(),
            damaged.count_ones(),
            copy.display(),
            first * LEAF,
            content.len().min(end * LEAF)
        );
        assert!(error.to_string().ends_with(&line), "{error}");
        assert!(fs::read(place.file(1)).unwrap() == before, "it was written to");
    }
}

#[test]
fn a_repair_restores_a_cut_file_and_refuses_a_longer_one() {
    let content = bytes(2 * LEAF + 9);
    let place = sealed(key(), &[&content, b""]);
    let copy = place.path("copy");
    fs::write(&copy, &content).unwrap();
    for length in [0, LEAF, 2 * LEAF + 8] {
        fs::write(place.file(0), &content[..length]).unwrap();
        let damage = repair(&mut place.open(), b"f0", &copy, &()).unwrap();
        assert_eq!(damage.size, Some(length as u64));
        assert!(!damage.is_none() && fs::read(place.file(0)).unwrap() == content);
    }
    assert!(repair(&mut place.open(), b"f0", &copy, &()).unwrap().is_none());
    let longer = [&content[..], b"more"].concat();
    fs::write(place.file(0), &longer).unwrap();
    let error = repair(&mut place.open(), b"f0", &copy, &()).unwrap_err().to_string();
    let line = "expected 8201 bytes, found 8205; remove the bytes at the end, or seal again";
    assert!(error.ends_with(line), "{error}");
    assert!(fs::read(place.file(0)).unwrap() == longer);
}

/// A reader keeps leaf tags in blocks of 256.
#[test]
fn leaf_tags_that_were_repaired_are_read_again() {
    let (first, second) = (bytes(300 * LEAF), bytes(600 * LEAF));
    let place = sealed(key(), &[&first, &second]);
    let file = place.verified(1).unwrap();
    let mut leaf = Leaf::default();
    // 211 is the first tag of a block.
    for number in [0, 1, 211, 255, 256, 400, 599] {
        let (tag, start) = (16 * (1 + 300 + number), number * LEAF as u64);
        flip(&place.path("m.1.leaves"), tag);
        let other = place.verified(1).unwrap();
        let error = other.read(start, &mut leaf).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Mismatch);
        flip(&place.path("m.1.leaves"), tag);
        for file in [&other, &file] {
            file.read(start, &mut leaf).unwrap();
            assert!(!leaf.is_empty() && leaf.from(start) == &second[start as usize..][..LEAF]);
        }
    }
    let leaves = fs::File::options().write(true).open(place.path("m.1.leaves")).unwrap();
    leaves.set_len(16 * (1 + 300 + 599) + 3).unwrap();
    let error = place.verified(1).unwrap().read(599 * LEAF as u64, &mut leaf).unwrap_err();
    assert!(
        error.to_string().ends_with("m.1.leaves: the file of leaf tags was cut off"),
        "{error}"
    );
    assert!(leaf.is_empty());
}

#[test]
fn a_new_manifest_removes_the_leaf_tags_of_the_one_before_and_no_other_file() {
    let place = sealed(key(), &[&bytes(2 * LEAF)]);
    let leaves = fs::read(place.path("m.1.leaves")).unwrap();
    for other in ["m.x.leaves", "m..leaves", "m.1.leave", "n.1.leaves"] {
        fs::write(place.path(other), &leaves).unwrap();
    }
    // Not leaf tags.
    fs::write(place.path("m.7.leaves"), "text").unwrap();
    fs::write(place.path("m.8.leaves"), &leaves).unwrap();
    place.seal().unwrap();
    let expected = [
        "m",
        "m..leaves",
        "m.1.leave",
        "m.2.leaves",
        "m.7.leaves",
        "m.x.leaves",
        "n.1.leaves",
        "t",
    ];
    assert_eq!(place.names(), expected);
}

#[test]
fn leaf_tags_need_a_mac_without_nonces_and_its_full_tag() {
    for (name, bits, line) in [
        ("UMAC-64", 64, "cannot make leaf tags, as it uses nonces"),
        ("PMAC-AES128", 64, "leaf tags need tags of full length"),
    ] {
        let algorithm = Algorithm::from_name(name).unwrap();
        let raw = RawKey::new(algorithm, vec![7; algorithm.new_key_bytes()].into()).unwrap();
        let key = OpenKey::new(&raw, bits, Level::best()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (root, manifest) = (folder.path().join("t"), folder.path().join("m"));
        fs::create_dir(&root).unwrap();
        let refused = seal(&(key, raw), Some(LEAF as u64), &root, &manifest);
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(line), "{error}");
        assert_eq!(names(folder.path()), ["t"]);
    }
}

/// The limit of wrong reads is that of the longest content that was opened.
#[test]
fn a_longer_content_lowers_the_limit_of_wrong_reads() {
    let algorithm = Algorithm::from_name("PMAC-PRESENT80").unwrap();
    let raw = RawKey::new(algorithm, vec![7; algorithm.new_key_bytes()].into()).unwrap();
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap();
    let length = 16 << 20;
    let place = sealed((key, raw), &[&vec![7; length], &bytes(2 * LEAF)]);
    let max = algorithm.theorem().unwrap().reads(length as u64, 2f64.powi(-32)).unwrap();
    assert!((1..2000).contains(&max), "{max}");
    let mut tree = place.open();
    // The longest one is neither the first nor the last.
    let [short, _long, _] = [&b"f1"[..], b"f0", b"f1"].map(|path| tree.file(path).unwrap());
    flip(&place.file(1), 9);
    let mut leaf = Leaf::default();
    for _ in 0..max {
        let error = short.read(0, &mut leaf).unwrap_err().to_string();
        assert!(error.ends_with("bytes 0 to 4096 differ from those sealed"), "{error}");
    }
    short.read(LEAF as u64, &mut leaf).unwrap();
    let error = short.read(0, &mut leaf).unwrap_err().to_string();
    assert!(error.contains(&format!("under this key is {max}, and more were rejected")), "{error}");
}
