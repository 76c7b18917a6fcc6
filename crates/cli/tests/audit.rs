//! `tagmac audit`: what it finds, what it refuses, and that nothing passes for what it is not.

mod common;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use common::{KEY_HEX, Place, Ran, UNPRIVILEGED, opened, sparse};
use serde_json::Value;
use tagmac::any::{Algorithm, AnyMac};

/// A folder `t` and its manifest `m`.
fn sealed(key: &[&str], options: &[&str]) -> Place {
    let place = Place::bare();
    place.run(&[&["keygen", "-o", "k"], key].concat()).exits(0);
    fs::create_dir_all(place.path("t/a/b")).unwrap();
    for (name, text) in [("a/f", "text"), ("a/b/g", "more text"), ("h", "h"), ("a.c", "")] {
        place.file(format!("t/{name}"), text);
    }
    symlink("../a", place.path("t/a/link")).unwrap();
    place.keyed("seal", &[&["t", "-o", "m"], options].concat()).exits(0);
    place
}

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
        // Whatever is done to a file's content, its time is put back.
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
        // Each file is still there, under the other's name.
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
    // The tag that a file has now is nobody's business: it could be a second one under a nonce.
    assert!(!ran.out.contains("\"tag\""));

    let quiet = audit(&place, &["--json", "--quiet"]).exits(1);
    assert_eq!(quiet.out.lines().count(), 5);
    audit(&place, &["--combined", "no/c"]).exits(4).says(&["--combined: no/c: No such file"]);
    // Its own report is not new.
    audit(&place, &["--combined", "t/c"]).exits(1).says(&[" 1 new, "]);
    audit(&place, &["--combined", "t/c"]).exits(1).says(&[" 1 new, "]);
    let full = audit(&place, &["--combined", "/dev/full"]);
    full.exits(4).says(&["--combined: /dev/full: No space left on device"]);
    place.shell("$T audit -k k m t > /dev/full").exits(4).says(&["standard output: No space left"]);
}

#[test]
fn renamed_files_are_those_with_the_same_content() {
    for key in [&[][..], &["-a", "UMAC-96"]] {
        let place = sealed(key, &[]);
        let out = |place: &Place| audit(place, &[]).exits(1).out;
        // Of two copies one is the missing file. They are taken in order.
        fs::copy(place.path("t/a/f"), place.path("t/x")).unwrap();
        fs::rename(place.path("t/a/f"), place.path("t/y")).unwrap();
        assert_eq!(out(&place), "x: renamed: it was a/f\ny: new\n");
        // The size alone does not make it.
        place.file("t/x", "teXt");
        assert_eq!(out(&place), "x: new\ny: renamed: it was a/f\n");
        place.file("t/y", "Text");
        assert_eq!(out(&place), "x: new\ny: new\na/f: missing\n");
        place.keyed("seal", &["t", "-o", "m"]).exits(0);
        // A folder's name, with all that is in it.
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
fn another_key_or_algorithm_is_refused_by_name() {
    let place = sealed(&[], &[]);
    place.run(&["keygen", "-o", "other"]).exits(0);
    place.run(&["keygen", "-a", "HMAC-SHA256", "-o", "hmac"]).exits(0);
    let run = |key: &str, more: &[&str]| {
        place.run(&[&["audit", "-k", key, "m", "t"], more].concat()).prints("")
    };
    let id = |key: &str| {
        let text = fs::read_to_string(place.path(key)).unwrap();
        text.lines().nth(2).unwrap().strip_prefix("id: ").unwrap().to_string()
    };
    let ids = format!("m: expected the key with id {}, found {}", id("other"), id("k"));
    run("other", &[]).exits(3).says(&[&ids]);
    let algorithms = "m: expected a manifest of HMAC-SHA256, found one of PMAC-AES128";
    run("hmac", &[]).exits(3).says(&[algorithms]);
    run("k", &["-l", "64"]).exits(2).says(&["m: expected tags of 64 bits, found 128; see -l"]);
    place.keyed("seal", &["-l", "64", "t", "-o", "m"]).exits(0);
    run("k", &["-l", "64"]).exits(0);
    run("k", &[]).exits(2);
    // A manifest cannot say that it is of the key in use: the seal tells.
    let text = fs::read_to_string(place.path("m")).unwrap();
    place.file("m", text.replace(&id("k"), &id("other")));
    run("other", &["-l", "64"]).exits(1).says(&["m: the seal does not match"]);
}

#[test]
fn every_byte_of_a_manifest_counts() {
    let place = sealed(&[], &["--mode"]);
    let manifest = fs::read(place.path("m")).unwrap();
    let refused = |text: &[u8], what: &str| {
        place.file("m", text);
        let ran = audit(&place, &[]).prints("");
        assert!([1, 2, 3].map(Some).contains(&ran.code), "{what}: {:?} {}", ran.code, ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{what}: {}", ran.err);
    };
    for cut in 0..manifest.len() {
        refused(&manifest[..cut], "cut");
    }
    for at in 0..manifest.len() {
        for bit in [0, 5] {
            let mut flipped = manifest.clone();
            flipped[at] ^= 1 << bit;
            refused(&flipped, &format!("byte {at} bit {bit}"));
        }
    }
    let lines: Vec<&[u8]> = manifest.split_inclusive(|&byte| byte == b'\n').collect();
    for line in 0..lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(line);
        refused(&fewer.concat(), "a line less");
        let mut more = lines.clone();
        more.insert(line, lines[5]);
        refused(&more.concat(), "a line more");
    }
    refused(&[&manifest[..], b"\n"].concat(), "a line after it");
    place.file("m", &manifest);
    audit(&place, &[]).exits(0);
}

#[test]
fn what_is_no_manifest() {
    let place = sealed(&[], &[]);
    let manifest = fs::read_to_string(place.path("m")).unwrap();
    let says = |text: &str, expected: &str| {
        place.file("m", text);
        audit(&place, &[]).exits(1).prints("").says(&[&format!("tagmac: m: {expected}")]);
    };
    says("", "expected a header, found its start");
    says(
        "PMAC-AES128 (f) = 00\n",
        "expected a manifest made by 'tagmac seal', found something else",
    );
    let two = manifest.replacen("manifest-1", "manifest-2", 1);
    says(&two, "expected tagmac-manifest-1, found tagmac-manifest-2");
    says(&manifest.replacen("bits: ", "bit: ", 1), "line 3: expected 'bits: ', found another line");
    says(&manifest[..manifest.len() - 1], "expected 'seal: ' and 64 hex digits on the last line");
    says(
        &manifest.replacen("text", "", 1).replacen("\t4\t", "\t5\t", 1),
        "the seal does not match",
    );
    fs::remove_file(place.path("m")).unwrap();
    audit(&place, &[]).exits(4).says(&["m: No such file or directory"]);
    place.keyed("audit", &["t", "t"]).exits(4).says(&["t: expected a file, found something else"]);
    place.keyed("audit", &["-", "t"]).exits(4);
    place.keyed("audit", &["m"]).exits(2);
}

/// A manifest with a right seal, whatever is in it: by who has the key and another program.
fn with_seal(body: &str) -> Vec<u8> {
    let hmac = |key: &[u8], text: &[u8]| {
        let mac = AnyMac::new(Algorithm::named("HMAC-SHA256").unwrap(), key).unwrap();
        mac.tag(&[], text).unwrap()
    };
    let key = base16ct::lower::decode_vec(KEY_HEX).unwrap();
    let extracted = hmac(b"tagmac seal key 1", &key);
    let seal_key = hmac(extracted.as_bytes(), b"PMAC-AES128\x01");
    let seal = hmac(seal_key.as_bytes(), body.as_bytes());
    format!("{body}seal: {seal}\n").into_bytes()
}

#[test]
fn a_sealed_manifest_is_read_strictly_all_the_same() {
    let place = Place::bare();
    let tag = "256ba5193c1b991b4df0c51f388a9e27";
    fs::create_dir_all(place.path("t/a")).unwrap();
    place.file("t/a/f", [0, 1, 2]);
    place.file("t/b", [0, 1, 2]);
    let head = "tagmac-manifest-1\nalgorithm: PMAC-AES128\nbits: 128\nkey id: 7ffee3e8c77e9192\n";
    let run = |options: &str, entries: &[&str], end: &str| -> Ran {
        let lines: String = entries.iter().map(|line| format!("{line}\n")).collect();
        let lines = lines.replace("TAG", tag).replace(' ', "\t").replace('_', " ");
        place.file("m", with_seal(&format!("{head}options: {options}\n{lines}{end}")));
        let options = ["audit", "--key-env", "KEY", "--key-format", "hex", "-a", "pmac-aes128"];
        let mut command = place.command(&options);
        command.args(["m", "t"]).env("KEY", KEY_HEX).output().unwrap().into()
    };
    let good = ["dir - - a", "file 3 TAG a/f", "file 3 TAG b"];
    run("none", &good, "entries: 3\nbytes: 6\n").exits(0).prints("");
    let wrong = |entries: &[&str], line: usize, why: &str| {
        let end = format!("entries: {}\nbytes: 6\n", entries.len());
        let ran = run("none", entries, &end).exits(1);
        ran.says(&[&format!("tagmac: m: line {line}: {why}")]);
    };
    let after = "expected a path after the last, found";
    wrong(
        &["file 3 TAG b", "dir - - a", "file 3 TAG a/f"],
        7,
        &format!("{after} one that is before"),
    );
    wrong(&["dir - - a", "dir - - a"], 7, &format!("{after} the same path"));
    // Where '/' was an ordinary byte this would be the order.
    wrong(&["dir - - a", "dir - - a-", "file 3 TAG a/f"], 8, after);
    let parent = "expected the path's directory before it, found none";
    wrong(&["file 3 TAG a/f"], 6, parent);
    wrong(&["file 3 TAG a", "file 3 TAG a/f"], 7, parent);
    wrong(&["dir - - a", "file 3 TAG a/f/g"], 7, parent);
    wrong(&["dir - - a", "dir - - a/b", "file 3 TAG a/c/g"], 8, parent);
    let below = "expected a path below the directory";
    wrong(&["file 3 TAG /etc/passwd"], 6, &format!("{below}, found an absolute one"));
    wrong(&["file 3 TAG .."], 6, &format!("{below}, found one with '..'"));
    wrong(&["dir - - a", "file 3 TAG a/../../x"], 7, below);
    for path in ["", ".", "a//f", "./a", "a/", "a/."] {
        let name = "expected a name between slashes, found none or '.'";
        wrong(&["dir - - 0", &format!("dir - - {path}")], 7, name);
    }
    wrong(&["dir - - a\0b"], 6, "expected a path without zero bytes");
    wrong(&["door - - a"], 6, "expected a kind of entry");
    wrong(&["pipe - - a"], 6, "expected a file, directory or link without the option special");
    wrong(&["dir - -"], 6, "expected more columns");
    wrong(&["dir - - a b"], 6, "expected fewer columns");
    wrong(&["link - - a"], 6, "expected more columns");
    wrong(&["link - - a "], 6, "expected a link's target");
    wrong(&["dir 0 - a"], 6, "expected '-' in a column that is for other kinds");
    wrong(&["file - TAG a"], 6, "expected no '-' in a column of this kind");
    wrong(&["file x TAG a"], 6, "expected a size in bytes");
    wrong(&["file 18446744073709551616 TAG a"], 6, "expected a size in bytes");
    for tag in ["25", &tag.to_uppercase(), "", &format!("{tag}00")] {
        wrong(&[&format!("file 3 {tag} a")], 6, "expected a tag in hex digits");
    }
    let form = "expected numbers and names in their one form";
    for line in ["file 03 TAG a", "file +3 TAG a", "dir - - a\r"] {
        wrong(&[line], 6, form);
    }
    wrong(&["dir - - a\\x"], 6, "expected '\\\\', '\\t', '\\n' or '\\r' after \\");
    wrong(&["dir - - a\\"], 6, "expected '\\\\', '\\t', '\\n' or '\\r' after \\");
    wrong(&[&format!("dir - - {}", "x".repeat(1 << 16))], 6, "expected a shorter line");
    for (end, why) in [
        ("entries: 4\nbytes: 6\n", "line 9: expected 'entries: 3', found another number"),
        ("entries: 3\nbytes: 5\n", "line 10: expected 'bytes: 6' and the end"),
        ("entries: 3\nbytes: 6", "expected 'entries: ' and 'bytes: ' before the seal"),
        ("bytes: 6\n", "expected 'entries: ' and 'bytes: ' before the seal"),
        (
            "entries: 3\nbytes: 6\nentries: 3\nbytes: 6\n",
            "line 10: expected 'bytes: 6' and the end",
        ),
    ] {
        run("none", &good, end).exits(1).says(&[&format!("tagmac: m: {why}")]);
    }
    for options in ["", "None", "mtime mode", "mode mode", "mode  mtime", "none mode", "other"] {
        run(options, &good, "entries: 3\nbytes: 6\n").exits(1).says(&["expected options, found"]);
    }
    for (line, why) in [
        ("dir 755 - - a", form),
        ("dir 0o755 - - a", "expected a mode in octal digits"),
        ("dir +0755 - - a", form),
        ("dir - - - a", "expected no '-'"),
        ("link 0777 - - a b", "expected '-' in a column"),
    ] {
        let ran = run("mode", &[line], "entries: 1\nbytes: 0\n").exits(1);
        ran.says(&[&format!("m: line 6: {why}")]);
    }
    for (time, why) in [
        ("1", "expected a time"),
        ("1.5", form),
        ("1.1000000000", "expected a time"),
        ("01.000000000", form),
        ("-0.000000000", form),
        ("1.-00000000", "expected a time"),
    ] {
        let line = format!("link {time} - - a b");
        let ran = run("mtime", &[&line], "entries: 1\nbytes: 0\n").exits(1);
        ran.says(&[&format!("m: line 6: {why}")]);
    }
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
    audit("--combined c").exits(4).prints(lines).says(&["0 missing", "3 unreadable"]);
    let combined = fs::read_to_string(place.path("c")).unwrap();
    assert_eq!(combined, "= a\n= a/b\n! a/b\n! a/b/g\n= a/f\n= a/link\n= a.c\n! h\n");
    // A difference is one, whatever else could not be read.
    place.file("t/a/f", "");
    audit("").exits(1);
    fs::set_permissions(place.path("t"), fs::Permissions::from_mode(0o300)).unwrap();
    audit("").exits(4).says(&["tagmac: t: Permission denied\n"]);
    for name in ["t", "t/a/b", "t/h"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    place.keyed("audit", &["m", "no"]).exits(4).says(&["no: No such file or directory"]);
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
fn more_new_and_missing_names_than_are_kept() {
    // Names of 250 bytes in folders of as many: a few files have many bytes of names.
    let place = Place::new();
    let long = |c: &str| c.repeat(250);
    let folder = [long("a"), long("b"), long("c"), long("d"), long("e"), long("f")].join("/");
    let folder = [folder, long("g"), long("h"), long("i"), long("j"), long("k")].join("/");
    fs::create_dir_all(place.path("t").join(&folder)).unwrap();
    let count = (64 << 20) / folder.len() + 1000;
    place.shell(&format!(
        "cd t/{folder} && for i in $(seq -w {count}); do echo $i > $i; done && echo x > ../x"
    ));
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let folder = Path::new("t").join(&folder);
    fs::rename(place.path(&folder), place.path(folder.with_file_name("z"))).unwrap();
    let ran = audit(&place, &["--json"]).exits(1);
    let ran =
        ran.says(&["not all renamed files were looked for: some may stand as new and missing\n"]);
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
