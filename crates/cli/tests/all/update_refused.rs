//! `tagmac update`: rejected files, sidecars and command lines. A rejected update writes nothing.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::common::{PAGES, Place, Ran, Random};
use crate::update::place;

#[test]
fn what_changed_beside_an_edit_is_refused() {
    let place = place("PMAC-AES128");
    place.file("p", "patch");
    place.file("f", Random(5).bytes(5000));
    let line = place.update(0, &["--leaf", "1000"]).out;
    // Leaves of 992 bytes, and 8 bytes after them.
    for at in [992, 1499, 1505, 1983] {
        place.flip("f", at);
        place.refuses(&["--patch", "1500", "p"], "992 to 1984");
        place.refuses(&["--truncate", "1600"], "992 to 1984");
        // Unknown bytes are not cut off.
        place.refuses(&["--truncate", "500"], "992 to 1984");
        place.flip("f", at);
    }
    for (at, bytes) in [(4960, "4960 to 4992"), (4995, "4992 to 5000")] {
        place.flip("f", at);
        let text = place.read("f");
        place.file("f", [&*text, b"more"].concat());
        place.refuses(&["--append"], bytes);
        place.file("f", text);
        place.refuses(&["--patch", "4990", "p"], bytes);
        place.flip("f", at);
    }
    // A change far from the edit is not noticed, and the line does not authenticate it.
    place.flip("f", 3000);
    let patched = place.update(0, &["--patch", "1500", "p"]).out;
    assert_ne!(patched, line);
    place.file("LIST", &patched);
    place.keyed("check", &["LIST"]).exits(1).prints("f: FAILED\n");
    place.flip("f", 3000);
    place.holds(&patched);
}

#[test]
fn a_file_that_has_another_length() {
    let place = place("PMAC-AES128");
    place.file("p", "patch");
    let text = Random(6).bytes(3000);
    place.file("f", &text);
    place.update(0, &[]);
    for args in [
        &["--patch", "0", "p"][..],
        &["--range", "0:1"],
        &["--truncate", "5"],
        &["--truncate", "3000"],
        &[],
    ] {
        place.file("f", [&*text, b"x"].concat());
        let hint = "f: expected 3000 bytes, found 3001: --append accepts the added bytes";
        place.update(1, args).prints("").says(&[hint]);
        assert_eq!(place.read("f").len(), 3001);
        place.file("f", &text[..2999]);
        let hint = "f: expected 3000 bytes, found 2999: what is left cannot be checked without \
                    the missing bytes; restore the file, or, to accept what is left, move the \
                    sidecar away";
        place.update(1, args).prints("").says(&[hint]);
    }
    place.update(1, &["--append"]).says(&["expected 3000 bytes, found 2999"]);
    // First accept the bytes that changed before it grew, then the added ones.
    place.file("f", [&*text, b"x"].concat());
    place.flip("f", 2999);
    place.update(1, &["--append"]).says(&["f: bytes 2992 to 3000 have changed since"]);
    let ran = place.update(1, &["--range", "2999:1"]);
    ran.says(&[" unchecked", "found 3001: --append"]);
    place.follows(&["--append"]);
}

#[test]
fn a_sidecar_of_something_else() {
    let place = place("PMAC-AES128");
    place.file("f", "text");
    place.update(0, &[]);
    let sidecar = place.read("f.tagmac");
    place.run(&["keygen", "-o", "other"]).exits(0);
    place
        .run(&["update", "-k", "other", "f"])
        .exits(3)
        .prints("")
        .says(&["f.tagmac: the sidecar is sealed under another key: expected key id "]);
    place.file("g", "text");
    place.file("g.tagmac", &sidecar);
    let what = "g.tagmac: the sidecar belongs to f, not to g";
    place.keyed("update", &["g"]).exits(1).prints("").says(&[what]);
    // The file and its sidecar can move together.
    fs::create_dir(place.path("d")).unwrap();
    place.file("d/f", "text");
    place.file("d/f.tagmac", &sidecar);
    place.keyed("update", &["d/f"]).exits(0);
    for (bytes, what) in [
        (&b"something else"[..], "the sidecar is damaged: it is not as this key sealed it"),
        (&[b'x'; 50], "not a sidecar from 'tagmac update'"),
        (&sidecar[..9000], "the sidecar is damaged: it is not as this key sealed it"),
    ] {
        place.file("f.tagmac", bytes);
        place.update(1, &[]).prints("").says(&["f.tagmac: ", what]);
    }
    for version in [b'1', b'2', b'4'] {
        let mut other = sidecar.clone();
        other[12] = version;
        place.file("f.tagmac", other);
        let what = "f.tagmac: not a sidecar of version 3, so the file was not checked";
        place.update(1, &[]).says(&[what]);
    }
}

/// Any altered byte of the sidecar is detected, or does not matter to the line.
#[test]
fn an_altered_sidecar() {
    let place = place("PMAC-AES128");
    let text = Random(8).bytes(6000);
    place.file("p", "patch");
    place.file("f", &text);
    place.update(0, &["--leaf", "16"]);
    place.update(0, &["--patch", "100", "p"]);
    place.update(0, &["--range", "0:1"]);
    let (sidecar, text) = (place.read("f.tagmac"), place.read("f"));
    let mut refused = 0;
    let near = (0..40).chain([4096, 12_287, 12_288, PAGES - 1, PAGES]);
    for at in near.chain((PAGES..sidecar.len()).step_by(97)) {
        let mut altered = sidecar.clone();
        altered[at] ^= 1;
        place.file("f.tagmac", altered);
        place.file("f", &text);
        let ran = place.keyed("update", &["--patch", "3000", "p", "f"]);
        if ran.code == Some(0) {
            place.holds(&ran.out);
        } else {
            assert!(matches!(ran.code, Some(1 | 3)), "byte {at}: {}", ran.err);
            assert!(ran.out.is_empty() && place.read("f") == text, "byte {at}");
            refused += 1;
        }
    }
    assert!(refused > 60, "{refused}");
    // Both copies of the header, and the root.
    for wrong in [&[4200, 12_400][..], &[sidecar.len() - 1]] {
        let mut altered = sidecar.clone();
        wrong.iter().for_each(|at| altered[*at] ^= 1);
        place.file("f.tagmac", altered);
        place.update(1, &["--patch", "0", "p"]).says(&["the sidecar is damaged"]);
    }
}

/// A page from an older state is not mistaken for the current one at its place.
#[test]
fn an_old_box_in_a_new_ones_place() {
    let place = place("PMAC-AES128");
    place.file("f", Random(9).bytes(4000));
    place.file("p", "patch");
    place.update(0, &["--leaf", "16"]);
    let boxes = |place: &Place| place.read("f.tagmac").len();
    let first = PAGES..boxes(&place);
    let before = boxes(&place);
    place.update(0, &["--range", "0:1"]);
    let mut sidecar = place.read("f.tagmac");
    // Both roots have the same length.
    let last = sidecar.len() - first.len()..sidecar.len();
    assert_eq!(last.start, before);
    sidecar.copy_within(first, last.start);
    place.file("f.tagmac", sidecar);
    let what = "the sidecar is damaged: it is not as this key sealed it";
    place.update(1, &["--patch", "0", "p"]).prints("").says(&[what]);
}

#[test]
fn what_was_rolled_back() {
    for algorithm in ["PMAC-AES128", "POLY1305-AES"] {
        let place = place(algorithm);
        place.file("p", "patch");
        place.file("f", Random(10).bytes(3000));
        let tag = |ran: Ran| ran.out.trim_end().rsplit(' ').next().unwrap().to_string();
        let first = tag(place.update(0, &[]));
        let old = [place.read("f"), place.read("f.tagmac")];
        let second = tag(place.update(0, &["--expect", &first, "--patch", "9", "p"]));
        place.update(0, &["--expect", &second]);
        place.file("f", &old[0]);
        place.file("f.tagmac", &old[1]);
        let what = "f: the tag is not that of --expect";
        place.update(1, &["--expect", &second, "--patch", "9", "p"]).prints("").says(&[what]);
        assert!(place.read("f") == old[0]);
        place.update(0, &["--expect", &first]);
        place.update(2, &["--expect", "00"]).says(&["--expect: ", "expected a tag of 16 bytes"]);
    }
    // The first update accepts --expect if the tag is deterministic.
    let place = place("PMAC-AES128");
    place.file("f", "text");
    let tag = place.keyed("tag", &["f"]).out;
    let tag = tag.trim_end().rsplit(' ').next().unwrap();
    place.update(1, &["--expect", &"0".repeat(32)]).prints("");
    assert!(!place.path("f.tagmac").exists());
    place.update(0, &["--expect", tag]);
}

#[test]
fn what_no_new_sidecar_can_hold() {
    let other = place("UMAC-64");
    other.file("f", "text");
    let what = "--expect: no tag can be expected of a new sidecar, as it gets a new nonce";
    other.update(2, &["--expect", "0011223344556677"]).prints("").says(&[what]);
    assert!(!other.path("f.tagmac").exists());
    let small = place("LIGHTMAC-AES128-S8");
    small.file("f", [7; 10_000]);
    small.update(4, &[]).prints("").says(&["tagmac: f: ", "limit"]);
    assert!(!small.path("f.tagmac").exists());
}

#[test]
fn command_lines_that_ask_for_what_there_is_not() {
    let place = place("PMAC-AES128");
    place.file("f", "text");
    place.file("p", "patch");
    for args in [&["--patch", "0", "p"][..], &["--append"], &["--range", "0:1"]] {
        place.update(2, args).prints("").says(&["f.tagmac: the sidecar does not exist"]);
    }
    for leaf in ["67108865", "2^60", "15EiB"] {
        let most = "--leaf: expected at most 67108864 bytes (64 MiB), found ";
        place.update(2, &["--leaf", leaf]).prints("").says(&[most]);
    }
    assert!(!place.path("f.tagmac").exists());
    place.follows(&["--leaf", "64MiB"]);
    place.follows(&["--range", "0:1"]);
    fs::remove_file(place.path("f.tagmac")).unwrap();
    place.keyed("update", &["-"]).exits(2).says(&["standard input cannot be updated"]);
    place.keyed("update", &[] as &[&str]).exits(2);
    place.update(0, &[]);
    place.update(2, &["--leaf", "4096"]).says(&["--leaf: the sidecar exists"]);
    place.update(2, &["--append", "--range", "0:1"]);
    place.update(2, &["--patch", "x", "p"]).says(&["--patch: OFFSET: expected a size"]);
    place.update(2, &["--range", "5"]).says(&["expected an offset and a length"]);
    place
        .update(2, &["--truncate", "5"])
        .says(&["--truncate: expected at most the file's 4 bytes"]);
    let past = "--patch: the patch ends after the file's 4 bytes; --append accepts";
    place.update(2, &["--patch", "0", "p"]).prints("").says(&[past]);
    assert_eq!(place.read("f"), b"text");
}

#[test]
fn files_that_cannot_be_used() {
    let place = place("PMAC-AES128");
    place.update(4, &[]).says(&["f: No such file or directory"]);
    place.file("f", "text");
    place.update(0, &[]);
    place.update(4, &["--patch", "0", "p"]).says(&["p: No such file or directory"]);
    fs::remove_file(place.path("f")).unwrap();
    place.update(4, &["--append"]).says(&["f: No such file or directory"]);
    fs::create_dir(place.path("f")).unwrap();
    place.update(4, &[]).says(&["f: expected a file, found a directory"]);
    let what = "/proc/version: the file's size is unknown";
    place.keyed("update", &["/proc/version"]).exits(4).prints("").says(&[what]);
    place.file("g", "text");
    // Users other than root are also limited by modes.
    if fs::metadata(place.path("g")).unwrap().uid() != 0 {
        fs::set_permissions(place.path("g"), fs::Permissions::from_mode(0o000)).unwrap();
        place.keyed("update", &["g"]).exits(4).says(&["g: Permission denied"]);
    }
}

#[test]
fn two_updates_at_once() {
    let place = place("PMAC-AES128");
    place.file("f", "text");
    place.update(0, &[]);
    let sidecar = File::open(place.path("f.tagmac")).unwrap();
    sidecar.lock().unwrap();
    let what = "f.tagmac: another run is using this file";
    place.update(4, &["--range", "0:1"]).prints("").says(&[what]);
    // A child that another test has just forked still holds the file until it executes, so closing
    // it here is not enough.
    sidecar.unlock().unwrap();
    place.update(0, &["--range", "0:1"]);
}

/// A mix of bytes from different times is not accepted.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_file_that_changes_while_it_is_read() {
    use std::time::UNIX_EPOCH;

    for args in [&[][..], &["--append"], &["--range", "0:200000"]] {
        let place = place("PMAC-AES128");
        place.file("f", Random(14).bytes(100_000));
        if args == ["--append"] {
            place.update(0, &[]);
        }
        place.file("f", Random(14).bytes(200_000));
        if args.contains(&"--range") {
            place.update(0, &[]);
        }
        // The clock of a file system has a coarse resolution.
        let file = File::options().write(true).open(place.path("f")).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        let sidecar = fs::read(place.path("f.tagmac")).ok();
        let write = "printf x | dd of=f conv=notrunc status=none";
        let (mut refused, all) = (0, [args, &["f"]].concat());
        // The sidecar's prelude and headers are read first.
        let first = if sidecar.is_some() { 4 } else { 1 };
        for n in first.. {
            file.set_modified(UNIX_EPOCH).unwrap();
            let ran = place.faulty(&format!("read:{n}:run={write}"), "update", &all);
            if ran.code == Some(0) {
                break;
            }
            refused += 1;
            let what = "f: the file changed while it was read";
            ran.exits(4).prints("").says(&[what]);
            let header = |all: Option<Vec<u8>>| all.map(|all| all[..PAGES].to_vec());
            let found = fs::read(place.path("f.tagmac")).ok();
            assert!(header(sidecar.clone()) == header(found), "{args:?}");
        }
        assert!(refused > 1, "{args:?}: {refused}");
    }
}

/// These pipes have no other end.
#[test]
fn pipes_and_links_are_refused() {
    let place = place("PMAC-AES128");
    place.shell("mkfifo pipe f.pipe g.tagmac").exits(0);
    let what = |name: &str| format!("{name}: expected a regular file, found a named pipe");
    for args in [&["pipe"][..], &["--truncate", "0", "pipe"], &["--append", "pipe"]] {
        place.keyed("update", args).exits(4).prints("").says(&[&what("pipe")]);
    }
    place.file("g", "text");
    place.keyed("update", &["g"]).exits(4).prints("").says(&[&what("g.tagmac")]);
    place.file("f", "text");
    let line = place.update(0, &[]).out;
    place.update(4, &["--patch", "0", "f.pipe"]).prints("").says(&[&what("f.pipe")]);
    fs::rename(place.path("f.tagmac"), place.path("s")).unwrap();
    symlink("s", place.path("f.tagmac")).unwrap();
    let link = "f.tagmac: this is a symbolic link; name the file itself";
    place.update(4, &[]).prints("").says(&[link]);
    // Even if the link is dangling, no sidecar is created there.
    fs::remove_file(place.path("f.tagmac")).unwrap();
    symlink("none", place.path("f.tagmac")).unwrap();
    place.update(4, &[]).prints("").says(&[link]);
    fs::rename(place.path("s"), place.path("f.tagmac")).unwrap();
    place.update(0, &[]).prints(&line);
}

#[test]
fn an_offset_that_no_file_has() {
    let place = Place::new();
    place.file("f", "text");
    place.file("p", "patch");
    place.keyed("update", &["f"]).exits(0);
    let ran = place.keyed("update", &["--patch", &u64::MAX.to_string(), "p", "f"]).exits(2);
    ran.says(&[
        "f: --patch: expected an offset within the file's 4 bytes, found 18446744073709551615",
    ]);
    for range in [format!("{}:1", u64::MAX), format!("1:{}", u64::MAX)] {
        place
            .keyed("update", &["--range", &range, "f"])
            .exits(2)
            .says(&["f: --range: the range ends at byte "]);
    }
    place.keyed("update", &["--truncate", &u64::MAX.to_string(), "f"]).exits(2);
    assert_eq!(place.read("f"), b"text");
}
