//! `tagmac seal`: what it writes, what it leaves out, and how it fails.

mod common;

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use common::{KEY_HEX, Place, Ran, UNPRIVILEGED, opened, sparse};

const GUIDE: &str = include_str!("../../../docs/manifest.md");
/// What is no whole manifest, but may be replaced by one.
const OLD: &str = "tagmac-manifest-old";
const KEY_GUIDE: &str = include_str!("../../../docs/key-file.md");

/// The first block of a kind in a guide.
fn block(guide: &str, kind: &str) -> String {
    let start = format!("```{kind}\n");
    let text = &guide[guide.find(&start).unwrap() + start.len()..];
    text[..text.find("```").unwrap()].into()
}

/// A manifest by the reference, which was written from the guide.
fn reference(place: &Place, key: &str, manifest: &str, folder: &str) -> Vec<u8> {
    let program = format!("{}/../../reference/manifest.py", env!("CARGO_MANIFEST_DIR"));
    let names = [key, manifest, folder].map(|name| place.path(name));
    let ran = Command::new("python3").arg(program).args(names).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
    ran.stdout
}

/// A folder `t` with files in folders, an empty file, links and odd names.
fn tree() -> Place {
    let place = Place::new();
    for folder in ["t/a/b", "t/a-b", "t/empty"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    for (name, text) in [("a/f", "text"), ("a/b/g", "more text"), ("a.c", ""), ("a-b/h", "h")] {
        place.file(format!("t/{name}"), text);
    }
    place.file(Path::new("t").join(OsStr::from_bytes(b"a/\xff\n\\\r\t) = ")), "odd");
    symlink("../a", place.path("t/a-b/link")).unwrap();
    symlink(OsStr::from_bytes(b"no\n\twhere\xfe"), place.path("t/dangling")).unwrap();
    place
}

/// What is in the folder that could be left of a manifest half written.
fn leftovers(place: &Place) -> usize {
    let names = fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.as_bytes().starts_with(b".tagmac-")).count()
}

#[test]
fn the_documentation_shows_a_manifest_to_the_byte() {
    let place = Place::bare();
    place.file("k", block(KEY_GUIDE, "text"));
    fs::set_permissions(place.path("k"), fs::Permissions::from_mode(0o600)).unwrap();
    place.shell(&block(GUIDE, "sh")).exits(0).in_silence();
    let seal = ["--mode", "--mtime", "--special", "t", "-o", "m"];
    place
        .keyed("seal", &seal)
        .exits(0)
        .prints("")
        .says(&["tagmac: sealed in m: 2 files, 1 directory, 1 link, 1 special, 3 bytes\n"]);
    let made = fs::read_to_string(place.path("m")).unwrap();
    assert_eq!(made, block(GUIDE, "text"));
    place.keyed("audit", &["m", "t"]).exits(0).prints("");
    assert_eq!(reference(&place, "k", "m", "t"), made.as_bytes());
}

#[test]
fn another_implementation_agrees() {
    let place = tree();
    let algorithms = [
        ("PMAC-AES128", &["-l", "100", "--mode"][..]),
        ("LIGHTMAC-PRESENT128-S16", &["--mtime"]),
        ("ELIMAC-AES128", &[]),
        ("UMAC-32", &["--allow-short", "--mode", "--mtime"]),
        ("POLY1305-AES", &["--mtime", "--special"]),
    ];
    for (algorithm, options) in algorithms {
        place.run(&["keygen", "-a", algorithm, "-o", algorithm]).exits(0);
        let run = |more: &[&str]| {
            place.run(&[&["seal", "-k", algorithm, "t", "-o", "m"], more].concat()).exits(0);
        };
        run(options);
        assert_eq!(
            reference(&place, algorithm, "m", "t"),
            fs::read(place.path("m")).unwrap(),
            "{algorithm}"
        );
        let tags: Vec<&str> = options
            .iter()
            .filter(|o| !o.starts_with("--m") && **o != "--special")
            .copied()
            .collect();
        let audit = [&["audit", "-k", algorithm, "m", "t"], &tags[..]].concat();
        place.run(&audit).exits(0).prints("");
    }
}

#[test]
fn the_same_tree_has_the_same_manifest_on_any_number_of_threads() {
    let place = tree();
    let text: Vec<u8> = (0..5_000_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    for length in [1 << 20, (2 << 20) - 1, 2 << 20, 5_000_000] {
        place.file(format!("t/a/{length}"), &text[..length]);
    }
    sparse(&place, "t/holes", (64 << 20) + 1);
    for i in 0..3000 {
        place.file(format!("t/empty/{i}"), i.to_string());
    }
    for algorithm in ["PMAC-AES128", "HMAC-SHA256"] {
        place.run(&["keygen", "-a", algorithm, "-o", algorithm]).exits(0);
        let mut manifests = ["0", "1", "2", "7"].map(|threads| {
            let options = ["seal", "-k", algorithm, "--num-threads", threads, "t", "-o", "m"];
            place.run(&options).exits(0);
            place.run(&["audit", "-k", algorithm, "--num-threads", threads, "m", "t"]).exits(0);
            fs::read(place.path("m")).unwrap()
        });
        assert!(manifests[0].len() > 100_000);
        manifests.sort();
        assert_eq!(manifests[0], manifests[3]);
    }
    // A line has the tag that `tag` gives.
    let tag = place.run(&["tag", "-k", "PMAC-AES128", "--untagged", "t/a/5000000"]).exits(0).out;
    place.run(&["seal", "-k", "PMAC-AES128", "t", "-o", "m"]).exits(0);
    let line = format!("file\t5000000\t{}\ta/5000000\n", tag.split(' ').next().unwrap());
    assert!(String::from_utf8_lossy(&fs::read(place.path("m")).unwrap()).contains(&line));
}

#[test]
fn a_file_that_looks_like_a_manifest_has_no_seal() {
    // The derivation is HMAC-SHA256, and so is the MAC of the files: the worst case.
    let place = tree();
    let key = ["--key-env", "KEY", "--key-format", "hex", "-a", "HMAC-SHA256"];
    let run = |what: &str, more: &[&str]| -> Ran {
        let mut command = place.command(&[&[what], &key[..]].concat());
        command.args(more).env("KEY", KEY_HEX).output().unwrap().into()
    };
    run("seal", &["t", "-o", "m"]).exits(0);
    let manifest = fs::read(place.path("m")).unwrap();
    let body = &manifest[..manifest.len() - 71];
    place.file("body", body);
    place.file("salt", "tagmac seal key 1HMAC-SHA256");
    let tags = run("tag", &["--untagged", "body", "salt"]).exits(0).out;
    for tag in tags.lines().map(|line| line.split(' ').next().unwrap()) {
        let forged = [body, b"seal: ", tag.as_bytes(), b"\n"].concat();
        assert_ne!(forged, manifest);
        place.file("forged", forged);
        run("audit", &["forged", "t"]).exits(1).prints("").says(&["the seal does not match"]);
    }
    run("audit", &["m", "t"]).exits(0);
}

#[test]
fn a_manifest_in_the_tree_leaves_itself_out() {
    let place = tree();
    let out = "tagmac: t/a/m: left out: it is the manifest\n";
    for _ in 0..2 {
        place.keyed("seal", &["t", "-o", "t/a/m"]).exits(0);
        let manifest = fs::read(place.path("t/a/m")).unwrap();
        let manifest = String::from_utf8_lossy(&manifest);
        assert!(!manifest.contains("\ta/m\n") && !manifest.contains(".tagmac-"));
        place.keyed("audit", &["t/a/m", "t"]).exits(0).prints("").says(&[out]);
    }
    // It is known by its place, however that is called.
    let manifest = place.path("t/a/../a/m");
    let options = [OsStr::new("t"), OsStr::new("-o"), manifest.as_os_str()];
    place.keyed("seal", &options).exits(0).says(&[out]);
    // The same file in another place, and another file of the same name, are new.
    fs::hard_link(place.path("t/a/m"), place.path("t/hard")).unwrap();
    fs::copy(place.path("t/a/m"), place.path("t/a/b/m")).unwrap();
    place.keyed("audit", &["t/a/m", "t"]).exits(1).prints("a/b/m: new\nhard: new\n").says(&[out]);
    fs::copy(place.path("t/a/m"), place.path("m")).unwrap();
    let new = "a/b/m: new\na/m: new\nhard: new\n";
    let ran = place.keyed("audit", &["m", "t"]).exits(1).prints(new);
    assert!(!ran.err.contains("left out"));
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
        assert_eq!(leftovers(&place), 0);
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
    place.shell("mkfifo pipe").exits(0);
    let replaced = run(&mut || drop(fs::rename(place.path("pipe"), place.path("t/z"))));
    replaced.exits(4).says(&["tagmac: t/z: expected a file, as listed, found a pipe: the tree"]);
    assert_eq!(fs::read_to_string(place.path("m")).unwrap(), OLD);
}

#[test]
fn pipes_sockets_and_devices_are_never_opened() {
    let place = tree();
    place.shell("mkfifo t/pipe").exits(0);
    let _socket = UnixListener::bind(place.path("t/socket")).unwrap();
    place.keyed("seal", &["t", "-o", "m"]).exits(0).says(&[
        "tagmac: t/pipe: skipped: expected a file or directory, found a pipe\n",
        "tagmac: t/socket: skipped: expected a file or directory, found a socket\n",
        ", 2 skipped\n",
    ]);
    place.keyed("audit", &["m", "t"]).exits(0).prints("").says(&["t/pipe: skipped", ", 2 skipped"]);
    place.keyed("seal", &["--special", "t", "-o", "m"]).exits(0).says(&["2 special"]);
    place.keyed("audit", &["m", "t"]).exits(0).prints("");
    fs::remove_file(place.path("t/pipe")).unwrap();
    place.file("t/pipe", "text");
    place.shell("mkfifo t/other").exits(0);
    place
        .keyed("audit", &["m", "t"])
        .exits(1)
        .prints("other: new\npipe: changed: kind: expected pipe, found file\n");
    if Path::new("/dev/null").exists() && place.shell("cp -R /dev/null t/null").code == Some(0) {
        place.keyed("seal", &["t", "-o", "m"]).exits(0).says(&["t/null: skipped"]);
    }
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
    assert_eq!(leftovers(&place), 0);
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
    let whole = start.elapsed();
    let (mut killed, mut kept) = (0, 0);
    for round in 0..40 {
        place.file("t/a/f", format!("round {round}"));
        let new = seal("other");
        let mut child = place.spawn(&["seal", "-k", "k", "t", "-o", "m"]);
        sleep(whole * (round * 7 % 40) / 32);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        killed += u32::from(status.signal() == Some(9));
        let found = fs::read(place.path("m")).unwrap();
        assert!(found == old || found == new, "round {round}");
        kept += u32::from(found == old);
        assert!(status.code() != Some(0) || found == new);
        old = found;
    }
    assert!(killed >= 10 && kept >= 10, "{killed} were killed, {kept} left the old one");
}

#[test]
#[cfg(target_os = "linux")]
fn other_file_systems_are_entered_or_not() {
    let place = tree();
    let script = "mount -t tmpfs none t/a && echo x > t/a/x && \
                  $T seal -k k t -o m && $T seal -k k --one-file-system t -o one && \
                  $T audit -k k one t && umount t/a && ($T audit -k k one t; $T audit -k k m t)";
    let ran = place.shell(&format!("unshare -rm sh -c '{script}'"));
    // Not everybody may mount.
    if ran.code == Some(1) && !ran.out.is_empty() {
        let said = "tagmac: t/a: not entered: it is on another file system\n";
        let first = ran.err.find(said).expect("it is said");
        assert!(ran.err[first + said.len()..].contains(said), "the audit says it too");
        assert!(
            ran.out.contains("a/b: new\n") && ran.out.contains("a/x: missing\n"),
            "{}",
            ran.out
        );
    }
    let ran = place.keyed("seal", &["--one-file-system", "t", "-o", "m"]).exits(0);
    assert!(!ran.err.contains("not entered"));
}

#[test]
#[cfg(target_os = "linux")]
fn trees_deeper_than_open_files_may_be_many() {
    let place = Place::new();
    place.shell("mkdir t; cd t; for i in $(seq 300); do mkdir d; cd d; echo $i > f; done").exits(0);
    place.shell("ulimit -n 100; $T seal -k k --num-threads 1 t -o m").exits(0);
    place.shell("ulimit -n 100; $T audit -k k --num-threads 1 m t").exits(0);
    assert_eq!(fs::read_to_string(place.path("m")).unwrap().lines().count(), 608);
}

#[test]
#[cfg(target_os = "linux")]
fn a_path_that_is_too_long_for_a_line() {
    let place = Place::new();
    let name = "\\".repeat(250);
    place.shell(&format!(
        "mkdir t; cd t; for i in $(seq 140); do mkdir '{name}'; cd -P '{name}'; done"
    ));
    let ran = place.keyed("seal", &["t", "-o", "m"]).exits(4);
    ran.says(&["expected a line of at most 65536 bytes, found 65"]);
    assert!(!place.path("m").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_depend_on_the_tree() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    for i in 0..20_000 {
        place.file(format!("t/a name of some length {i}"), "");
    }
    for args in [&["seal", "-k", "k", "t", "-o", "m"], &["audit", "-k", "k", "m", "t"][..]] {
        let mut child = place.spawn(args);
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
            let line =
                status.iter().flat_map(|text| text.lines()).find(|line| line.starts_with("VmHWM"));
            let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
            peak = peak.max(kib.unwrap_or(0u64));
            sleep(Duration::from_millis(1));
        }
        assert!((1..16 << 10).contains(&peak), "{peak} KiB");
    }
}

#[test]
fn progress_of_many_files() {
    let place = tree();
    sparse(&place, "t/large", 256 << 20);
    let run = |what: &str, args: &[&str], when| {
        let ran = place.keyed(what, &[&["--progress", when], args].concat());
        assert_eq!(ran.code, Some(0));
        ran.err
    };
    let (seal, audit) = (["t", "-o", "m"], ["m", "t"]);
    assert_eq!(run("seal", &seal, "auto").lines().count(), 1);
    assert!(run("seal", &seal, "always").contains("/256.00 MiB"));
    assert!(run("audit", &audit, "always").contains("/256.00 MiB"));
    assert_eq!(run("audit", &audit, "never").lines().count(), 1);
}

#[test]
fn where_the_manifest_cannot_be() {
    let place = tree();
    symlink("elsewhere", place.path("link")).unwrap();
    let seal = |folder: &str, output: &str| place.keyed("seal", &[folder, "-o", output]);
    seal("t", "-").exits(2).says(&["-o: expected a file to write, found '-'"]);
    seal("t", "..").exits(2).says(&["-o: expected a file to write"]);
    seal("t", "t").exits(4).says(&["t: expected a manifest or no file, found something else"]);
    seal("t", "link")
        .exits(4)
        .says(&["link: expected a manifest or no file, found something else"]);
    for name in ["k", "t/a/f"] {
        let old = fs::read(place.path(name)).unwrap();
        let said = format!("{name}: expected a manifest or no file, found something else");
        seal("t", name).exits(4).says(&[&said]);
        assert_eq!(fs::read(place.path(name)).unwrap(), old);
    }
    seal("t", "no/m").exits(4).says(&["no/m: No such file or directory"]);
    seal("no", "m").exits(4).says(&["tagmac: no: No such file or directory\n"]);
    seal("k", "m").exits(4).says(&["tagmac: k: Not a directory\n"]);
    place.run(&["seal", "t", "-o", "m"]).exits(2).says(&["expected a key"]);
    place.keyed("seal", &["t"]).exits(2);
    assert!(!place.path("m").exists());
    let open = OpenOptions::new().write(true).open(place.path("link"));
    assert!(open.is_err(), "nothing was written through the link");
    // A link may stand for the directory, since the user named it.
    symlink("t", place.path("l")).unwrap();
    seal("l", "m").exits(0);
    place.keyed("audit", &["m", "t"]).exits(0);
}

#[test]
fn a_file_over_the_limit_of_the_mac() {
    let place = tree();
    place.run(&["keygen", "-a", "LIGHTMAC-AES128-S8", "-o", "k8"]).exits(0);
    // The manifest is over the limit itself, and sealed all the same.
    for i in 0..200 {
        place.file(format!("t/empty/{i}"), "");
    }
    place.run(&["seal", "-k", "k8", "t", "-o", "m"]).exits(0);
    assert!(fs::metadata(place.path("m")).unwrap().len() > 3840);
    place.file("t/long", [0; 3841]);
    let ran = place.run(&["seal", "-k", "k8", "t", "-o", "m"]).exits(4);
    ran.says(&["t/long: expected at most 3840 bytes, the algorithm's limit, found 3841"]);
}
