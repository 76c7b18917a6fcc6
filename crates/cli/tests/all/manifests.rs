//! `tagmac manifest`: the chain, the entries and the differences of manifests.

use std::fs;

use crate::common::{Place, without_stamps};

/// A place with a key and a chain of two manifests: `m1` of `t`, and `m2` after four changes.
fn place() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path("t/d")).unwrap();
    for (name, text) in [("t/a", "a"), ("t/d/moved", "text"), ("t/d/gone", "x"), ("t/z", "z")] {
        place.file(name, text);
    }
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    fs::copy(place.path("m"), place.path("m1")).unwrap();
    place.file("t/a", "b");
    fs::rename(place.path("t/d/moved"), place.path("t/d/here")).unwrap();
    fs::remove_file(place.path("t/d/gone")).unwrap();
    place.file("t/new", "new");
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    fs::rename(place.path("m"), place.path("m2")).unwrap();
    place
}

fn seal_of(place: &Place, name: &str) -> String {
    let text = String::from_utf8(place.read(name)).unwrap();
    text.trim_end().rsplit("seal: ").next().unwrap().into()
}

#[test]
fn log_prints_the_chain() {
    let place = place();
    let [one, two] = ["m1", "m2"].map(|name| seal_of(&place, name));
    let ran = place.keyed("manifest", &["log", "m2"]).exits(0);
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((lines[0][0], lines[0][2]), ("2", &*two));
    assert_eq!((lines[1][0], lines[1][2]), ("1", &*one));
    let ran = place.keyed("manifest", &["--json", "log", "m2"]).exits(0);
    let first: serde_json::Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!((first["sequence"].as_u64(), first["seal"].as_str()), (Some(2), Some(&*two)));
    // Nothing is printed before the seal is verified.
    place.shell("sed 's/^sequence: 2/sequence: 3/' m2 > m3").exits(0);
    place.keyed("manifest", &["log", "m3"]).exits(1).prints("");
}

#[test]
fn diff_gives_the_verdicts_of_an_audit() {
    let place = place();
    let audit = place.keyed("audit", &["m1", "t"]).exits(1);
    let diff = place.keyed("manifest", &["diff", "m1", "m2"]).exits(1).prints(&audit.out);
    let diff = diff.says(&["2 unchanged, 1 changed, 1 new, 1 missing, 1 renamed"]);
    diff.says(&["the second manifest follows the first one directly\n"]);
    let back = place.keyed("manifest", &["diff", "m2", "m1"]).exits(1);
    back.says(&["the first manifest follows the second one directly\n"]);
    place.keyed("manifest", &["diff", "m2", "m2"]).exits(0).prints("").says(&["the same manifest"]);
    place.keyed("manifest", &["--quiet", "diff", "m2", "m2"]).exits(0).in_silence();
    // Another chain, and a fork.
    place.keyed("seal", &["t", "-o", "other"]).exits(0);
    let ran = place.keyed("manifest", &["diff", "m2", "other"]).exits(0);
    ran.says(&["from different chains\n"]);
    fs::copy(place.path("m1"), place.path("fork")).unwrap();
    place.file("t/new", "newer");
    place.keyed("seal", &["t", "-o", "fork"]).exits(0);
    let ran = place.keyed("manifest", &["diff", "m2", "fork"]).exits(1);
    ran.says(&["from one chain, but neither follows the other\n"]);
    let ran = place.keyed("manifest", &["--json", "diff", "m1", "m2"]).exits(1);
    let last: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!((last["status"].as_str(), last.get("proof")), (Some("changed"), None));
}

#[test]
fn with_nonces_only_what_was_read_once_is_compared() {
    let place = Place::bare();
    place.run(&["keygen", "-a", "UMAC-64", "-o", "k"]).exits(0);
    fs::create_dir(place.path("t")).unwrap();
    place.file("t/a", "a");
    place.keyed("seal", &["t", "-o", "m1"]).exits(0);
    place.keyed("seal", &["t", "-o", "m2"]).exits(0);
    let ran = place.keyed("manifest", &["diff", "m1", "m2"]).exits(0).prints("");
    ran.says(&["contents with two nonces cannot be compared", "1 not read"]);
    place.file("t/a", "ab");
    place.keyed("seal", &["t", "-o", "m3"]).exits(0);
    let size = "a: changed: size: expected 1, found 2\n";
    place.keyed("manifest", &["diff", "m1", "m3"]).exits(1).prints(size);
}

#[test]
fn cat_prints_entries_as_they_are() {
    let place = place();
    let text = String::from_utf8(place.read("m1")).unwrap();
    let is_entry = |line: &&str| line.starts_with("file\t") || line.starts_with("dir\t");
    let lines: Vec<&str> = text.lines().filter(is_entry).collect();
    let all = place.keyed("manifest", &["cat", "m1"]).exits(0).out;
    assert_eq!(all.lines().collect::<Vec<_>>(), lines);
    let below = place.keyed("manifest", &["cat", "m1", "d/", "z", "no"]).exits(1);
    let below = below.says(&["no: the manifest has no entry at or below it\n"]).out;
    let ends: Vec<&str> = below.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
    assert_eq!(ends, ["d", "d/gone", "d/moved", "z"]);
    // Names need not be in the form of the manifest.
    let same = place.keyed("manifest", &["cat", "m1", ".//d/./", "./z"]).exits(0).out;
    assert_eq!(same, below);
    place.keyed("manifest", &["cat", "m1", "."]).exits(0).prints(&all);
    for (name, why) in [("/d", "the path is absolute"), ("d/../z", "the path contains '..'")] {
        let ran = place.keyed("manifest", &["cat", "m1", name]).exits(2);
        ran.says(&[&format!("{name}: {why}; expected one below the directory\n")]);
    }
    let ran = place.keyed("manifest", &["--json", "cat", "m1", "d/gone"]).exits(0);
    let entry: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((entry["path"].as_str(), entry["bytes"].as_u64()), (Some("d/gone"), Some(1)));
    assert_eq!(entry["kind"].as_str(), Some("file"));
    assert_eq!(without_stamps(&all).lines().count(), lines.len());
}
