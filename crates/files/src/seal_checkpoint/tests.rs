use std::fs;

use tagmac::isa::Level;
use tagmac_any::Algorithm;

use super::*;
use crate::manifest::seal_mac;
use crate::raw_key::RawKey;

const ROOT: Identity = Identity { device: 7, inode: 8 };

fn key(byte: u8) -> (OpenKey, AnyMac) {
    let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
    let raw = RawKey::new(algorithm, vec![byte; 16].into()).unwrap();
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap();
    (key, seal_mac(&raw))
}

fn keys() -> (OpenKey, AnyMac) {
    key(7)
}

fn open<'a>(path: &'a Path, (key, mac): &(OpenKey, AnyMac)) -> Result<Checkpoint<'a>, Error> {
    unlocked(|| Checkpoint::open(path, key, mac, ROOT, None, Some(0)))
}

/// Opens a checkpoint that no run holds.
fn unlocked<'a>(open: impl Fn() -> Result<Checkpoint<'a>, Error>) -> Result<Checkpoint<'a>, Error> {
    loop {
        match open() {
            // A process that another test starts has a copy of each open file until it runs its
            // program, so it can hold the lock of a file that this test has closed.
            Err(busy) if busy.to_string().contains("another run") => std::thread::yield_now(),
            opened => return opened,
        }
    }
}

/// A file that was read, with a stamp.
fn entry(checkpoint: &Checkpoint<'_>, number: u32) -> Entry {
    let tag = "0".repeat(checkpoint.header.bits / 4);
    let line =
        format!("file\t5\t{tag}\t2026-11-28\t1.000000000,2.000000000,{number},7\tf{number:03}");
    Entry::parse(line.as_bytes(), &checkpoint.header).unwrap()
}

/// Records the files of a range, with a seal after each.
fn record(checkpoint: &mut Checkpoint<'_>, numbers: std::ops::Range<u32>) {
    for number in numbers {
        checkpoint.record(&entry(checkpoint, number), &[]);
        checkpoint.save_if_due();
    }
}

fn all(checkpoint: &Checkpoint<'_>) -> Vec<Vec<u8>> {
    checkpoint.entries().unwrap().map(|entry| entry.unwrap().0.path).collect()
}

fn reason(result: Result<Checkpoint<'_>, Error>) -> String {
    result.err().expect("it is refused").to_string()
}

#[test]
fn a_cut_at_any_byte_leaves_what_was_sealed() {
    let (keys, folder) = (keys(), tempfile::tempdir().unwrap());
    let path = folder.path().join("c");
    let mut checkpoint = open(&path, &keys).unwrap();
    assert_eq!(all(&checkpoint), Vec::<Vec<u8>>::new());
    let mut ends = vec![checkpoint.length];
    for number in 0..4 {
        record(&mut checkpoint, number..number + 1);
        ends.push(checkpoint.length);
    }
    drop(checkpoint);
    let text = fs::read(&path).unwrap();
    assert_eq!(text.len() as u64, ends[4]);
    for cut in 0..=text.len() {
        fs::write(&path, &text[..cut]).unwrap();
        let sealed = ends.iter().filter(|&&end| end <= cut as u64).count();
        if sealed == 0 {
            let why = reason(open(&path, &keys));
            let known = ["damaged; remove it", "not a checkpoint of a seal"];
            assert!(known.iter().any(|known| why.contains(known)), "{cut}: {why}");
            continue;
        }
        let mut checkpoint = open(&path, &keys).unwrap();
        assert_eq!(all(&checkpoint).len(), sealed - 1, "{cut}");
        assert_eq!(fs::metadata(&path).unwrap().len(), ends[sealed - 1]);
        // The lines that the first run sealed stay above those that this one adds.
        record(&mut checkpoint, 0..4);
        drop(checkpoint);
        assert_eq!(fs::read(&path).unwrap(), text, "{cut}");
    }
}

#[test]
fn no_byte_can_be_changed() {
    let (keys, folder) = (keys(), tempfile::tempdir().unwrap());
    let path = folder.path().join("c");
    let mut checkpoint = open(&path, &keys).unwrap();
    record(&mut checkpoint, 0..3);
    let paths = all(&checkpoint);
    assert!(paths.is_empty(), "a run does not read its own lines");
    drop(checkpoint);
    let text = fs::read(&path).unwrap();
    let sealed = all(&open(&path, &keys).unwrap());
    assert_eq!(sealed.len(), 3);
    for at in 0..text.len() {
        let mut altered = text.clone();
        altered[at] ^= 1;
        fs::write(&path, &altered).unwrap();
        // Without its last seal, the last line was never sealed.
        match open(&path, &keys) {
            Ok(checkpoint) => assert_eq!(all(&checkpoint), sealed[..2], "{at}"),
            Err(error) => assert!(error.to_string().contains("checkpoint"), "{at}: {error}"),
        }
    }
    // Lines and seals from elsewhere in the file do not fit.
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    for one in HEAD + 1..lines.len() {
        for other in HEAD + 1..one {
            let mut swapped = lines.clone();
            swapped.swap(one, other);
            fs::write(&path, swapped.concat()).unwrap();
            if let Ok(checkpoint) = open(&path, &keys) {
                assert!(sealed.starts_with(&all(&checkpoint)), "{other} and {one}");
            }
        }
    }
}

#[test]
fn leaf_tags_are_sealed_and_complete() {
    let (keys, folder) = (keys(), tempfile::tempdir().unwrap());
    let path = folder.path().join("c");
    let open =
        |leaves| unlocked(|| Checkpoint::open(&path, &keys.0, &keys.1, ROOT, leaves, Some(0)));
    let mut checkpoint = open(Some(4096)).unwrap();
    let mut sealed = Vec::new();
    // Of one line and more, and of a file without leaves.
    for (number, count) in [(0, 1024), (1, 0), (2, 1025), (3, 2), (4, 3)] {
        let mut entry = entry(&checkpoint, number);
        entry.content.as_mut().unwrap().size = if count == 0 { 9 } else { count * 4096 };
        let tags: Vec<u8> = (0..count * 16).map(|i| (i * i / 7) as u8).collect();
        // Not complete, so it is not recorded.
        checkpoint.record(&entry, &[&tags[..], &[1]].concat());
        checkpoint.record(&entry, &tags);
        checkpoint.save_if_due();
        sealed.push((entry.path, tags));
    }
    drop(checkpoint);
    let found = |checkpoint: Checkpoint<'_>| -> Result<Vec<_>, Error> {
        let entries = checkpoint.entries()?;
        entries.map(|found| found.map(|(entry, tags)| (entry.path, tags))).collect()
    };
    assert_eq!(found(open(Some(4096)).unwrap()).unwrap(), sealed);
    for other in [None, Some(4112)] {
        let why = reason(open(other));
        assert!(why.contains("tags or leaves of another length"), "{why}");
    }
    // Each kept line must have its place, even under its seal.
    let text = fs::read(&path).unwrap();
    let head = HEAD + 1;
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let is_leaves = |number: &usize| lines[*number].starts_with(LEAVES);
    for number in (head..lines.len()).filter(is_leaves) {
        for copies in [0, 2] {
            let mut altered = lines.clone();
            altered.splice(number..=number, vec![lines[number]; copies]);
            altered.retain(|line| !line.starts_with(SEAL));
            let mut stream = keys.1.stream(&[]).unwrap();
            altered.iter().for_each(|line| stream.update(line));
            fs::write(&path, [altered.concat(), seal_line(&stream)].concat()).unwrap();
            let why = open(Some(4096)).err().expect("it is refused").to_string();
            assert!(why.contains("the checkpoint is damaged"), "{number}: {why}");
        }
    }
}

#[test]
fn a_checkpoint_serves_one_key_one_directory_and_one_run() {
    let (keys, folder) = (keys(), tempfile::tempdir().unwrap());
    let path = folder.path().join("c");
    let held = open(&path, &keys).unwrap();
    let second = Checkpoint::open(&path, &keys.0, &keys.1, ROOT, None, Some(0));
    assert!(reason(second).ends_with("c: another run is using this file"));
    drop(held);
    let other = Identity { inode: 9, ..ROOT };
    let why = reason(unlocked(|| Checkpoint::open(&path, &keys.0, &keys.1, other, None, None)));
    assert!(why.contains("is for another directory"), "{why}");
    let (key, mac) = key(9);
    let why = reason(unlocked(|| Checkpoint::open(&path, &key, &mac, ROOT, None, None)));
    assert!(why.contains("sealed under another key: expected key id"), "{why}");
    open(&path, &keys).unwrap().done();
    assert!(!path.exists());
}

#[cfg(all(feature = "fault-injection", debug_assertions))]
#[test]
fn a_failed_save_keeps_what_was_sealed() {
    let (keys, folder) = (keys(), tempfile::tempdir().unwrap());
    let path = folder.path().join("c");
    for calls in 0..12 {
        let _ = fs::remove_file(&path);
        let mut count = 0;
        let place = path.clone();
        let fault = move |_: &str| {
            count += 1;
            (count > calls).then_some(faults::HookedFault::Short(30, 28))
        };
        faults::with_hook(fault, || {
            if let Ok(mut checkpoint) = open(&place, &keys) {
                record(&mut checkpoint, 0..3);
            }
        });
        let sealed = all(&open(&path, &keys).unwrap());
        assert!(sealed.len() <= 3, "{calls}");
    }
}
