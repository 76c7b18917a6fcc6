//! Seals and audits that do not read everything.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tagmac_files::ReadError;
use tagmac_files::audit::{Audited, Plan, Status, TreeAudit};
use tagmac_files::dir;
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::name_list::NameList;
use tagmac_files::open_key::OpenKey;
use tagmac_files::position::{Arcs, Positions};
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealCounts, SealOptions, Sealing};
use tagmac_files::walk;

use super::{everything, key};

/// A tree of `files` small files in `d`, and a place for manifests.
pub fn tree(files: usize) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for number in 0..files {
        let folder = place.path().join(format!("d/{}", number % 3));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("f{number}")), format!("text {number}")).unwrap();
    }
    place
}

/// Waits until the last change of the tree is so old that its stamps are recorded.
pub fn settle(place: &Path) {
    let mut last = 0;
    walk::files(place, |_, file| -> Result<(), ReadError> {
        last = last.max(file?.1.ctime());
        Ok(())
    })
    .unwrap();
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() as i64;
    while now() <= last + 3 {
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

fn seal(keys: &(OpenKey, RawKey), options: SealOptions<'_>) -> SealCounts {
    Sealing::new(&keys.0, &keys.1, options).unwrap().run(&()).unwrap()
}

/// Audits with a plan. Returns the paths with each verdict that is not "unchanged".
fn audit(
    keys: &(OpenKey, RawKey),
    manifest: &Path,
    root: &Path,
    plan: &Plan,
    paths: &[Vec<u8>],
) -> (Vec<String>, Audited) {
    let mut audit = TreeAudit::open(&keys.0, &keys.1, manifest, root).unwrap();
    audit.exclude(Ok(Vec::new())).unwrap();
    let mut lines = Vec::new();
    let put = &mut |path: &[u8], _: &'static str, status: Status<'_>, _| {
        if !matches!(status, Status::Unchanged) {
            lines.push(format!("{}: {}", String::from_utf8_lossy(path), status.word()));
        }
    };
    let audited = audit.run(plan, paths, 2, &(), put).unwrap();
    (lines, audited)
}

#[test]
fn files_that_show_no_change_are_carried_over() {
    let (keys, place) = (key(), tree(9));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    settle(place.path());
    let first = SealOptions::new(&root, &output);
    assert_eq!(seal(&keys, first).carried, 0);
    let text = fs::read_to_string(&output).unwrap();
    let since = SealOptions { since: Some(&output), ..first };
    assert_eq!(seal(&keys, since).carried, 9);
    let again = fs::read_to_string(&output).unwrap();
    let entries = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains('\t')).map(String::from).collect()
    };
    assert_eq!(entries(&text), entries(&again));
    assert!(again.contains("\nsequence: 2 "), "{again}");
    // A write, a file put in its place, and a new name are read.
    fs::write(root.join("0/f0"), "other!").unwrap();
    fs::write(place.path().join("x"), "text 1").unwrap();
    fs::rename(place.path().join("x"), root.join("1/f1")).unwrap();
    fs::rename(root.join("2/f2"), root.join("2/f20")).unwrap();
    assert_eq!(seal(&keys, since).carried, 6);
    let (lines, _) = audit(&keys, &output, &root, &everything(&keys.1), &[]);
    assert_eq!(lines, [] as [&str; 0]);
}

#[test]
fn a_write_in_the_same_step_of_the_clock_is_not_carried_over() {
    // The file is written just before it is sealed, so it has no stamp, whatever the clock's step.
    let (keys, place) = (key(), tree(1));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    let options = SealOptions::new(&root, &output);
    fs::write(root.join("0/f0"), "one").unwrap();
    seal(&keys, options);
    fs::write(root.join("0/f0"), "two").unwrap();
    let since = SealOptions { since: Some(&output), ..options };
    assert_eq!(seal(&keys, since).carried, 0);
    let (lines, _) = audit(&keys, &output, &root, &everything(&keys.1), &[]);
    assert_eq!(lines, [] as [&str; 0]);
}

#[test]
fn the_parts_of_a_tree_are_read_once_each() {
    let (keys, place) = (key(), tree(60));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    seal(&keys, SealOptions::new(&root, &output));
    let positions = Positions::new(&keys.1);
    let mut read = 0;
    for part in 1..=7 {
        let arcs = Arcs::part(part, 7).unwrap();
        let name = |number| format!("{}/f{number}", number % 3);
        let inside = (0..60).filter(|&number| arcs.contains(positions.of(name(number).as_bytes())));
        let expected = inside.count() as u64;
        let plan = Plan { positions: Positions::new(&keys.1), arcs, ledger: None, leaves: None };
        let (lines, Audited { tally, .. }) = audit(&keys, &output, &root, &plan, &[]);
        assert_eq!((tally.files, tally.read, tally.exceptions.len()), (60, expected, 0));
        assert_eq!(lines.len() as u64, 60 - expected);
        assert!(lines.iter().all(|line| line.ends_with(": not read")), "{lines:?}");
        read += tally.read;
    }
    assert_eq!(read, 60);
    // The part that has the file finds its change, and counts it as an exception.
    fs::write(root.join("0/f0"), "TEXT 0").unwrap();
    let arcs = Arcs::arc(positions.of(b"0/f0"), 1);
    let plan = Plan { positions, arcs, ledger: None, leaves: None };
    let (lines, Audited { tally, .. }) = audit(&keys, &output, &root, &plan, &[]);
    assert_eq!((tally.read, tally.exceptions.len()), (1, 1));
    assert!(lines.contains(&"0/f0: changed".into()), "{lines:?}");
}

#[test]
fn filters_are_sealed_and_applied_by_the_audit() {
    let (keys, place) = (key(), tree(6));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    fs::write(root.join("0/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55 x")
        .unwrap();
    fs::write(root.join("1/a.tmp"), "").unwrap();
    let filters = [b"*.tmp".to_vec()];
    let sealed = ManifestOptions { exclude_caches: true, ..ManifestOptions::default() };
    let options = SealOptions { filters: &filters, sealed, ..SealOptions::new(&root, &output) };
    let counts = seal(&keys, options);
    assert_eq!((counts.files, counts.left_out), (4, 2));
    fs::write(root.join("2/b.tmp"), "").unwrap();
    fs::write(root.join("0/new"), "").unwrap();
    let (lines, audited) = audit(&keys, &output, &root, &everything(&keys.1), &[]);
    assert_eq!((lines.len(), audited.left_out), (0, 3));
    // No other file can hide.
    fs::write(root.join("2/c.bak"), "").unwrap();
    let (lines, _) = audit(&keys, &output, &root, &everything(&keys.1), &[]);
    assert_eq!(lines, ["2/c.bak: new"]);
}

#[test]
fn a_list_names_all_that_is_sealed() {
    let (keys, place) = (key(), tree(6));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    let mut list = NameList::split(b"2/f5\n0/f3\n2/f5\n1".to_vec(), b'\n');
    list.sort(dir::order);
    let options = SealOptions { list: Some(&list), ..SealOptions::new(&root, &output) };
    let counts = seal(&keys, options);
    assert_eq!((counts.files, counts.directories), (2, 3));
    fs::write(root.join("2/new"), "").unwrap();
    let (lines, _) = audit(&keys, &output, &root, &everything(&keys.1), &[]);
    assert_eq!(lines, [] as [&str; 0]);
    fs::remove_file(root.join("2/f5")).unwrap();
    let (lines, _) = audit(&keys, &output, &root, &everything(&keys.1), &[]);
    assert_eq!(lines, ["2/f5: missing"]);
    let (lines, audited) = audit(&keys, &output, &root, &everything(&keys.1), &[b"0".to_vec()]);
    assert_eq!((lines.len(), audited.tally.files), (0, 1));
    let unknown = [b"3".to_vec()];
    let opened = TreeAudit::open(&keys.0, &keys.1, &output, &root).unwrap();
    let plan = everything(&keys.1);
    let error = opened.run(&plan, &unknown, 1, &(), &mut |_, _, _, _| ()).unwrap_err();
    assert_eq!(error.to_string(), "3: the manifest has no entry with this path");
    // A path whose directory is a file.
    let list = NameList::split(b"0/f3/x".to_vec(), b'\n');
    let options = SealOptions { list: Some(&list), ..SealOptions::new(&root, &output) };
    let error = Sealing::new(&keys.0, &keys.1, options).unwrap().run(&()).unwrap_err();
    assert!(error.to_string().ends_with("1 entry could not be sealed"), "{error}");
}

#[test]
fn a_chain_goes_on_and_is_not_broken_silently() {
    let (keys, place) = (key(), tree(1));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    let options = SealOptions::new(&root, &output);
    let chain = || {
        let audit = TreeAudit::open(&keys.0, &keys.1, &output, &root).unwrap();
        (audit.manifest().header.chain.clone(), audit.manifest().seal)
    };
    seal(&keys, options);
    let (first, first_seal) = chain();
    assert_eq!((first.sequence, first.first, first.links.len()), (1, None, 0));
    for sequence in 2..5 {
        let (before, before_seal) = chain();
        seal(&keys, options);
        let (now, now_seal) = chain();
        assert_eq!((now.sequence, now.name(now_seal)), (sequence, first_seal));
        assert_eq!(now.links.len() as u64, sequence - 1);
        assert_eq!((now.links[0].sequence, now.links[0].seal), (before.sequence, before_seal));
    }
    // One that was changed cannot be continued; a new chain can replace it.
    let text = fs::read_to_string(&output).unwrap();
    fs::write(&output, text.replace("entries: 2", "entries: 3")).unwrap();
    let error = Sealing::new(&keys.0, &keys.1, options).err().unwrap().to_string();
    assert!(error.starts_with("the new manifest cannot continue the old one: "), "{error}");
    seal(&keys, SealOptions { new_chain: true, ..options });
    assert_eq!(chain().0.sequence, 1);
}

#[test]
fn of_two_runs_at_once_one_fails() {
    let (keys, place) = (key(), tree(1));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    let options = SealOptions::new(&root, &output);
    for _ in 0..2 {
        let first = Sealing::new(&keys.0, &keys.1, options).unwrap();
        seal(&keys, options);
        let error = first.run(&()).unwrap_err().to_string();
        assert!(
            error.ends_with("not written, as another program replaced or removed it meanwhile")
        );
    }
    let audit = TreeAudit::open(&keys.0, &keys.1, &output, &root).unwrap();
    assert_eq!(audit.manifest().header.chain.sequence, 2);
}

#[test]
fn a_file_that_is_no_manifest_is_kept() {
    let (keys, place) = (key(), tree(1));
    let (root, output) = (place.path().join("d"), place.path().join("m"));
    fs::write(&output, "a photograph").unwrap();
    let error = Sealing::new(&keys.0, &keys.1, SealOptions::new(&root, &output)).err().unwrap();
    assert!(error.to_string().ends_with("the file exists and is not a manifest"), "{error}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "a photograph");
}
