//! An interrupted patch.

use std::os::unix::fs::MetadataExt;

use super::*;
use crate::common::{HEADERS, sparse};

#[test]
fn a_patch_and_a_file_that_stayed() {
    for algorithm in ALGORITHMS {
        let cell = Cell::patch(algorithm);
        let finished = ["f: finished the interrupted patch of 9000 bytes at byte 7000"];
        for text in [torn(), old(), new()] {
            for args in [&[][..], &["--append"], &["--truncate", "20000"]] {
                cell.set(&text).update(0, args, &new()).says(&finished);
                cell.update(0, &[], &new()).in_silence();
            }
            cell.set(&text).update(0, &["--finish"], &new()).in_silence();
            cell.update(0, &[], &new()).in_silence();
            cell.set(&text).update(0, &["--undo"], &old()).in_silence();
            cell.update(0, &[], &old()).in_silence();
        }
        cell.set(&torn()).update(0, &["--truncate", "12345"], &new()[..CUT]).says(&finished);
        let what = "f: --undo: no edit was interrupted";
        cell.update(2, &["--undo"], &new()[..CUT]).says(&[what]);
        cell.update(0, &["--finish"], &new()[..CUT]);
    }
}

/// A disk writes sectors in any order, and each of them in full or up to some byte.
#[test]
fn a_patch_that_a_disk_has_in_another_order() {
    let cell = Cell::patch("PMAC-AES128");
    let (old, new) = (old(), new());
    let mut text = old.clone();
    for sector in [15, 20, 21, 30] {
        text[sector * 512..][..512].copy_from_slice(&new[sector * 512..][..512]);
    }
    text[16 * 512..][..100].copy_from_slice(&new[16 * 512..][..100]);
    text[18 * 512 - 7..][..7].copy_from_slice(&new[18 * 512 - 7..][..7]);
    cell.set(&text).update(0, &["--undo"], &old);
    cell.set(&text).update(0, &[], &new);
    // Old and new bytes, in an order that no write leaves.
    text[25 * 512 + 100] = new[25 * 512 + 100];
    let found = "f: bytes 12800 to 13312 are neither as before the patch nor as after it";
    cell.refuses(&text, &[found, PATCHED]);
}

#[test]
fn a_patch_and_a_file_that_grew() {
    for algorithm in ALGORITHMS {
        let cell = Cell::patch(algorithm);
        let grown = added(&torn(), 500);
        cell.set(&grown)
            .update(0, &["--append"], &added(&new(), 500))
            .says(&["finished the interrupted patch"]);
        for args in [&[][..], &["--range", "0:1"], &["--patch", "0", "q"], &["--truncate", "20000"]]
        {
            let says =
                ["finished the interrupted patch", "f: expected 20000 bytes, found 20500: ", GROWN];
            cell.set(&grown).update(1, args, &added(&new(), 500)).says(&says);
            cell.update(0, &["--append"], &added(&new(), 500)).in_silence();
        }
        cell.set(&grown).update(1, &["--finish"], &added(&new(), 500)).says(&[GROWN]);
        cell.update(0, &["--append"], &added(&new(), 500)).in_silence();
        cell.set(&grown).update(1, &["--undo"], &added(&old(), 500)).says(&[GROWN]);
        cell.update(0, &["--append"], &added(&old(), 500)).in_silence();
    }
}

#[test]
fn a_patch_and_a_file_that_shrank() {
    let cell = Cell::patch("PMAC-AES128");
    for length in [0, 7000, 8000, 12_000, 16_000, 19_999] {
        let (text, new, old) = (&torn()[..length], &new()[..length], &old()[..length]);
        let found = format!("f: expected 20000 bytes, found {length}");
        cell.refuses(text, &[&found, PATCHED]);
        cell.set(text).update(1, &["--finish"], new).says(&[&found, SHRUNK]);
        cell.update(1, &[], new).says(&[&found, SHRUNK]);
        cell.set(text).update(1, &["--undo"], old).says(&[&found, SHRUNK]);
        // Restored.
        cell.set(&torn()).update(0, &[], &self::new());
    }
}

#[test]
fn a_patch_and_a_change_inside_of_it() {
    for algorithm in ALGORITHMS {
        let cell = Cell::patch(algorithm);
        for at in [OFFSET, OFFSET + TORN - 1, OFFSET + TORN, OFFSET + PATCH - 1] {
            let text = changed(torn(), at);
            let start = (at / 512 * 512).max(OFFSET);
            let end = (at / 512 * 512 + 512).min(OFFSET + PATCH);
            let found = format!(
                "f: bytes {start} to {end} are neither as before the patch nor as after it"
            );
            cell.refuses(&text, &[&found, PATCHED]);
            // The other program's byte is kept, with its sector.
            for (decision, mut others) in [("--finish", new()), ("--undo", old())] {
                others[start..end].copy_from_slice(&text[start..end]);
                let ran = cell.set(&text).update(1, &[decision], &others).says(&[CHANGED]);
                // The message names the leaves.
                let (_, way) =
                    ran.err.split_once("; the interrupted edit is settled, and --range ").unwrap();
                let (leaves, _) = way.split_once(" accepts the current bytes").unwrap();
                cell.update(0, &["--range", leaves], &others).says(&[" unchecked"]);
                cell.update(0, &[], &others).in_silence();
            }
        }
        let text = added(&changed(torn(), 9000), 5);
        cell.refuses(
            &text,
            &["f: bytes 8704 to 9216 are neither as before the patch nor as after it"],
        );
    }
}

#[test]
fn a_patch_and_a_change_beside_it() {
    for algorithm in ALGORITHMS {
        let cell = Cell::patch(algorithm);
        for at in [OFFSET - 1, OFFSET + PATCH] {
            let text = changed(torn(), at);
            cell.refuses(&text, &["f: bytes ", CHANGED, PATCHED]);
            for (decision, others) in [("--finish", new()), ("--undo", old())] {
                let others = changed(others, at);
                cell.set(&text).update(1, &[decision], &others).says(&[CHANGED]);
                cell.update(0, &["--range", &format!("{at}:1")], &others);
                cell.update(0, &[], &others).in_silence();
            }
        }
        // No update reads bytes far from the patch.
        let ran = cell.set(&changed(torn(), 100)).place.keyed("update", &["f"]).exits(0);
        ran.says(&["finished the interrupted patch"]);
        assert!(cell.read() == changed(new(), 100));
    }
}

/// A patch that was undone halfway can still be undone.
#[test]
fn a_patch_that_is_taken_back_and_killed() {
    let cell = Cell::patch("PMAC-AES128");
    let mut killed = 0;
    for n in 1.. {
        cell.set(&torn());
        let ran = cell.place.faulty(&format!("any:{n}:kill"), "update", &["--undo", "f"]);
        let undoes = ran.code == Some(0);
        let asked = cell.place.keyed("update", &["f"]).exits(0);
        let taken = asked.err.contains("f: undid the interrupted patch of 9000 bytes at byte 7000");
        let finished = asked.err.contains("f: finished the interrupted patch");
        assert!(!(taken && finished) && cell.read() == if finished { new() } else { old() });
        killed += u32::from(taken);
        if undoes {
            break;
        }
    }
    assert!(killed > 2, "{killed}");
    // It can also still be finished.
    for n in 1..30 {
        cell.set(&torn());
        cell.place.faulty(&format!("any:{n}:kill"), "update", &["--undo", "f"]);
        let ran = cell.place.keyed("update", &["--finish", "f"]).exits(0);
        let done = cell.read();
        assert!(done == new() || done == old(), "{n}: {}", ran.err);
    }
}

/// The command that continues an edit may be killed too.
#[test]
fn a_recovery_that_is_killed() {
    let patch = (Cell::patch("POLY1305-AES"), torn(), new());
    let cut = (Cell::cut("POLY1305-AES"), old(), old()[..CUT].to_vec());
    let cells = [patch, cut];
    for (cell, left, done) in &cells {
        for args in [&["f"][..], &["--finish", "f"]] {
            for n in 1.. {
                cell.set(left);
                let ran = cell.place.faulty(&format!("any:{n}:kill"), "update", args);
                cell.update(0, &[], done);
                if ran.code == Some(0) {
                    assert!(n > 8, "{args:?}: {n}");
                    break;
                }
                assert_eq!(ran.code, None);
            }
        }
    }
}

/// Before a recovery writes to the file, it syncs the sidecar, because a kill may have prevented
/// that.
#[test]
fn a_recovery_syncs_the_sidecar_first() {
    let cells = [(Cell::patch("PMAC-AES128"), torn()), (Cell::cut("PMAC-AES128"), old())];
    for (cell, left) in &cells {
        for args in [&["f"][..], &["--finish", "f"], &["--undo", "f"]] {
            cell.set(left);
            let ran = cell.place.faulty("sync:1:fail=5", "update", args);
            ran.exits(4).prints("").says(&["f.tagmac: Input/output error"]);
            assert!(cell.read() == *left, "{args:?}");
        }
    }
}

/// Returns a patch that was killed when its state was in only one copy of the header, that of even
/// states.
fn in_one_place() -> Cell {
    let offset = OFFSET.to_string();
    let cells = (1..20).filter_map(|n| {
        let cell = Cell::of("PMAC-AES128", &format!("write:{n}:kill"), &["--patch", &offset, "p"]);
        (cell.sidecar[HEADERS[0].clone()] != cell.sidecar[HEADERS[1].clone()]).then_some(cell)
    });
    let cell = { cells }.next().expect("a write between the two");
    assert!(cell.read() == old());
    cell
}

/// A recovery first writes its state to both copies, so either may be lost.
#[test]
fn a_header_that_is_lost() {
    let cell = in_one_place();
    let torn_at = (1..5).find(|n| {
        cell.set(&old()).place.faulty(&format!("write:{n}:tear={TORN}"), "update", &["f"]);
        cell.read() == torn()
    });
    assert!(torn_at.is_some());
    let sidecar = fs::read(cell.place.path("f.tagmac")).unwrap();
    for header in HEADERS {
        cell.place.file("f", torn());
        let mut lost = sidecar.clone();
        lost[header].fill(0);
        cell.place.file("f.tagmac", &lost);
        cell.update(0, &[], &new()).says(&["f: finished the interrupted patch"]);
    }
}

/// An unreadable copy may record an edit, so only the line is shown and nothing is written.
#[test]
fn a_header_of_an_edit_that_cannot_be_read() {
    let cell = in_one_place();
    let offset = OFFSET.to_string();
    // The prelude is read first.
    for read in [2, 3] {
        let fault = format!("read:{read}:fail=5");
        for args in [&[][..], &["--patch", &offset, "p"], &["--append"], &["--finish"], &["--undo"]]
        {
            cell.set(&old());
            let ran = cell.place.faulty(&fault, "update", &[args, &["f"]].concat());
            let ran =
                ran.says(&["f.tagmac: Input/output error; the header's other copy is intact"]);
            if read == 2 && args.is_empty() {
                ran.exits(0).says(&["tagmac: warning: "]);
            } else {
                ran.exits(4).prints("");
            }
            assert!(cell.read() == old(), "{args:?}");
            assert!(fs::read(cell.place.path("f.tagmac")).unwrap() == cell.sidecar, "{args:?}");
        }
        cell.update(0, &[], &new()).says(&["f: finished the interrupted patch"]);
    }
    // The node pages that the unread state may use are kept too.
    cell.set(&added(&old(), 1));
    cell.place.faulty("read:2:fail=5", "update", &["f"]).exits(1).says(&[GROWN]);
    assert!(fs::read(cell.place.path("f.tagmac")).unwrap() == cell.sidecar);
}

/// A file that was renamed with its sidecar during an edit: the message says how to recover.
#[test]
fn a_patch_and_a_file_that_was_renamed() {
    let cell = Cell::patch("PMAC-AES128");
    cell.place.shell("mv f g; mv f.tagmac g.tagmac").exits(0);
    for args in [&["g"][..], &["--finish", "g"], &["--undo", "g"], &["--append", "g"]] {
        let ran = cell.place.keyed("update", args).exits(1).prints("");
        ran.says(&["g.tagmac: the sidecar belongs to f, not to g, and has an interrupted edit. \
                    Keep it, rename both back to f and f.tagmac, and finish the edit or undo it \
                    with --undo"]);
    }
    cell.place.shell("mv g f; mv g.tagmac f.tagmac").exits(0);
    cell.update(0, &["--undo"], &old());
}

/// A patch that stopped within a sector and was undone up to another byte of it.
#[test]
fn a_sector_that_two_writes_were_torn_in() {
    let cell = Cell::patch("PMAC-AES128");
    let mut text = torn();
    text[OFFSET..][..TORN - 100].copy_from_slice(&old()[OFFSET..][..TORN - 100]);
    // The state in which the patch is being undone is written first, to both copies.
    let torn_again = || {
        cell.set(&torn()).place.faulty("write:3:tear=2900", "update", &["--undo", "f"]);
        assert!(cell.read() == text);
    };
    torn_again();
    cell.update(0, &[], &old()).says(&["f: undid the interrupted patch"]);
    torn_again();
    cell.update(0, &["--undo"], &old()).in_silence();
    torn_again();
    cell.update(0, &["--finish"], &new()).in_silence();
    // A kill of the following --finish, or a torn write, does no harm.
    let mut kills = 0;
    for n in 1..20 {
        for way in ["kill", "tear=2800", "tear=100"] {
            torn_again();
            let ran = cell.place.faulty(&format!("write:{n}:{way}"), "update", &["--finish", "f"]);
            if ran.code.is_some() {
                continue;
            }
            kills += 1;
            let (text, sidecar) = (cell.read(), fs::read(cell.place.path("f.tagmac")).unwrap());
            for (args, ends) in [(&["--finish"][..], &new()), (&["--undo"], &old())] {
                cell.place.file("f", &text);
                cell.place.file("f.tagmac", &sidecar);
                let ran = cell.place.keyed("update", &[args, &["f"]].concat());
                // If the last state was written, the edit is complete.
                let done = args == ["--undo"] && text == new() && ran.code == Some(2);
                assert!(done || ran.code == Some(0) && cell.read() == *ends, "write:{n}:{way}");
            }
            cell.place.file("f", &text);
            cell.place.file("f.tagmac", &sidecar);
            cell.place.keyed("update", &["f"]).exits(0);
            assert!(cell.read() == old() || cell.read() == new(), "write:{n}:{way}");
        }
    }
    assert!(kills > 9, "{kills}");
}

/// Another program shortens the file just before a decision writes a patch at its end. That
/// restores the length, with zeros before the patch.
#[test]
fn a_decision_on_a_file_that_is_shortened() {
    let offset = (OLD - OLD % LEAF - LEAF).to_string();
    let place = Place::new();
    place.file("f", old());
    let end = &new_end()[offset.parse::<usize>().unwrap()..];
    place.file("p", end);
    place.keyed("update", &["--leaf", &LEAF.to_string(), "f"]).exits(0);
    let is_written = |n: &usize| {
        place.faulty(&format!("write:{n}:kill"), "update", &["--patch", &offset, "p", "f"]);
        let found = place.keyed("update", &["--undo", "f"]);
        found.code == Some(0)
    };
    let first = (1..20).find(is_written).expect("a pending patch");
    place.faulty(&format!("write:{first}:kill"), "update", &["--patch", &offset, "p", "f"]);
    let (text, sidecar) =
        (fs::read(place.path("f")).unwrap(), fs::read(place.path("f.tagmac")).unwrap());
    let mut shortened = 0;
    for (args, there) in [("--finish", text.clone()), ("--undo", new_end())] {
        for n in 1..10 {
            place.file("f", &there);
            place.file("f.tagmac", &sidecar);
            let fault = format!("write:{n}:run=truncate -s 1000 f");
            let ran = place.faulty(&fault, "update", &[args, "f"]);
            let now = fs::read(place.path("f")).unwrap();
            if now.len() == OLD && now[1000..2000] == [0; 1000] {
                shortened += 1;
                ran.exits(1).prints("");
            }
        }
    }
    assert!(shortened >= 2, "{shortened}");
}

/// Returns the text with other bytes at its end.
fn new_end() -> Vec<u8> {
    let mut text = old();
    let start = OLD - OLD % LEAF - LEAF;
    text[start..].iter_mut().for_each(|byte| *byte += 83);
    text
}

/// A sidecar from the moment of an interrupted edit has the previous tag, even after the edit was
/// undone. With `--expect` nothing continues it without --finish or --undo.
#[test]
fn a_pending_edit_under_expect() {
    for algorithm in ALGORITHMS {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        place.file("f", old());
        place.file("p", &new()[OFFSET..][..PATCH]);
        place.keyed("update", &["--leaf", "256", "f"]).exits(0);
        let (offset, sidecar) = (OFFSET.to_string(), fs::read(place.path("f.tagmac")).unwrap());
        for (fault, edit) in [
            ("cut:1:kill", &["--truncate", "12345"][..]),
            ("write:7:kill", &["--patch", &offset, "p"]),
        ] {
            place.file("f.tagmac", &sidecar);
            assert_eq!(place.faulty(fault, "update", &[edit, &["f"]].concat()).code, None);
            let pending = fs::read(place.path("f.tagmac")).unwrap();
            let line = place.keyed("update", &["--undo", "f"]).exits(0).out;
            let tag = line.trim_end().rsplit(' ').next().unwrap();
            place.file("f.tagmac", pending);
            for args in [&[][..], &["--append"], &["--range", "0:1"]] {
                let ran = place.keyed("update", &[&["--expect", tag], args, &["f"]].concat());
                ran.exits(1).prints("").says(&[
                    "an edit was interrupted after the tag of --expect",
                    "--undo keeps the old bytes. If you interrupted no update",
                ]);
                assert!(fs::read(place.path("f")).unwrap() == old());
            }
            place.keyed("update", &["--expect", tag, "--undo", "f"]).exits(0).prints(&line);
            assert!(fs::read(place.path("f")).unwrap() == old());
            // Error messages say how to continue.
            let cut = ["--expect", tag, "--truncate", "12345", "f"];
            let ran = place.faulty("cut:1:fail=28", "update", &cut).exits(4).prints("");
            ran.says(&[
                "f: No space left on device; --finish continues the truncation, --undo undoes it",
            ]);
            place.keyed("update", &["--expect", tag, "--undo", "f"]).exits(0).prints(&line);
        }
    }
}

/// A hole is not filled with zeros, because the disk may be full.
#[test]
fn a_patch_in_a_hole() {
    let place = Place::new();
    drop(sparse(&place, "f", 1 << 20));
    place.file("p", vec![1; 1 << 19]);
    place.keyed("update", &["f"]).exits(0);
    let sidecar = fs::read(place.path("f.tagmac")).unwrap();
    let room = || fs::metadata(place.path("f")).unwrap().blocks() * 512;
    let torn_at = (1..20).find(|n| {
        place.file("f.tagmac", &sidecar);
        place.faulty(&format!("write:{n}:short=4096"), "update", &["--patch", "0", "p", "f"]);
        room() > 0
    });
    assert!(torn_at.is_some() && room() < 1 << 17);
    let ran = place.faulty("write:1:short=0", "update", &["f"]).exits(4).prints("");
    ran.says(&["; the next update continues the patch, or --undo undoes it; free space if the disk is full"]);
    place.keyed("update", &["--undo", "f"]).exits(0);
    assert!(room() < 1 << 17, "{} bytes", room());
    assert!(fs::read(place.path("f")).unwrap() == vec![0; 1 << 20]);
}
