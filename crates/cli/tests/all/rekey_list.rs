//! `tagmac rekey`: a list of tags under another key.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::common::{Place, leftovers};

/// A place with the keys `k` and `n`, the files `a`, `b` and `d/large`, and their list `l`.
fn place(old: &str, new: &str) -> Place {
    let place = Place::bare();
    place.run(&["keygen", "-a", old, "-o", "k"]).exits(0);
    place.run(&["keygen", "-a", new, "-o", "n"]).exits(0);
    fs::create_dir(place.path("d")).unwrap();
    place.file("a", "a");
    place.file("b\n\\", "");
    place.file("d/large", vec![7; (2 << 20) + 5]);
    let list = place.keyed("tag", &["a", "b\n\\", "d/large"]).exits(0).out;
    place.file("l", list);
    place
}

const REKEY: [&str; 3] = ["--new-key", "n", "l"];

fn text(place: &Place, name: &str) -> String {
    String::from_utf8(place.read(name)).unwrap()
}

#[test]
fn the_new_list_verifies_under_the_new_key_alone() {
    for (old, new) in
        [("PMAC-AES128", "HMAC-SHA256"), ("UMAC-64", "POLY1305-AES"), ("CMAC-AES128", "UMAC-64")]
    {
        let place = place(old, new);
        place.shell("chmod 640 l").exits(0);
        let ran = place.keyed("rekey", &REKEY).exits(0).prints("");
        ran.says(&["tagmac: l: 3 files tagged under the key "]);
        let tagged = "a: OK\n\\b\\n\\\\: OK\nd/large: OK\n";
        place.run(&["check", "-k", "n", "l"]).exits(0).prints(tagged);
        place.keyed("check", &["l"]).exits(1);
        assert!(text(&place, "l").starts_with(new));
        let mode = fs::metadata(place.path("l")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(leftovers(&place, "").is_empty());
    }
}

#[test]
fn the_tags_are_those_of_tag() {
    let place = place("PMAC-AES128", "HMAC-SHA256");
    let names = ["a", "b\n\\", "d/large"];
    let made = place.run(&[&["tag", "-k", "n"], &names[..]].concat()).exits(0).out;
    place.keyed("rekey", &["--quiet", "--new-key", "n", "l"]).exits(0).prints("").in_silence();
    assert_eq!(text(&place, "l"), made);
    // Without algorithms, and with zero bytes.
    for options in [&["--untagged"][..], &["-z"], &["--untagged", "-z"]] {
        let old = place.keyed("tag", &[options, &names].concat()).exits(0).bytes;
        place.file("l", old);
        let made = place.run(&[&["tag", "-k", "n"], options, &names].concat()).exits(0).bytes;
        let zero: &[&str] = if options.contains(&"-z") { &["-z"] } else { &[] };
        place.keyed("rekey", &[zero, &REKEY].concat()).exits(0);
        assert_eq!(place.read("l"), made);
    }
}

#[test]
fn a_line_without_an_algorithm_gets_one_if_the_new_key_needs_nonces() {
    let place = place("PMAC-AES128", "UMAC-64");
    let list = place.keyed("tag", &["--untagged", "a"]).exits(0).out;
    place.file("l", list);
    place.keyed("rekey", &REKEY).exits(0);
    assert!(text(&place, "l").starts_with("UMAC-64.n="));
    place.run(&["check", "-k", "n", "l"]).exits(0).prints("a: OK\n");
}

#[test]
fn comments_are_kept() {
    let place = place("PMAC-AES128", "HMAC-SHA256");
    let list = text(&place, "l");
    place.file("l", format!("# photos\r\n\n{}", list.replace('\n', "\r\n")));
    place.keyed("rekey", &REKEY).exits(0);
    let made = text(&place, "l");
    assert!(made.starts_with("# photos\n\nHMAC-SHA256 (a) = "), "{made}");
    assert_eq!(made.lines().count(), 5);
}

#[test]
fn nothing_is_written_unless_every_file_has_its_tag() {
    let place = place("PMAC-AES128", "HMAC-SHA256");
    let list = text(&place, "l");
    let tag = list.lines().next().unwrap().split(" = ").nth(1).unwrap();
    let odd = format!("{list}PMAC-AES128 (a) = {}\n", &tag[2..]);
    for (list, out, says) in [
        (format!("{list}nonsense\n"), "", "l: line 4: expected 'ALGORITHM (NAME) = HEX'"),
        (format!("{list}PMAC-AES128 (a) = zz\n"), "", "l: line 4: expected two hex digits"),
        (format!("{list}PMAC-AES128.n=00 (a) = {tag}\n"), "", "l: line 4: expected 'PMAC-AES128"),
        (list.replace("(a)", "(gone)"), "gone: FAILED open or read\n", "gone: "),
        (list.replace("(a)", "(d)"), "d: FAILED open or read\n", "d: "),
        (list.replace("(a)", "(-)"), "-: FAILED open or read\n", "only files can be tagged again"),
        (
            list.replace("(a)", "(s3://b/k)"),
            "s3://b/k: FAILED open or read\n",
            "only files can be tagged again",
        ),
        (list.replace("(a)", "(d/large)"), "d/large: FAILED\n", "l: not written"),
        (list.replace("PMAC", "CMAC"), "a: FAILED\n\\b\\n\\\\: FAILED\n", "expected algorithm"),
        (odd, "a: FAILED\n", "a: expected a tag of 16 bytes (128 bits), found 15"),
        (String::new(), "", "l: no properly formatted checksum lines found"),
        ("# only a comment\n".into(), "", "l: no properly formatted checksum lines found"),
        (format!("{list}{}\n", "x".repeat(70_000)), "", "at most 64 KiB"),
        ("\n".repeat(1 << 21), "", "l: 1 MiB without the line of a tag"),
    ] {
        place.file("l", &list);
        let ran = place.keyed("rekey", &REKEY);
        let code = if out.starts_with(['d', '-', 's']) && out.contains("open") { 4 } else { 1 };
        let ran = ran.exits(code).says(&[says]);
        assert!(ran.out.starts_with(out), "{}", ran.out);
        assert_eq!(text(&place, "l"), list, "{says}");
        assert!(leftovers(&place, "").is_empty());
    }
    // A missing file counts as a mismatch, also before a list that cannot be read to its end.
    place.file("l", list.replace("(a)", "(gone)") + &"\n".repeat(1 << 21));
    place.keyed("rekey", &REKEY).exits(1).says(&["gone: ", "1 MiB without", "not written"]);
    // A changed file, and a key that did not make the list.
    place.file("l", &list);
    place.file("d/large", "other");
    place.keyed("rekey", &REKEY).exits(1).prints("d/large: FAILED\n");
    place.run(&["keygen", "-o", "o"]).exits(0);
    let ran = place.run(&["rekey", "-k", "o", "--new-key", "n", "l"]).exits(1);
    ran.says(&["l: not written, as not every file has its tag\n"]);
    assert_eq!(text(&place, "l"), list);
}

#[test]
fn the_new_list_may_go_elsewhere() {
    let place = place("PMAC-AES128", "PMAC-AES128");
    let list = text(&place, "l");
    symlink("l", place.path("link")).unwrap();
    place.keyed("rekey", &["-o", "o", "--new-key", "n", "link"]).exits(0);
    assert_eq!(text(&place, "l"), list);
    place.run(&["check", "-k", "n", "o"]).exits(0);
    // Nothing is replaced but the old list.
    for output in ["o", "l"] {
        let ran = place.keyed("rekey", &["-o", output, "--new-key", "n", "l"]).exits(2);
        ran.says(&[output, ": the file exists; the new list replaces only the old one\n"]);
    }
    // A link would be replaced instead of the list.
    place.keyed("rekey", &["--new-key", "n", "link"]).exits(4).says(&["link: "]);
    assert_eq!(text(&place, "l"), list);
}

#[test]
fn a_manifest_is_no_list() {
    let place = place("PMAC-AES128", "PMAC-AES128");
    place.keyed("seal", &["d", "-o", "m"]).exits(0);
    let says = ["m: this is a manifest; name its directory too\n"];
    place.keyed("rekey", &["--new-key", "n", "m"]).exits(2).says(&says);
    for args in [&["--pin", "p", "--new-key", "n", "l"][..], &["-z", "--new-key", "n", "m", "d"]] {
        place.keyed("rekey", args).exits(2);
    }
    place.keyed("rekey", &["--new-key", "n", "-"]).exits(2);
}

#[cfg(all(feature = "fault-injection", debug_assertions))]
#[test]
fn a_file_or_a_list_that_changes_meanwhile() {
    for (line, code, says) in [
        ("cp a g; mv g a", 4, "a: "),
        ("echo '# more' >> l", 4, "l: "),
        ("cp l g; mv g l", 4, "l: the file was replaced while this run was using it"),
    ] {
        let place = place("PMAC-AES128", "PMAC-AES128");
        let ran = place.faulty(&format!("read:1:run={line}"), "rekey", &REKEY);
        ran.exits(code).says(&[says]);
        place.keyed("check", &["--quiet", "l"]).exits(0);
        assert!(leftovers(&place, "").is_empty());
    }
}

#[cfg(all(feature = "fault-injection", debug_assertions))]
#[test]
fn a_run_that_is_killed_leaves_the_old_list_or_the_new_one() {
    for call in ["make:1", "read:1", "read:3", "sync:1", "name:1", "name:2", "sync:2"] {
        let place = place("PMAC-AES128", "PMAC-AES128");
        place.faulty(&format!("{call}:kill"), "rekey", &REKEY);
        let old = place.keyed("check", &["--quiet", "l"]).code == Some(0);
        let new = place.run(&["check", "--quiet", "-k", "n", "l"]).code == Some(0);
        assert!(old != new, "{call}");
        let key = if old { ["k", "n"] } else { ["n", "k"] };
        place.run(&["rekey", "-k", key[0], "--new-key", key[1], "l"]).exits(0);
        assert!(leftovers(&place, "").is_empty(), "{call}");
    }
}
