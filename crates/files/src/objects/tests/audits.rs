//! Audits of a bucket that is a map in memory.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;

use tagmac::Tag;
use tagmac_any::AnyMac;

use super::{key, raw};
use crate::audit::{Audited, BucketAudit, Plan, Status};
use crate::day::Day;
use crate::error::Error;
use crate::objects::{
    Folder, Listed, ManifestKey, Object, ObjectManifest, Start, Tagger, Unread, Writer,
};
use crate::position::{Arcs, Positions};

/// Contents by name.
type Bucket = BTreeMap<Vec<u8>, Vec<u8>>;

/// Reads from a bucket and counts the reads.
struct Reader<'a> {
    mac: &'a AnyMac,
    bucket: &'a Bucket,
    reads: usize,
}

impl Tagger<()> for Reader<'_> {
    fn tag(&mut self, object: &Listed<()>, nonce: &[u8]) -> Result<Tag, Unread> {
        self.reads += 1;
        match &**self.bucket.get(&object.name).ok_or(Unread::Gone)? {
            b"denied" => Err(Unread::Failed("Access Denied".into())),
            b"frozen" => Err(Unread::Archived),
            content => Ok(self.mac.tag(nonce, content).unwrap()),
        }
    }

    fn range(&mut self, object: &Listed<()>, range: Range<u64>) -> Result<Vec<u8>, Unread> {
        let content = self.bucket.get(&object.name).ok_or(Unread::Gone)?;
        Ok(content[range.start as usize..range.end as usize].to_vec())
    }

    fn find(&mut self, name: &[u8]) -> Result<Listed<()>, Unread> {
        let (name, content) = self.bucket.get_key_value(name).ok_or(Unread::Gone)?;
        Ok(listed(name, content))
    }
}

fn bucket(objects: &[(&str, &str)]) -> Bucket {
    objects
        .iter()
        .map(|(name, content)| (name.as_bytes().into(), content.as_bytes().into()))
        .collect()
}

fn seal(mac: &AnyMac, key: &ManifestKey, place: &Folder, bucket: &Bucket) {
    seal_with(mac, key, place, bucket, Start { replace: true, ..Start::default() });
}

fn seal_with(mac: &AnyMac, key: &ManifestKey, place: &Folder, bucket: &Bucket, start: Start<'_>) {
    let mut writer = Writer::new(key, place, start).unwrap();
    for (number, (name, content)) in bucket.iter().enumerate() {
        let nonce = vec![number as u8; *mac.algorithm().nonce_bytes().end()];
        let Listed { size, stamp, .. } = listed(name, content);
        let tag = Some(mac.tag(&nonce, content).unwrap());
        let mut object = Object { name: name.clone(), size, nonce, tag, read: None, stamp };
        if content == b"frozen" {
            object = Object { nonce: Vec::new(), tag: None, ..object };
        } else {
            object.read = Some(Day::MIN);
        }
        writer.push(&object).unwrap();
    }
    writer.finish().unwrap();
}

/// An object as a store shows it. Its stamp depends on its content only.
fn listed(name: &[u8], content: &[u8]) -> Listed<()> {
    let stamp = format!("\"{}\"", String::from_utf8_lossy(content)).into_bytes();
    let (name, size, archived) = (name.to_vec(), content.len() as u64, content == b"frozen");
    Listed { name, size, stamp: Some(stamp), archived, about: () }
}

fn listing(bucket: &Bucket) -> impl Iterator<Item = Result<Listed<()>, Error>> {
    let listed = bucket.iter().map(|(name, content)| Ok(listed(name, content)));
    listed.collect::<Vec<_>>().into_iter()
}

fn line(name: &[u8], status: Status<'_>) -> String {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let name = text(name);
    match status {
        Status::Unchanged => format!("{name}: ok"),
        Status::Changed(changes) => format!("{name}: changed {}", changes[0].what),
        Status::New => format!("{name}: new"),
        Status::Missing => format!("{name}: missing"),
        Status::Renamed(from, changes) => {
            assert!(changes.is_empty());
            format!("{name}: was {}", text(from))
        }
        Status::Unreadable(why) => format!("{name}: {why}"),
        Status::NotRead => format!("{name}: not read"),
        Status::Archived => format!("{name}: archived"),
    }
}

/// Returns the result, the verdicts and the number of objects read.
fn audit(
    keys: &(AnyMac, ManifestKey),
    place: &Folder,
    listed: impl Iterator<Item = Result<Listed<()>, Error>>,
    bucket: &Bucket,
    threads: usize,
) -> (Result<bool, String>, Vec<String>, usize) {
    let plan = Plan::all(Positions::new(&raw("PMAC-AES128", 7)));
    let (result, lines, reads) = audit_with(keys, place, listed, bucket, threads, &plan, &[]);
    (result.map(|audited| audited.renames_complete), lines, reads)
}

fn audit_with(
    (mac, key): &(AnyMac, ManifestKey),
    place: &Folder,
    listed: impl Iterator<Item = Result<Listed<()>, Error>>,
    bucket: &Bucket,
    threads: usize,
    plan: &Plan,
    paths: &[Vec<u8>],
) -> (Result<Audited, String>, Vec<String>, usize) {
    let manifest = ObjectManifest::open(key, place).unwrap();
    let reader = || Reader { mac, bucket, reads: 0 };
    let (mut main, mut others) = (reader(), (0..threads).map(|_| reader()).collect::<Vec<_>>());
    let mut lines = Vec::new();
    let mut put = |name: &[u8], kind, status: Status<'_>, _| {
        assert_eq!(kind, "object");
        lines.push(line(name, status));
    };
    let audit = BucketAudit { manifest: &manifest, progress: &(), plan, paths };
    let result = audit.run(|| listed, &mut main, &mut others, &mut put);
    let reads = others.iter().chain([&main]).map(|reader| reader.reads).sum();
    (result.map_err(|error| error.to_string()), lines, reads)
}

const SEALED: [(&str, &str); 8] = [
    ("changed", "1"),
    ("denied", "sealed"),
    ("gone", "2"),
    ("longer", "3"),
    ("old name", "four"),
    ("same", "5"),
    ("twin a", "twin"),
    ("twin b", "twin"),
];
const NOW: [(&str, &str); 8] = [
    ("a new name", "four"),
    ("a new one", "nine"),
    ("changed", "x"),
    ("denied", "denied"),
    ("longer", "33"),
    ("large and new", "a size that none had"),
    ("same", "5"),
    ("twin c", "twin"),
];

#[test]
fn each_object_has_its_verdict() {
    for algorithm in ["PMAC-AES128", "UMAC-64"] {
        for threads in [1, 3] {
            let keys = key(algorithm, 64, 7);
            let folder = tempfile::tempdir().unwrap();
            let place = Folder::new(folder.path());
            seal(&keys.0, &keys.1, &place, &bucket(&SEALED));
            let now = bucket(&NOW);
            let (result, lines, reads) = audit(&keys, &place, listing(&now), &now, threads);
            assert_eq!(result, Ok(true));
            let expected = [
                "changed: changed content",
                "denied: Access Denied",
                "longer: changed size",
                "same: ok",
                "a new name: was old name",
                "a new one: new",
                "large and new: new",
                "twin c: was twin a",
                "gone: missing",
                "twin b: missing",
            ];
            assert_eq!(lines, expected, "{algorithm}");
            if algorithm == "PMAC-AES128" {
                // Three objects have their sealed size, and three new ones the size of a missing
                // one. The longer object and the new one with a unique size are not read.
                assert_eq!(reads, 6);
            }
        }
    }
}

#[test]
fn an_object_that_goes_after_the_listing_is_missing() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let before = bucket(&[("a", "1"), ("b", "2")]);
    seal(&keys.0, &keys.1, &place, &before);
    let (result, lines, _) = audit(&keys, &place, listing(&before), &bucket(&[("a", "1")]), 1);
    assert_eq!((result, lines), (Ok(true), vec!["a: ok".into(), "b: missing".into()]));
}

#[test]
fn an_empty_bucket_and_an_empty_manifest() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let (none, one) = (bucket(&[]), bucket(&[("a", "1")]));
    for (sealed, now, expected) in
        [(&none, &none, vec![]), (&none, &one, vec!["a: new"]), (&one, &none, vec!["a: missing"])]
    {
        seal(&keys.0, &keys.1, &place, sealed);
        let (result, lines, _) = audit(&keys, &place, listing(now), now, 2);
        assert_eq!(result, Ok(true));
        assert_eq!(lines, expected);
    }
}

#[test]
fn a_listing_out_of_order_is_an_error() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let all = bucket(&[("a", "1"), ("b", "2")]);
    seal(&keys.0, &keys.1, &place, &all);
    let mut listed: Vec<_> = listing(&all).collect();
    listed.reverse();
    let (result, _, _) = audit(&keys, &place, listed.into_iter(), &all, 1);
    let what = "a: listed after b; a listing must be in byte order of names";
    assert_eq!(result, Err(what.into()));
    let broken = listing(&all).take(1).chain([Err(Error::io("the listing broke off"))]);
    let (result, lines, _) = audit(&keys, &place, broken, &all, 1);
    assert_eq!((result, lines), (Err("the listing broke off".into()), vec!["a: ok".into()]));
}

#[test]
fn no_verdict_comes_from_a_shard_that_is_not_as_it_was_sealed() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let all = bucket(&[("a", "1"), ("b", "2")]);
    seal(&keys.0, &keys.1, &place, &all);
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let shard = paths.find(|path| !path.ends_with("root")).unwrap();
    let mut text = std::fs::read(&shard).unwrap();
    let at = text.iter().rposition(|&byte| byte == b'b').unwrap();
    text[at - 70] ^= 1;
    std::fs::write(&shard, text).unwrap();
    let (result, lines, reads) = audit(&keys, &place, listing(&all), &all, 1);
    assert!(result.unwrap_err().contains("the seal does not match"));
    assert_eq!((lines, reads), (vec![], 0));
}

#[test]
fn renames_take_no_more_memory_than_there_is_room() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    // 8 MiB hold fewer than 2048 names of 4096 bytes.
    let name = |kind: u8, i: usize| {
        let mut name = vec![kind; 4096];
        name[4088..].copy_from_slice(&(i as u64).to_be_bytes());
        name
    };
    let of = |kind| (0..2100).map(move |i| (name(kind, i), (i as u64).to_be_bytes().to_vec()));
    let (before, now): (Bucket, Bucket) = (of(b'a').collect(), of(b'b').collect());
    seal(&keys.0, &keys.1, &place, &before);
    let (result, lines, _) = audit(&keys, &place, listing(&now), &now, 2);
    assert_eq!(result, Ok(false));
    let renamed = lines.iter().filter(|line| line.contains(": was ")).count();
    assert!((1000..2048).contains(&renamed), "{renamed}");
    assert_eq!(lines.len(), 2 * 2100 - renamed);
}

/// Objects of one size, each with different content.
fn numbered(names: impl Iterator<Item = (String, u32)>) -> Bucket {
    names.map(|(name, content)| (name.into(), format!("{content:04}").into())).collect()
}

#[test]
fn of_many_missing_objects_of_one_size_a_new_one_is_held_against_eight() {
    // The ninth missing object, the first, and the ninth again, which is then the eighth.
    let now = numbered([("n0".into(), 8), ("n1".into(), 0), ("n2".into(), 8)].into_iter());
    let missing = |taken: [u32; 2]| {
        let left = (0..12).filter(move |number| !taken.contains(number));
        left.map(|number| format!("m{number:02}: missing"))
    };
    for (algorithm, first, reads) in [
        ("PMAC-AES128", ["n0: was m08", "n1: was m00", "n2: new"], 3),
        ("UMAC-64", ["n0: new", "n1: was m00", "n2: was m08"], 8 + 1 + 8),
    ] {
        for threads in [1, 3] {
            let keys = key(algorithm, 64, 7);
            let folder = tempfile::tempdir().unwrap();
            let place = Folder::new(folder.path());
            let sealed = numbered((0..12).map(|number| (format!("m{number:02}"), number)));
            seal(&keys.0, &keys.1, &place, &sealed);
            let (result, lines, read) = audit(&keys, &place, listing(&now), &now, threads);
            assert_eq!(result, Ok(true));
            let expected: Vec<_> =
                first.map(String::from).into_iter().chain(missing([0, 8])).collect();
            assert_eq!(lines, expected, "{algorithm}");
            assert_eq!(read, reads, "{algorithm}");
        }
    }
}

#[test]
fn equal_objects_are_paired_in_order() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let of = |kind, count| numbered((0..count).map(move |n| (format!("{kind}{n:03}"), 7)));
    seal(&keys.0, &keys.1, &place, &of("m", 300));
    let now = of("n", 200);
    let (result, lines, reads) = audit(&keys, &place, listing(&now), &now, 3);
    let renamed = (0..200).map(|n| format!("n{n:03}: was m{n:03}"));
    let missing = (200..300).map(|n| format!("m{n:03}: missing"));
    assert_eq!((result, reads), (Ok(true), 200));
    assert!(lines.into_iter().eq(renamed.chain(missing)));
}

#[test]
fn many_short_names_take_no_more_memory_than_there_is_room() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let of = |kind| numbered((0..60_000).map(move |n| (format!("{kind}{n:09}"), n)));
    seal(&keys.0, &keys.1, &place, &of("m"));
    let now = of("n");
    let (result, lines, _) = audit(&keys, &place, listing(&now), &now, 2);
    assert_eq!(result, Ok(false));
    let renamed = lines.iter().filter(|line| line.contains(": was ")).count();
    assert!((20_000..40_000).contains(&renamed), "{renamed}");
    assert_eq!(lines.len(), 2 * 60_000 - renamed);
}

/// The plan that reads nothing.
fn quick() -> Plan {
    Plan { arcs: Arcs::default(), ..Plan::all(Positions::new(&raw("PMAC-AES128", 7))) }
}

#[test]
fn what_is_not_read_is_compared_by_size_and_stamp() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let sealed = bucket(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]);
    seal(&keys.0, &keys.1, &place, &sealed);
    let now = bucket(&[("a", "1"), ("b", "22"), ("c", "x"), ("d", "y"), ("e", "z"), ("f", "6")]);
    let mut listed: Vec<_> = listing(&now).map(Result::unwrap).collect();
    // A version ID cannot be compared with an ETag, and no stamp with any.
    listed[3].stamp = Some(b"version 7".into());
    listed[4].stamp = None;
    let listed = listed.into_iter().map(Ok);
    let (result, lines, reads) = audit_with(&keys, &place, listed, &now, 2, &quick(), &[]);
    let expected = [
        "a: not read",
        "b: changed size",
        "c: changed version",
        "d: not read",
        "e: not read",
        "f: new",
    ];
    assert_eq!((lines, reads), (expected.map(String::from).to_vec(), 0));
    let tally = result.unwrap().tally;
    assert_eq!((tally.files, tally.read, tally.oldest()), (5, 0, Some(Day::MIN)));
    assert!(tally.exceptions.is_empty());
}

#[test]
fn what_the_filters_left_out_is_not_new() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let filters = [&b"*.tmp"[..], b"cache/", b"!keep.tmp"].map(<[u8]>::to_vec);
    let start = Start { filters: &filters, ..Start::default() };
    seal_with(&keys.0, &keys.1, &place, &bucket(&[("a", "1"), ("b/keep.tmp", "2")]), start);
    let now =
        [("a", "1"), ("b/keep.tmp", "2"), ("b/x.tmp", "3"), ("cache/c", "4"), ("cached", "5")];
    let now = bucket(&now);
    let plan = Plan::all(Positions::new(&raw("PMAC-AES128", 7)));
    let (result, lines, _) = audit_with(&keys, &place, listing(&now), &now, 2, &plan, &[]);
    assert_eq!(lines, ["a: ok", "b/keep.tmp: ok", "cached: new"]);
    assert_eq!(result.unwrap().left_out, 2);
}

#[test]
fn paths_and_lists_are_looked_up() {
    let keys = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let sealed = bucket(&[("a", "1"), ("a-b", "2"), ("a/b", "3"), ("a/c/d", "4"), ("b", "5")]);
    seal(&keys.0, &keys.1, &place, &sealed);
    let now = bucket(&[("a", "1"), ("a-b", "x"), ("a/b", "y"), ("b", "5"), ("new", "6")]);
    let never = || iter::from_fn(|| panic!("there is no listing"));
    let plan = Plan::all(Positions::new(&raw("PMAC-AES128", 7)));
    let audited = |paths: &[&str]| {
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let (result, lines, _) = audit_with(&keys, &place, never(), &now, 2, &plan, &paths);
        (result.map(|audited| audited.tally.files), lines)
    };
    let expected = ["a: ok", "a/b: changed content", "a/c/d: missing"];
    assert_eq!(audited(&["a"]), (Ok(2), expected.map(String::from).to_vec()));
    assert_eq!(audited(&["a/c", "b"]).1, ["b: ok", "a/c/d: missing"]);
    let (result, _) = audited(&["a", "new"]);
    assert_eq!(result, Err("new: the manifest has no entry with this path".into()));
    // The manifest of a list has no entry for other objects, so they are not new.
    let start = Start { replace: true, listed: true, ..Start::default() };
    seal_with(&keys.0, &keys.1, &place, &bucket(&[("a", "1"), ("b", "5")]), start);
    assert_eq!(audited(&[]), (Ok(2), vec!["a: ok".into(), "b: ok".into()]));
}

#[test]
fn archived_objects_have_a_verdict_of_their_own() {
    let keys = key("UMAC-64", 64, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let sealed = bucket(&[("a", "frozen"), ("b", "frozen"), ("c", "frozen"), ("d", "thawed")]);
    seal(&keys.0, &keys.1, &place, &sealed);
    let now = bucket(&[("a", "frozen"), ("b", "thawed"), ("d", "frozen"), ("e", "frozen")]);
    let mut listed: Vec<_> = listing(&now).map(Result::unwrap).collect();
    listed[2].stamp = Some(b"\"thawed\"".into());
    let listed = || listed.clone().into_iter().map(Ok);
    // Nobody read `a`, and its stamp is the same. `b` has another stamp. `d` was read before.
    let (result, lines, reads) = audit(&keys, &place, listed(), &now, 1);
    let expected = ["a: archived", "b: changed version", "c: missing", "d: archived", "e: new"];
    assert_eq!((result, lines, reads), (Ok(true), expected.map(String::from).to_vec(), 1));
    // Restored, with the stamp that it had: there is no tag to compare with.
    let restored = listed().map(|listed| {
        listed.map(|listed| Listed { archived: false, stamp: Some(b"\"frozen\"".into()), ..listed })
    });
    let (_, lines, _) = audit(&keys, &place, restored.take(2), &now, 1);
    assert_eq!(lines[..2], ["a: not read", "b: not read"]);
}
