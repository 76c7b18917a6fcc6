//! Files from an older build, in `vectors/formats`. Every later build must read them and write the
//! same.
//!
//! `TAGMAC_WRITE_FORMATS=1` writes missing ones. Do so only for a new version of a format.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tagmac_any::{AnyMac, KeyFile, Session};

use crate::common::Place;

const NAMES: [&str; 8] = [
    "PMAC-AES128",
    "LIGHTMAC-AES128-S32",
    "ELIMAC-AES128",
    "POLY1305-AES",
    "UMAC-64",
    "UMAC99-STD-60",
    "CMAC-AES128",
    "HMAC-SHA256",
];
/// Algorithms with parts.
const PARTS: [&str; 5] =
    ["PMAC-AES128", "LIGHTMAC-AES128-S32", "ELIMAC-AES128", "POLY1305-AES", "UMAC-64"];
/// Length of the tagged file, and of its first part.
const BYTES: usize = 200_003;
const FIRST: usize = 122_880;

/// Returns the tagged file.
fn text() -> Vec<u8> {
    (0..BYTES as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/formats").join(name)
}

/// Returns a place with the tagged file, a tree, and the files from an older build.
fn place(name: &str) -> Place {
    let place = Place::bare();
    place.file("f", text());
    fs::create_dir_all(place.path("tree/below")).unwrap();
    place.file("tree/below/g", "in a folder");
    place.file("tree/h", &text()[..3000]);
    for (path, seconds) in [("tree/below/g", 1_000_000_000), ("tree/h", 1_700_000_000)] {
        let file = fs::File::options().write(true).open(place.path(path)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::new(seconds, 500)).unwrap();
    }
    for entry in fs::read_dir(folder(name)).into_iter().flatten() {
        let entry = entry.unwrap();
        // The tests of object stores use `bucket`.
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), place.path(entry.file_name())).unwrap();
        }
    }
    // A key that others can write to is rejected, and a clone may have such modes.
    let key = place.path("k");
    if key.exists() {
        fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
    }
    place
}

fn key(place: &Place) -> KeyFile {
    KeyFile::parse(&place.read("k")).unwrap()
}

fn mac(place: &Place) -> AnyMac {
    let key = key(place);
    AnyMac::new(key.algorithm(), key.key()).unwrap()
}

/// Returns the first nonce of a session, and of a stream.
fn zeros(mac: &AnyMac) -> Vec<u8> {
    let (min, max) = mac.algorithm().nonce_bytes().into_inner();
    vec![0; 8.clamp(min, max)]
}

/// Writes the missing files of an algorithm.
fn write(name: &str) {
    fs::create_dir_all(folder(name)).unwrap();
    let place = place(name);
    let is_there = |file: &str| place.path(file).exists();
    if !is_there("k") {
        place.run(&["keygen", "-a", name, "-o", "k"]).exits(0);
    }
    if !is_there("list") {
        place.shell("$T tag -k k f > list").exits(0);
    }
    if !is_there("manifest") {
        place.keyed("seal", &["--mtime", "tree", "-o", "manifest"]).exits(0);
    }
    if !is_there("manifest-3") {
        place.keyed("seal", &["--mtime", "--owner", "tree", "-o", "manifest-3"]).exits(0);
    }
    if !is_there("checkpoint") && PARTS.contains(&name) {
        // A checkpoint contains the file's path.
        let elsewhere = Place::new_in(std::env::temp_dir());
        elsewhere.file("f", text());
        elsewhere.file("k", place.read("k"));
        elsewhere.shell("$T tag -k k --checkpoint checkpoint f > /dev/full").exits(4);
        place.file("checkpoint", elsewhere.read("checkpoint"));
    }
    if !is_there("sidecar") && PARTS.contains(&name) {
        place.keyed("update", &["f"]).exits(0);
        fs::rename(place.path("f.tagmac"), place.path("sidecar")).unwrap();
    }
    if !is_there("part-2") && PARTS.contains(&name) {
        let first = FIRST.to_string();
        let ends = [vec!["--start", "0", "--length", &first], vec!["--start", &first, "--last"]];
        for (end, output) in ends.iter().zip(["part-1", "part-2"]) {
            let args = [&end[..], &["--object", "object 1", "-o", output, "f"]].concat();
            place.keyed("part", &args).exits(0);
        }
    }
    if !is_there("session") {
        let mac = mac(&place);
        let (nonce, budget) = (zeros(&mac), mac.budget(None, None).unwrap());
        let mut session = Session::new(mac, &nonce, budget).unwrap();
        session.reserve(3).unwrap();
        place.file("session", session.save().unwrap());
    }
    if !is_there("stream") && PARTS.contains(&name) {
        let mac = mac(&place);
        let mut stream = mac.stream(&zeros(&mac)).unwrap();
        stream.update(&text()[..FIRST + 5]);
        place.file("stream", stream.save(&key(&place).sealer()).unwrap());
    }
    let made = [
        "k",
        "list",
        "manifest",
        "manifest-3",
        "session",
        "checkpoint",
        "sidecar",
        "part-1",
        "part-2",
        "stream",
    ];
    for file in made.into_iter().filter(|file| is_there(file)) {
        fs::copy(place.path(file), folder(name).join(file)).unwrap();
    }
}

/// Returns the kinds, sizes, tags and paths of a manifest's entries.
fn tags(manifest: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8(manifest.to_vec()).unwrap();
    let entries = text.lines().filter(|line| line.contains('\t'));
    let columns = |line: &str| line.split('\t').map(String::from).collect::<Vec<_>>();
    let kept = [0, 1, 3, 4, 7];
    entries.map(columns).map(|all| kept.map(|at| all[at].clone()).to_vec()).collect()
}

#[test]
fn files_of_an_older_build_open() {
    for name in NAMES {
        if std::env::var_os("TAGMAC_WRITE_FORMATS").is_some() {
            write(name);
        }
        let place = place(name);
        place.keyed("check", &["list"]).exits(0).prints("f: OK\n");
        place.keyed("audit", &["manifest", "tree"]).exits(0);
        let takes_nonce = mac(&place).algorithm().takes_nonce();
        if !takes_nonce {
            // This build writes the same.
            place.shell("$T tag -k k f | cmp - list").exits(0);
            place.keyed("seal", &["--mtime", "--owner", "tree", "-o", "again"]).exits(0);
            assert_eq!(tags(&place.read("again")), tags(&place.read("manifest-3")), "{name}");
        }
        // The owner of this machine's files may be another.
        let owned = place.keyed("audit", &["manifest-3", "tree"]).out;
        assert!(owned.lines().all(|line| line.contains(": owner: expected ")), "{owned}");
        place.file("tree/h", "other");
        place.keyed("audit", &["manifest", "tree"]).exits(1);

        let saved = place.read("session");
        let mac = mac(&place);
        let mut session =
            Session::restore(mac.clone(), &saved, mac.budget(None, None).unwrap()).unwrap();
        assert_eq!((session.used(), session.reserved()), (3, 0), "{name}");
        session.reserve(1).unwrap();
        session.save().unwrap();
        let (nonce, tag) = session.tag(b"message").unwrap();
        assert!(mac.verify(nonce.as_bytes(), b"message", &tag).is_ok(), "{name}");
        assert!(!takes_nonce || nonce.as_bytes().last() == Some(&3), "{name}");
        if !PARTS.contains(&name) {
            continue;
        }

        let combined = place.keyed("combine", &["--object", "object 1", "part-1", "part-2"]);
        let line = combined.exits(0).out;
        place.file("line", line.replace("object 1", "f"));
        place.keyed("check", &["line"]).exits(0).prints("f: OK\n");
        let mut stream = mac.restore(&key(&place).sealer(), &place.read("stream")).unwrap();
        stream.update(&text()[FIRST + 5..]);
        assert!(stream.tag().unwrap() == mac.tag(&zeros(&mac), &text()).unwrap(), "{name}");
        // The key opens it, but it has another file's path.
        let resumed = place.keyed("tag", &["--checkpoint", "checkpoint", "f"]).exits(1);
        resumed.says(&["checkpoint: the checkpoint is for ", ", not for ", "/f"]);

        fs::rename(place.path("sidecar"), place.path("f.tagmac")).unwrap();
        place.file("p", "patched");
        let line = place.keyed("update", &["--patch", "150000", "p", "f"]).exits(0).out;
        place.file("line", line);
        place.keyed("check", &["line"]).exits(0).prints("f: OK\n");
        assert!(&place.read("f")[150_000..][..7] == b"patched");
    }
}

#[test]
fn a_manifest_of_version_2_gets_a_new_key() {
    for name in ["PMAC-AES128", "UMAC-64", "HMAC-SHA256"] {
        let place = place(name);
        place.run(&["keygen", "-a", "POLY1305-AES", "-o", "n"]).exits(0);
        let old = String::from_utf8(place.read("manifest")).unwrap();
        assert!(old.starts_with("tagmac-manifest-2\n"));
        let rekey = ["rekey", "-k", "k", "--new-key", "n", "manifest", "tree"];
        // A change is found before anything is written.
        let bytes = place.read("tree/h");
        place.file("tree/h", "other");
        place.run(&rekey).exits(1);
        assert_eq!(place.read("manifest"), old.as_bytes());
        place.file("tree/h", bytes);
        let file = fs::File::options().write(true).open(place.path("tree/h")).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::new(1_700_000_000, 500)).unwrap();
        place.run(&rekey).exits(0).prints("").says(&["3 unchanged"]);
        // The new manifest has the new version, and continues the chain after the old one.
        let new = String::from_utf8(place.read("manifest")).unwrap();
        assert!(new.starts_with("tagmac-manifest-3\nalgorithm: POLY1305-AES\n"), "{new}");
        let seal = old.lines().last().unwrap().strip_prefix("seal: ").unwrap();
        let day = new.lines().find_map(|line| line.strip_prefix("sequence: 1 ")).unwrap();
        let chain = format!("sequence: 1 {day}\nfirst: {seal}\nlinks: 1\n0 - {seal}\n");
        assert!(new.contains(&chain), "{new}");
        assert!(new.contains("\noptions: mtime\n"));
        place.run(&["audit", "-k", "n", "manifest", "tree"]).exits(0).prints("");
        let pin = ["audit", "-k", "n", "--pin", "p", "--ledger", "l", "manifest", "tree"];
        place.run(&pin).exits(0);
        place.run(&pin).exits(0);
    }
}
