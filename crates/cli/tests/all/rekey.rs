//! `tagmac rekey`: a manifest under another key.

use std::fs;

use rustix::fs::{XattrFlags, setxattr};
use rustix::io::Errno;

use crate::common::{Place, leftovers};

/// A place with the keys `k` and `n` and a tree `t`.
fn place(old: &str, new: &str) -> Place {
    let place = Place::bare();
    place.run(&["keygen", "-a", old, "-o", "k"]).exits(0);
    place.run(&["keygen", "-a", new, "-o", "n"]).exits(0);
    fs::create_dir_all(place.path("t/d")).unwrap();
    place.file("t/a", "a");
    place.file("t/d/empty", "");
    place.file("t/d/b", "text");
    // More than one thread would read it in parts.
    place.file("t/large", vec![7; (2 << 20) + 5]);
    std::os::unix::fs::symlink("d/b", place.path("t/link")).unwrap();
    place
}

fn text(place: &Place, name: &str) -> String {
    String::from_utf8(place.read(name)).unwrap()
}

fn line<'a>(text: &'a str, label: &str) -> &'a str {
    text.lines().find_map(|line| line.strip_prefix(label)).unwrap()
}

const REKEY: [&str; 4] = ["--new-key", "n", "m", "t"];

#[test]
fn the_new_manifest_has_the_same_entries_and_continues_the_chain() {
    for (old, new) in
        [("PMAC-AES128", "HMAC-SHA256"), ("UMAC-64", "POLY1305-AES"), ("CMAC-AES128", "UMAC-64")]
    {
        let place = place(old, new);
        let options = ["--mode", "--mtime", "--owner", "--xattrs", "--special"];
        let filters = ["--exclude", "*.tmp", "--max-depth", "3"];
        let seal = [&options[..], &filters, &["t", "-o", "m"]].concat();
        place.keyed("seal", &seal).exits(0);
        place.file("t/d/left-out.tmp", "");
        let before = text(&place, "m");
        let ran = place.keyed("rekey", &REKEY).exits(0).prints("");
        let after = text(&place, "m");
        ran.says(&["6 unchanged", &format!("its seal is {}\n", line(&after, "seal: "))]);
        for label in ["options: ", "filters: ", "entries: ", "bytes: "] {
            assert_eq!(line(&before, label), line(&after, label));
        }
        assert_eq!(line(&after, "algorithm: "), new);
        assert!(line(&after, "sequence: ").starts_with("2 "));
        assert_eq!(line(&after, "first: "), line(&before, "seal: "));
        place.run(&["audit", "-k", "n", "m", "t"]).exits(0).prints("").says(&["1 left out"]);
        place.keyed("audit", &["m", "t"]).exits(3);
        place.file("t/d/b", "TEXT");
        let ran = place.run(&["audit", "-k", "n", "m", "t"]).exits(1);
        assert!(ran.out.starts_with("d/b: changed: "), "{}", ran.out);
    }
}

#[test]
fn extended_attributes_are_verified_and_tagged_again() {
    let place = place("PMAC-AES128", "UMAC-64");
    let set = |name: &str, attribute: &str, value: &[u8]| {
        setxattr(place.path(name), attribute, value, XattrFlags::empty())
    };
    match set("t/a", "user.a", b"one") {
        Err(Errno::NOTSUP) => {
            eprintln!("skipped: the file system of the test refuses extended attributes");
            return;
        }
        set => set.unwrap(),
    }
    set("t/a", "user.empty", b"").unwrap();
    set("t/d", "user.of-a-folder", &[0, 255, 10]).unwrap();
    place.keyed("seal", &["--xattrs", "t", "-o", "m"]).exits(0);
    let before = text(&place, "m");
    // A change of each kind is found under the old key, and nothing is written.
    let changes: [(&str, &str, &[u8], &str); 3] = [
        ("t/a", "user.a", b"two", "a: changed: xattrs"),
        ("t/d", "user.new", b"", "d: changed: xattrs"),
        ("t/large", "user.a", b"one", "large: changed: xattrs"),
    ];
    for (name, attribute, value, line) in changes {
        let path = place.path(name);
        let mut old = [0; 100];
        let old = match rustix::fs::getxattr(&path, attribute, &mut old[..]) {
            Ok(length) => Some(old[..length].to_vec()),
            Err(_) => None,
        };
        set(name, attribute, value).unwrap();
        let ran = place.keyed("rekey", &REKEY).exits(1);
        assert!(ran.out.starts_with(line), "{}", ran.out);
        assert_eq!(text(&place, "m"), before);
        match old {
            Some(old) => set(name, attribute, &old).unwrap(),
            None => rustix::fs::removexattr(&path, attribute).unwrap(),
        }
    }
    place.keyed("rekey", &REKEY).exits(0).prints("").says(&["6 unchanged"]);
    let audit = ["audit", "-k", "n", "m", "t"];
    place.run(&audit).exits(0).prints("");
    // The tags of the attributes are those of the new key.
    let attributes = |manifest: &str| -> Vec<String> {
        let lines = manifest.lines().filter(|line| line.starts_with("dir\t"));
        lines.map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect()
    };
    let (old, new) = (attributes(&before), attributes(&text(&place, "m")));
    assert_eq!((old.len(), new.len()), (1, 1));
    assert_ne!(old, new);
    set("t/d", "user.of-a-folder", b"").unwrap();
    place.run(&audit).exits(1).prints("d: changed: xattrs\n");
}

#[test]
fn the_new_manifest_may_go_elsewhere() {
    let place = place("PMAC-AES128", "PMAC-AES128");
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let before = place.read("m");
    place.keyed("rekey", &["--quiet", "-o", "o", "--new-key", "n", "m", "t"]).exits(0).in_silence();
    assert_eq!(place.read("m"), before);
    place.run(&["audit", "-k", "n", "o", "t"]).exits(0);
    // Another manifest is not replaced: its chain would end.
    let other = place.read("o");
    let ran = place.keyed("rekey", &["-o", "o", "--new-key", "n", "m", "t"]).exits(2);
    ran.says(&["o: the file exists"]);
    assert_eq!(place.read("o"), other);
    let bits = ["--new-tag-bits", "64", "-o", "short", "--new-key", "n", "m", "t"];
    place.keyed("rekey", &bits).exits(0);
    place.run(&["audit", "-k", "n", "--tag-bits", "64", "short", "t"]).exits(0);
}

#[test]
fn a_manifest_in_its_directory_is_no_difference() {
    let place = place("PMAC-AES128", "PMAC-AES128");
    place.keyed("seal", &["t", "-o", "t/m"]).exits(0);
    place.keyed("rekey", &["--new-key", "n", "t/m", "t"]).exits(0);
    place.run(&["audit", "-k", "n", "t/m", "t"]).exits(0);
}

#[test]
fn after_any_difference_nothing_is_written() {
    type Change = fn(&Place);
    let changes: [Change; 5] = [
        // Of the same size.
        |place| place.file("t/a", "b"),
        |place| place.file("t/new", "new"),
        |place| fs::remove_file(place.path("t/d/empty")).unwrap(),
        |place| fs::rename(place.path("t/d/b"), place.path("t/moved")).unwrap(),
        |place| fs::remove_file(place.path("t/link")).unwrap(),
    ];
    for change in changes {
        let place = place("PMAC-AES128", "UMAC-64");
        place.keyed("seal", &["t", "-o", "m"]).exits(0);
        change(&place);
        let before = place.read("m");
        let audit = place.keyed("audit", &["m", "t"]).exits(1);
        let ran = place.keyed("rekey", &REKEY).exits(1).prints(&audit.out);
        ran.says(&["m: not written, as not every entry is unchanged\n"]);
        assert_eq!(place.read("m"), before);
        assert_eq!(leftovers(&place, "."), Vec::<String>::new());
    }
}

#[test]
fn a_list_of_names_stays_one() {
    let place = place("PMAC-AES128", "UMAC-64");
    place.file("list", "d/b\n");
    place.keyed("seal", &["--files-from", "list", "t", "-o", "m"]).exits(0);
    place.file("t/new", "new");
    place.keyed("rekey", &REKEY).exits(0).says(&["2 unchanged"]);
    place.run(&["audit", "-k", "n", "m", "t"]).exits(0).says(&["2 unchanged"]);
}

#[test]
fn a_pin_is_checked_and_sealed_again() {
    let place = place("PMAC-AES128", "PMAC-AES128");
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let first = place.read("m");
    let pinned = [&["--pin", "p"], &REKEY[..]].concat();
    place.keyed("rekey", &pinned).exits(4).says(&["p: the pin does not exist"]);
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    place.keyed("audit", &["--pin", "p", "--ledger", "l", "m", "t"]).exits(0);
    let second = place.read("m");
    // An older manifest gets no new tags.
    place.file("m", &first);
    place.keyed("rekey", &pinned).exits(1).says(&["the manifest was rolled back"]);
    assert_eq!(place.read("m"), first);
    place.file("m", &second);
    place.keyed("rekey", &pinned).exits(0);
    assert!(text(&place, "p").contains("\nsequence: 3\n"));
    let audit = ["audit", "-k", "n", "--pin", "p", "--ledger", "new", "m", "t"];
    place.run(&audit).exits(0);
    // A manifest of the old key is rejected.
    place.file("m", &second);
    place.run(&audit).exits(3);
}

#[test]
fn wrong_keys_and_manifests_are_refused() {
    let place = place("PMAC-AES128", "PMAC-AES128");
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let before = text(&place, "m");
    let ran = place.keyed("rekey", &["--new-key", "k", "m", "t"]).exits(2);
    ran.says(&["--new-key: expected another key, found the old one\n"]);
    place.run(&["rekey", "-k", "n", "--new-key", "k", "m", "t"]).exits(3);
    place.keyed("rekey", &["--new-key", "n", "s3://b/m", "t"]).exits(2);
    place.keyed("rekey", &["--new-key", "n", "--new-key-format", "hex", "m", "t"]).exits(2);
    place.file("m", before.replace("\tlarge\n", "\tlarger\n"));
    place.keyed("rekey", &REKEY).exits(1).prints("").says(&["the seal does not match"]);
}
