//! `tagmac seal`: the manifest, what it leaves out, and where it is not written.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::common::{Place, sparse, tree, without_stamps};
use sha2::{Digest, Sha256};

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
            let options = [&options[..], &["--new-chain"]].concat();
            place.run(&options).exits(0);
            place.run(&["audit", "-k", algorithm, "--num-threads", threads, "m", "t"]).exits(0);
            without_stamps(&String::from_utf8_lossy(&place.read("m")))
        });
        assert!(manifests[0].len() > 100_000);
        manifests.sort();
        assert_eq!(manifests[0], manifests[3]);
    }
    // A line has the tag from `tag`.
    let tag = place.run(&["tag", "-k", "PMAC-AES128", "--untagged", "t/a/5000000"]).exits(0).out;
    place.run(&["seal", "-k", "PMAC-AES128", "--new-chain", "t", "-o", "m"]).exits(0);
    let line = format!("file\t5000000\t{}\t", tag.split(' ').next().unwrap());
    assert!(String::from_utf8_lossy(&place.read("m")).contains(&line));
}

#[test]
fn a_checkpoint_is_removed_when_the_manifest_is_written() {
    let place = tree();
    let seal = ["seal", "-k", "k", "--new-chain", "t"];
    place.keyed("seal", &["t", "-o", "plain"]).exits(0);
    place
        .keyed("seal", &["--checkpoint", "t/c", "t", "-o", "m"])
        .exits(0)
        .says(&["tagmac: t/c: left out: it is the checkpoint\n"]);
    let texts =
        ["plain", "m"].map(|name| without_stamps(&String::from_utf8_lossy(&place.read(name))));
    assert_eq!(texts[0], texts[1]);
    assert!(!place.path("t/c").exists());
    let run = |saved: &str| place.run(&[&seal[..], &["--checkpoint", saved, "-o", "n"]].concat());
    run("-").exits(2).says(&["--checkpoint: expected a file, found '-'"]);
    run("n").exits(2).says(&["n: the checkpoint would be the manifest\n"]);
    run("m").exits(1).says(&["m: not a checkpoint of a seal; name another file\n"]);
    assert!(!place.path("n").exists());
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
    // Any path to the manifest identifies it.
    let manifest = place.path("t/a/../a/m");
    let options = [OsStr::new("t"), OsStr::new("-o"), manifest.as_os_str()];
    place.keyed("seal", &options).exits(0).says(&[out]);
    // A hard link to it, and another file of the same name, are new.
    fs::hard_link(place.path("t/a/m"), place.path("t/hard")).unwrap();
    fs::copy(place.path("t/a/m"), place.path("t/a/b/m")).unwrap();
    place.keyed("audit", &["t/a/m", "t"]).exits(1).prints("a/b/m: new\nhard: new\n").says(&[out]);
    fs::copy(place.path("t/a/m"), place.path("m")).unwrap();
    let new = "a/b/m: new\na/m: new\nhard: new\n";
    let ran = place.keyed("audit", &["m", "t"]).exits(1).prints(new);
    assert!(!ran.err.contains("left out"));
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
fn other_file_systems_are_entered_or_not() {
    let place = tree();
    let script = "mount -t tmpfs none t/a && echo x > t/a/x && \
                  $T seal -k k t -o m && $T seal -k k --one-file-system t -o one && \
                  $T audit -k k one t && umount t/a && ($T audit -k k one t; $T audit -k k m t)";
    let ran = place.shell(&format!("unshare -rm sh -c '{script}'"));
    // Mounting may be forbidden.
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
    assert_eq!(fs::read_to_string(place.path("m")).unwrap().lines().count(), 612);
}

#[test]
#[cfg(target_os = "linux")]
fn a_path_that_is_too_long_is_unreadable() {
    let place = Place::new();
    let name = "\\".repeat(250);
    place.shell(&format!(
        "mkdir t; cd t; for i in $(seq 300); do mkdir '{name}'; cd -P '{name}'; echo x > f; done"
    ));
    let folder = [&*name; 16].join("/");
    let why = "paths in it that are longer than 4096 bytes: 1\n";
    let said = format!("tagmac: t/{folder}: {why}");
    let ran = place.keyed("seal", &["t", "-o", "m"]).exits(4);
    ran.says(&[&said, "tagmac: m: not written, as 1 entry could not be sealed;"]);
    assert!(!place.path("m").exists());
    let ran = place.keyed("seal", &["--skip-unreadable", "t", "-o", "m"]).exits(4);
    ran.says(&[&said, "16 files, 16 directories, 0 links, 32 bytes, 1 unreadable and left out\n"]);
    let ran = place.keyed("audit", &["m", "t"]).exits(4).says(&["31 unchanged", "1 unreadable"]);
    assert_eq!(ran.out, format!("\\{}: unreadable: {why}", folder.replace('\\', "\\\\")));
    // Removed entries are still missing, and new ones new.
    let rename = |from: &str, to: &str| {
        fs::rename(place.path("t").join(&name).join(from), place.path("t").join(&name).join(to))
    };
    rename("f", "g").unwrap();
    place.file(format!("t/{name}/g"), "y");
    let ran = place.keyed("audit", &["m", "t"]).exits(1);
    ran.says(&["30 unchanged, 0 changed, 1 new, 1 missing, 0 renamed, 1 unreadable\n"]);
    let ran = place.keyed("tag", &["-r", "t"]).exits(4).says(&[&said]);
    assert_eq!(ran.out.lines().count(), 16);
}

#[test]
fn a_seal_may_be_quiet() {
    let place = tree();
    place.keyed("seal", &["--quiet", "t", "-o", "m"]).exits(0).in_silence().prints("");
    place.keyed("seal", &["t", "-o", "n"]).exits(0).says(&["sealed in n: "]);
    let [m, n] = ["m", "n"].map(|name| without_stamps(&String::from_utf8_lossy(&place.read(name))));
    assert_eq!(m, n);
    // Skipped entries are named even with --quiet.
    place.shell("mkfifo t/pipe; $T seal -k k --quiet --special t -o m").exits(0).in_silence();
    place.keyed("seal", &["--quiet", "gone", "-o", "m"]).exits(4).says(&["gone: No such file"]);
}

#[test]
fn where_the_manifest_cannot_be() {
    let place = tree();
    symlink("elsewhere", place.path("link")).unwrap();
    let seal = |folder: &str, output: &str| place.keyed("seal", &[folder, "-o", output]);
    seal("t", "-").exits(2).says(&["-o: expected a file, found '-'"]);
    seal("t", "..").exits(2).says(&["-o: a manifest must be written to a file"]);
    seal("t", "t").exits(4).says(&["t: the file exists and is not a manifest"]);
    seal("t", "link").exits(4).says(&["link: the file exists and is not a manifest"]);
    for name in ["k", "t/a/f"] {
        let old = fs::read(place.path(name)).unwrap();
        let said = format!("{name}: the file exists and is not a manifest");
        seal("t", name).exits(4).says(&[&said]);
        assert_eq!(fs::read(place.path(name)).unwrap(), old);
    }
    seal("t", "no/m").exits(4).says(&["no/m: No such file or directory"]);
    seal("no", "m").exits(4).says(&["tagmac: no: No such file or directory\n"]);
    seal("k", "m").exits(4).says(&["tagmac: k: Not a directory\n"]);
    place.run(&["seal", "t", "-o", "m"]).exits(2).says(&["no key given"]);
    place.keyed("seal", &["t"]).exits(2);
    assert!(!place.path("m").exists());
    // A new manifest keeps the mode of the one it replaces.
    for mode in [0o600, 0o640] {
        seal("t", "m").exits(0);
        fs::set_permissions(place.path("m"), fs::Permissions::from_mode(mode)).unwrap();
        seal("t", "m").exits(0);
        assert_eq!(fs::metadata(place.path("m")).unwrap().permissions().mode() & 0o777, mode);
    }
    let open = OpenOptions::new().write(true).open(place.path("link"));
    assert!(open.is_err(), "nothing was written through the link");
    // The directory may be a link, because the user named it.
    symlink("t", place.path("l")).unwrap();
    seal("l", "m").exits(0);
    place.keyed("audit", &["m", "t"]).exits(0);
}

#[test]
fn a_file_over_the_limit_of_the_mac() {
    let place = tree();
    place.run(&["keygen", "-a", "LIGHTMAC-AES128-S8", "-o", "k8"]).exits(0);
    // The manifest itself exceeds the limit, and is still sealed.
    for i in 0..200 {
        place.file(format!("t/empty/{i}"), "");
    }
    place.run(&["seal", "-k", "k8", "t", "-o", "m"]).exits(0);
    assert!(fs::metadata(place.path("m")).unwrap().len() > 3840);
    place.file("t/long", [0; 3841]);
    let ran = place.run(&["seal", "-k", "k8", "t", "-o", "m"]).exits(4);
    ran.says(&["t/long: expected at most 3840 bytes, the algorithm's limit, found 3841"]);
}

#[test]
fn what_another_run_left_over_is_no_part_of_the_tree() {
    let place = tree();
    let hash = base16ct::lower::encode_string(&Sha256::digest(b"m")[..8]);
    let draft = format!("t/.tagmac-{hash}-12345");
    place.file(&draft, "half of a manifest");
    let ran = place.keyed("seal", &["t", "-o", "t/m"]).exits(0);
    ran.says(&[&format!("{draft}: left out: it has the name of an unfinished manifest\n")]);
    assert!(!String::from_utf8_lossy(&place.read("t/m")).contains(".tagmac-"));
}
