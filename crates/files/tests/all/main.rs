//! Tests of the library without the command: seal, audit, update, part and combine.

mod bucket_listings;
mod command_words;
mod errors;
mod leaf_reads;
mod leaf_samples;
mod leaves;
mod nights;
mod parts;
mod seal_checkpoint;
mod sealed_tree;
#[cfg(all(feature = "fault-injection", debug_assertions))]
mod update_model;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::audit::{Plan, Status, TreeAudit};
use tagmac_files::manifest::seal_mac;
use tagmac_files::open_key::OpenKey;
use tagmac_files::partial::{Expected, PartRange, Ranged, combine};
use tagmac_files::position::Positions;
use tagmac_files::progress::{Phases, Progress, Total};
use tagmac_files::raw_key::RawKey;
use tagmac_files::read::FileReader;
use tagmac_files::seal::{SealOptions, Sealing};
use tagmac_files::sidecar::{Edit, Sidecar, Update, update};
use tagmac_files::{ErrorKind, ReadError};

fn key() -> (OpenKey, RawKey) {
    let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
    let raw = RawKey::new(algorithm, vec![7; 16].into()).unwrap();
    (OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap(), raw)
}

/// A plan to read everything.
fn everything(raw: &RawKey) -> Plan {
    Plan::all(Positions::new(raw))
}

#[test]
fn a_tree_is_sealed_and_audited() {
    let ((key, raw), place) = (key(), tempfile::tempdir().unwrap());
    let root = place.path().join("tree");
    fs::create_dir_all(root.join("d")).unwrap();
    for (name, text) in [("a", "same"), ("b", "old"), ("d/c", "gone"), ("e", "moved")] {
        fs::write(root.join(name), text).unwrap();
    }
    let output = place.path().join("manifest");
    let options = SealOptions { threads: 2, ..SealOptions::new(&root, &output) };
    let sealing = Sealing::new(&key, &raw, options).unwrap();
    assert_eq!(sealing.total().unwrap().files, Some(5));
    let counts = sealing.run(&()).unwrap();
    assert_eq!((counts.files, counts.directories, counts.bytes), (4, 1, 16));
    fs::write(root.join("b"), "new").unwrap();
    fs::remove_file(root.join("d/c")).unwrap();
    fs::rename(root.join("e"), root.join("f")).unwrap();
    let mut audit = TreeAudit::open(&key, &raw, &output, &root).unwrap();
    audit.exclude(Ok(Vec::new())).unwrap();
    let mut verdicts = Vec::new();
    let put = &mut |path: &[u8], _, status: Status<'_>, _| {
        let word = match status {
            Status::Unchanged => "unchanged",
            Status::Changed(_) => "changed",
            Status::Missing => "missing",
            Status::Renamed(b"e", _) => "renamed",
            other => panic!("{other:?}"),
        };
        verdicts.push(format!("{}: {word}", String::from_utf8_lossy(path)));
    };
    assert!(audit.run(&everything(&raw), &[], 2, &(), put).unwrap().renames_complete);
    let expected = ["a: unchanged", "b: changed", "d: unchanged", "f: renamed", "d/c: missing"];
    assert_eq!(verdicts, expected);
    fs::write(&output, "no manifest").unwrap();
    let error = TreeAudit::open(&key, &raw, &output, &root).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Mismatch);
}

/// Seals the files `sealed`, replaces them by `now`, and returns the verdicts. Files are names and
/// contents.
fn verdicts(
    algorithm: &str,
    threads: usize,
    sealed: &[(String, String)],
    now: &[(String, String)],
) -> (Vec<String>, bool) {
    let algorithm = Algorithm::from_name(algorithm).unwrap();
    let bytes = vec![7; *algorithm.key_bytes().end()].into();
    let raw = RawKey::new(algorithm, bytes).unwrap();
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let (root, output) = (place.path().join("tree"), place.path().join("manifest"));
    let write = |files: &[(String, String)]| {
        fs::create_dir(&root).unwrap();
        files.iter().for_each(|(name, text)| fs::write(root.join(name), text).unwrap());
    };
    write(sealed);
    let options = SealOptions { threads, ..SealOptions::new(&root, &output) };
    Sealing::new(&key, &raw, options).unwrap().run(&()).unwrap();
    fs::remove_dir_all(&root).unwrap();
    write(now);
    let mut audit = TreeAudit::open(&key, &raw, &output, &root).unwrap();
    audit.exclude(Ok(Vec::new())).unwrap();
    let mut lines = Vec::new();
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let put = &mut |path: &[u8], _, status: Status<'_>, _| {
        let path = text(path);
        lines.push(match status {
            Status::Renamed(from, changes) if changes.is_empty() => {
                format!("{path}: was {}", text(from))
            }
            Status::New => format!("{path}: new"),
            Status::Missing => format!("{path}: missing"),
            other => panic!("{path}: {other:?}"),
        });
    };
    let audited = audit.run(&everything(&raw), &[], threads, &(), put).unwrap();
    (lines, audited.renames_complete)
}

fn numbered(names: impl Iterator<Item = (String, u32)>) -> Vec<(String, String)> {
    names.map(|(name, content)| (name, format!("{content:04}"))).collect()
}

#[test]
fn of_many_missing_files_of_one_size_a_new_one_is_held_against_eight() {
    // The ninth missing file, the first, and the ninth again, which is then the eighth.
    let now = numbered([("n0".into(), 8), ("n1".into(), 0), ("n2".into(), 8)].into_iter());
    let sealed = numbered((0..12).map(|number| (format!("m{number:02}"), number)));
    for (algorithm, first) in [
        ("PMAC-AES128", ["n0: was m08", "n1: was m00", "n2: new"]),
        ("POLY1305-AES", ["n0: new", "n1: was m00", "n2: was m08"]),
    ] {
        for threads in [1, 3] {
            let (lines, complete) = verdicts(algorithm, threads, &sealed, &now);
            let left = (0..12).filter(|number| ![0, 8].contains(number));
            let missing = left.map(|number| format!("m{number:02}: missing"));
            let expected: Vec<_> = first.map(String::from).into_iter().chain(missing).collect();
            assert_eq!((lines, complete), (expected, true), "{algorithm}");
        }
    }
}

#[test]
fn equal_files_are_paired_in_order() {
    let of = |kind, count| numbered((0..count).map(move |n| (format!("{kind}{n:03}"), 7)));
    let (lines, complete) = verdicts("PMAC-AES128", 3, &of("m", 90), &of("n", 60));
    let renamed = (0..60).map(|n| format!("n{n:03}: was m{n:03}"));
    let missing = (60..90).map(|n| format!("m{n:03}: missing"));
    assert!(complete && lines.into_iter().eq(renamed.chain(missing)));
}

#[test]
fn large_files_are_found_under_other_names() {
    // Large enough that all threads read each file together.
    let large = |name: &str, byte: &str| (name.to_string(), byte.repeat(3 << 20));
    let sealed = [large("a", "a"), large("b", "b"), ("c".into(), "small".into())];
    let now = [large("x", "b"), large("y", "c"), ("z".into(), "small".into())];
    for algorithm in ["PMAC-AES128", "UMAC-64"] {
        for threads in [1, 3] {
            let (lines, complete) = verdicts(algorithm, threads, &sealed, &now);
            let expected = ["x: was b", "y: new", "z: was c", "a: missing"];
            assert_eq!((lines, complete), (expected.map(String::from).to_vec(), true));
        }
    }
}

/// Seals a tree with one file. Returns the paths of the tree and the manifest.
fn sealed_file(key: &OpenKey, raw: &RawKey) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let (root, output) = (place.path().join("tree"), place.path().join("manifest"));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a"), "text").unwrap();
    let options = SealOptions { threads: 1, ..SealOptions::new(&root, &output) };
    Sealing::new(key, raw, options).unwrap().run(&()).unwrap();
    (place, root, output)
}

/// Returns the names that an audit reports as new. The manifest `m` is in the tree itself.
/// `meanwhile` runs after the manifest was opened, and if not `early`, also after its exclusion was
/// set up.
fn new_in_an_audit(early: bool, meanwhile: impl Fn(&Path)) -> Vec<String> {
    let ((key, raw), place) = (key(), tempfile::tempdir().unwrap());
    let (root, output) = (place.path(), place.path().join("m"));
    fs::write(root.join("a"), "text").unwrap();
    let options = SealOptions { threads: 1, ..SealOptions::new(root, &output) };
    Sealing::new(&key, &raw, options).unwrap().run(&()).unwrap();
    let mut audit = TreeAudit::open(&key, &raw, &output, root).unwrap();
    if early {
        meanwhile(root);
    }
    audit.exclude(Ok(Vec::new())).unwrap();
    if !early {
        meanwhile(root);
    }
    let mut new = Vec::new();
    let put = &mut |path: &[u8], _, status: Status<'_>, _| {
        if matches!(status, Status::New) {
            new.push(String::from_utf8_lossy(path).into_owned());
        }
    };
    audit.run(&everything(&raw), &[], 1, &(), put).unwrap();
    new.sort();
    new
}

#[test]
fn nothing_but_the_manifest_is_left_out_of_an_audit() {
    for early in [false, true] {
        assert!(new_in_an_audit(early, |_| ()).is_empty());
        // A link in place of the manifest, to a directory with a file to hide.
        let found = new_in_an_audit(early, |root| {
            fs::create_dir(root.join("d")).unwrap();
            fs::write(root.join("d/hidden"), "").unwrap();
            fs::remove_file(root.join("m")).unwrap();
            std::os::unix::fs::symlink("d", root.join("m")).unwrap();
        });
        assert_eq!(found, ["d", "d/hidden", "m"]);
        // A directory in place of the manifest.
        let found = new_in_an_audit(early, |root| {
            fs::rename(root.join("m"), root.join("n")).unwrap();
            fs::create_dir(root.join("m")).unwrap();
            fs::write(root.join("m/hidden"), "").unwrap();
        });
        assert_eq!(found, ["m", "m/hidden", "n"]);
    }
}

#[test]
fn a_manifest_that_changes_while_it_is_read_is_refused() {
    let (key, raw) = key();
    let (_place, root, output) = sealed_file(&key, &raw);
    let text = fs::read_to_string(&output).unwrap();
    let changed = "the manifest changed while it was read: nothing reported so far is valid";
    let start = text.split_once("\ta\n").unwrap().0;
    let tag = start.rsplit('\t').nth(2).unwrap();
    let other = format!("{}{}", if tag.starts_with('0') { '1' } else { '0' }, &tag[1..]);
    let cases = [
        (text.replace("options: none", "options: mode"), changed),
        (text.replace(tag, &other), changed),
        (format!("{start}\ta\n"), "the line 'entries: ' is missing"),
    ];
    for (other, expected) in cases {
        fs::write(&output, &text).unwrap();
        let audit = TreeAudit::open(&key, &raw, &output, &root).unwrap();
        fs::write(&output, &other).unwrap();
        let error = audit
            .run(&everything(&raw), &[], 1, &(), &mut |_, _, _, _| ())
            .err()
            .unwrap()
            .to_string();
        assert!(error.ends_with(expected), "{error}");
    }
}

#[test]
fn a_sealed_nonce_has_its_one_length() {
    let algorithm = Algorithm::from_name("POLY1305-AES").unwrap();
    let raw = RawKey::new(algorithm, vec![7; 32].into()).unwrap();
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap();
    let (_place, root, output) = sealed_file(&key, &raw);
    let text = fs::read_to_string(&output).unwrap();
    let nonce =
        text.lines().find(|line| line.ends_with("\ta")).unwrap().split('\t').nth(2).unwrap();
    assert_eq!(nonce.len(), 32);
    let (body, _) = text.split_once("seal: ").unwrap();
    for other in [&nonce[..30], "", &format!("{nonce}00"), &nonce.replace(|_| true, "g")] {
        let body = body.replace(nonce, other);
        let seal = seal_mac(&raw).tag(&[], body.as_bytes()).unwrap();
        fs::write(&output, format!("{body}seal: {seal}\n")).unwrap();
        let audit = TreeAudit::open(&key, &raw, &output, &root).unwrap();
        let error = audit
            .run(&everything(&raw), &[], 1, &(), &mut |_, _, _, _| ())
            .err()
            .unwrap()
            .to_string();
        let expected = "expected a nonce of the algorithm's maximum length";
        assert!(error.ends_with(expected), "{error}");
    }
}

#[test]
fn a_tag_follows_edits() {
    let ((key, _), place) = (key(), tempfile::tempdir().unwrap());
    let path = place.path().join("file");
    let mut bytes = vec![b'x'; 300_000];
    fs::write(&path, &bytes).unwrap();
    let run = |edit: Option<Edit<'_>>| {
        // An existing sidecar keeps the length of its leaves.
        let leaf = edit.is_none().then_some(4096);
        let options =
            Update { file: &path, sidecar: Sidecar::Any, edit, expect: None, leaf, threads: 1 };
        let updated = update(&key, &options, &());
        updated.map(|updated| updated.tagged.tag.as_bytes().to_vec())
    };
    assert_eq!(run(None).unwrap(), key.mac.tag(&[], &*bytes).unwrap().as_bytes());
    let open = || Ok(Box::new(&b"patched"[..]) as Box<dyn Read>);
    let patch = Edit::Patch { offset: 4090, name: Path::new("bytes"), open: &open };
    bytes[4090..4097].copy_from_slice(b"patched");
    assert_eq!(run(Some(patch)).unwrap(), key.mac.tag(&[], &*bytes).unwrap().as_bytes());
    assert_eq!(fs::read(&path).unwrap(), bytes);
    bytes.truncate(5000);
    let tag = run(Some(Edit::Truncate(5000))).unwrap();
    assert_eq!(tag, key.mac.tag(&[], &*bytes).unwrap().as_bytes());
    fs::write(&path, vec![b'y'; 5000]).unwrap();
    assert_eq!(run(Some(patch)).unwrap_err().kind(), ErrorKind::Mismatch);
    // A caller may require that the sidecar is new, or that it exists.
    let refused = |sidecar| {
        let options =
            Update { file: &path, sidecar, edit: None, expect: None, leaf: None, threads: 1 };
        let error = update(&key, &options, &()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage);
        error.to_string()
    };
    assert!(refused(Sidecar::New).ends_with("file.tagmac: the sidecar exists"));
    fs::remove_file(place.path().join("file.tagmac")).unwrap();
    assert!(refused(Sidecar::Exists).contains("the sidecar does not exist"));
}

#[test]
fn partials_make_a_whole() {
    let ((key, _), place) = (key(), tempfile::tempdir().unwrap());
    let path = place.path().join("file");
    let bytes: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
    fs::write(&path, &bytes).unwrap();
    let halves = [(0, Some(65536), false), (65536, None, true)];
    let partials = halves.map(|(start, length, last)| {
        let range = PartRange { object: b"object", file: &path, start, at: None, length, last };
        let partial = Ranged::open(&key, range).unwrap().partial(1, &()).unwrap();
        let name = place.path().join(start.to_string());
        fs::write(&name, partial).unwrap();
        name
    });
    let expected = Expected::Name(b"object");
    let combined = combine(&key, expected, &partials, &[]).unwrap();
    assert_eq!(combined.tagged.tag, key.mac.tag(&[], &*bytes).unwrap());
    assert_eq!((combined.object, combined.tagged.bytes), (b"object".to_vec(), 100_000));
    let error = combine(&key, Expected::Any, &partials[..1], &[]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Incomplete);
    assert!(error.to_string().starts_with("the object's last range is missing"));
}

#[test]
fn a_caller_may_stop_the_reader() {
    let ((key, _), place) = (key(), tempfile::tempdir().unwrap());
    let path = place.path().join("file");
    let bytes: Vec<u8> = (0..5_000_000u32).map(|i| i as u8).collect();
    fs::write(&path, &bytes).unwrap();
    let file = File::open(&path).unwrap();
    for threads in [1, 3] {
        let mut reader = FileReader::new(&key.mac, threads, &());
        for size in [0, 1, 600_000, bytes.len()] {
            let tag = reader.tag_bytes(&file, size as u64, &[]).unwrap();
            assert_eq!(tag, key.mac.tag(&[], &bytes[..size]).unwrap());
        }
        let mut reader = FileReader::new(&key.mac, threads, &Stop);
        let stopped = reader.tag_bytes(&file, bytes.len() as u64, &[]);
        assert!(matches!(stopped, Err(ReadError::Stopped)));
    }
}

#[test]
fn a_caller_may_stop_all_else_that_reads() {
    let ((key, raw), place) = (key(), tempfile::tempdir().unwrap());
    let root = place.path().join("tree");
    fs::create_dir(&root).unwrap();
    for name in 0..20 {
        fs::write(root.join(name.to_string()), vec![b'x'; 3 << 18]).unwrap();
    }
    let output = place.path().join("manifest");
    for threads in [1, 3] {
        let options =
            SealOptions { skip_unreadable: true, threads, ..SealOptions::new(&root, &output) };
        let stopped = Sealing::new(&key, &raw, options).unwrap().run(&Stop).unwrap_err();
        assert!(stopped.to_string().contains("stopped on request"));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "something is left");
        Sealing::new(&key, &raw, options).unwrap().run(&()).unwrap();
        let mut audit = TreeAudit::open(&key, &raw, &output, &root).unwrap();
        audit.exclude(Ok(Vec::new())).unwrap();
        let stopped =
            audit.run(&everything(&raw), &[], threads, &Stop, &mut |_, _, _, _| {}).unwrap_err();
        assert!(stopped.to_string().contains("stopped on request"));
        fs::remove_file(&output).unwrap();
        let file = root.join("0");
        let options = Update {
            file: &file,
            sidecar: Sidecar::New,
            edit: None,
            expect: None,
            leaf: None,
            threads,
        };
        let stopped = update(&key, &options, &Stop).map(|_| ()).unwrap_err();
        assert!(stopped.to_string().contains("stopped on request"));
        assert_eq!(fs::read_dir(&root).unwrap().count(), 20, "something is left");
    }
}

/// Asks every operation to stop.
struct Stop;

impl Progress for Stop {
    fn add(&self, _: usize) {}

    fn skip(&self, _: u64) {}

    fn file(&self) {}

    fn is_stopped(&self) -> bool {
        true
    }
}

impl Phases for Stop {
    fn start(&self, _: &'static str, _: Total) -> Box<dyn Progress> {
        Box::new(Stop)
    }
}

/// The reader's steps are whole blocks, which have 12 bytes here.
#[test]
fn a_long_file_has_the_tag_of_its_bytes() {
    let algorithm = Algorithm::from_name("LIGHTMAC-AES128-S32").unwrap();
    let raw = RawKey::new(algorithm, (0..32).collect::<Vec<u8>>().into()).unwrap();
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap();
    let text: Vec<u8> = (0..600_001u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("f"), &text).unwrap();
    let file = File::open(place.path().join("f")).unwrap();
    let facts = file.metadata().unwrap();
    let read = FileReader::new(&key.mac, 2, &()).tag_open(&file, &facts, &[]).unwrap();
    assert!(Ok(read.tag) == key.mac.tag(&[], &text));
}
