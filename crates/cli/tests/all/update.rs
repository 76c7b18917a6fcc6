//! `tagmac update`: lines that follow edits. `update_refused.rs` tests what is rejected.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::common::{PAGES, Place, Ran, Random, sparse};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use tagmac_any::Algorithm;

/// Returns a folder with a key for an algorithm.
pub fn place(algorithm: &str) -> Place {
    let place = Place::bare();
    place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
    place
}

impl Place {
    /// Runs an update and asserts its exit code.
    #[track_caller]
    pub fn update(&self, code: i32, args: &[&str]) -> Ran {
        let mut args = args.to_vec();
        args.extend(["--allow-short", "f"]);
        self.keyed("update", &args).exits(code)
    }

    /// Asserts that a line is that of the file.
    #[track_caller]
    pub fn holds(&self, line: &str) {
        self.file("LIST", line);
        self.keyed("check", &["--allow-short", "LIST"]).exits(0).prints("f: OK\n");
    }

    /// Runs an update and asserts that its line is that of the file.
    #[track_caller]
    pub fn follows(&self, args: &[&str]) {
        let line = self.update(0, args).out;
        self.holds(&line);
        // Another update prints the same line.
        self.update(0, &[]).prints(&line);
    }

    /// Asserts that an update is rejected for bytes that changed, and changes nothing.
    #[track_caller]
    pub fn refuses(&self, args: &[&str], bytes: &str) {
        let before = [self.read("f"), self.read("f.tagmac")];
        self.update(1, args).prints("").says(&[
            "f: bytes ",
            bytes,
            " have changed since the last update",
        ]);
        assert!(before == [self.read("f"), self.read("f.tagmac")], "something was written");
    }

    /// Changes a byte.
    pub fn flip(&self, name: &str, at: usize) {
        let mut bytes = self.read(name);
        bytes[at] ^= 1;
        self.file(name, bytes);
    }
}

/// Algorithms that claim to follow edits do; the others report that they cannot.
#[test]
fn each_algorithm_follows_edits_or_says_that_it_cannot() {
    for algorithm in Algorithm::all() {
        let place = place(algorithm.name());
        // Shorter than the limit of every algorithm.
        let mut text = Random(1).bytes(1500);
        place.file("f", &text);
        if !algorithm.capabilities().edits {
            let what = format!("{algorithm} cannot follow edits; 'tagmac list' shows");
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

/// Three levels of node pages, with edits at their borders.
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
fn a_range_is_widened_and_said() {
    let place = place("UMAC-64");
    place.file("f", Random(7).bytes(10_000));
    place.update(0, &["--leaf", "2048"]);
    for at in [3000, 6000, 9999] {
        place.flip("f", at);
    }
    let line = place.update(0, &["--range", "3000:2000"]);
    let line = line.says(&["f: accepted bytes 2048 to 6144 unchecked"]).out;
    place.file("LIST", line);
    place.keyed("check", &["LIST"]).exits(1);
    place.follows(&["--range", "9KiB:1"]);
    place.update(0, &["--range", "9999:0"]).in_silence();
    let past = "f: --range: the range ends at byte 10001, after the file's 10000 bytes";
    place.update(2, &["--range", "9999:2"]).says(&[past]);
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
    // A nonce never serves two contents.
    let nonce = |line: &str| line[..line.find(' ').unwrap()].to_string();
    assert_ne!(nonce(&patched.out), nonce(&line));
}

/// The sidecar looks random and differs each time, so it reveals nothing about the sums.
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

/// A terminal can be read after its end.
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
    // Ctrl-D at the start of a line ends the input.
    rustix::io::write(&terminal, b"a line\n\x04another\n\x04\x04").unwrap();
    let mut command = place.command(&["update", "-k", "k", "--patch", "1000", "-", "f"]);
    let ran = Ran::from(command.stdin(input).output().unwrap()).exits(0);
    let mut patched = text;
    patched[1000..1007].copy_from_slice(b"a line\n");
    assert!(place.read("f") == patched);
    place.holds(&ran.out);
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

/// A long range shows a bar, like other long work.
#[test]
fn a_bar_for_a_long_range() {
    let place = place("PMAC-AES128");
    sparse(&place, "f", 256 << 20);
    place.update(0, &[]);
    let ran = place.keyed("update", &["--range", "0:256MiB", "--progress", "always", "f"]);
    let bars: Vec<_> = ran.err.lines().filter(|line| line.starts_with("updating")).collect();
    assert!(!bars.is_empty() && bars[0].contains("/256.00 MiB"), "{}", ran.err);
}
