//! `tagmac tag --checkpoint`: a file that has changed since the checkpoint, or changes while it is
//! read.

use std::fs::{self, OpenOptions};
use std::io::Write;
#[cfg(all(feature = "fault-injection", debug_assertions))]
use std::process::Stdio;

#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::checkpoint::slowly;
use crate::checkpoint::{MIB, interrupted, large, resume};
use crate::common::Place;
#[cfg(any(target_os = "linux", all(feature = "fault-injection", debug_assertions)))]
use crate::common::notes_mapped_writes;
#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::common::{Ran, at};
#[cfg(any(target_os = "linux", all(feature = "fault-injection", debug_assertions)))]
use vmap::MapMut;

#[test]
fn a_file_that_changed_since() {
    let place = Place::new();
    large(&place, "f", 3);
    let saved = interrupted(&place);
    let refused = |why: &str| {
        let ran = resume(&place).exits(4).prints("");
        ran.says(&[
            "tagmac: f: s: the file has changed since this checkpoint was saved: ",
            why,
            "; remove the checkpoint to start over\n",
        ]);
        assert_eq!(fs::read(place.path("s")).unwrap(), saved, "the checkpoint is left alone");
    };
    let open = || OpenOptions::new().write(true).open(place.path("f")).unwrap();
    let times = fs::metadata(place.path("f")).unwrap().modified().unwrap();
    open().write_all(b"x").unwrap();
    refused("it was written to");
    open().set_modified(times).unwrap();
    refused("its contents, mode, owner or names changed");
    open().set_len(1000).unwrap();
    refused(&format!("it had {} bytes and has 1000", 3 * MIB + 5));
    fs::remove_file(place.path("s")).unwrap();
    let whole = place.keyed("tag", &["f"]).exits(0).out;
    resume(&place).exits(0).in_silence().prints(&whole);
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_file_that_changes_while_it_is_read() {
    let place = Place::new();
    large(&place, "f", 3);
    let change = "run=printf x 1<> f";
    let ran: Ran = at(&mut slowly(&place), "read:7", change).output().unwrap().into();
    ran.exits(4).prints("").says(&["the file changed while it was read"]);
    // The same bytes with the same time of modification.
    let place = Place::new();
    large(&place, "f", 3);
    let ran: Ran = at(&mut slowly(&place), "read:7", "run=chmod 400 f").output().unwrap().into();
    let what = "the file changed while it was read: its contents, mode, owner or names changed";
    ran.exits(4).prints("").says(&[what]);
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_file_that_cannot_be_read_again() {
    let place = Place::new();
    large(&place, "f", 40);
    let saved = interrupted(&place);
    let ran = place.faulty("read:1:fail=5", "tag", &["--checkpoint", "s", "f"]);
    ran.exits(4).prints("").says(&["Input/output error"]);
    assert_eq!(fs::read(place.path("s")).unwrap(), saved);
}

/// A program that has the file mapped writes to a page twice. The system notes the first write, and
/// the second one only if the page was written to disk between the two.
#[test]
#[cfg(target_os = "linux")]
fn a_mapped_file_that_changed_since() {
    // Large enough that the page is probably not in a piece that is read again.
    for (folder, mib, what) in [
        (env!("CARGO_TARGET_TMPDIR"), 256, "it was written to; remove"),
        // This file system does not note mapped writes, but each piece is read again.
        ("/dev/shm", 3, " differ; remove the checkpoint"),
    ] {
        let place = Place::new_in(folder);
        large(&place, "f", mib);
        let (mut map, _) = MapMut::with_options().open(place.path("f")).unwrap();
        map[70_000] = 1;
        interrupted(&place);
        map[70_001] = 2;
        if mib > 100 && !notes_mapped_writes(&place) {
            println!("left out: mapped writes are not noted in {folder}");
            continue;
        }
        let ran = resume(&place).exits(4).prints("");
        ran.says(&["f: s: the file has changed since this checkpoint was saved: ", what]);
    }
}

/// The same during a run, whose first read is past the page.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_mapped_file_that_changes_while_it_is_read() {
    for (args, call) in [(&["tag", "--checkpoint", "s"][..], "read:3"), (&["update"], "make:1")] {
        let place = Place::new();
        large(&place, "f", 3);
        place.shell("mkfifo ready go").exits(0);
        let (mut map, _) = MapMut::with_options().open(place.path("f")).unwrap();
        map[70_000] = 1;
        let mut command = place.command(&[args, &["-k", "k", "--num-threads", "1", "f"]].concat());
        at(&mut command, call, "run=: > ready; read x < go");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        fs::read(place.path("ready")).unwrap();
        map[70_001] = 2;
        place.file("go", "go\n");
        let ran: Ran = child.wait_with_output().unwrap().into();
        if notes_mapped_writes(&place) {
            ran.exits(4).prints("").says(&["the file changed while it was read"]);
        } else {
            println!("left out: mapped writes are not noted here");
        }
    }
}
