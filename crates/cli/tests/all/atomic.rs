//! Output files appear complete or not at all. Also tests the leftovers of killed runs.

use std::fs::{self, File};
#[cfg(all(feature = "fault-injection", debug_assertions))]
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use crate::common::Place;
#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::common::{Ran, at, leftovers};
use sha2::{Digest, Sha256};

/// Returns the temporary name of a file, before it is complete.
fn draft(name: &str, slot: u32) -> String {
    let hash = Sha256::digest(name.as_bytes());
    format!(".tagmac-{}-{slot}", base16ct::lower::encode_string(&hash[..8]))
}

/// Returns a folder without a key, and for each command the arguments to write "o.svg".
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn writers() -> (Place, [Vec<&'static str>; 5]) {
    let place = Place::new();
    place.file("f", vec![7; 1000]);
    fs::create_dir(place.path("t")).unwrap();
    place.file("t/f", "text");
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let writers = [
        vec!["keygen", "-o", "o.svg"],
        vec!["seal", "-k", "k", "t", "-o", "o.svg"],
        vec!["part", "-k", "k", "--object", "x", "--start", "0", "--last", "f", "-o", "o.svg"],
        vec!["audit", "-k", "k", "--combined", "o.svg", "m", "t"],
        vec!["update", "-k", "k", "f"],
    ];
    (place, writers)
}

/// No file is replaced here, so no kill leaves anything.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_kill_at_any_call_leaves_nothing_or_all() {
    let (place, writers) = writers();
    for args in writers {
        let output = if args[0] == "update" { "f.tagmac" } else { "o.svg" };
        let mut killed = 0;
        for call in 1.. {
            let _ = fs::remove_file(place.path(output));
            let mut command = place.command(&args);
            let call = format!("any:{call}");
            let ran: Ran = at(&mut command, &call, "kill").output().unwrap().into();
            assert!(leftovers(&place, "").is_empty(), "{args:?}, {call}");
            if let Ok(file) = fs::metadata(place.path(output)) {
                assert!(file.len() > 0, "{args:?}, {call}");
            }
            if ran.code.is_some() {
                ran.exits(0);
                break;
            }
            killed += 1;
        }
        assert!(killed >= 4, "{args:?}: {killed}");
        let _ = fs::remove_file(place.path(output));
    }
}

/// A full disk, and a disk that fails: the name stays free, or its file is kept.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_failure_at_any_call_leaves_nothing() {
    const EIO: i32 = 5;
    let (place, writers) = writers();
    // `update` fails differently and has its own tests.
    for args in writers.into_iter().filter(|args| args[0] != "update") {
        let output = "o.svg";
        for kind in ["make", "write", "sync", "name"] {
            let _ = fs::remove_file(place.path(output));
            let mut command = place.command(&args);
            let fail = format!("fail={EIO}");
            let ran: Ran = at(&mut command, &format!("{kind}:1"), &fail).output().unwrap().into();
            ran.exits(4).says(&["Input/output error"]);
            assert!(!place.path(output).exists(), "{args:?}, {kind}");
            assert!(leftovers(&place, "").is_empty(), "{args:?}, {kind}");
        }
    }
}

/// The file is synced first, then the folder that contains its name.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_name_that_may_not_last_is_an_error() {
    let (place, writers) = writers();
    for args in writers.into_iter().filter(|args| args[0] != "update") {
        let _ = fs::remove_file(place.path("o.svg"));
        let mut command = place.command(&args);
        let ran: Ran = at(&mut command, "sync:2", "fail=5").output().unwrap().into();
        ran.exits(4).says(&["Input/output error"]);
    }
}

#[test]
fn what_a_killed_run_left_is_removed_and_nothing_else() {
    let place = Place::bare();
    let left = [0, 2].map(|slot| draft("k", slot));
    for name in &left {
        place.file(name, "a key, or half of one");
    }
    // Not leftovers of a run: a link, a directory, a pipe, another file's draft, and a draft that a
    // running command holds.
    let stays = [1, 3, 4, 5].map(|slot| draft("k", slot));
    symlink("elsewhere", place.path(&stays[0])).unwrap();
    place.file("elsewhere", "text");
    fs::create_dir(place.path(&stays[1])).unwrap();
    place.shell(&format!("mkfifo {}", stays[2])).exits(0);
    place.file(&stays[3], "another run's");
    let held = File::open(place.path(&stays[3])).unwrap();
    held.lock().unwrap();
    place.file(draft("other", 0), "text");
    place.file(".tagmac-notes", "text");
    let somebody = draft("k", 6);
    place.file(&somebody, "somebody else's");
    let foreign = chown(place.path(&somebody), Some(4711), None).is_ok();
    let ran = place.run(&["keygen", "-o", "k"]).exits(0);
    for name in &left {
        assert!(ran.err.contains(&format!("{name}: removed: a run that was killed left it\n")));
        assert!(!place.path(name).exists());
    }
    assert_eq!(ran.err.matches("removed").count(), if foreign { 2 } else { 3 }, "{}", ran.err);
    for name in &stays {
        assert!(place.path(name).symlink_metadata().is_ok(), "{name}");
    }
    assert!(place.path("elsewhere").exists() && place.path(".tagmac-notes").exists());
    assert!(place.path(draft("other", 0)).exists());
    assert!(!foreign || place.path(&somebody).exists());
    place.file("f", "text");
    place.keyed("tag", &["f"]).exits(0);
}

/// A leftover belongs to this run from its check to its removal. If the removal fails, the run
/// continues.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn what_was_left_and_others_at_the_same_time() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    let left = draft("o", 0);
    let seal_to = |what: &str, code: i32| -> Ran {
        let _ = fs::remove_file(place.path("o"));
        place.file(&left, "half of a manifest");
        let mut command = place.command(&["seal", "-k", "k", "t", "-o", "o"]);
        command.env("T", env!("CARGO_BIN_EXE_tagmac"));
        let ran = Ran::from(at(&mut command, "remove:1", what).output().unwrap()).exits(code);
        assert!(fs::metadata(place.path("o")).unwrap().len() > 0);
        ran
    };
    let seal = |what: &str| seal_to(what, 0);
    let removed = format!("{left}: removed: a run that was killed left it\n");
    // Another run checks the leftover at the same time, and finishes first.
    let second = "unset TAGMAC_FAULT; $T seal -k k t -o o > out 2> err";
    seal_to(&format!("run={second}"), 4).says(&[&removed, "o: not written, as another program"]);
    let said = fs::read_to_string(place.path("err")).unwrap();
    assert_eq!(said, "tagmac: sealed in o: 0 files, 0 directories, 0 links, 0 bytes\n");
    assert!(!place.path(&left).exists());
    // The leftover is removed, and another file gets its name.
    seal(&format!("run=rm {left}")).says(&[&removed]);
    let ran = seal(&format!("run=rm {left}; printf new > {left}"));
    ran.says(&[&format!("warning: ./{left}: the file was replaced while this run was using it")]);
    assert_eq!(fs::read_to_string(place.path(&left)).unwrap(), "new");
    let ran = seal("fail=5");
    ran.says(&[&format!("warning: ./{left}: Input/output error: not removed\n")]);
    assert!(place.path(&left).exists());
}

/// Without /proc a file needs a name from the start. Skipped if mounting is forbidden.
#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn without_nameless_files() {
    let place = Place::new();
    place.file("f", "text");
    let bare = |fault: &str, line: &str| {
        let script = format!("mount -t tmpfs none /proc && TAGMAC_FAULT={fault} {line}");
        place.shell(&format!("unshare -rm sh -c '{script}'"))
    };
    if place.shell("unshare -rm mount -t tmpfs none /proc").code != Some(0) {
        println!("left out: this may not mount anything");
        return;
    }
    let keygen = "$T keygen -o n";
    let mut seen = 0;
    for call in 1.. {
        let _ = fs::remove_file(place.path("n"));
        let fault = format!("any:{call}:kill");
        let ran = bare(&fault, keygen);
        let left = leftovers(&place, "");
        if ran.code == Some(0) {
            assert!(left.is_empty());
            break;
        }
        if let [name] = &left[..] {
            assert_eq!(*name, draft("n", 0));
            let file = fs::metadata(place.path(name)).unwrap();
            assert_eq!(file.permissions().mode() & 0o777, 0o600);
            seen += 1;
            assert!(!place.path("n").exists());
            let said = format!("{name}: removed: a run that was killed left it\n");
            bare("none:1:kill", keygen).exits(0).says(&[&said]);
        }
        assert!(leftovers(&place, "").is_empty());
    }
    assert!(seen >= 3, "{seen}");
    // A failure replaces nothing and leaves nothing.
    let old = fs::metadata(place.path("n")).unwrap().ino();
    bare("none:1:kill", keygen).exits(4).says(&["n: the file exists"]);
    assert_eq!(fs::metadata(place.path("n")).unwrap().ino(), old);
    fs::remove_file(place.path("n")).unwrap();
    for kind in ["write", "sync", "name"] {
        bare(&format!("{kind}:1:fail=5"), keygen).exits(4);
        assert!(leftovers(&place, "").is_empty() && !place.path("n").exists());
    }
    // Replacing a file.
    let checkpoint = "$T tag -k k --checkpoint s f";
    bare("remove:1:kill", checkpoint);
    assert!(place.path("s").exists());
    bare("none:1:kill", checkpoint).exits(0).says(&["resumed at byte 0"]);
    assert!(leftovers(&place, "").is_empty() && !place.path("s").exists());
}

#[test]
fn names_that_are_no_files() {
    let place = Place::bare();
    for name in ["..", "/", "none/.."] {
        let ran = place.run(&["keygen", "-o", name]).exits(4);
        assert!(
            ran.err.starts_with(&format!("tagmac: {name}: the path does not name a file")),
            "{}",
            ran.err
        );
    }
    place.run(&["keygen", "-o", "none/k"]).exits(4).says(&["none/k: No such file or directory"]);
    // The longest name that a file can have.
    let long = "n".repeat(255);
    place.run(&["keygen", "-o", &long]).exits(0);
    assert_eq!(fs::metadata(place.path(&long)).unwrap().permissions().mode() & 0o777, 0o600);
}
