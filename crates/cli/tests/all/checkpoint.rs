//! `tagmac tag --checkpoint`: the tag is right after interruptions at any moment, and checkpoints
//! of other runs are rejected.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
#[cfg(all(feature = "fault-injection", debug_assertions))]
use std::process::Command;

use crate::common::{Place, Ran, sparse};
#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::common::{at, leftovers};

pub const MIB: usize = 1 << 20;

/// Writes a file of `mib` MiB with holes, whose data does not repeat.
pub fn large(place: &Place, name: &str, mib: usize) {
    let mut file = File::create(place.path(name)).unwrap();
    file.set_len((mib * MIB) as u64 + 5).unwrap();
    for at in (0..mib).step_by(3) {
        file.seek(SeekFrom::Start((at * MIB) as u64)).unwrap();
        file.write_all(format!("this is MiB {at}").as_bytes()).unwrap();
    }
}

/// Computes the tag of "f" and fails to print it, which leaves the checkpoint "s".
pub fn interrupted(place: &Place) -> Vec<u8> {
    // A single thread saves after a fixed number of bytes; with several it depends on their order.
    let line = "$T tag -k k --checkpoint s --checkpoint-every 1MiB --num-threads 1 f > /dev/full";
    let ran = place.shell(line).exits(4);
    ran.says(&["standard output: No space left"]);
    fs::read(place.path("s")).unwrap()
}

pub fn resume(place: &Place) -> Ran {
    place.keyed("tag", &["--checkpoint", "s", "f"])
}

/// Returns the byte at which a run resumed.
fn resumed_at(err: &str) -> Option<u64> {
    let (_, rest) = err.split_once("resumed at byte ")?;
    rest.split(' ').next()?.parse().ok()
}

#[test]
fn an_uninterrupted_run_leaves_nothing() {
    let place = Place::new();
    for mib in [0, 1, 40] {
        large(&place, "f", mib);
        let whole = place.keyed("tag", &["f"]).exits(0).out;
        for every in ["1", "1MiB", "1TiB"] {
            let ran = place.keyed("tag", &["--checkpoint", "s", "--checkpoint-every", every, "f"]);
            ran.exits(0).in_silence().prints(&whole);
            assert!(!place.path("s").exists());
        }
        resume(&place).exits(0).in_silence().prints(&whole);
    }
    place.file("f", "");
    let whole = place.keyed("tag", &["f"]).exits(0).out;
    resume(&place).exits(0).in_silence().prints(&whole);
    assert!(!place.path("s").exists());
}

#[test]
fn it_goes_on_where_it_was() {
    let place = Place::bare();
    for algorithm in ["PMAC-AES128", "LIGHTMAC-AES128-S24", "POLY1305-AES", "UMAC99-STD-60"] {
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        large(&place, "f", 40);
        interrupted(&place);
        // On another level, with another number of threads, repeatedly.
        let mut list = String::new();
        for (level, threads) in [("portable", "1"), ("", "3")] {
            let mut command = place.command(&["tag", "-k", "k", "--checkpoint", "s", "f"]);
            command.args(["--num-threads", threads]).env("TAGMAC_LEVEL", level);
            let saved = fs::read(place.path("s")).unwrap();
            let ran: Ran = command.output().unwrap().into();
            let ran = ran.exits(0);
            let at = resumed_at(&ran.err).unwrap();
            assert!(at as usize > MIB && at as usize <= 40 * MIB, "{algorithm}: {at}");
            assert_eq!(ran.err, format!("tagmac: f: resumed at byte {at} of {}\n", 40 * MIB + 5));
            assert!(!place.path("s").exists());
            place.file("s", saved);
            list += &ran.out;
        }
        place.file("list", &list);
        place.keyed("check", &["list"]).exits(0).prints("f: OK\nf: OK\n");
        let mut lines = list.lines();
        let same = lines.next() == lines.next();
        assert_eq!(same, !list.contains(".n="), "a nonce twice, or two tags: {list}");
        fs::remove_file(place.path("k")).unwrap();
        fs::remove_file(place.path("s")).unwrap();
    }
}

/// Also for files shorter than the bytes between two saves.
#[test]
fn a_resumed_run_saves_as_often_as_it_is_asked_to() {
    let place = Place::new();
    large(&place, "f", 40);
    let whole = place.keyed("tag", &["f"]).exits(0).out;
    let saved = interrupted(&place);
    for every in ["1", "1MiB", "18446744073709551615"] {
        place.file("s", &saved);
        let ran = place.keyed("tag", &["--checkpoint", "s", "--checkpoint-every", every, "f"]);
        let ran = ran.exits(0).prints(&whole);
        assert!(resumed_at(&ran.err).is_some(), "{every}: {}", ran.err);
        assert!(!place.path("s").exists());
    }
}

/// Tags "f" on one thread, saving at every piece.
#[cfg(all(feature = "fault-injection", debug_assertions))]
pub fn slowly(place: &Place) -> Command {
    let args = [
        "tag",
        "-k",
        "k",
        "--checkpoint",
        "s",
        "--checkpoint-every",
        "1",
        "--num-threads",
        "1",
        "f",
    ];
    place.command(&args)
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn killed_at_every_call() {
    for algorithm in ["PMAC-AES128", "UMAC99-STD-30"] {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        large(&place, "f", 2);
        let right = |line: &str| {
            place.file("list", line);
            place.keyed("check", &["list"]).exits(0).prints("f: OK\n");
        };
        let (mut furthest, mut killed, mut left) = (0, 0, 0);
        for call in 1.. {
            let _ = fs::remove_file(place.path("s"));
            let ran: Ran =
                at(&mut slowly(&place), &format!("any:{call}"), "kill").output().unwrap().into();
            if ran.code == Some(0) {
                right(&ran.out);
                break;
            }
            assert_eq!(ran.code, None);
            killed += 1;
            // The kill may come after the line was printed and before the checkpoint was removed.
            if !ran.out.is_empty() {
                right(&ran.out);
            }
            assert!(leftovers(&place, "").len() <= 1);
            left += leftovers(&place, "").len();
            // A kill at the very end comes after the removal.
            let kept = place.path("s").exists();
            let ran = resume(&place).exits(0);
            right(&ran.out);
            let byte = resumed_at(&ran.err).unwrap_or(0);
            assert!(
                !kept || byte >= furthest,
                "{algorithm}, call {call}: back from {furthest} to {byte}"
            );
            furthest = furthest.max(byte);
            assert!(leftovers(&place, "").is_empty() && !place.path("s").exists());
        }
        // A save ends with a name for the new checkpoint and its rename over the old one.
        assert!(killed > 30 && left > 2, "{algorithm}: {killed} calls, {left} leftovers");
        assert!(furthest > MIB as u64, "{algorithm}: {furthest}");
    }
}

/// Ctrl-C, unless the process that started the tests ignores it.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_signal_keeps_the_checkpoint() {
    let place = Place::new();
    large(&place, "f", 3);
    for signal in ["INT", "TERM", "HUP"] {
        let line = format!("run=kill -{signal} $PPID");
        let ran: Ran = at(&mut slowly(&place), "read:12", &line).output().unwrap().into();
        if ran.code.is_none() {
            assert_eq!(ran.out, "");
            assert!(place.path("s").exists() && leftovers(&place, "").is_empty(), "{signal}");
        }
    }
    let whole = place.keyed("tag", &["f"]).exits(0).out;
    resume(&place).exits(0).prints(&whole);
}

#[test]
fn every_altered_byte_is_refused() {
    let place = Place::new();
    large(&place, "f", 1);
    let good = interrupted(&place);
    for byte in 0..good.len() {
        let mut bad = good.clone();
        bad[byte] ^= 1 << (byte % 8);
        place.file("s", &bad);
        let id = (14..22).contains(&byte);
        let ran = resume(&place).exits(if id { 3 } else { 1 }).prints("");
        ran.says(&["tagmac: f: s: ", "checkpoint"]);
        place.file("s", &good[..byte]);
        resume(&place).exits(1).prints("").says(&["tagmac: f: s: ", "checkpoint"]);
        assert_eq!(
            fs::read(place.path("s")).unwrap(),
            good[..byte],
            "the checkpoint is left alone"
        );
    }
    place.file("s", [&good[..], b"x"].concat());
    resume(&place).exits(1).says(&["f: s: the checkpoint is damaged; remove it to start over\n"]);
    place.file("s", &good);
    resume(&place).exits(0);
}

/// Rejected before the file is read, because no save could succeed.
#[test]
fn a_checkpoint_below_a_file() {
    let place = Place::new();
    place.file("f", "text");
    place.file("g", "other");
    let ran = place.keyed("tag", &["--checkpoint", "g/s", "f"]).exits(4);
    ran.prints("").says(&["tagmac: f: g/s: Not a directory\n"]);
}

#[test]
fn checkpoints_of_others() {
    let place = Place::new();
    large(&place, "f", 3);
    let good = interrupted(&place);
    place.run(&["keygen", "-o", "k2"]).exits(0);
    let ran = place.run(&["tag", "-k", "k2", "--checkpoint", "s", "f"]).exits(3).prints("");
    ran.says(&[
        "tagmac: f: s: the checkpoint is sealed under another key: expected key id ",
        ", found ",
    ]);
    fs::copy(place.path("f"), place.path("g")).unwrap();
    let ran = place.keyed("tag", &["--checkpoint", "s", "g"]).exits(1).prints("");
    ran.says(&["tagmac: g: s: the checkpoint is for /", "/f, not for /", "/g\n"]);
    // The same file by another name of the command line.
    let ran = place.keyed("tag", &["--checkpoint", "s", "./f"]).exits(0);
    assert!(resumed_at(&ran.err) > Some(0));
    // A list, and the file itself.
    for text in ["text", ""] {
        place.file("s", text);
        resume(&place).exits(1).says(&["tagmac: f: s: not a checkpoint of this version"]);
        assert_eq!(fs::read_to_string(place.path("s")).unwrap(), text);
    }
    place
        .keyed("tag", &["--checkpoint", "f", "f"])
        .exits(1)
        .says(&["f: f: not a checkpoint of this version"]);
    place.file("s", good);
}

#[test]
fn a_disk_that_is_full() {
    let place = Place::bare();
    place.run(&["keygen", "-a", "UMAC99-STD-60", "-o", "k"]).exits(0);
    large(&place, "f", 40);
    // Saving fails at the start, so the run fails before it reads.
    let full = "trap '' XFSZ; ulimit -f 0; $T tag -k k --checkpoint s f";
    place.shell(full).exits(4).prints("").says(&["tagmac: f: s: File too large\n"]);
    assert!(!place.path("s").exists());
    // Saving fails later, because this checkpoint grows with the file. The tag is computed anyway.
    let full = "trap '' XFSZ; ulimit -f 8; $T tag -k k --checkpoint s --checkpoint-every 1MiB f";
    let ran = place.shell(full).exits(0);
    assert_eq!(
        ran.err,
        "tagmac: warning: s: File too large: the checkpoint is not saved; the run continues\n"
    );
    place.file("list", ran.out);
    place.keyed("check", &["list"]).exits(0).prints("f: OK\n");
    assert!(!place.path("s").exists());
    place
        .keyed("tag", &["--checkpoint", "none/s", "f"])
        .exits(4)
        .says(&["f: none/s: No such file"]);
}

#[test]
fn wrong_command_lines() {
    let place = Place::new();
    place.file("f", "text");
    let cases: [(&[&str], &str); 5] = [
        (&["--checkpoint", "s", "f", "f"], "--checkpoint: expected one file, found 2"),
        (&["--checkpoint", "s"], "--checkpoint: expected a file, found standard input"),
        (&["--checkpoint", "s", "-"], "--checkpoint: expected a file, found standard input"),
        (&["--checkpoint", "s", "-r", "f"], "cannot be used with"),
        (&["--checkpoint-every", "1MiB", "f"], "--checkpoint <CHECKPOINT>"),
    ];
    for (args, text) in cases {
        place.keyed("tag", args).exits(2).prints("").says(&[text]);
    }
    let ran = place.keyed("tag", &["--checkpoint", "s", "/dev/null"]).exits(4);
    ran.says(&["tagmac: /dev/null: expected a regular file, found a device\n"]);
    place.run(&["keygen", "-a", "HMAC-SHA256", "-o", "h"]).exits(0);
    let ran = place.run(&["tag", "-k", "h", "--checkpoint", "s", "f"]).exits(2);
    ran.says(&["tagmac: HMAC-SHA256 cannot hash ranges; 'tagmac list' shows"]);
    // A pipe without a writer, as the file and as the checkpoint.
    place.shell("mkfifo pipe").exits(0);
    let ran = place.keyed("tag", &["--checkpoint", "s", "pipe"]).exits(4);
    ran.says(&["tagmac: pipe: expected a regular file, found a named pipe\n"]);
    let ran = place.keyed("tag", &["--checkpoint", "pipe", "f"]).exits(4);
    ran.says(&["tagmac: f: pipe: expected a regular file, found a named pipe\n"]);
    assert!(!place.path("s").exists());
}

#[test]
fn nothing_beside_the_checkpoint_is_touched() {
    let place = Place::new();
    large(&place, "f", 3);
    place.file("s.new", "a file of the user");
    interrupted(&place);
    resume(&place).exits(0);
    assert_eq!(fs::read_to_string(place.path("s.new")).unwrap(), "a file of the user");
    symlink("nowhere", place.path("s")).unwrap();
    resume(&place).exits(4).says(&["f: s: this is a symbolic link; name the file itself"]);
    assert!(!place.path("nowhere").exists());
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn one_run_at_a_time() {
    let place = Place::new();
    large(&place, "f", 3);
    // A second run at every call of the first one after its first checkpoint.
    let second = "unset TAGMAC_FAULT; $T tag -k k --checkpoint s f > out 2> err; echo $? > code";
    for call in ["read:1", "read:6", "sync:4", "name:3", "name:4"] {
        let mut first = slowly(&place);
        first.env("T", env!("CARGO_BIN_EXE_tagmac"));
        let ran: Ran = at(&mut first, call, &format!("run={second}")).output().unwrap().into();
        ran.exits(0);
        let [code, out, err] =
            ["code", "out", "err"].map(|name| fs::read_to_string(place.path(name)).unwrap());
        assert_eq!((&*code, &*out), ("4\n", ""), "{call}: {err}");
        let busy = "f: s: another run is using this file";
        assert!(err.contains(busy), "{call}: {err}");
    }
}

/// Another file that has the checkpoint's name is kept, whenever it appears.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn what_takes_the_checkpoints_name_stays() {
    let place = Place::new();
    large(&place, "f", 2);
    let whole = place.keyed("tag", &["f"]).exits(0).out;
    let (mut calls, mut tagged, mut after) = (0, 0, 0);
    for call in 1.. {
        let _ = fs::remove_file(place.path("s"));
        place.file("photo", "a photo");
        let moved = "run=mv photo s";
        let ran: Ran =
            at(&mut slowly(&place), &format!("any:{call}"), moved).output().unwrap().into();
        assert!(leftovers(&place, "").is_empty(), "{call}");
        if place.path("photo").exists() {
            ran.exits(0).in_silence();
            break;
        }
        assert_eq!(fs::read_to_string(place.path("s")).unwrap(), "a photo", "{call}: {}", ran.err);
        calls += 1;
        if ran.code == Some(0) && ran.err.is_empty() {
            // The checkpoint was already removed.
            after += 1;
        } else if ran.code == Some(0) {
            tagged += 1;
            let held = "warning: s: the file was replaced while this run was using it: ";
            ran.prints(&whole).says(&[held, "using it: not removed\n"]);
        } else {
            ran.prints("");
        }
    }
    assert!(calls > 20 && tagged > 10 && after <= 1, "{calls} calls, {tagged} tags, {after} after");
    // A removed checkpoint is not written again, and needs no removal.
    let ran: Ran = at(&mut slowly(&place), "read:2", "run=rm s").output().unwrap().into();
    let ran = ran.exits(0).prints(&whole);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    ran.says(&["warning: s: No such file or directory: the checkpoint is not saved"]);
    // A link is rejected, even if its target is a checkpoint.
    interrupted(&place);
    fs::rename(place.path("s"), place.path("t")).unwrap();
    symlink("t", place.path("s")).unwrap();
    resume(&place).exits(4).says(&["f: s: this is a symbolic link; name the file itself"]);
    assert!(place.path("t").exists());
}

#[test]
fn a_checkpoint_is_not_read_further_than_it_can_go() {
    let place = Place::bare();
    for algorithm in ["UMAC99-STD-30", "UMAC99-STD-60", "UMAC99-MMX-15", "UMAC99-MMX-60"] {
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        large(&place, "f", 80);
        let saved = interrupted(&place).len();
        // It grows with the file.
        assert!(saved > 64 << 10, "{algorithm}: {saved}");
        resume(&place).exits(0).says(&["resumed at byte "]);
        fs::remove_file(place.path("k")).unwrap();
    }
    let place = Place::new();
    large(&place, "f", 3);
    interrupted(&place);
    let checkpoint = OpenOptions::new().write(true).open(place.path("s")).unwrap();
    checkpoint.set_len(1 << 40).unwrap();
    resume(&place).exits(1).says(&["the checkpoint is damaged"]);
    sparse(&place, "s", 1 << 40);
    resume(&place).exits(1).says(&["not a checkpoint of this version"]);
}
