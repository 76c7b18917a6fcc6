//! Leaf tags: `tagmac seal --leaves`, `read`, `repair` and `audit --locate`.

use std::fs;

use crate::common::{Place, Random};
#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::common::{at, leftovers};

const LEAF: usize = 4096;
/// Algorithms with parts and without nonces.
const ALGORITHMS: [&str; 5] =
    ["PMAC-AES128", "PMAC-PRESENT80", "LIGHTMAC-AES128-S32", "LIGHTMAC-AES128", "ELIMAC-AES128"];

/// A place with a tree `t` with files of lengths around leaves, a copy `c` of it, and its manifest `m`.
fn place(algorithm: &str, random: &mut Random) -> (Place, Vec<(String, Vec<u8>)>) {
    let place = Place::bare();
    place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
    let lengths =
        [0, 1, LEAF - 17, LEAF, LEAF + 1, LEAF + 12, 2 * LEAF, 2 * LEAF + 16, 5 * LEAF + 7];
    fs::create_dir_all(place.path("t/d")).unwrap();
    fs::create_dir_all(place.path("c/d")).unwrap();
    // Read by all threads, in pieces.
    let lengths = lengths.into_iter().chain([(2 << 20) + 5 * LEAF + 3]);
    let files: Vec<_> =
        lengths.map(|length| (format!("d/{length}"), random.bytes(length as u64))).collect();
    for (name, bytes) in &files {
        place.file(format!("t/{name}"), bytes);
        place.file(format!("c/{name}"), bytes);
    }
    place.keyed("seal", &["--leaves=4KiB", "t", "-o", "m"]).exits(0);
    (place, files)
}

#[test]
fn every_range_of_every_file_can_be_read() {
    let mut random = Random(1);
    for algorithm in ALGORITHMS {
        let (place, files) = place(algorithm, &mut random);
        for (name, bytes) in &files {
            let most = bytes.len() as u64;
            let read = |start: u64, length: u64| {
                let range = format!("{start}:{length}");
                let mut command =
                    place.command(&["read", "-k", "k", "--range", &range, "m", "t", name]);
                let output = command.output().unwrap();
                assert!(output.status.success(), "{name} {range}: {output:?}");
                let end = start.saturating_add(length).min(most);
                assert!(output.stdout == bytes[start as usize..end as usize], "{name} {range}");
            };
            read(0, u64::MAX >> 1);
            read(most, 1);
            for _ in 0..4 {
                let start = random.below(most);
                read(start, random.below(3 * LEAF as u64));
            }
        }
    }
}

/// A byte that differs is never written, nor any byte after it. It is located and repaired.
#[test]
fn a_damaged_leaf_is_refused_located_and_repaired() {
    let mut random = Random(2);
    for algorithm in ALGORITHMS {
        let (place, files) = place(algorithm, &mut random);
        for (name, bytes) in files.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            let at = random.below(bytes.len() as u64 - 1) as usize;
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << random.below(7);
            place.file(format!("t/{name}"), &damaged);
            let output = place.command(&["read", "-k", "k", "m", "t", name]).output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{name}");
            assert!(output.stdout.len() <= at && bytes.starts_with(&output.stdout), "{name}");
            let ran = place.keyed("audit", &["--locate", "m", "t"]).exits(1);
            let line = ran.err.lines().find(|line| line.contains(": damaged: 1 of ")).unwrap();
            let range = line.rsplit_once("bytes ").unwrap().1.split_once(" to ").unwrap();
            let range = range.0.parse().unwrap()..range.1.parse().unwrap();
            assert!(range.contains(&at) && range.len() <= 2 * LEAF, "{line}");
            // The copy may be damaged elsewhere.
            let mut copy = bytes.clone();
            let other = (at + 3 * LEAF) % bytes.len();
            let elsewhere = !range.contains(&other);
            copy[other] ^= u8::from(elsewhere);
            place.file("copy", &copy);
            let repair = ["m", "t", name, "--from", "copy"];
            place.keyed("repair", &repair).exits(0).says(&["repaired: 1 of "]);
            assert!(place.read(format!("t/{name}")) == *bytes, "{name}");
            place.keyed("repair", &repair).exits(0).says(&["undamaged"]);
        }
        place.keyed("audit", &["--locate", "m", "t"]).exits(0);
    }
}

#[test]
fn a_leaf_that_is_damaged_in_both_copies_changes_nothing() {
    let (place, files) = place("PMAC-AES128", &mut Random(3));
    let (name, bytes) = files.last().unwrap();
    let mut one = bytes.clone();
    one[0] ^= 1;
    one[9 * LEAF] ^= 1;
    let mut two = bytes.clone();
    two[9 * LEAF + 1] ^= 1;
    place.file(format!("t/{name}"), &one);
    place.file("copy", &two);
    let ran = place.keyed("repair", &["m", "t", name, "--from", "copy"]).exits(1);
    ran.says(&["not repaired: 1 of its 2 damaged leaves are damaged in copy too, the first at bytes 36864 to 40960"]);
    assert!(place.read(format!("t/{name}")) == one);
    // A shorter file is completed; a longer one may have new data.
    place.file(format!("t/{name}"), &bytes[..LEAF + 1]);
    place.keyed("repair", &["m", "t", name, "--from", &format!("c/{name}")]).exits(0);
    assert!(place.read(format!("t/{name}")) == *bytes);
    let longer = [&bytes[..], b"new"].concat();
    place.file(format!("t/{name}"), &longer);
    let ran = place.keyed("repair", &["m", "t", name, "--from", &format!("c/{name}")]).exits(1);
    ran.says(&["not repaired: expected 2117635 bytes, found 2117638"]);
    assert!(place.read(format!("t/{name}")) == longer);
    place.keyed("read", &["--range", "0:1", "m", "t", name]).exits(1).prints("");
}

/// Leaf tags are not trusted: those of another leaf, file, version or leaf size are refused, and so is
/// a file of leaf tags that was cut.
#[test]
fn leaf_tags_from_elsewhere_are_refused() {
    let place = Place::bare();
    place.run(&["keygen", "-o", "k"]).exits(0);
    fs::create_dir(place.path("t")).unwrap();
    let bytes = Random(4).bytes(4 * LEAF as u64);
    let swapped = [&bytes[LEAF..2 * LEAF], &bytes[..LEAF], &bytes[2 * LEAF..]].concat();
    place.file("t/a", &bytes);
    place.file("t/b", &swapped);
    place.keyed("seal", &["--leaves=4KiB", "t", "-o", "m"]).exits(0);
    let tags = place.read("m.1.leaves");
    let read = |name: &str| place.keyed("read", &["--range", "0:1", "m", "t", name]);
    let put = |tags: &[u8]| place.file("m.1.leaves", tags);
    assert_eq!(tags.len(), 16 * 9);
    for (one, other) in [(1, 2), (1, 5), (1, 6)] {
        let mut mixed = tags.clone();
        mixed[16 * one..16 * one + 16].copy_from_slice(&tags[16 * other..16 * other + 16]);
        put(&mixed);
        read("a").exits(1).prints("").says(&["t/a: bytes 0 to 4096 differ from those sealed"]);
        read("b").exits(0);
    }
    put(&tags[..16 * 8]);
    place.keyed("read", &["m", "t", "a"]).exits(0);
    place
        .keyed("read", &["m", "t", "b"])
        .exits(1)
        .says(&["m.1.leaves: the file of leaf tags was cut off"]);
    put(b"tagmac-leaves-2\n");
    read("a").exits(1).says(&["m.1.leaves: not a file of leaf tags"]);
    fs::remove_file(place.path("m.1.leaves")).unwrap();
    read("a").exits(4).says(&["m.1.leaves: "]);
    put(&tags);
    // Swapped leaves of the file itself.
    place.file("t/a", &swapped);
    read("a").exits(1).prints("");
    place.file("t/a", &bytes);
    // Another length of leaves.
    place.keyed("seal", &["--leaves=8KiB", "--new-chain", "t", "-o", "n"]).exits(0);
    fs::copy(place.path("n.1.leaves"), place.path("m.1.leaves")).unwrap();
    read("a").exits(1).prints("");
}

/// A second implementation, in Python, makes the same leaf tags.
#[test]
fn the_reference_makes_the_same_leaf_tags() {
    let place = Place::bare();
    fs::create_dir(place.path("t")).unwrap();
    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/leaf_tags.py");
    for (number, length) in
        [LEAF + 1, 2 * LEAF, 2 * LEAF + 16, 3 * LEAF + 9].into_iter().enumerate()
    {
        let (key, manifest) = (format!("k{number}"), format!("m{number}"));
        let algorithm = ["PMAC-AES128", "PMAC-AES256"][number % 2];
        place.run(&["keygen", "-a", algorithm, "-o", &key]).exits(0);
        place.file("t/a", Random(length as u64).bytes(length as u64));
        place.run(&["seal", "-k", &key, "--leaves=4KiB", "t", "-o", &manifest]).exits(0);
        let made = place.shell(&format!("python3 {reader} {key} t/a 4096"));
        let tags = place.read(format!("{manifest}.1.leaves"));
        let tags: String = tags[16..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(
            made.err.is_empty() && made.out.replace('\n', "") == tags,
            "{length}: {}",
            made.err
        );
    }
}

#[test]
fn files_that_are_not_read_keep_their_leaf_tags() {
    let place = Place::bare();
    place.run(&["keygen", "-o", "k"]).exits(0);
    fs::create_dir(place.path("t")).unwrap();
    let mut random = Random(5);
    for name in ["a", "b", "c", "d"] {
        place.file(format!("t/{name}"), random.bytes(3 * LEAF as u64 + 5));
        place.shell(&format!("touch -d @1700000000 t/{name}")).exits(0);
    }
    place.file("t/small", "text");
    let seal = ["--leaves=4KiB", "t", "-o", "m"];
    place.keyed("seal", &seal).exits(0);
    let first = place.read("m.1.leaves");
    fs::remove_file(place.path("t/b")).unwrap();
    place.file("t/aa", random.bytes(2 * LEAF as u64));
    place.keyed("seal", &[&seal[..], &["--since", "m"]].concat()).exits(0);
    let second = place.read("m.2.leaves");
    assert!(!place.path("m.1.leaves").exists());
    // a, aa, c, d; each leaf tag depends on the content alone.
    assert_eq!(second[..16 * 5], first[..16 * 5]);
    assert_eq!(second[16 * 7..], first[16 * 9..]);
    for name in ["a", "aa", "c", "d", "small"] {
        let read = place.command(&["read", "-k", "k", "m", "t", name]).output().unwrap();
        assert!(read.stdout == place.read(format!("t/{name}")), "{name}");
    }
    // Without the earlier leaf tags, or with others, the files are read.
    for options in [&["--leaves=8KiB"][..], &["--leaves=4KiB"]] {
        place.keyed("seal", &[options, &["--since", "m", "t", "-o", "m"]].concat()).exits(0);
        place.keyed("audit", &["--locate", "m", "t"]).exits(0);
        let read = place.command(&["read", "-k", "k", "m", "t", "d"]).output().unwrap();
        assert!(read.stdout == place.read("t/d"));
    }
    // The next manifest without leaf tags removes them.
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let left = fs::read_dir(place.path(".")).unwrap().filter_map(Result::ok);
    let left =
        left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".leaves")).count();
    assert_eq!(left, 0);
}

#[test]
fn what_leaf_tags_cannot_do() {
    let place = Place::bare();
    place.run(&["keygen", "-o", "k"]).exits(0);
    fs::create_dir(place.path("t")).unwrap();
    place.file("t/a", vec![1; 2 * LEAF]);
    let seal = |options: &[&str]| place.keyed("seal", &[&["--leaves=4KiB"], options].concat());
    seal(&["t", "-o", "t/m"])
        .exits(2)
        .says(&["t/m.1.leaves: leaf tags must be outside the directory"]);
    seal(&["t", "-o", "m", "--tag-bits", "64"])
        .exits(2)
        .says(&["leaf tags need tags of full length"]);
    for algorithm in ["HMAC-SHA256", "UMAC-64", "POLY1305-AES", "CMAC-AES128"] {
        place.run(&["keygen", "-a", algorithm, "-o", algorithm]).exits(0);
        place.run(&["seal", "-k", algorithm, "--leaves", "t", "-o", "m"]).exits(2);
    }
    assert!(!place.path("m").exists() && !place.path("m.1.leaves").exists());
    for size in ["4095", "65MiB", "x"] {
        place.keyed("seal", &[&format!("--leaves={size}"), "t", "-o", "m"]).exits(2);
    }
    seal(&["t", "-o", "m"]).exits(0);
    for algorithm in ["HMAC-SHA256", "UMAC-64"] {
        let ran = place.keyed("rekey", &["--new-key", algorithm, "m", "t"]).exits(2);
        ran.prints("");
        assert!(place.path("m.1.leaves").exists() && !place.path("m.2.leaves").exists());
    }
    let read = |args: &[&str]| place.keyed("read", args);
    read(&["m", "t", "none"]).exits(2).says(&["none: the manifest has no entry with this path"]);
    read(&["m", "t", "../m"]).exits(2);
    read(&["m", "t", "a", "--range", "1"]).exits(2).says(&["expected OFFSET:LENGTH"]);
    read(&["m", "t", "a", "--range", "-1:4"]).exits(2);
    read(&["m", "t", "a", "--range", "9000:4"]).exits(2).says(&["a has 8192 bytes"]);
    read(&["m", "t", "a", "--range", "8192:18446744073709551615"]).exits(0).prints("");
    // A link in the way is not followed.
    std::os::unix::fs::symlink("a", place.path("t/link")).unwrap();
    place.keyed("seal", &["--leaves=4KiB", "t", "-o", "m"]).exits(0);
    read(&["m", "t", "link"]).exits(2).says(&["expected a file, found a link"]);
    fs::rename(place.path("t/a"), place.path("b")).unwrap();
    std::os::unix::fs::symlink("../b", place.path("t/a")).unwrap();
    read(&["m", "t", "a"]).exits(4).prints("");
    // Without leaf tags, large files cannot be read in part.
    place.file("t/large", "");
    fs::File::options()
        .write(true)
        .open(place.path("t/large"))
        .unwrap()
        .set_len((64 << 20) + 1)
        .unwrap();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    read(&["m", "t", "large", "--range", "0:1"]).exits(2).says(&["seal with --leaves"]);
}

/// A kill during a seal leaves a manifest whose leaf tags are there.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_kill_at_any_call_leaves_leaf_tags_of_the_manifest() {
    let place = Place::bare();
    place.run(&["keygen", "-o", "k"]).exits(0);
    fs::create_dir(place.path("t")).unwrap();
    let mut random = Random(8);
    let bytes = random.bytes(3 * LEAF as u64 + 1);
    place.file("t/b", &bytes);
    let seal = ["seal", "-k", "k", "--leaves=4KiB", "t", "-o", "m"];
    place.run(&seal).exits(0);
    let leaf_files = || {
        let names = fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().ends_with(".leaves")).count()
    };
    let mut killed = 0;
    for call in 1.. {
        // The leaf tags of `b` move.
        place.file("t/a", random.bytes(call % 5 * LEAF as u64 + 7));
        let mut command = place.command(&seal);
        let output = at(&mut command, &format!("any:{call}"), "kill").output().unwrap();
        let read = place.command(&["read", "-k", "k", "m", "t", "b"]).output().unwrap();
        assert!(read.status.success() && read.stdout == bytes, "call {call}: {read:?}");
        if output.status.success() {
            break;
        }
        killed += 1;
        place.run(&seal).exits(0);
        assert_eq!(leaf_files(), 1, "call {call}");
        assert!(leftovers(&place, "").is_empty());
    }
    assert!(killed > 20, "{killed}");
    place.keyed("audit", &["--locate", "m", "t"]).exits(0);
}

/// A kill during a repair leaves leaves of the old file or the sealed one, and the next run mends it.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_kill_at_any_call_of_a_repair() {
    let (place, files) = place("PMAC-AES128", &mut Random(9));
    let (name, bytes) = &files[8];
    let mut damaged = bytes.clone();
    for leaf in [0, 2, 3, 5] {
        damaged[leaf * LEAF] ^= 1;
    }
    let (path, copy) = (format!("t/{name}"), format!("c/{name}"));
    let mut written = 0;
    for call in 1.. {
        place.file(&path, &damaged);
        let repair = ["repair", "-k", "k", "m", "t", name, "--from", &copy];
        let mut command = place.command(&repair);
        let output = at(&mut command, &format!("any:{call}"), "kill").output().unwrap();
        let found = place.read(&path);
        assert_eq!(found.len(), bytes.len());
        for ((found, old), new) in
            found.chunks(LEAF).zip(damaged.chunks(LEAF)).zip(bytes.chunks(LEAF))
        {
            assert!(found == old || found == new, "call {call}");
        }
        written += u32::from(found != damaged && found != *bytes);
        if output.status.success() {
            break;
        }
        place.run(&repair).exits(0);
        assert!(place.read(&path) == *bytes, "call {call}");
    }
    assert!(written >= 3, "{written}");
}
