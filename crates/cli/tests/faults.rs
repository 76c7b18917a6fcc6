//! What goes wrong while a tree is sealed or audited: nothing is lost, and nothing passes for what it
//! is not.

mod common;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use common::{Place, Ran, UNPRIVILEGED, opened, sealed, sparse, tree};

/// What is no whole manifest, but may be replaced by one.
const OLD: &str = "tagmac-manifest-old";

/// What is left in a folder of manifests half written.
fn leftovers(place: &Place, folder: &str) -> Vec<String> {
    let names = fs::read_dir(place.path(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap_or_default());
    names.filter(|name| name.starts_with(".tagmac-")).collect()
}

#[test]
fn what_cannot_be_read_is_named_and_nothing_is_written() {
    let place = tree();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let old = fs::read(place.path("m")).unwrap();
    for name in ["t/a/f", "t/a-b"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let seal = |more: &str| place.shell(&format!("{UNPRIVILEGED} $T seal -k k t -o m {more}"));
    for threads in ["--num-threads 1", "--num-threads 3"] {
        let ran = seal(threads).exits(4).prints("");
        ran.says(&[
            "tagmac: t/a/f: Permission denied\n",
            "tagmac: t/a-b: Permission denied\n",
            "tagmac: m: not written, as 2 entries could not be sealed; --skip-unreadable seals",
        ]);
        assert_eq!(fs::read(place.path("m")).unwrap(), old);
        assert!(leftovers(&place, "").is_empty());
    }
    let ran = seal("--skip-unreadable").exits(4);
    ran.says(&["t/a/f: Permission denied\n", "2 unreadable and left out\n"]);
    for name in ["t/a/f", "t/a-b"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Nothing passes for sealed that was not.
    let new = "a-b/link: new\na/f: new\na-b/h: new\n";
    place.keyed("audit", &["m", "t"]).exits(1).prints(new);
}

#[test]
fn no_verdict_on_what_cannot_be_read() {
    let place = sealed(&[], &[]);
    for name in ["t/a/b", "t/h"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let audit = |more: &str| place.shell(&format!("{UNPRIVILEGED} $T audit -k k m t {more}"));
    let lines = "a/b: unreadable: Permission denied\na/b/g: unreadable: Permission denied\n\
                 h: unreadable: Permission denied\n";
    audit("--combined c").exits(4).prints(lines).says(&[
        "4 unchanged, ",
        "0 missing",
        "3 unreadable",
    ]);
    let combined = fs::read_to_string(place.path("c")).unwrap();
    assert_eq!(combined, "= a\n! a/b\n! a/b/g\n= a/f\n= a/link\n= a.c\n! h\n");
    // A difference is one, whatever else could not be read.
    place.file("t/a/f", "");
    audit("").exits(1);
    fs::set_permissions(place.path("t"), fs::Permissions::from_mode(0o300)).unwrap();
    audit("").exits(4).says(&["tagmac: t: Permission denied\n"]);
    for name in ["t", "t/a/b", "t/h"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Nor is a sealed mode that changed lost.
    place.keyed("seal", &["--mode", "t", "-o", "m"]).exits(0);
    fs::set_permissions(place.path("t/a/b"), fs::Permissions::from_mode(0o000)).unwrap();
    let lines = "a/b: changed: mode: expected 0755, found 0000\n\
                 a/b/g: unreadable: Permission denied\n";
    audit("").exits(1).prints(lines).says(&["1 changed", "1 unreadable"]);
    fs::set_permissions(place.path("t/a/b"), fs::Permissions::from_mode(0o755)).unwrap();
    place.keyed("audit", &["m", "no"]).exits(4).says(&["no: No such file or directory"]);
}

#[test]
#[cfg(target_os = "linux")]
fn files_that_do_not_stay() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    place.file("m", OLD);
    // It takes long enough to read that the other is changed meanwhile.
    let file = sparse(&place, "t/0", 2 << 30);
    place.file("t/z", "text");
    let run = |change: &mut dyn FnMut()| -> Ran {
        // On one thread a file is opened when the one before it is done.
        let mut child = place.spawn(&["seal", "-k", "k", "--num-threads", "1", "t", "-o", "m"]);
        opened(&child, "0");
        while child.try_wait().unwrap().is_none() {
            change();
        }
        child.wait_with_output().unwrap().into()
    };
    let mut bytes = 2 << 30;
    let grows = run(&mut || {
        bytes += 1;
        file.set_len(bytes).unwrap();
    });
    grows.exits(4).says(&[
        "tagmac: t/0: expected ",
        "the file changed while it was read",
        "not wri",
    ]);
    let written = run(&mut || file.set_modified(SystemTime::now()).unwrap());
    written.exits(4).says(&["tagmac: t/0: expected a file that stays, found that it changed"]);
    let vanishes = run(&mut || drop(fs::remove_file(place.path("t/z"))));
    vanishes.exits(4).says(&["tagmac: t/z: No such file or directory\n", "m: not written"]);
    place.file("t/z", "text");
    fs::create_dir(place.path("t/zz")).unwrap();
    let vanishes = run(&mut || drop(fs::remove_dir(place.path("t/zz"))));
    vanishes.exits(4).says(&["tagmac: t/zz: No such file or directory\n", "m: not written"]);
    place.shell("mkfifo pipe").exits(0);
    let replaced = run(&mut || drop(fs::rename(place.path("pipe"), place.path("t/z"))));
    replaced.exits(4).says(&["tagmac: t/z: expected a file, as listed, found a pipe: the tree"]);
    assert_eq!(fs::read_to_string(place.path("m")).unwrap(), OLD);
}

#[test]
#[cfg(target_os = "linux")]
fn a_tree_or_a_manifest_that_does_not_stay() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    let file = sparse(&place, "t/0", 2 << 30);
    for i in 0..5000 {
        place.file(format!("t/z{i:04}"), "text");
    }
    fs::create_dir(place.path("t/zz")).unwrap();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let run = |change: &mut dyn FnMut()| -> Ran {
        let mut child = place.spawn(&["audit", "-k", "k", "--num-threads", "1", "m", "t"]);
        opened(&child, "0");
        while child.try_wait().unwrap().is_none() {
            change();
            sleep(Duration::from_micros(100));
        }
        child.wait_with_output().unwrap().into()
    };
    let vanishes = run(&mut || drop(fs::remove_file(place.path("t/z4999"))));
    vanishes.exits(1).prints("z4999: missing\n");
    place.file("t/z4999", "text");
    let vanishes = run(&mut || drop(fs::remove_dir(place.path("t/zz"))));
    vanishes.exits(4).prints("zz: unreadable: No such file or directory\n");
    fs::create_dir(place.path("t/zz")).unwrap();
    let written = run(&mut || file.set_modified(SystemTime::now()).unwrap());
    let why =
        "0: unreadable: expected a file that stays, found that it changed while it was read\n";
    written.exits(4).prints(why);
    // Changed once the seal was checked, where it was not yet read for the second time.
    let manifest = OpenOptions::new().write(true).open(place.path("m")).unwrap();
    let text = fs::read_to_string(place.path("m")).unwrap();
    let at = text.find("\tz4998").unwrap() - 32;
    let other = if text.as_bytes()[at] == b'0' { b"1" } else { b"0" };
    let changed = run(&mut || manifest.write_all_at(other, at as u64).unwrap());
    changed
        .exits(4)
        .says(&["m: expected a manifest that stays, found that it changed while it was"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_the_old_manifest() {
    let place = tree();
    for i in 0..3000 {
        place.file(format!("t/empty/{i}"), "");
    }
    place.file("m", OLD);
    // The limit is the file's, so that the test needs no disk of its own.
    let ran = place.shell("trap '' XFSZ; ulimit -f 100; exec $T seal -k k t -o m");
    ran.exits(4).prints("").says(&["tagmac: m: File too large\n"]);
    assert_eq!(fs::read_to_string(place.path("m")).unwrap(), OLD);
    assert!(leftovers(&place, "").is_empty());
    // Where this may mount, a disk that is full.
    let script = "mkdir d && mount -t tmpfs -o size=100k none d && echo tagmac-manifest-old > d/m && \
                  ($T seal -k k t -o d/m; echo $?; cat d/m; ls -A d)";
    let ran = place.shell(&format!("unshare -rm sh -c '{script}'"));
    if !ran.out.is_empty() {
        ran.prints("4\ntagmac-manifest-old\nm\n").says(&["tagmac: d/m: No space left on device\n"]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_has_come_to_the_name_meanwhile_stays() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    sparse(&place, "t/0", 2 << 30);
    let mut child = place.spawn(&["seal", "-k", "k", "t", "-o", "m"]);
    opened(&child, "0");
    place.file("m", "a photo");
    assert!(child.try_wait().unwrap().is_none(), "it was too fast");
    let ran: Ran = child.wait_with_output().unwrap().into();
    ran.exits(4).says(&["tagmac: m: expected a manifest or no file, found something else\n"]);
    assert_eq!(fs::read_to_string(place.path("m")).unwrap(), "a photo");
    assert!(leftovers(&place, "").is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_kill_at_any_moment_leaves_a_whole_manifest() {
    let place = tree();
    for i in 0..2000 {
        place.file(format!("t/empty/{i}"), i.to_string());
    }
    let seal = |to: &str| {
        place.keyed("seal", &["t", "-o", to]).exits(0);
        fs::read(place.path(to)).unwrap()
    };
    let mut old = seal("m");
    let start = Instant::now();
    seal("other");
    let time = start.elapsed();
    let (mut killed, mut kept, mut whole) = (0, 0, Vec::new());
    for round in 0..40 {
        place.file("t/a/f", format!("round {round}"));
        let new = seal("other");
        let mut child = place.spawn(&["seal", "-k", "k", "t", "-o", "m"]);
        sleep(time * (round * 7 % 40) / 32);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        killed += u32::from(status.signal() == Some(9));
        let found = fs::read(place.path("m")).unwrap();
        assert!(found == old || found == new, "round {round}");
        kept += u32::from(found == old);
        assert!(status.code() != Some(0) || found == new);
        old = found;
        whole.push(new);
    }
    assert!(killed >= 10 && kept >= 10, "{killed} were killed, {kept} left the old one");
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    place.keyed("audit", &["m", "t"]).exits(0).prints("");
    // What was left is no manifest, unless all of it was there but for its name.
    let left = leftovers(&place, "");
    let cut = left.iter().filter(|name| !whole.contains(&fs::read(place.path(name)).unwrap()));
    assert!(cut.clone().count() > 0);
    for name in cut {
        let ran = place.keyed("audit", &[name, "t"]).prints("");
        assert!(matches!(ran.code, Some(1 | 4)), "{}", ran.err);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_kill_leaves_in_the_tree_is_not_sealed() {
    let place = tree();
    sparse(&place, "t/large", 1 << 40);
    let mut child = place.spawn(&["seal", "-k", "k", "t", "-o", "t/m"]);
    opened(&child, "large");
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(place.path("t/large")).unwrap();
    let left = leftovers(&place, "t");
    assert_eq!(left.len(), 1);
    let said = format!("tagmac: t/{}: left out: a seal that was cut off left it\n", left[0]);
    place.keyed("seal", &["t", "-o", "t/m"]).exits(0).says(&[&said]);
    // Whoever gives a file such a name hides nothing.
    place.keyed("audit", &["t/m", "t"]).exits(1).prints(&format!("{}: new\n", left[0]));
    fs::remove_file(place.path("t").join(&left[0])).unwrap();
    place.keyed("audit", &["t/m", "t"]).exits(0);
}
