//! The command checks the type of a file before it opens it. Opening a device has effects, and
//! opening a pipe lets its writer continue without a reader.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::common::Place;
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Watches for opens of some files.
fn watch(names: &[&PathBuf]) -> OwnedFd {
    let watch = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    for name in names {
        add_watch(&watch, *name, WatchFlags::OPEN).unwrap();
    }
    watch
}

/// Returns whether a file was opened since the last call.
fn opened(watch: &OwnedFd) -> bool {
    let mut buffer = [MaybeUninit::uninit(); 512];
    let mut events = Reader::new(watch, &mut buffer);
    let mut any = false;
    while events.next().is_ok() {
        any = true;
    }
    any
}

#[test]
fn what_is_refused_is_not_opened() {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let terminal_name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let place = Place::new();
    place.shell("mkfifo pipe g.tagmac").exits(0);
    place.file("f", "text");
    place.file("g", "text");
    place.keyed("update", &["f"]).exits(0);
    place.file("list", format!("PMAC-AES128 ({terminal_name}) = {}\n", "0".repeat(32)));
    let (pipe, device) = (place.path("pipe"), PathBuf::from(&terminal_name));
    let watch = watch(&[&pipe, &device, &place.path("g.tagmac")]);
    let device = &*terminal_name;
    for (command, code) in [
        (&["tag", "-k", "k", "pipe"][..], 4),
        (&["check", "-k", "k", "pipe"], 4),
        (&["check", "-k", "k", "--raw-tag", "pipe", "f"], 4),
        (&["tag", "-k", "pipe", "f"], 3),
        (&["tag", "-k", "k", "--checkpoint", "pipe", "f"], 4),
        (&["tag", "-k", "k", "--checkpoint", "s", device], 4),
        (&["check", "-k", "k", "list"], 4),
        (&["update", "-k", "k", "pipe"], 4),
        (&["update", "-k", "k", device], 4),
        (&["update", "-k", "k", "--truncate", "0", device], 4),
        (&["update", "-k", "k", "g"], 4),
        (&["update", "-k", "k", "--patch", "0", "pipe", "f"], 4),
        (&["update", "-k", "k", "--patch", "0", device, "f"], 4),
    ] {
        place.run(command).exits(code);
        assert!(!opened(&watch), "{command:?}");
    }
    // The watch works.
    File::options().read(true).write(true).open(&pipe).unwrap();
    assert!(opened(&watch));
    File::open(device).unwrap();
    assert!(opened(&watch));
}
