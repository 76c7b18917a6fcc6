//! Seals that are interrupted and resume from a checkpoint.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use tagmac_files::Error;
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::Progress;
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealCounts, SealOptions, Sealing};

use super::key;
use super::nights::{settle, tree};

/// Stops a run after a number of entries, and counts the bytes read.
struct Stop {
    after: usize,
    entries: AtomicUsize,
    bytes: AtomicUsize,
}

impl Stop {
    fn new(after: usize) -> Stop {
        Stop { after, entries: AtomicUsize::new(0), bytes: AtomicUsize::new(0) }
    }
}

impl Progress for Stop {
    fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn skip(&self, _: u64) {}

    fn file(&self) {
        self.entries.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.entries.load(Ordering::Relaxed) >= self.after
    }
}

fn run(
    keys: &(OpenKey, RawKey),
    options: SealOptions<'_>,
    stop: &Stop,
) -> Result<SealCounts, Error> {
    Sealing::new(&keys.0, &keys.1, options)?.run(stop)
}

/// Returns the columns of the entries of a manifest, without their days.
fn entries(manifest: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(manifest).unwrap();
    let lines = text.lines().filter(|line| line.contains('\t'));
    let mut entries: Vec<Vec<_>> =
        lines.map(|line| line.split('\t').map(String::from).collect()).collect();
    entries.iter_mut().for_each(|columns| drop(columns.remove(3)));
    entries
}

#[test]
fn what_an_interrupted_run_read_is_not_read_again() {
    let (keys, place) = (key(), tree(9));
    let (root, plain) = (place.path().join("d"), place.path().join("plain"));
    let (output, saved) = (place.path().join("m"), place.path().join("c"));
    settle(place.path());
    let options = SealOptions { threads: 1, ..SealOptions::new(&root, &plain) };
    let all = Stop::new(usize::MAX);
    run(&keys, options, &all).unwrap();
    let bytes = all.bytes.into_inner();
    // Nine files and three directories.
    for after in 1..=11 {
        let options =
            SealOptions { output: &output, checkpoint: Some(&saved), new_chain: true, ..options };
        let stop = Stop::new(after);
        run(&keys, options, &stop).unwrap_err();
        assert!(!output.exists() && saved.exists());
        let again = Stop::new(usize::MAX);
        let counts = run(&keys, options, &again).unwrap();
        assert_eq!((counts.files, counts.carried), (9, 0));
        assert_eq!(counts.resumed as usize, 9 - again.bytes.into_inner() * 9 / bytes, "{after}");
        // At most three of the entries before the stop are directories.
        assert!(counts.resumed as usize + 3 >= after, "{after}: {}", counts.resumed);
        assert!(!saved.exists());
        assert_eq!(entries(&output), entries(&plain));
        fs::remove_file(&output).unwrap();
    }
}

#[test]
fn leaf_tags_of_an_interrupted_run_are_kept() {
    let (keys, place) = (key(), tree(9));
    let (root, plain) = (place.path().join("d"), place.path().join("plain"));
    let (output, saved) = (place.path().join("m"), place.path().join("c"));
    for (number, leaves) in [(0, 2), (1, 0), (3, 1), (4, 3000), (8, 5)] {
        let path = root.join((number % 3).to_string()).join(format!("f{number}"));
        fs::write(path, vec![number as u8; leaves * 4096 + 9]).unwrap();
    }
    settle(place.path());
    let sealed = ManifestOptions { leaves: Some(4096), ..ManifestOptions::default() };
    let options = SealOptions { threads: 1, sealed, ..SealOptions::new(&root, &plain) };
    run(&keys, options, &Stop::new(usize::MAX)).unwrap();
    let tags = fs::read(place.path().join("plain.1.leaves")).unwrap();
    assert!(tags.len() > 3000 * 16);
    let options =
        SealOptions { output: &output, checkpoint: Some(&saved), new_chain: true, ..options };
    for after in 1..=11 {
        // The second run is interrupted too.
        for after in [after, (after + 3).min(11)] {
            run(&keys, options, &Stop::new(after)).unwrap_err();
        }
        let again = Stop::new(usize::MAX);
        let counts = run(&keys, options, &again).unwrap();
        assert_eq!((counts.files, counts.carried), (9, 0));
        assert!(counts.resumed as usize + 3 >= after, "{after}: {}", counts.resumed);
        assert!(fs::read(place.path().join("m.1.leaves")).unwrap() == tags, "{after}");
        assert_eq!(entries(&output), entries(&plain));
    }
}

#[test]
fn a_file_that_changed_since_is_read_again() {
    let (keys, place) = (key(), tree(9));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    let saved = place.path().join("c");
    settle(place.path());
    let options = SealOptions {
        threads: 1,
        checkpoint: Some(&saved),
        checkpoint_every: Some(1),
        ..SealOptions::new(&root, &output)
    };
    run(&keys, options, &Stop::new(11)).unwrap_err();
    fs::write(root.join("0/f3"), "other!").unwrap();
    fs::remove_file(root.join("1/f4")).unwrap();
    fs::create_dir(root.join("1/f4")).unwrap();
    fs::write(root.join("1/f4/new"), "new").unwrap();
    let kept = fs::read(&saved).unwrap();
    // A run that resumes may be interrupted too.
    for after in [1, 5, 9, 12] {
        run(&keys, options, &Stop::new(after)).unwrap_err();
        assert!(fs::read(&saved).unwrap().starts_with(&kept));
    }
    let counts = run(&keys, options, &Stop::new(usize::MAX)).unwrap();
    assert_eq!((counts.files, counts.directories), (9, 4));
    assert!((6..=7).contains(&counts.resumed), "{}", counts.resumed);
    let text = entries(&output);
    let plain = place.path().join("plain");
    let options = SealOptions { checkpoint: None, output: &plain, ..options };
    run(&keys, options, &Stop::new(usize::MAX)).unwrap();
    let without_stamp = |mut entries: Vec<Vec<String>>| {
        entries.iter_mut().for_each(|columns| drop(columns.remove(3)));
        entries
    };
    assert_eq!(without_stamp(text), without_stamp(entries(&plain)));
}

#[test]
fn a_checkpoint_in_the_tree_is_left_out() {
    let (keys, place) = (key(), tree(3));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    let saved = root.join("0/c");
    let options = SealOptions { checkpoint: Some(&saved), ..SealOptions::new(&root, &output) };
    let counts = run(&keys, options, &Stop::new(usize::MAX)).unwrap();
    assert_eq!(counts.files, 3);
    let options = SealOptions { checkpoint: Some(&output), ..options };
    let error = run(&keys, options, &Stop::new(usize::MAX)).unwrap_err().to_string();
    assert!(error.ends_with("the checkpoint would be the manifest"), "{error}");
    assert_eq!(entries(&output).len(), 6);
}
