//! An interrupted truncation.

use std::hint::black_box;
use std::process::Stdio;
use std::time::UNIX_EPOCH;

use vmap::MapMut;

use super::*;
use crate::common::notes_mapped_writes;

#[test]
fn a_cut_and_a_file_that_stayed() {
    for algorithm in ALGORITHMS {
        let cell = Cell::cut(algorithm);
        let finished = ["f: finished the interrupted truncation to 12345 bytes"];
        let cut = &old()[..CUT];
        for text in [&old()[..], cut] {
            for args in [&[][..], &["--append"], &["--truncate", "12345"]] {
                cell.set(text).update(0, args, cut).says(&finished);
                cell.update(0, &[], cut).in_silence();
            }
            cell.set(text).update(0, &["--finish"], cut).in_silence();
        }
        cell.set(&old()).update(0, &["--undo"], &old()).in_silence();
        cell.update(0, &[], &old()).in_silence();
        let gone = "f: expected 20000 bytes, found 12345";
        cell.set(cut).update(1, &["--undo"], cut).says(&[gone, ONE_WAY]);
    }
}

/// The file was cut, or not yet, and then another program appended to it.
#[test]
fn a_cut_and_a_file_that_grew() {
    for algorithm in ALGORITHMS {
        let cell = Cell::cut(algorithm);
        let old = old();
        for text in [
            added(&old[..CUT], 1),
            added(&old[..CUT], OLD - CUT - 1),
            added(&old[..CUT], OLD - CUT),
            added(&old[..CUT], OLD - CUT + 1),
            added(&old, 1),
            added(&old, OLD),
        ] {
            let way = if text.len() < OLD { ONE_WAY } else { BOTH_WAYS };
            let what = if text.len() == OLD { CHANGED } else { "f: expected " };
            cell.refuses(&text, &[what, way]);
            let says = [GROWN, "f: expected 12345 bytes, found "];
            cell.set(&text).update(1, &["--finish"], &text).says(&says);
            cell.update(0, &["--append"], &text).in_silence();
            cell.set(&text);
            if text.len() < OLD {
                cell.update(1, &["--undo"], &text).says(&[ONE_WAY]);
                continue;
            }
            let says = if text.len() > OLD { GROWN } else { CHANGED };
            cell.update(1, &["--undo"], &text).says(&[says]);
            let range = cell.place.keyed("update", &["--range", "12345:7655", "f"]);
            range.says(&[" unchecked"]);
            cell.update(0, &["--append"], &text).in_silence();
        }
    }
}

#[test]
fn a_cut_and_a_file_that_shrank() {
    let cell = Cell::cut("PMAC-AES128");
    for length in [0, CUT - 1] {
        let text = &old()[..length];
        let found = format!("found {length}");
        cell.refuses(text, &["f: expected 12345 bytes, or 20000 as before", &found, ONE_WAY]);
        cell.set(text).update(1, &["--finish"], text).says(&["expected 12345", SHRUNK]);
        cell.set(text).update(1, &["--undo"], text).says(&[ONE_WAY]);
        cell.set(&old()).update(0, &[], &old()[..CUT]);
    }
}

#[test]
fn a_cut_and_a_change() {
    for algorithm in ALGORITHMS {
        let cell = Cell::cut(algorithm);
        // In the leaf with the cut, on both sides of it, and in the removed bytes.
        for at in [CUT - 1, CUT, CUT + LEAF, OLD - 1] {
            let text = changed(old(), at);
            cell.refuses(&text, &["f: bytes ", CHANGED, BOTH_WAYS]);
            cell.set(&text).update(1, &["--finish"], &text).says(&[GROWN]);
            if at < CUT {
                let first = " accepts the current bytes, and then ";
                cell.update(1, &["--append"], &text).says(&[CHANGED, first, GROWN]);
                cell.update(1, &["--range", &format!("{at}:1")], &text).says(&[GROWN]);
            }
            cell.update(0, &["--append"], &text).in_silence();
            cell.set(&text).update(1, &["--undo"], &text).says(&[CHANGED]);
            cell.update(0, &["--range", &format!("{at}:1")], &text);
            cell.update(0, &["--truncate", "12345"], &text[..CUT]).in_silence();
        }
        // In a leaf that stays, which no update reads.
        let text = changed(old(), 100);
        cell.set(&text)
            .place
            .keyed("update", &["f"])
            .exits(0)
            .says(&["finished the interrupted truncation"]);
        assert!(cell.read() == text[..CUT]);
        // Cut, and changed in the rest of the leaf with the cut.
        for at in [CUT / LEAF * LEAF, CUT - 1] {
            let text = changed(old()[..CUT].to_vec(), at);
            cell.refuses(&text, &["f: bytes ", CHANGED, ONE_WAY]);
            let ran = cell.set(&text).update(1, &["--finish"], &text).says(&[CHANGED]);
            ran.says(&["; the interrupted edit is settled, and --range "]);
            cell.update(0, &["--range", &format!("{at}:1")], &text);
            cell.update(0, &[], &text).in_silence();
            cell.set(&text).update(1, &["--undo"], &text).says(&[ONE_WAY]);
        }
        // In an earlier leaf.
        let text = changed(old()[..CUT].to_vec(), CUT / LEAF * LEAF - 1);
        cell.set(&text)
            .place
            .keyed("update", &["f"])
            .exits(0)
            .says(&["finished the interrupted truncation"]);
    }
}

/// Unknown bytes are never deleted, even without an interrupted edit.
#[test]
fn a_cut_deletes_what_it_knows() {
    let cell = Cell::cut("PMAC-AES128");
    let place = &cell.place;
    cell.set(&old()).update(0, &["--undo"], &old());
    for at in [CUT - 1, CUT, OLD - 1] {
        let text = changed(old(), at);
        place.file("f", &text);
        cell.update(1, &["--truncate", "12345"], &text).says(&["f: bytes ", CHANGED]);
    }
    // The same command again, after it succeeded and something was appended.
    place.file("f", old());
    cell.update(0, &["--truncate", "12345"], &old()[..CUT]);
    let text = added(&old()[..CUT], 1000);
    place.file("f", &text);
    cell.update(1, &["--truncate", "12345"], &text).says(&[GROWN]);
    cell.update(0, &["--append"], &text);
}

/// Another program writes to the file between the check and the edit.
#[test]
fn others_come_between() {
    let place = Place::new();
    place.file("f", old());
    place.file("p", &new()[OFFSET..][..PATCH]);
    let line = place.keyed("update", &["--leaf", "256", "f"]).exits(0).out;
    let sidecar = fs::read(place.path("f.tagmac")).unwrap();
    let write = "printf '\\377' | dd of=f bs=1 seek=9000 conv=notrunc status=none";
    let (mut refused, offset) = (0, OFFSET.to_string());
    for n in 1.. {
        place.file("f", old());
        place.file("f.tagmac", &sidecar);
        let edit = ["--patch", &offset, "p", "f"];
        let ran = place.faulty(&format!("sync:{n}:run={write}"), "update", &edit);
        let found = fs::read(place.path("f")).unwrap();
        if ran.code == Some(0) {
            assert!(n > 2 && (found == new() || found == changed(new(), 9000)));
            if found == new() {
                break;
            }
            continue;
        }
        refused += 1;
        assert!(found == changed(old(), 9000), "{n}");
        ran.exits(1).prints("").says(&["f: bytes 8704 to 9216 are neither as before", PATCHED]);
        place.keyed("update", &["--undo", "f"]).exits(1);
        place.file("f", old());
        place.keyed("update", &["f"]).exits(0).prints(&line);
    }
    // The calls are: before the state is known, with it in both copies, its name, and before the
    // second check.
    assert_eq!(refused, 4);
    // The same before a cut, also if the other program restores the time of the last write.
    let in_secret = format!("{write}; touch -d @0 f");
    for (edit, text) in [
        ("printf A >> f", added(&old(), 1)),
        (write, changed(old(), 9000)),
        (&in_secret, changed(old(), 9000)),
    ] {
        place.file("f", old());
        // The clock of a file system has a coarse resolution.
        let file = fs::OpenOptions::new().write(true).open(place.path("f")).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        place.file("f.tagmac", &sidecar);
        // The last check of the bytes to delete comes after one sync of the file, three of the
        // sidecar, and one of its folder.
        let fault = format!("sync:6:run={edit}");
        let ran = place.faulty(&fault, "update", &["--truncate", "5000", "f"]);
        ran.exits(4).prints("").says(&[" changed while it was read"]);
        assert!(fs::read(place.path("f")).unwrap() == text);
        place
            .keyed("update", &["f"])
            .exits(1)
            .says(&["a truncation from 20000 to 5000 bytes was interrupted"]);
        assert!(fs::read(place.path("f")).unwrap() == text);
    }
}

/// A program has the file mapped, and writes to a page again while the next update checks the bytes
/// that a cut will delete. The system notes such a write only if the page was written to disk
/// before.
#[test]
fn a_mapped_file_that_changes_before_a_cut() {
    let cell = Cell::cut("PMAC-AES128");
    let place = &cell.place;
    if !notes_mapped_writes(place) {
        println!("left out: mapped writes are not noted here");
        return;
    }
    for args in [&["f"][..], &["--finish", "f"]] {
        // Reads before the cut. Later ones see the cut file.
        let reads = (1..).take_while(|n| {
            let fault = format!("read:{n}:run=wc -c < f > length");
            cell.set(&old()).place.faulty(&fault, "update", args);
            let length = fs::read_to_string(place.path("length")).unwrap_or_default();
            let _ = fs::remove_file(place.path("length"));
            length.trim() == OLD.to_string()
        });
        let reads = reads.count();
        assert!(reads > 4, "{reads}");
        for n in 1..=reads {
            cell.set(&old());
            place.shell("rm -f ready go; mkfifo ready go").exits(0);
            let (mut map, _) = MapMut::with_options().open(place.path("f")).unwrap();
            let at = OLD - 100;
            map[at] = black_box(0xfe);
            map[at] = black_box(old()[at]);
            let mut command = place.command(&[&["update", "-k", "k"], args].concat());
            crate::common::at(&mut command, &format!("read:{n}"), "run=: > ready; read x < go");
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().unwrap();
            fs::read(place.path("ready")).unwrap();
            map[at] = 0xff;
            place.file("go", "go\n");
            let ran = Ran::from(child.wait_with_output().unwrap());
            assert!(cell.read() == changed(old(), at), "{args:?}, {n}: {}", ran.err);
            assert!(matches!(ran.code, Some(1 | 4)), "{args:?}, {n}: {}", ran.err);
            let what = ["f: expected ", "the file changed while it was read", CHANGED];
            assert!(what.iter().any(|what| ran.err.contains(what)), "{}", ran.err);
            ran.prints("").says(&["f: "]);
        }
    }
}
