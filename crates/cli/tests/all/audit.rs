//! `tagmac audit`: verdicts and their forms.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::common::{Place, Ran, sealed};
use serde_json::Value;

fn audit(place: &Place, more: &[&str]) -> Ran {
    place.keyed("audit", &[&["m", "t"], more].concat())
}

fn objects(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_difference_is_found() {
    let nonces = ["-a", "POLY1305-AES"];
    for key in [&[][..], &nonces] {
        let place = sealed(key, &["--mode", "--mtime"]);
        let path = |name: &str| place.path("t").join(name);
        let one = |change: &dyn Fn(), prints: &str, back: &dyn Fn()| {
            change();
            audit(&place, &[]).exits(1).prints(prints);
            back();
            audit(&place, &[]).exits(0).prints("");
        };
        let time = |name: &str| fs::metadata(path(name)).unwrap().modified().unwrap();
        // Changes the content and restores the time.
        let write = |name: &str, text: &str| {
            let time = time(name);
            fs::write(path(name), text).unwrap();
            File::options().write(true).open(path(name)).unwrap().set_modified(time).unwrap();
        };
        let mode = |name: &str, mode| {
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        one(&|| write("h", "i"), "h: changed: content\n", &|| write("h", "h"));
        let longer = "h: changed: size: expected 1, found 2\n";
        one(&|| write("h", "hh"), longer, &|| write("h", "h"));
        let old = fs::metadata(path("h")).unwrap().permissions().mode() & 0o7777;
        let text = format!("h: changed: mode: expected {old:04o}, found 0711\n");
        one(&|| mode("h", 0o711), &text, &|| mode("h", old));
        let folder = fs::metadata(path("a/b")).unwrap().permissions().mode() & 0o7777;
        let text = format!("a/b: changed: mode: expected {folder:04o}, found 1700\n");
        one(&|| mode("a/b", 0o1700), &text, &|| mode("a/b", folder));
        one(&|| drop(File::create(path("new")).unwrap()), "new: new\n", &|| {
            fs::remove_file(path("new")).unwrap();
        });
        one(&|| fs::create_dir(path("a-b")).unwrap(), "a-b: new\n", &|| {
            fs::remove_dir(path("a-b")).unwrap();
        });
        let rename = |from: &str, to: &str| fs::rename(path(from), path(to)).unwrap();
        one(&|| rename("a/b/g", "z"), "z: renamed: it was a/b/g\n", &|| rename("z", "a/b/g"));
        one(&|| rename("h", "../h"), "h: missing\n", &|| rename("../h", "h"));
        // Each of the two files now has the other's name.
        rename("h", "x");
        rename("a/f", "h");
        rename("x", "a/f");
        let out = audit(&place, &[]).exits(1).out;
        assert!(out.starts_with("a/f: changed: size: expected 4, found 1"), "{out}");
        assert!(out.contains("\nh: changed: size: expected 1, found 4"), "{out}");
        rename("a/f", "x");
        rename("h", "a/f");
        rename("x", "h");
        audit(&place, &[]).exits(0);
        let old = time("h");
        let set = |time| File::open(path("h")).unwrap().set_modified(time).unwrap();
        set(SystemTime::UNIX_EPOCH - Duration::from_millis(1250));
        let out = audit(&place, &[]).exits(1).out;
        assert!(out.starts_with("h: changed: mtime: expected "), "{out}");
        assert!(out.ends_with(", found -2.750000000\n"), "{out}");
        set(old);
        audit(&place, &[]).exits(0);
        let link = |target: &str| {
            place.shell(&format!("ln -sfn {target} l && touch -hr t/a/link l && mv -T l t/a/link"));
        };
        one(&|| link("/etc"), "a/link: changed: target: expected ../a, found /etc\n", &|| {
            link("../a");
        });
        fs::remove_file(path("h")).unwrap();
        symlink("a/f", path("h")).unwrap();
        audit(&place, &[]).exits(1).prints("h: changed: kind: expected file, found link\n");
        fs::remove_file(path("h")).unwrap();
        fs::create_dir(path("h")).unwrap();
        fs::write(path("h/i"), "h").unwrap();
        let dir = "h: changed: kind: expected file, found dir\nh/i: new\n";
        audit(&place, &[]).exits(1).prints(dir);
        fs::remove_dir_all(path("a")).unwrap();
        fs::write(path("a"), "").unwrap();
        let counts = "1 unchanged, 2 changed, 1 new, 4 missing, 0 renamed\n";
        audit(&place, &[]).exits(1).says(&[counts]);
    }
}

#[test]
fn what_is_not_sealed_is_not_compared() {
    let place = sealed(&[], &[]);
    place.shell("touch -d @1 t/h; chmod 600 t/a/f; touch -hd @1 t/a/link").exits(0);
    audit(&place, &[]).exits(0).prints("").says(&["7 unchanged, 0 changed, 0 new, 0 missing"]);
    audit(&place, &["--quiet"]).exits(0).prints("").in_silence();
}

#[test]
fn the_forms_of_a_report() {
    let place = sealed(&[], &[]);
    place.file("t/h", "hh");
    fs::remove_file(place.path("t/a.c")).unwrap();
    fs::rename(place.path("t/a/f"), place.path("t/z\n")).unwrap();
    place.file(Path::new("t").join(OsStr::from_bytes(b"\xff")), "");
    place.file(Path::new("t").join(OsStr::from_bytes(b"b\\")), "new");
    let ran = audit(&place, &["--combined", "c"]).exits(1);
    assert_eq!(
        ran.bytes,
        b"h: changed: size: expected 1, found 2\n\\b\\\\: new\n\\z\\n: renamed: it was a/f\n\
          \xff: renamed: it was a.c\n"
    );
    ran.says(&["tagmac: 4 unchanged, 1 changed, 1 new, 0 missing, 2 renamed\n"]);
    let combined = fs::read(place.path("c")).unwrap();
    let mut lines: Vec<&[u8]> = combined.split(|&byte| byte == b'\n').collect();
    lines.sort();
    let expected: [&[u8]; 10] = [
        b"",
        b"* h",
        b"+ a.c",
        b"+ a/f",
        b"- \xff",
        b"= a",
        b"= a/b",
        b"= a/b/g",
        b"= a/link",
        b"\\- b\\\\",
    ];
    assert_eq!(lines[..10], expected);
    assert_eq!(lines[10..], [b"\\- z\\n"]);

    let ran = audit(&place, &["--json"]).exits(1);
    let mut objects = objects(&ran);
    let summary = objects.pop().unwrap();
    assert_eq!(summary["summary"]["renamed"], 2);
    assert_eq!(summary["summary"]["unchanged"], 4);
    assert_eq!(
        (&summary["status"], &summary["renames_complete"]),
        (&"changed".into(), &true.into())
    );
    assert_eq!(summary["seal"].as_str().unwrap().len(), 64);
    let of = |name: &str| objects.iter().find(|object| object["path"] == name).unwrap();
    assert_eq!(objects.len(), 8);
    assert_eq!(of("a/b")["kind"], "dir");
    assert_eq!(of("h")["changes"][0]["expected"], "1");
    assert_eq!((&of("z\n")["from"], &of("z\n")["status"]), (&"a/f".into(), &"renamed".into()));
    assert_eq!(of("\u{fffd}")["path_hex"], "ff");
    // A new tag of a file must not be shown: it could be a second tag under one nonce.
    assert!(!ran.out.contains("\"tag\""));

    let quiet = audit(&place, &["--json", "--quiet"]).exits(1);
    assert_eq!(quiet.out.lines().count(), 5);
    // Only the report is on standard output.
    let alone = audit(&place, &["--combined", "-"]).exits(1);
    assert_eq!(alone.bytes, fs::read(place.path("c")).unwrap());
    alone.says(&["tagmac: 4 unchanged, "]);
    audit(&place, &["--combined", "no/c"]).exits(4).says(&["--combined: no/c: No such file"]);
    // The report itself is not new.
    audit(&place, &["--combined", "t/c"]).exits(1).says(&[" 1 new, "]);
    fs::remove_file(place.path("t/c")).unwrap();
    place.file("t/c", "");
    audit(&place, &["--combined", "t/c"]).exits(1).says(&[" 1 new, "]);
    let both = audit(&place, &["--combined", "-", "--json"]).exits(2).prints("");
    both.says(&["--combined: standard output is already used for --json"]);
    let full = place.shell("$T audit -k k --combined - m t > /dev/full");
    // A difference counts even if the report fails.
    full.exits(1).says(&["standard output: No space left on device"]);
    let full =
        place.shell("trap '' XFSZ; ulimit -f 0; $T audit -k k --combined big m t > /dev/null");
    full.exits(1).says(&["--combined: big: File too large"]);
    assert!(!place.path("big").exists());
    place.shell("$T audit -k k m t > /dev/full").exits(1).says(&["standard output: No space left"]);
}

#[test]
fn a_report_takes_the_place_of_nothing() {
    let place = sealed(&[], &[]);
    symlink("elsewhere", place.path("link")).unwrap();
    symlink("k", place.path("key")).unwrap();
    // A file that looks like a report.
    place.file("text", "- milk\n- eggs\n");
    place.shell("mkfifo pipe").exits(0);
    fs::hard_link(place.path("m"), place.path("l")).unwrap();
    for name in ["m", "l", "k", "key", "link", "text", "t/a/f", "t", "pipe", "/dev/null"] {
        let old = place.path(name).is_file().then(|| fs::read(place.path(name)).unwrap());
        let said = format!("--combined: {name}: the file exists and is not an empty file");
        audit(&place, &["--combined", name]).exits(4).prints("").says(&[&said]);
        assert_eq!(old, place.path(name).is_file().then(|| fs::read(place.path(name)).unwrap()));
    }
    assert!(!place.path("elsewhere").exists());
    place.file("c", "");
    fs::set_permissions(place.path("c"), fs::Permissions::from_mode(0o600)).unwrap();
    audit(&place, &["--combined", "c"]).exits(0);
    assert_eq!(fs::read_to_string(place.path("c")).unwrap().lines().count(), 7);
    assert_eq!(fs::metadata(place.path("c")).unwrap().permissions().mode() & 0o777, 0o600);
    audit(&place, &["--combined", "c"]).exits(4).prints("");
    // An audit that fails writes no report.
    place.shell("$T audit -k k --combined d m t > /dev/full").exits(0);
    fs::remove_file(place.path("d")).unwrap();
    place.file("t/new", "");
    place.shell("$T audit -k k --combined d m t > /dev/full").exits(1);
    assert!(!place.path("d").exists());
}

#[test]
fn a_renamed_file_may_have_another_mode_and_time() {
    for key in [&[][..], &["-a", "POLY1305-AES"]] {
        let place = sealed(key, &["--mode", "--mtime"]);
        place.shell("chmod 640 t/h; touch -d @1 t/h t/a/f; chmod 600 t/a/f").exits(0);
        place.keyed("seal", &["--mode", "--mtime", "t", "-o", "m"]).exits(0);
        place.shell("mv t/h t/x; chmod 644 t/x; touch -d @2.5 t/x; mv t/a/f t/y").exits(0);
        let changes = "mode: expected 0640, found 0644; \
                       mtime: expected 1.000000000, found 2.500000000";
        let lines = format!("x: renamed: it was h; {changes}\ny: renamed: it was a/f\n");
        audit(&place, &[]).exits(1).prints(&lines);
        let objects = objects(&audit(&place, &["--json"]).exits(1));
        let of = |name: &str| objects.iter().find(|object| object["path"] == name).unwrap();
        assert_eq!(of("x")["changes"][1]["expected"], "1.000000000");
        assert_eq!((&of("x")["status"], &of("x")["from"]), (&"renamed".into(), &"h".into()));
        assert!(of("y").get("changes").is_none());
    }
}

#[test]
fn renamed_files_are_those_with_the_same_content() {
    for key in [&[][..], &["-a", "UMAC-96"]] {
        let place = sealed(key, &[]);
        let out = |place: &Place| audit(place, &[]).exits(1).out;
        // The first of two copies, in byte order, is the missing file.
        fs::copy(place.path("t/a/f"), place.path("t/x")).unwrap();
        fs::rename(place.path("t/a/f"), place.path("t/y")).unwrap();
        assert_eq!(out(&place), "x: renamed: it was a/f\ny: new\n");
        // Equal sizes are not enough.
        place.file("t/x", "teXt");
        assert_eq!(out(&place), "x: new\ny: renamed: it was a/f\n");
        place.file("t/y", "Text");
        assert_eq!(out(&place), "x: new\ny: new\na/f: missing\n");
        place.keyed("seal", &["t", "-o", "m"]).exits(0);
        // A renamed folder with many files.
        for i in 0..100 {
            place.file(format!("t/a/b/{i}"), format!("{i:4}"));
        }
        place.keyed("seal", &["t", "-o", "m"]).exits(0);
        fs::rename(place.path("t/a/b"), place.path("t/z")).unwrap();
        let lines = out(&place);
        assert_eq!(lines.matches("renamed: it was a/b/").count(), 101, "{lines}");
        for i in [0, 50, 99] {
            assert!(lines.contains(&format!("z/{i}: renamed: it was a/b/{i}\n")));
        }
    }
}

#[test]
fn more_new_and_missing_names_than_are_kept() {
    // Names of 250 bytes in folders with names of 250 bytes: few files have many bytes of names.
    let place = Place::new();
    let long = |c: &str| c.repeat(250);
    let folder = [long("a"), long("b"), long("c"), long("d"), long("e"), long("f")].join("/");
    let folder = [folder, long("g"), long("h"), long("i"), long("j"), long("k")].join("/");
    fs::create_dir_all(place.path("t").join(&folder)).unwrap();
    let count = (8 << 20) / folder.len() + 1000;
    place.shell(&format!(
        "cd t/{folder} && for i in $(seq -w {count}); do echo $i > $i; done && echo x > ../x"
    ));
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let folder = Path::new("t").join(&folder);
    fs::rename(place.path(&folder), place.path(folder.with_file_name("z"))).unwrap();
    let ran = audit(&place, &["--json"]).exits(1);
    let ran =
        ran.says(&["too many candidates: some renamed files may be listed as new and missing\n"]);
    let objects = objects(&ran);
    let mut counts = BTreeMap::new();
    for object in &objects {
        *counts.entry(object["status"].as_str().unwrap()).or_insert(0) += 1;
    }
    let summary = objects.last().unwrap();
    assert_eq!(summary["renames_complete"], false);
    let [renamed, new, missing] = ["renamed", "new", "missing"].map(|status| counts[status]);
    assert!(renamed > 1000, "{counts:?}");
    // The folder itself is missing and new.
    assert_eq!((renamed + new, renamed + missing), (count + 1, count + 1));
}
