//! `tagmac update`: lines that follow edits, and what is refused.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::common::{PAGES, Place, Ran, Random, sparse};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use tagmac_any::Algorithm;

/// A folder with a key for an algorithm.
fn place(algorithm: &str) -> Place {
    let place = Place::bare();
    place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
    place
}

impl Place {
    /// An update that has to end so.
    #[track_caller]
    fn update(&self, code: i32, args: &[&str]) -> Ran {
        let mut args = args.to_vec();
        args.extend(["--allow-short", "f"]);
        self.keyed("update", &args).exits(code)
    }

    /// Checks that a line is that of the file.
    #[track_caller]
    fn holds(&self, line: &str) {
        self.file("LIST", line);
        self.keyed("check", &["--allow-short", "LIST"]).exits(0).prints("f: OK\n");
    }

    /// An update whose line has to be that of the file.
    #[track_caller]
    fn follows(&self, args: &[&str]) {
        let line = self.update(0, args).out;
        self.holds(&line);
        // Asked again, it is the same line.
        self.update(0, &[]).prints(&line);
    }

    /// Checks that an update is refused for bytes that changed, and changes nothing.
    #[track_caller]
    fn refuses(&self, args: &[&str], bytes: &str) {
        let before = [self.read("f"), self.read("f.tagmac")];
        self.update(1, args).prints("").says(&[
            "f: bytes ",
            bytes,
            " have changed since the last update",
        ]);
        assert!(before == [self.read("f"), self.read("f.tagmac")], "something was written");
    }

    /// Changes a byte.
    fn flip(&self, name: &str, at: usize) {
        let mut bytes = self.read(name);
        bytes[at] ^= 1;
        self.file(name, bytes);
    }
}

/// Every algorithm that says it can follow edits does; the others say that they cannot.
#[test]
fn each_algorithm_follows_edits_or_says_that_it_cannot() {
    for algorithm in Algorithm::all() {
        let place = place(algorithm.name());
        // Within the limit of every algorithm.
        let mut text = Random(1).bytes(1500);
        place.file("f", &text);
        if !algorithm.capabilities().edits {
            let what = format!("{algorithm} cannot follow edits; 'tagmac list' marks");
            place.update(2, &[]).prints("").says(&[&what]);
            assert!(!place.path("f.tagmac").exists());
            continue;
        }
        place.follows(&["--leaf", "256"]);
        place.file("p", "a patch that crosses leaves and goes on ".repeat(10));
        place.follows(&["--patch", "500", "p"]);
        text[500..900].copy_from_slice(&place.read("p"));
        assert!(place.read("f") == text, "{algorithm}");
        text.extend(Random(2).bytes(250));
        place.file("f", &text);
        place.follows(&["--append"]);
        place.follows(&["--truncate", "1100"]);
        text.truncate(1100);
        assert!(place.read("f") == text, "{algorithm}");
        place.flip("f", 600);
        place.follows(&["--range", "600:1"]);
    }
}

#[test]
fn all_lengths_around_the_edges() {
    for algorithm in ["PMAC-AES128", "LIGHTMAC-AES128-S32", "POLY1305-AES"] {
        let place = place(algorithm);
        let text = Random(3).bytes(200);
        for length in [0, 1, 11, 12, 15, 16, 17, 24, 25, 47, 48, 49, 50, 96, 97] {
            place.file("f", &text[..length]);
            let _ = fs::remove_file(place.path("f.tagmac"));
            place.follows(&["--leaf", "48"]);
            for longer in [length + 1, length + 13, length + 48, 199] {
                place.file("f", &text[..longer]);
                place.follows(&["--append"]);
                place.follows(&["--truncate", &length.to_string()]);
            }
            if length > 0 {
                place.file("p", [0xff]);
                for at in [0, length / 2, length - 1] {
                    place.follows(&["--patch", &at.to_string(), "p"]);
                    place.flip("f", at);
                    place.follows(&["--range", &format!("{at}:1")]);
                }
            }
        }
    }
}

/// Node pages of three levels, and edits where they begin and end.
#[test]
fn a_tree_of_three_levels() {
    let place = place("PMAC-AES128");
    let (leaf, box_of_leaves) = (16u64, 16 * 256u64);
    let box_of_boxes = 256 * box_of_leaves;
    let mut random = Random(4);
    let text = random.bytes(box_of_boxes + 5 * box_of_leaves + 100);
    place.file("f", &text);
    place.follows(&["--leaf", "16"]);
    place.file("p", random.bytes(3 * box_of_leaves));
    for at in [0, box_of_leaves - 1, box_of_boxes - box_of_leaves - 8, box_of_boxes + 1] {
        place.follows(&["--patch", &at.to_string(), "p"]);
    }
    let mut length = text.len() as u64;
    for to in [
        box_of_boxes + box_of_leaves + leaf,
        box_of_boxes + box_of_leaves + 1,
        box_of_boxes + box_of_leaves,
        box_of_boxes + 17,
        box_of_boxes + 16,
        box_of_boxes + 1,
        box_of_boxes,
        box_of_boxes - 1,
        box_of_boxes - box_of_leaves,
        box_of_leaves + 1,
        box_of_leaves,
        17,
    ] {
        place.follows(&["--truncate", &to.to_string()]);
        length = length.min(to);
        assert_eq!(fs::metadata(place.path("f")).unwrap().len(), length);
    }
    for to in [18, box_of_leaves, box_of_leaves + 1, box_of_boxes, box_of_boxes + 1, 1_500_000] {
        let mut text = place.read("f");
        text.resize(to as usize, to as u8);
        place.file("f", text);
        place.follows(&["--append"]);
    }
}

#[test]
fn what_changed_beside_an_edit_is_refused() {
    let place = place("PMAC-AES128");
    place.file("p", "patch");
    place.file("f", Random(5).bytes(5000));
    let line = place.update(0, &["--leaf", "1000"]).out;
    // Leaves of 992 bytes, and 8 bytes in none.
    for at in [992, 1499, 1505, 1983] {
        place.flip("f", at);
        place.refuses(&["--patch", "1500", "p"], "992 to 1984");
        place.refuses(&["--truncate", "1600"], "992 to 1984");
        // Nothing is cut off that is not known.
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
    // Far from the edit it is not seen, and the line does not authenticate it.
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
        let hint = "f: expected 3000 bytes, found 3001: --append accepts what was added";
        place.update(1, args).prints("").says(&[hint]);
        assert_eq!(place.read("f").len(), 3001);
        place.file("f", &text[..2999]);
        let hint = "f: expected 3000 bytes, found 2999: what is left cannot be checked without \
                    the missing bytes; restore the file, or, to accept what is left, move the \
                    sidecar away";
        place.update(1, args).prints("").says(&[hint]);
    }
    place.update(1, &["--append"]).says(&["expected 3000 bytes, found 2999"]);
    // What was changed before it grew can be accepted, and then what was added.
    place.file("f", [&*text, b"x"].concat());
    place.flip("f", 2999);
    place.update(1, &["--append"]).says(&["f: bytes 2992 to 3000 have changed since"]);
    let ran = place.update(1, &["--range", "2999:1"]);
    ran.says(&[" as they are, unchecked", "found 3001: --append"]);
    place.follows(&["--append"]);
}

#[test]
fn a_range_is_widened_and_said() {
    let place = place("UMAC-64");
    place.file("f", Random(7).bytes(10_000));
    place.update(0, &["--leaf", "2048"]);
    for at in [3000, 6000, 9999] {
        place.flip("f", at);
    }
    let line = place.update(0, &["--range", "3000:2000"]);
    let line = line.says(&["f: accepted bytes 2048 to 6144 as they are, unchecked"]).out;
    place.file("LIST", line);
    place.keyed("check", &["LIST"]).exits(1);
    place.follows(&["--range", "9KiB:1"]);
    place.update(0, &["--range", "9999:0"]).in_silence();
    let past = "f: --range: expected a range within the file's 10000 bytes, found one up to 10001";
    place.update(2, &["--range", "9999:2"]).says(&[past]);
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
        .says(&["f.tagmac: expected a sidecar sealed under this key", "found one sealed"]);
    place.file("g", "text");
    place.file("g.tagmac", &sidecar);
    let what = "g.tagmac: expected the sidecar of g, found that of f";
    place.keyed("update", &["g"]).exits(1).prints("").says(&[what]);
    // Moved as they are, file and sidecar go together.
    fs::create_dir(place.path("d")).unwrap();
    place.file("d/f", "text");
    place.file("d/f.tagmac", &sidecar);
    place.keyed("update", &["d/f"]).exits(0);
    for (bytes, what) in [
        (&b"something else"[..], "expected what this key sealed, found it altered"),
        (&[b'x'; 50], "expected a sidecar made by 'tagmac update', found something else"),
        (&sidecar[..9000], "expected what this key sealed, found it altered"),
    ] {
        place.file("f.tagmac", bytes);
        place.update(1, &[]).prints("").says(&["f.tagmac: ", what]);
    }
    for version in [b'1', b'2', b'4'] {
        let mut other = sidecar.clone();
        other[12] = version;
        place.file("f.tagmac", other);
        let what =
            "f.tagmac: expected a sidecar of version 3, found another: the file was not checked";
        place.update(1, &[]).says(&[what]);
    }
}

/// Whatever byte of the sidecar is altered: it is refused, or the line is right all the same.
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
    // Both places of the header, and the root.
    for wrong in [&[4200, 12_400][..], &[sidecar.len() - 1]] {
        let mut altered = sidecar.clone();
        wrong.iter().for_each(|at| altered[*at] ^= 1);
        place.file("f.tagmac", altered);
        place.update(1, &["--patch", "0", "p"]).says(&["expected what this key sealed"]);
    }
}

/// A box of before is not taken for the one that has its place now.
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
    // Both roots are as long.
    let last = sidecar.len() - first.len()..sidecar.len();
    assert_eq!(last.start, before);
    sidecar.copy_within(first, last.start);
    place.file("f.tagmac", sidecar);
    let what = "expected what this key sealed, found it altered";
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
        let what = "f: expected the tag of --expect, found another";
        place.update(1, &["--expect", &second, "--patch", "9", "p"]).prints("").says(&[what]);
        assert!(place.read("f") == old[0]);
        place.update(0, &["--expect", &first]);
        place.update(2, &["--expect", "00"]).says(&["--expect: ", "expected a tag of 16 bytes"]);
    }
    // The first time it says what the file has to be, where no nonce makes the tag another.
    let place = place("PMAC-AES128");
    place.file("f", "text");
    let tag = place.keyed("tag", &["f"]).out;
    let tag = tag.trim_end().rsplit(' ').next().unwrap();
    place.update(1, &["--expect", &"0".repeat(32)]).prints("");
    assert!(!place.path("f.tagmac").exists());
    place.update(0, &["--expect", tag]);
}

#[test]
fn dead_boxes_are_left_behind() {
    let place = place("PMAC-AES128");
    let mode = |place: &Place| fs::metadata(place.path("f.tagmac")).unwrap().mode() & 0o7777;
    // One level of node pages, and two.
    for leaf in ["1KiB", "256"] {
        place.file("f", Random(11).bytes(100_000));
        place.update(0, &["--leaf", leaf]);
        let mut random = Random(12);
        let mut most = 0;
        assert_eq!(mode(&place), 0o600);
        fs::set_permissions(place.path("f.tagmac"), fs::Permissions::from_mode(0o664)).unwrap();
        for _ in 0..40 {
            place.file("p", random.bytes(40_000));
            place.follows(&["--patch", &random.below(60_000).to_string(), "p"]);
            most = most.max(fs::metadata(place.path("f.tagmac")).unwrap().len());
        }
        // 40 patches, old and new, are 3.2 MB.
        assert!((1 << 19..5 << 18).contains(&most), "{leaf}: {most}");
        assert_eq!(mode(&place), 0o664);
        fs::remove_file(place.path("f.tagmac")).unwrap();
    }
}

#[test]
fn a_patch_of_nothing() {
    let place = place("PMAC-AES128");
    place.file("f", "text");
    place.file("p", "");
    let line = place.update(0, &[]).out;
    for at in ["0", "2", "4"] {
        place.update(0, &["--patch", at, "p"]).prints(&line);
    }
    place.update(0, &[]).prints(&line);
}

#[test]
fn what_no_new_sidecar_can_hold() {
    let other = place("UMAC-64");
    other.file("f", "text");
    let what = "--expect: expected a sidecar, found none, and a new tag has a new nonce";
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
        place
            .update(2, args)
            .prints("")
            .says(&["f.tagmac: expected the file's sidecar, found none"]);
    }
    for leaf in ["67108865", "2^60", "15EiB"] {
        let most = "--leaf: expected at most 67108864 bytes (64 MiB), found ";
        place.update(2, &["--leaf", leaf]).prints("").says(&[most]);
    }
    assert!(!place.path("f.tagmac").exists());
    place.follows(&["--leaf", "64MiB"]);
    place.follows(&["--range", "0:1"]);
    fs::remove_file(place.path("f.tagmac")).unwrap();
    place.keyed("update", &["-"]).exits(2).says(&["standard input has no edits"]);
    place.keyed("update", &[] as &[&str]).exits(2);
    place.update(0, &[]);
    place.update(2, &["--leaf", "4096"]).says(&["--leaf: the sidecar exists"]);
    place.update(2, &["--append", "--range", "0:1"]);
    place.update(2, &["--patch", "x", "p"]).says(&["--patch: OFFSET: expected a size"]);
    place.update(2, &["--range", "5"]).says(&["expected an offset and a length"]);
    place
        .update(2, &["--truncate", "5"])
        .says(&["--truncate: expected at most the file's 4 bytes"]);
    let past =
        "--patch: expected bytes within the file's 4, found some past them; --append accepts";
    place.update(2, &["--patch", "0", "p"]).prints("").says(&[past]);
    assert_eq!(place.read("f"), b"text");
}

#[test]
fn lines_in_other_forms() {
    let place = place("POLY1305-AES");
    place.file("f", "text");
    let line = place.update(0, &["--zero"]).out;
    assert!(line.starts_with("POLY1305-AES.n=") && line.ends_with('\0'));
    let json = place.update(0, &["--json"]).out;
    assert!(json.starts_with(r#"{"path":"f","algorithm":"POLY1305-AES","tag":""#), "{json}");
    assert!(json.contains(r#""bytes":4,"status":"tagged"}"#), "{json}");
    let patched = place.feed(&["update", "-k", "k", "--patch", "1", "-", "f"], b"o").exits(0);
    assert_eq!(place.read("f"), b"toxt");
    place.holds(&patched.out);
    // A nonce is never used for two contents.
    let nonce = |line: &str| line[..line.find(' ').unwrap()].to_string();
    assert_ne!(nonce(&patched.out), nonce(&line));
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
    let what = "/proc/version: expected a file with a known size";
    place.keyed("update", &["/proc/version"]).exits(4).prints("").says(&[what]);
    place.file("g", "text");
    // Who is not root is also refused by modes.
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
    // A child that another test has just forked holds the file too until it is another program, so
    // that closing it here would not be enough.
    sidecar.unlock().unwrap();
    place.update(0, &["--range", "0:1"]);
}

/// The sidecar tells nothing of the sums: it looks random, and is another one each time.
#[test]
fn a_sidecar_shows_nothing() {
    let place = place("PMAC-AES128");
    place.file("f", vec![0; 100_000]);
    place.update(0, &["--leaf", "16"]);
    let one = place.read("f.tagmac");
    fs::remove_file(Path::new(&place.path("f.tagmac"))).unwrap();
    place.update(0, &["--leaf", "16"]);
    let other = place.read("f.tagmac");
    assert_eq!(one.len(), other.len());
    let same = one[PAGES..].iter().zip(&other[PAGES..]).filter(|(a, b)| a == b).count();
    let expected = (one.len() - PAGES) / 256;
    assert!(same < 2 * expected, "{same} of {} bytes are the same", one.len());
}

/// Bytes that were never there at once are not accepted.
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
        // Clocks of file systems go in steps.
        let file = File::options().write(true).open(place.path("f")).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        let sidecar = fs::read(place.path("f.tagmac")).ok();
        let write = "printf x | dd of=f conv=notrunc status=none";
        let (mut refused, all) = (0, [args, &["f"]].concat());
        // The sidecar's prelude and headers come before.
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

/// A terminal goes on after its end.
#[test]
fn a_patch_from_a_terminal() {
    let place = place("POLY1305-AES");
    let text = Random(21).bytes(5000);
    place.file("f", &text);
    place.update(0, &[]);
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let terminal = openpt(flags).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let input = File::options().read(true).write(true).open(name).unwrap();
    // Ends of input are Ctrl-D at the start of a line.
    rustix::io::write(&terminal, b"a line\n\x04another\n\x04\x04").unwrap();
    let mut command = place.command(&["update", "-k", "k", "--patch", "1000", "-", "f"]);
    let ran = Ran::from(command.stdin(input).output().unwrap()).exits(0);
    let mut patched = text;
    patched[1000..1007].copy_from_slice(b"a line\n");
    assert!(place.read("f") == patched);
    place.holds(&ran.out);
}

/// Nobody is at the other end of these pipes.
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
    let link = "f.tagmac: expected the file itself, found a symbolic link";
    place.update(4, &[]).prints("").says(&[link]);
    // Also one that leads nowhere: no sidecar is made there.
    fs::remove_file(place.path("f.tagmac")).unwrap();
    symlink("none", place.path("f.tagmac")).unwrap();
    place.update(4, &[]).prints("").says(&[link]);
    fs::rename(place.path("s"), place.path("f.tagmac")).unwrap();
    place.update(0, &[]).prints(&line);
}

#[test]
fn progress_ends_where_all_is_done() {
    let place = place("PMAC-AES128");
    let text = Random(13).bytes(300_000);
    place.file("f", &text[..200_000]);
    let ends = |args: &[&str], bytes: u64| {
        let ran = place.keyed("update", &[args, &["--progress", "json", "f"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let mut lines = ran.err.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let last = lines.next_back().unwrap();
        for files in ["files", "total_files"] {
            assert_eq!(last[files], 1, "{args:?}: {last}");
        }
        for found in ["bytes", "total_bytes"] {
            assert_eq!(last[found], bytes, "{args:?}: {last}");
        }
    };
    ends(&["--leaf", "1000"], 200_000);
    place.file("f", &text);
    ends(&["--append"], 100_000);
    ends(&["--append"], 0);
    // Leaves of 992 bytes.
    ends(&["--range", "1000:1000"], 1984);
    ends(&["--range", "299999:1"], 300_000 - 299_984);
    ends(&["--range", "5:0"], 0);
}

/// A long range shows a bar, as other long work does.
#[test]
fn a_bar_for_a_long_range() {
    let place = place("PMAC-AES128");
    sparse(&place, "f", 256 << 20);
    place.update(0, &[]);
    let ran = place.keyed("update", &["--range", "0:256MiB", "--progress", "always", "f"]);
    let bars: Vec<_> = ran.err.lines().filter(|line| line.starts_with("updating")).collect();
    assert!(!bars.is_empty() && bars[0].contains("/256.00 MiB"), "{}", ran.err);
}
