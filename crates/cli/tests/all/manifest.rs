//! The format of manifests: the page describes it, and nothing else is accepted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{KEY_HEX, Place, Ran, sealed, tree};
use tagmac_any::{Algorithm, AnyMac};

const GUIDE: &str = include_str!("../../docs/formats/manifest.md");
const KEY_GUIDE: &str = include_str!("../../docs/formats/key-file.md");

/// Returns the first block of a kind in a page.
fn block(guide: &str, kind: &str) -> String {
    let start = format!("```{kind}\n");
    let text = &guide[guide.find(&start).unwrap() + start.len()..];
    text[..text.find("```").unwrap()].into()
}

/// Writes a manifest with the reference implementation, which follows the page.
fn reference(place: &Place, key: &str, manifest: &str, folder: &str) -> Vec<u8> {
    let program = format!("{}/reference/manifest.py", env!("CARGO_MANIFEST_DIR"));
    let names = [key, manifest, folder].map(|name| place.path(name));
    let ran = Command::new("python3").arg(program).args(names).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
    ran.stdout
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
    // The days and the stamps depend on the machine; the page's are put in their place.
    let shown = block(GUIDE, "text");
    let same = made.lines().zip(shown.lines()).map(|(made, shown)| {
        let (mut words, shown): (Vec<&str>, Vec<&str>) =
            (made.split('\t').collect(), shown.split('\t').collect());
        match words[0] {
            "file" => words[5..7].copy_from_slice(&shown[5..7]),
            first if first.starts_with("sequence: ") => words = shown,
            _ => {}
        }
        words.join("\t") + "\n"
    });
    let body: String = same.take_while(|line| !line.starts_with("seal: ")).collect();
    assert_eq!(String::from_utf8(with_seal(&body)).unwrap(), shown);
    place.keyed("audit", &["m", "t"]).exits(0).prints("");
    assert_eq!(reference(&place, "k", "m", "t"), made.as_bytes());
}

#[test]
fn another_implementation_agrees() {
    let place = tree();
    let algorithms = [
        ("PMAC-AES128", &["--tag-bits", "100", "--mode", "--owner", "--xattrs"][..]),
        ("LIGHTMAC-PRESENT128-S16", &["--mtime"]),
        ("ELIMAC-AES128", &[]),
        ("UMAC-32", &["--allow-short", "--mode", "--mtime"]),
        ("POLY1305-AES", &["--mtime", "--special"]),
    ];
    for (algorithm, options) in algorithms {
        place.run(&["keygen", "-a", algorithm, "-o", algorithm]).exits(0);
        let run = |more: &[&str]| {
            let seal = ["seal", "-k", algorithm, "--new-chain", "t", "-o", "m"];
            place.run(&[&seal, more].concat()).exits(0);
        };
        run(options);
        assert_eq!(
            reference(&place, algorithm, "m", "t"),
            fs::read(place.path("m")).unwrap(),
            "{algorithm}"
        );
        let tags: Vec<&str> = options
            .iter()
            .filter(|o| o.starts_with("--tag") || o.starts_with("--allow") || !o.starts_with("--"))
            .copied()
            .collect();
        let audit = [&["audit", "-k", algorithm, "m", "t"], &tags[..]].concat();
        place.run(&audit).exits(0).prints("");
    }
}

#[test]
fn a_file_that_looks_like_a_manifest_has_no_seal() {
    // The worst case: HMAC-SHA256 is both the derivation and the MAC of the files.
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
    place.file("salt", "tagmac manifest key 2HMAC-SHA256");
    let tags = run("tag", &["--untagged", "body", "salt"]).exits(0).out;
    for tag in tags.lines().map(|line| line.split(' ').next().unwrap()) {
        let forged = [body, b"seal: ", tag.as_bytes(), b"\n"].concat();
        assert_ne!(forged, manifest);
        place.file("forged", forged);
        run("audit", &["forged", "t"]).exits(1).prints("").says(&["the seal does not match"]);
    }
    run("audit", &["m", "t"]).exits(0);
}

fn audit(place: &Place, more: &[&str]) -> Ran {
    place.keyed("audit", &[&["m", "t"], more].concat())
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
    let ids = format!(
        "m: the manifest is sealed under another key: expected key id {}, found {}\n",
        id("other"),
        id("k")
    );
    run("other", &[]).exits(3).says(&[&ids]);
    let algorithms = "m: the manifest is for PMAC-AES128; expected HMAC-SHA256";
    run("hmac", &[]).exits(3).says(&[algorithms]);
    run("k", &["--tag-bits", "64"])
        .exits(2)
        .says(&["m: expected tags of 64 bits, found 128; see --tag-bits"]);
    place.keyed("seal", &["--tag-bits", "64", "t", "-o", "m"]).exits(0);
    run("k", &["--tag-bits", "64"]).exits(0);
    run("k", &[]).exits(2);
    // The seal, not the id in the manifest, decides which key it is from.
    let text = fs::read_to_string(place.path("m")).unwrap();
    place.file("m", text.replace(&id("k"), &id("other")));
    run("other", &["--tag-bits", "64"]).exits(1).says(&["m: the seal does not match"]);
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
    says("", "the manifest is cut off in its header\n");
    says("PMAC-AES128 (f) = 00\n", "not a manifest from 'tagmac seal'");
    let one = manifest.replacen("manifest-3", "manifest-1", 1);
    says(&one, "expected tagmac-manifest-3, found tagmac-manifest-1");
    says(
        &manifest.replacen("bits: ", "bit: ", 1),
        "line 3: expected a line that begins with 'bits: '",
    );
    says(&manifest[..manifest.len() - 1], "the last line is not 'seal: ' and 64 hex digits");
    says(
        &manifest.replacen("text", "", 1).replacen("\t4\t", "\t5\t", 1),
        "the seal does not match",
    );
    fs::remove_file(place.path("m")).unwrap();
    audit(&place, &[]).exits(4).says(&["m: No such file or directory"]);
    place
        .keyed("audit", &["t", "t"])
        .exits(4)
        .says(&["t: this is a directory, not a manifest; usage: audit"]);
    place.keyed("audit", &["-", "t"]).exits(2).says(&["cannot come from standard input"]);
    place.shell("mkfifo pipe").exits(0);
    place.keyed("audit", &["pipe", "t"]).exits(4).says(&["pipe: expected a regular file, found"]);
    place.keyed("audit", &["m"]).exits(2);
}

/// Returns a manifest with a valid seal and any content, as another program with the key could
/// write it.
fn with_seal(body: &str) -> Vec<u8> {
    let hmac = |key: &[u8], text: &[u8]| {
        let mac = AnyMac::new(Algorithm::from_name("HMAC-SHA256").unwrap(), key).unwrap();
        mac.tag(&[], text).unwrap()
    };
    let key = base16ct::lower::decode_vec(KEY_HEX).unwrap();
    let extracted = hmac(b"tagmac manifest key 2", &key);
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
    let head = "tagmac-manifest-2\nalgorithm: PMAC-AES128\nbits: 128\nkey id: 93ccce922cfd13ec\n";
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
    wrong(
        &["file 3 TAG b", "dir - - a", "file 3 TAG a/f"],
        7,
        "the path is before that of the previous entry",
    );
    wrong(&["dir - - a", "dir - - a"], 7, "the path is the same as that of the previous entry");
    // The order if '/' were an ordinary byte.
    wrong(&["dir - - a", "dir - - a-", "file 3 TAG a/f"], 8, "the path is before");
    let parent = "the path's directory is not listed before it";
    wrong(&["file 3 TAG a/f"], 6, parent);
    wrong(&["file 3 TAG a", "file 3 TAG a/f"], 7, parent);
    wrong(&["dir - - a", "file 3 TAG a/f/g"], 7, parent);
    wrong(&["dir - - a", "dir - - a/b", "file 3 TAG a/c/g"], 8, parent);
    let below = "the path contains '..'; expected one below the directory";
    let absolute = "the path is absolute; expected one below the directory";
    wrong(&["file 3 TAG /etc/passwd"], 6, absolute);
    wrong(&["file 3 TAG .."], 6, below);
    wrong(&["dir - - a", "file 3 TAG a/../../x"], 7, below);
    for path in ["", ".", "a//f", "./a", "a/", "a/."] {
        let name = "the path contains an empty name or '.'";
        wrong(&["dir - - 0", &format!("dir - - {path}")], 7, name);
    }
    wrong(&["dir - - a\0b"], 6, "the path contains a zero byte");
    let long = format!("dir - - {}", "x".repeat(4097));
    wrong(&[&long], 6, "the path is longer than 4096 bytes");
    wrong(&["door - - a"], 6, "expected a kind of entry");
    wrong(&["pipe - - a"], 6, "expected a file, directory or link: the options lack 'special'");
    wrong(&["dir - -"], 6, "expected more columns");
    wrong(&["dir - - a b"], 6, "expected fewer columns");
    wrong(&["link - - a"], 6, "expected more columns");
    wrong(&["link - - a "], 6, "expected a link's target");
    wrong(&["dir 0 - a"], 6, "expected '-' in a column that this kind does not use");
    wrong(&["file - TAG a"], 6, "expected a value, found '-'");
    wrong(&["file x TAG a"], 6, "expected a size in bytes");
    wrong(&["file 18446744073709551616 TAG a"], 6, "expected a size in bytes");
    for tag in ["25", &tag.to_uppercase(), "", &format!("{tag}00")] {
        wrong(&[&format!("file 3 {tag} a")], 6, "expected a tag in hex digits");
    }
    let form = "expected numbers and names in canonical form";
    for line in ["file 03 TAG a", "file +3 TAG a", "dir - - a\r"] {
        wrong(&[line], 6, form);
    }
    wrong(&["dir - - a\\x"], 6, "expected '\\\\', '\\t', '\\n' or '\\r' after \\");
    wrong(&["dir - - a\\"], 6, "expected '\\\\', '\\t', '\\n' or '\\r' after \\");
    wrong(&[&format!("dir - - {}", "x".repeat(1 << 16))], 6, "the line is too long");
    for (end, why) in [
        ("entries: 4\nbytes: 6\n", "line 9: expected 'entries: 3'"),
        ("entries: 3\nbytes: 5\n", "line 10: expected 'bytes: 6' and then the end"),
        ("entries: 3\nbytes: 6", "expected 'entries: ' and 'bytes: ' before the seal"),
        ("bytes: 6\n", "expected 'entries: ' and 'bytes: ' before the seal"),
        (
            "entries: 3\nbytes: 6\nentries: 3\nbytes: 6\n",
            "line 10: expected 'bytes: 6' and then the end",
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
        ("dir - - - a", "expected a value, found '-'"),
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
