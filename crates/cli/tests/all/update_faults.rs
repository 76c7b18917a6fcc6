//! `tagmac update` after a kill or a failed call: the old state or the new one, never a mix.

use std::fs;

use crate::common::{HEADERS, Place, Ran, Random};

impl Place {
    /// Returns whether a line is that of the file.
    fn agrees(&self, line: &str) -> bool {
        self.file("LIST", line);
        self.keyed("check", &["LIST"]).code == Some(0)
    }

    /// Runs an update with a limit of `kib` KiB on the size of files. The signal is ignored, so
    /// that the update gets an error, as on a full disk.
    fn limited(&self, kib: u64, args: &str) -> Ran {
        // dash counts blocks of 512 bytes, bash blocks of 1024.
        let line = format!("trap '' XFSZ; ulimit -f {kib}; exec $T update -k k {args}");
        let line = format!("exec bash -c \"{}\"", line.replace('$', "\\$"));
        self.shell(&line)
    }
}

/// An edit, and the file before and after it.
struct Edit {
    algorithm: &'static str,
    args: Vec<&'static str>,
    old: Vec<u8>,
    /// The content of the file when the edit begins, which another program may have written.
    now: Vec<u8>,
    new: Vec<u8>,
}

/// Returns edits of each kind, for a file with two levels of node pages.
fn edits(algorithm: &'static str) -> Vec<Edit> {
    let mut random = Random(5);
    let old = random.bytes(20_000);
    let (mut patched, mut changed) = (old.clone(), old.clone());
    patched[7000..16_000].copy_from_slice(&random.bytes(9000));
    changed[300] ^= 1;
    let grown = [&*old, &random.bytes(2000)].concat();
    let short = old[..12_345].to_vec();
    let edit = |args: &[&'static str], now: &[u8], new: &[u8]| Edit {
        algorithm,
        args: [args, &["f"]].concat(),
        old: old.clone(),
        now: now.to_vec(),
        new: new.to_vec(),
    };
    vec![
        edit(&["--patch", "7000", "p"], &old, &patched),
        edit(&["--truncate", "12345"], &old, &short),
        edit(&["--append"], &grown, &grown),
        edit(&["--range", "300:1"], &changed, &changed),
    ]
}

/// Runs an edit with each fault in turn, until one is not reached, and passes on the result.
fn each_fault(edit: &Edit, fault: impl Fn(u32) -> String, check: impl Fn(&Place, &Ran, &str)) {
    let place = Place::bare();
    place.run(&["keygen", "-a", edit.algorithm, "-o", "k"]).exits(0);
    place.file("f", &edit.old);
    place.keyed("update", &["--leaf", "64", "f"]).exits(0);
    let sidecar = place.read("f.tagmac");
    place.file("p", &edit.new[7000.min(edit.new.len())..edit.new.len().min(16_000)]);
    let mut met = 0;
    loop {
        place.file("f", &edit.now);
        place.file("f.tagmac", &sidecar);
        let fault = fault(met + 1);
        let ran = place.faulty(&fault, "update", &edit.args);
        let why = format!("{} {:?} {fault}: {}", edit.algorithm, edit.args, ran.err);
        if ran.code == Some(0) {
            break;
        }
        met += 1;
        check(&place, &ran, &why);
        // Repeating the command gives the new state in every case.
        let again = place.keyed("update", &edit.args);
        assert!(again.code == Some(0) && place.agrees(&again.out), "{why}; {}", again.err);
        assert!(place.read("f") == edit.new, "{why}");
        if edit.algorithm == "PMAC-AES128" {
            place.keyed("tag", &["f"]).prints(&again.out);
        }
    }
    assert!(met > 3, "{:?}: {met} calls", edit.args);
}

/// Each byte of the file is old or new, and the next update restores one of the two states.
fn is_old_or_new(edit: &Edit, place: &Place, why: &str) {
    let found = place.read("f");
    assert!([edit.now.len(), edit.new.len()].contains(&found.len()), "{why}");
    let is_one =
        |at: usize| [&edit.now, &edit.new].iter().any(|text| text.get(at) == Some(&found[at]));
    assert!((0..found.len()).all(is_one), "{why}");
    let asked = place.keyed("update", &["f"]);
    let found = place.read("f");
    assert!(found == edit.now || found == edit.new, "{why}");
    match asked.code {
        // The line is of the old state: another program changed the bytes since.
        Some(0) if edit.args[0] == "--range" => {}
        Some(0) => assert!(place.agrees(&asked.out), "{why}"),
        // The old state does not match a file that has grown.
        code => assert!(code == Some(1) && edit.args[0] == "--append", "{why}: {}", asked.err),
    }
}

#[test]
fn killed_at_each_call() {
    for algorithm in ["PMAC-AES128", "POLY1305-AES"] {
        for edit in edits(algorithm) {
            let kill = |n| format!("any:{n}:kill");
            each_fault(&edit, kill, |place, ran, why| {
                assert_eq!(ran.code, None, "{why}");
                is_old_or_new(&edit, place, why);
            });
        }
    }
}

#[test]
fn killed_within_each_write() {
    for edit in edits("POLY1305-AES") {
        for bytes in [1, 100, 3000] {
            let tear = |n| format!("write:{n}:tear={bytes}");
            each_fault(&edit, tear, |place, ran, why| {
                assert_eq!(ran.code, None, "{why}");
                is_old_or_new(&edit, place, why);
            });
        }
    }
}

#[test]
fn each_call_fails() {
    for edit in edits("PMAC-AES128") {
        let fail = |n| format!("any:{n}:fail=5");
        each_fault(&edit, fail, |place, ran, why| {
            // Output that is lost at the close was already written.
            let lost = ran.err.contains("standard output: ");
            assert!(ran.code == Some(4) && (lost || ran.out.is_empty()), "{why}");
            assert!(ran.err.contains("Input/output error"), "{why}");
            is_old_or_new(&edit, place, why);
        });
        let full = |n| format!("write:{n}:short=1000");
        each_fault(&edit, full, |place, ran, why| {
            assert_eq!(ran.code, Some(4), "{why}");
            assert!(ran.err.contains("No space left on device"), "{why}");
            is_old_or_new(&edit, place, why);
        });
    }
}

/// A kill during the creation of the sidecar leaves a complete one or none at all.
#[test]
fn killed_while_the_sidecar_is_made() {
    let place = Place::new();
    place.file("f", Random(3).bytes(20_000));
    let tag = place.keyed("tag", &["f"]).out;
    for n in 1.. {
        let _ = fs::remove_file(place.path("f.tagmac"));
        let made = place.faulty(&format!("any:{n}:kill"), "update", &["--leaf", "4096", "f"]);
        place.keyed("update", &["f"]).exits(0).prints(&tag);
        if made.code == Some(0) {
            assert!(n > 10);
            break;
        }
    }
}

/// A kill while the live node pages move leaves one of the two sidecars, complete and of the new
/// state.
#[test]
fn killed_while_dead_boxes_are_left_behind() {
    let place = Place::new();
    let mut random = Random(7);
    let old = random.bytes(700_000);
    let new = random.bytes(700_000);
    place.file("f", &old);
    place.file("p", &new);
    place.keyed("update", &["f"]).exits(0);
    let sidecar = place.read("f.tagmac");
    let edit = ["--patch", "0", "p", "f"];
    let (mut before, mut after) = (0, 0);
    for n in 1.. {
        place.file("f", &old);
        place.file("f.tagmac", &sidecar);
        let ran = place.faulty(&format!("any:{n}:kill"), "update", &edit);
        let size = fs::metadata(place.path("f.tagmac")).unwrap().len();
        let asked = place.keyed("update", &["f"]).exits(0);
        assert!(place.agrees(&asked.out), "{n}");
        if ran.code == Some(0) {
            break;
        }
        // The old and new bytes of the patch are longer than the live node pages.
        if place.read("f") == new && asked.err.is_empty() {
            *if size > 1 << 20 { &mut before } else { &mut after } += 1;
        }
    }
    assert!(before > 3 && after > 0, "{before} killed before the move, {after} after it");
}

/// Another file that takes the sidecar's name is kept, and the update fails, because its sidecar
/// has lost its name.
#[test]
fn what_takes_the_sidecars_name_stays() {
    let place = Place::new();
    let mut random = Random(7);
    place.file("p", random.bytes(700_000));
    place.file("f", random.bytes(700_000));
    place.keyed("update", &["f"]).exits(0);
    let (sidecar, old) = (place.read("f.tagmac"), place.read("f"));
    for n in 1.. {
        place.file("f", &old);
        place.file("f.tagmac", &sidecar);
        place.file("photo", "a photo");
        let fault = format!("name:{n}:run=mv photo f.tagmac");
        let ran = place.faulty(&fault, "update", &["--patch", "0", "p", "f"]);
        if place.path("photo").exists() {
            assert!(place.agrees(&ran.exits(0).out), "{n}");
            assert!(n > 2, "{n}");
            break;
        }
        assert!(place.read("f.tagmac") == b"a photo", "{n}: something else");
        ran.exits(4).prints("").says(&[
            "warning: unused space in the sidecar was not freed: f.tagmac: the file was replaced while \
             this run was using it",
            "tagmac: f.tagmac: the sidecar was removed or replaced while this run was using it; the \
             file may have been edited",
        ]);
    }
}

/// The file or the sidecar is replaced or removed, or the file shortened, at any call before the
/// line.
#[test]
fn what_is_replaced_while_an_update_runs() {
    let cases = [
        ("cp f g; mv g f", "tagmac: f: the file was removed or replaced while "),
        ("rm f", "tagmac: f: the file was removed or replaced while "),
        ("truncate -s 10000 f", "tagmac: f: "),
        ("cp f.tagmac g; mv g f.tagmac", "tagmac: f.tagmac: the sidecar was removed or replaced"),
        ("rm f.tagmac", "tagmac: f.tagmac: the sidecar was removed or replaced"),
    ];
    for edit in edits("POLY1305-AES") {
        let place = Place::bare();
        place.run(&["keygen", "-a", edit.algorithm, "-o", "k"]).exits(0);
        place.file("f", &edit.old);
        place.keyed("update", &["--leaf", "64", "f"]).exits(0);
        let sidecar = place.read("f.tagmac");
        place.file("p", &edit.new[7000.min(edit.new.len())..edit.new.len().min(16_000)]);
        for (line, what) in cases {
            let mut met = 0;
            for kind in ["sync", "cut"] {
                for n in 1.. {
                    place.file("f", &edit.now);
                    place.file("f.tagmac", &sidecar);
                    let fault = format!("{kind}:{n}:run={line}; : > met");
                    let ran = place.faulty(&fault, "update", &edit.args);
                    if fs::remove_file(place.path("met")).is_err() {
                        break;
                    }
                    met += 1;
                    let why = format!("{:?}, {line}, {kind} {n}: {}", edit.args, ran.err);
                    assert!(matches!(ran.code, Some(1 | 4)), "{why}: {:?}", ran.code);
                    assert!(ran.out.is_empty() && ran.err.contains(what), "{why}");
                    // Another program's file under the name changes only by the edit.
                    if line.contains("mv g f;") || line.ends_with("mv g f") {
                        let found = place.read("f");
                        assert!(found == edit.now || found == edit.new, "{why}");
                    }
                }
            }
            assert!(met > 2, "{:?}, {line}: {met}", edit.args);
        }
    }
}

/// A pipe that gets a second writer, and a patch file that grows: bytes after the first end are not
/// part of the patch.
#[test]
fn a_patch_that_goes_on_after_its_end() {
    let place = Place::new();
    let old = Random(5).bytes(10_000);
    let mut new = old.clone();
    new[100..105].copy_from_slice(b"first");
    for (line, more, fault) in [
        (
            "(printf first > pipe &); exec $T update -k k --patch 100 - f < pipe",
            "printf second > pipe",
            "read:4",
        ),
        ("exec $T update -k k --patch 100 p f", "printf second >> p", "read:4"),
    ] {
        place.file("f", &old);
        place.file("p", "first");
        let _ = fs::remove_file(place.path("f.tagmac"));
        place.keyed("update", &["f"]).exits(0);
        place.shell("rm -f pipe; mkfifo pipe").exits(0);
        // The sidecar's prelude and headers are read before the leaf of the file.
        let line = format!("export TAGMAC_FAULT='{fault}:run={more}; : > met'; {line}");
        let ran = place.shell(&line).exits(0);
        fs::remove_file(place.path("met")).expect("a read after the first end");
        assert!(place.read("f") == new && place.agrees(&ran.out), "{line}");
        place.keyed("update", &["f"]).exits(0).prints(&ran.out);
        place.keyed("tag", &["f"]).exits(0).prints(&ran.out);
    }
}

/// A failed truncation is continued, and the message says how.
#[test]
fn a_cut_that_fails() {
    let place = Place::new();
    place.file("f", Random(3).bytes(200_000));
    place.keyed("update", &["f"]).exits(0);
    let ran = place.faulty("cut:1:fail=5", "update", &["--truncate", "1000", "f"]);
    ran.exits(4)
        .prints("")
        .says(&["f: Input/output error; the next update continues the truncation"]);
    place
        .keyed("update", &["f"])
        .exits(0)
        .says(&["f: finished the interrupted truncation to 1000 bytes"]);
    assert_eq!(place.read("f").len(), 1000);
}

/// A partly written patch: the next update of any kind finishes it.
#[test]
fn a_patch_that_was_cut_short() {
    for algorithm in
        ["PMAC-AES128", "LIGHTMAC-AES128-S32", "ELIMAC-AES128", "POLY1305-AES", "UMAC-64"]
    {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        let mut random = Random(4);
        let old = random.bytes(1 << 20);
        let new = random.bytes(100_000);
        let mut text = old.clone();
        text[480_000..][..new.len()].copy_from_slice(&new);
        place.file("p", &new);
        let cut_short = || {
            place.file("f", &old);
            let _ = fs::remove_file(place.path("f.tagmac"));
            let first = place.keyed("update", &["f"]).exits(0).out;
            // There is room for the sidecar, and for the patch up to byte 512 Ki of the file.
            place
                .limited(512, "--patch 480000 p f")
                .exits(4)
                .prints("")
                .says(&["f: File too large; the next update continues the patch"]);
            let found = place.read("f");
            assert!(found[..1 << 19] == text[..1 << 19] && found[1 << 19..] == old[1 << 19..]);
            first
        };
        cut_short();
        let asked = place.keyed("update", &["f"]).exits(0);
        let asked =
            asked.says(&["f: finished the interrupted patch of 100000 bytes at byte 480000"]);
        assert!(place.read("f") == text && place.agrees(&asked.out), "{algorithm}");
        // In another edit.
        let first = cut_short();
        place.file("q", "another");
        let tag = first.trim_end().rsplit(' ').next().unwrap();
        let edit = ["--patch", "500000", "q", "f"];
        let refused = place.keyed("update", &[&["--expect", tag][..], &edit].concat());
        refused.exits(1).prints("").says(&["an edit was interrupted after the tag of --expect"]);
        let edited =
            place.keyed("update", &edit).exits(0).says(&["finished the interrupted patch"]);
        assert!(place.agrees(&edited.out), "{algorithm}");
        assert!(&place.read("f")[500_000..][..7] == b"another", "{algorithm}");
        // A change by another program nearby is rejected.
        cut_short();
        let mut forged = place.read("f");
        forged[479_999] ^= 1;
        place.file("f", &forged);
        place
            .keyed("update", &["f"])
            .exits(1)
            .prints("")
            .says(&[" have changed since the last update"]);
        assert!(place.read("f") == forged, "{algorithm}");
        forged[479_999] ^= 1;
        place.file("f", &forged);
        let done = place.keyed("update", &["f"]).exits(0);
        assert!(place.read("f") == text && place.agrees(&done.out), "{algorithm}");
    }
}

/// Without room for the sidecar the old state is kept, and the file does not change.
#[test]
fn no_room_for_the_sidecar() {
    let place = Place::new();
    let mut random = Random(5);
    let text = random.bytes(10_000);
    place.file("f", &text);
    place.limited(4, "f").exits(4).prints("").says(&["f.tagmac: File too large"]);
    assert!(!place.path("f.tagmac").exists());
    let line = place.keyed("update", &["--leaf", "16", "f"]).exits(0).out;
    place.file("p", random.bytes(9000));
    let sidecar = fs::metadata(place.path("f.tagmac")).unwrap().len();
    // First without any room, then with room for some of the node pages.
    for kib in sidecar / 1024 + 1..sidecar / 1024 + 18 {
        let ran = place.limited(kib, "--patch 500 p f").exits(4);
        ran.prints("").says(&["f.tagmac: File too large"]);
        assert!(place.read("f") == text, "{kib} KiB");
        // Unused node pages are cut off.
        let left = fs::metadata(place.path("f.tagmac")).unwrap().len();
        assert_eq!(left, sidecar, "{kib} KiB");
        place.keyed("update", &["f"]).exits(0).prints(&line);
    }
    for args in ["--range 0:10000 f", "--truncate 9000 f"] {
        place.limited(sidecar / 1024 + 1, args).exits(4).prints("");
        assert!(place.read("f") == text, "{args}");
        place.keyed("update", &["f"]).exits(0).prints(&line);
    }
    // The failed file left nothing.
    let names = fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".tagmac-")));
}

/// A sidecar that cannot be examined does not count as missing.
#[test]
fn a_sidecar_that_cannot_be_looked_for() {
    let place = Place::new();
    let name = "f".repeat(250);
    place.file(&name, "text");
    for args in [&[&*name][..], &["--append", &name]] {
        place.keyed("update", args).exits(4).prints("").says(&["f.tagmac: File name too long"]);
    }
}

/// If one of the header's two copies cannot be read, the other is used.
#[test]
fn a_header_that_cannot_be_read() {
    let place = Place::new();
    place.file("p", "patch");
    place.file("f", Random(8).bytes(5000));
    let line = place.keyed("update", &["f"]).exits(0).out;
    let sidecar = place.read("f.tagmac");
    let warning =
        "tagmac: warning: f.tagmac: Input/output error; the header's other copy is intact";
    // The prelude is read before the headers.
    for (number, other) in [(2, HEADERS[1].clone()), (3, HEADERS[0].clone())] {
        let fault = format!("read:{number}:fail=5");
        let asked = place.faulty(&fault, "update", &["f"]).exits(0).prints(&line);
        asked.says(&[warning]);
        let patched = place.faulty(&fault, "update", &["--patch", "9", "p", "f"]).exits(4);
        patched.prints("").says(&["tagmac: f.tagmac: Input/output error; the header's other copy"]);
        assert!(place.read("f") == Random(8).bytes(5000) && place.read("f.tagmac") == sidecar);
        // The readable copy is invalid.
        let mut altered = sidecar.clone();
        altered[other].fill(0);
        place.file("f.tagmac", &altered);
        let asked = place.faulty(&fault, "update", &["f"]).exits(4).prints("");
        asked.says(&["f.tagmac: Input/output error"]);
        place.keyed("update", &["f"]).exits(0).prints(&line);
        place.file("f.tagmac", &sidecar);
    }
    let both = place.faulty("read:2-3:fail=5", "update", &["f"]).exits(4).prints("");
    both.says(&["f.tagmac: Input/output error"]);
    // The header cannot be written either, so only the line can be shown.
    let mut altered = sidecar;
    altered[HEADERS[1].clone()].fill(0);
    place.file("f.tagmac", &altered);
    let asked = place.faulty("write:1:fail=5", "update", &["f"]).exits(0).prints(&line);
    asked.says(&["tagmac: warning: f.tagmac: Input/output error"]);
    let patched = place.faulty("write:1:fail=5", "update", &["--patch", "9", "p", "f"]);
    patched.exits(4).prints("").says(&["tagmac: f.tagmac: Input/output error"]);
    assert!(place.read("f") == Random(8).bytes(5000));
    place.keyed("update", &["f"]).exits(0).prints(&line);
}

#[test]
fn a_file_that_cannot_be_read_or_gets_shorter_meanwhile() {
    for (fault, words) in [
        ("read:1:fail=5", "tagmac: f: Input/output error\n"),
        (
            "read:1:run=printf x > f",
            "the file has fewer than 4992 bytes: it changed while it was read\n",
        ),
    ] {
        let place = Place::new();
        place.file("f", Random(8).bytes(5000));
        place.faulty(fault, "update", &["f"]).exits(4).prints("").says(&["tagmac: f: ", words]);
        assert!(!place.path("f.tagmac").exists(), "{fault}");
    }
}
