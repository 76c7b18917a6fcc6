//! Failures while a tree is sealed or audited: all data is kept, and a failure never looks like
//! success.

use std::fs;
use std::os::unix::fs::PermissionsExt;

#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::common::{Place, Ran, at, sparse};
use crate::common::{UNPRIVILEGED, leftovers, sealed, tree};

/// The start of an incomplete manifest, which a new one may replace.
const OLD: &str = "tagmac-manifest-old";

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
    // An unsealed file is reported as new.
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
    // A difference counts even if other files cannot be read.
    place.file("t/a/f", "");
    audit("").exits(1);
    fs::set_permissions(place.path("t"), fs::Permissions::from_mode(0o300)).unwrap();
    audit("").exits(4).says(&["tagmac: t: Permission denied\n"]);
    for name in ["t", "t/a/b", "t/h"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    // So does a sealed mode that changed.
    place.keyed("seal", &["--mode", "t", "-o", "m"]).exits(0);
    fs::set_permissions(place.path("t/a/b"), fs::Permissions::from_mode(0o000)).unwrap();
    let lines = "a/b: changed: mode: expected 0755, found 0000\n\
                 a/b/g: unreadable: Permission denied\n";
    audit("").exits(1).prints(lines).says(&["1 changed", "1 unreadable"]);
    fs::set_permissions(place.path("t/a/b"), fs::Permissions::from_mode(0o755)).unwrap();
    place.keyed("audit", &["m", "no"]).exits(4).says(&["no: No such file or directory"]);
}

/// Runs the command with a line of shell at a call. With one thread it opens a file after it has
/// finished the previous one.
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn run_at(place: &Place, call: &str, line: &str, args: &[&str]) -> Ran {
    let mut command = place.command(&[args, &["-k", "k", "--num-threads", "1"]].concat());
    at(&mut command, call, &format!("run={line}")).output().unwrap().into()
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn an_open_that_a_signal_interrupts_is_made_again() {
    const EINTR: u32 = 4;
    let place = tree();
    let audit = |place: &Place| place.keyed("audit", &["--quiet", "m", "t"]).exits(0).in_silence();
    // The first calls are for the manifest's draft, directories and files.
    for number in 1..12 {
        let mut seal = place.command(&["seal", "-k", "k", "--num-threads", "1", "-o", "m", "t"]);
        let ran: Ran = at(&mut seal, &format!("open:{number}"), &format!("fail={EINTR}"))
            .output()
            .unwrap()
            .into();
        ran.exits(0);
        audit(&place);
    }
    // Any other error ends the run.
    let mut seal = place.command(&["seal", "-k", "k", "--num-threads", "1", "-o", "m", "t"]);
    let ran: Ran = at(&mut seal, "open:2", "fail=5").output().unwrap().into();
    ran.exits(4).says(&["Input/output error"]);
}

#[test]
#[cfg(all(target_os = "linux", feature = "fault-injection", debug_assertions))]
fn a_name_in_a_folder_that_cannot_be_read_is_synced_too() {
    let place = Place::new();
    fs::create_dir(place.path("d")).unwrap();
    fs::set_permissions(place.path("d"), fs::Permissions::from_mode(0o300)).unwrap();
    let keygen = |fault: &str, name: &str| {
        place.shell(&format!("{fault} {UNPRIVILEGED} $T keygen -o d/{name}"))
    };
    keygen("", "k").exits(0);
    // The first sync is of the file, the second one of its name.
    for sync in ["sync:1", "sync:2"] {
        let ran = keygen(&format!("TAGMAC_FAULT={sync}:fail=5"), "k2").exits(4);
        ran.says(&["tagmac: d/k2: Input/output error"]);
        let _ = fs::remove_file(place.path("d/k2"));
    }
    fs::set_permissions(place.path("d"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn files_that_do_not_stay() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    place.file("m", OLD);
    // The read of this file comes first, and the tree is not listed again.
    sparse(&place, "t/0", 1 << 20);
    place.file("t/z", "text");
    fs::create_dir(place.path("t/zz")).unwrap();
    place.shell("mkfifo pipe").exits(0);
    let refused = |line: &str, says: &str| {
        let ran = run_at(&place, "read:2", line, &["seal", "--new-chain", "t", "-o", "m"]).exits(4);
        ran.says(&[says, "m: not written"]);
        assert_eq!(fs::read_to_string(place.path("m")).unwrap(), OLD);
    };
    refused(
        "printf x >> t/0",
        "tagmac: t/0: expected 1048576 bytes, found 1048577: the file changed",
    );
    refused("touch -d 2001-02-03 t/0", "tagmac: t/0: the file changed while it was read");
    refused("rm t/z", "tagmac: t/z: No such file or directory\n");
    place.file("t/z", "text");
    refused("rmdir t/zz", "tagmac: t/zz: No such file or directory\n");
    refused("mv pipe t/z", "tagmac: t/z: expected a file, as listed, found a pipe: the tree");
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_tree_or_a_manifest_that_does_not_stay() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    sparse(&place, "t/0", 1 << 20);
    // More than one buffer of the manifest.
    for i in 0..5000 {
        place.file(format!("t/z{i:04}"), "text");
    }
    fs::create_dir(place.path("t/zz")).unwrap();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let run = |line: &str| run_at(&place, "read:2", line, &["audit", "m", "t"]);
    run("rm t/z4999").exits(1).prints("z4999: missing\n");
    place.file("t/z4999", "text");
    run("rmdir t/zz").exits(4).prints("zz: unreadable: No such file or directory\n");
    fs::create_dir(place.path("t/zz")).unwrap();
    let why = "0: unreadable: the file changed while it was read\n";
    run("touch -d 2001-02-03 t/0").exits(4).prints(why);
    // Changed after the seal was checked and before the second read.
    let text = fs::read_to_string(place.path("m")).unwrap();
    let at = text.find("\tz4998").unwrap() - 32;
    let other = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
    run(&format!("printf {other} | dd of=m bs=1 seek={at} conv=notrunc 2> dd"))
        .exits(4)
        .says(&["m: the manifest changed while it was read: nothing reported so far is valid"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_the_old_manifest() {
    let place = tree();
    for i in 0..3000 {
        place.file(format!("t/empty/{i}"), "");
    }
    place.file("m", OLD);
    // The limit on the file's size replaces a full disk.
    let ran = place.shell("trap '' XFSZ; ulimit -f 100; exec $T seal -k k --new-chain t -o m");
    ran.exits(4).prints("").says(&["tagmac: m: File too large\n"]);
    assert_eq!(fs::read_to_string(place.path("m")).unwrap(), OLD);
    assert!(leftovers(&place, "").is_empty());
    // If this test may mount, also a disk that is full.
    let script = "mkdir d && mount -t tmpfs -o size=100k none d && echo tagmac-manifest-old > d/m && \
                  ($T seal -k k --new-chain t -o d/m; echo $?; cat d/m; ls -A d)";
    let ran = place.shell(&format!("unshare -rm sh -c '{script}'"));
    if !ran.out.is_empty() {
        ran.prints("4\ntagmac-manifest-old\nm\n").says(&["tagmac: d/m: No space left on device\n"]);
    }
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn what_has_come_to_the_name_meanwhile_stays() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    sparse(&place, "t/0", 1 << 20);
    // While a file is read, and just before the manifest gets its name.
    for (call, code, says) in [
        (
            "read:1",
            4,
            "tagmac: m: not written, as another program replaced or removed it meanwhile\n",
        ),
        ("name:1", 4, "tagmac: m: "),
    ] {
        let ran = run_at(&place, call, "printf 'a photo' > m", &["seal", "t", "-o", "m"]);
        ran.exits(code).says(&[says]);
        assert_eq!(fs::read_to_string(place.path("m")).unwrap(), "a photo", "{call}");
        assert!(leftovers(&place, "").is_empty());
        fs::remove_file(place.path("m")).unwrap();
    }
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_kill_at_any_call_leaves_a_whole_manifest() {
    let place = tree();
    // Files get stamps when they are two seconds old.
    let read =
        |name: &str| crate::common::without_stamps(&String::from_utf8_lossy(&place.read(name)));
    let seal = |to: &str| {
        place.keyed("seal", &["--new-chain", "t", "-o", to]).exits(0);
        read(to)
    };
    let mut old = seal("m");
    let (mut kept, mut named, mut all_left) = (0, 0, 0);
    for call in 1.. {
        place.file("t/a/f", format!("round {call}"));
        let new = seal("other");
        let mut command = place.command(&["seal", "-k", "k", "--new-chain", "t", "-o", "m"]);
        let call = format!("any:{call}");
        let ran: Ran = at(&mut command, &call, "kill").output().unwrap().into();
        let found = read("m");
        assert!(found == old || found == new, "call {call}");
        kept += u32::from(found == old);
        named += u32::from(found == new);
        // The draft that a kill leaves is complete.
        let left = leftovers(&place, "");
        for name in &left {
            assert_eq!(read(name), new, "{name}");
        }
        all_left += left.len();
        if ran.code.is_some() {
            ran.exits(0);
            break;
        }
        let again = place.keyed("seal", &["--new-chain", "t", "-o", "m"]).exits(0);
        assert_eq!(again.err.matches("removed: a run that was killed left it").count(), left.len());
        assert!(leftovers(&place, "").is_empty());
        old = new;
    }
    assert!(kept > 5 && named >= 2 && all_left >= 1, "{kept} kept, {named} named");
    place.keyed("audit", &["m", "t"]).exits(0).prints("");
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn what_a_kill_leaves_in_the_tree_is_not_sealed() {
    let place = tree();
    place.keyed("seal", &["t", "-o", "t/m"]).exits(0);
    // Between the two names of a manifest that replaces another.
    let mut command = place.command(&["seal", "-k", "k", "t", "-o", "t/m"]);
    at(&mut command, "name:2", "kill").output().unwrap();
    let left = leftovers(&place, "t");
    assert_eq!(left.len(), 1);
    // A file with a draft's name is not hidden from an audit.
    place.keyed("audit", &["t/m", "t"]).exits(1).prints(&format!("{}: new\n", left[0]));
    let said = format!("tagmac: t/{}: removed: a run that was killed left it\n", left[0]);
    place.keyed("seal", &["t", "-o", "t/m"]).exits(0).says(&[&said]);
    place.keyed("audit", &["t/m", "t"]).exits(0);
    // A file that no run made is kept and left out.
    fs::create_dir(place.path("t").join(&left[0])).unwrap();
    let said =
        format!("tagmac: t/{}: left out: it has the name of an unfinished manifest\n", left[0]);
    place.keyed("seal", &["t", "-o", "t/m"]).exits(0).says(&[&said]);
    place.keyed("audit", &["t/m", "t"]).exits(1).prints(&format!("{}: new\n", left[0]));
}
