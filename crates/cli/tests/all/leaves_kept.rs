//! Leaf tags through a change of the key, and through a seal that is interrupted.

use std::fs;

#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::common::leftovers;
use crate::common::{Place, Random};

const LEAF: usize = 4096;

/// A place with the keys `k` and `n`, and a tree `t`. Returns the files of the tree.
fn place(old: &str, new: &str) -> (Place, Vec<(&'static str, Vec<u8>)>) {
    let (place, mut random) = (Place::bare(), Random(5));
    place.run(&["keygen", "-a", old, "-o", "k"]).exits(0);
    place.run(&["keygen", "-a", new, "-o", "n"]).exits(0);
    fs::create_dir_all(place.path("t/d")).unwrap();
    let files = [
        ("d/blocks", 3 * LEAF),
        ("d/empty", 0),
        ("d/leaf", LEAF),
        ("d/more", 2 * LEAF + 1),
        ("large", (2 << 20) + 77),
        ("small", 5),
    ];
    let files = files.map(|(name, length)| (name, random.bytes(length as u64))).to_vec();
    for (name, bytes) in &files {
        place.file(format!("t/{name}"), bytes);
    }
    (place, files)
}

/// Checks that all files can be read in leaves.
fn reads(place: &Place, key: &str, files: &[(&str, Vec<u8>)]) {
    for (name, bytes) in files {
        let output = place.command(&["read", "-k", key, "m", "t", name]).output().unwrap();
        assert!(output.status.success() && output.stdout == *bytes, "{name}: {output:?}");
    }
}

fn leaf_files(place: &Place) -> Vec<String> {
    let names = fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".leaves")).collect();
    names.sort();
    names
}

#[test]
fn a_new_key_has_the_leaf_tags_that_a_seal_makes() {
    for (old, new) in [
        ("PMAC-AES128", "PMAC-AES128"),
        ("PMAC-AES128", "LIGHTMAC-AES128-S32"),
        ("LIGHTMAC-AES128-S32", "ELIMAC-AES128"),
        ("ELIMAC-AES128", "PMAC-PRESENT80"),
    ] {
        let (place, files) = place(old, new);
        place.keyed("seal", &["--leaves=8KiB", "t", "-o", "m"]).exits(0);
        place.keyed("rekey", &["--new-key", "n", "m", "t"]).exits(0).says(&["7 unchanged"]);
        assert_eq!(leaf_files(&place), ["m.2.leaves"]);
        reads(&place, "n", &files);
        place.keyed("read", &["m", "t", "large"]).exits(3).prints("");
        let manifest = String::from_utf8(place.read("m")).unwrap();
        let (_, size) = manifest.split_once("leaves=").unwrap();
        let size = format!("--leaves={}", size.lines().next().unwrap());
        place.run(&["seal", "-k", "n", &size, "t", "-o", "fresh"]).exits(0);
        assert!(place.read("m.2.leaves") == place.read("fresh.1.leaves"), "{old} {new}");
        // And back, into another manifest.
        let back = ["rekey", "-k", "n", "--new-key", "k", "-o", "back", "m", "t"];
        place.run(&back).exits(0);
        assert!(place.path("m.2.leaves").exists() && place.path("back.3.leaves").exists());
        place.keyed("read", &["back", "t", "d/more"]).exits(0);
    }
}

#[test]
fn a_tree_with_a_difference_gets_no_new_leaf_tags() {
    let (place, files) = place("PMAC-AES128", "PMAC-AES128");
    place.keyed("seal", &["--leaves=4KiB", "t", "-o", "m"]).exits(0);
    let tags = place.read("m.1.leaves");
    let mut changed = files[4].1.clone();
    changed[9] ^= 1;
    place.file("t/large", &changed);
    place.keyed("rekey", &["--new-key", "n", "m", "t"]).exits(1);
    assert_eq!(leaf_files(&place), ["m.1.leaves"]);
    assert!(place.read("m.1.leaves") == tags);
    place.file("t/large", &files[4].1);
    reads(&place, "k", &files);
}

#[cfg(all(feature = "fault-injection", debug_assertions))]
#[test]
fn a_kill_at_any_call_of_a_rekey_leaves_leaf_tags_of_the_manifest() {
    let (place, files) = place("PMAC-AES128", "PMAC-AES128");
    place.keyed("seal", &["--leaves=4KiB", "t", "-o", "m"]).exits(0);
    let kept = ["m", "m.1.leaves"].map(|name| (name, place.read(name)));
    let (mut killed, mut renewed) = (0, 0);
    let args = ["--num-threads", "1", "--new-key", "n", "m", "t"];
    for call in 1.. {
        leaf_files(&place).iter().for_each(|name| fs::remove_file(place.path(name)).unwrap());
        kept.iter().for_each(|(name, bytes)| place.file(name, bytes));
        let ran = place.faulty(&format!("any:{call}:kill"), "rekey", &args);
        let is_old = place.read("m") == kept[0].1;
        reads(&place, if is_old { "k" } else { "n" }, &files[3..5]);
        if ran.code.is_some() {
            ran.exits(0);
            break;
        }
        (killed, renewed) = (killed + 1, renewed + u32::from(!is_old));
        if is_old {
            place.keyed("rekey", &args).exits(0);
            assert_eq!(leaf_files(&place), ["m.2.leaves"], "call {call}");
        }
        assert!(leftovers(&place, "").is_empty(), "call {call}");
    }
    assert!(killed > 20 && renewed > 0, "{killed} {renewed}");
}

#[cfg(all(feature = "fault-injection", debug_assertions))]
#[test]
fn a_kill_at_any_call_of_a_seal_with_a_checkpoint() {
    let (place, files) = place("PMAC-AES128", "PMAC-AES128");
    let args = ["--num-threads", "1", "--checkpoint", "c", "--checkpoint-every", "1"];
    let args = [&args[..], &["--leaves=4KiB", "t", "-o", "m"]].concat();
    let mut tags = Vec::new();
    for call in 1.. {
        let ran = place.faulty(&format!("any:{call}:kill"), "seal", &args);
        let is_done = ran.code.is_some();
        if !is_done {
            place.keyed("seal", &args).exits(0);
        }
        assert!(!place.path("c").exists() && leftovers(&place, "").is_empty(), "call {call}");
        let [name] = &leaf_files(&place)[..] else { panic!("call {call}") };
        let found = place.read(name);
        assert!(tags.is_empty() || tags == found, "call {call}");
        tags = found;
        if is_done {
            break;
        }
    }
    reads(&place, "k", &files);
    // A checkpoint for leaves of another length, or without them.
    place.faulty("name:2:kill", "seal", &args);
    assert!(place.path("c").exists());
    let other =
        "c: the checkpoint is for another directory, or for tags or leaves of another length";
    place
        .keyed("seal", &["--checkpoint", "c", "--leaves=8KiB", "t", "-o", "m"])
        .exits(1)
        .says(&[other]);
    place.keyed("seal", &["--checkpoint", "c", "t", "-o", "m"]).exits(1).says(&[other]);
}
