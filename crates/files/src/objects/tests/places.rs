//! Whole manifests in a directory.

use std::fs;
use std::path::Path;

use super::{key, object};
use crate::objects::{
    Folder, ManifestKey, Object, ObjectManifest, ROOT, SHARD_ENTRIES, Start, Totals, Writer,
};

fn write(
    key: &ManifestKey,
    place: &Path,
    replace: bool,
    objects: impl Iterator<Item = Object>,
) -> Result<Totals, String> {
    let place = Folder::new(place);
    let start = Start { replace, ..Start::default() };
    let mut writer = Writer::new(key, &place, start).map_err(|error| error.to_string())?;
    for object in objects {
        writer.push(&object).map_err(|error| error.to_string())?;
    }
    writer.finish().map_err(|error| error.to_string())
}

fn files(place: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<String> =
        fs::read_dir(place).unwrap().map(|entry| name(entry).unwrap()).collect();
    names.sort();
    names
}

fn replacing() -> Start<'static> {
    Start { replace: true, ..Start::default() }
}

/// Objects with one tag; only their order matters here.
fn many(count: usize, byte: u8) -> impl Iterator<Item = Object> {
    let (mac, _) = key("PMAC-AES128", 128, 7);
    let one = object(&mac, &[byte]);
    (0..count).map(move |i| Object { name: format!("{i:08}").into_bytes(), ..one.clone() })
}

#[test]
fn shards_are_cut_at_65536_and_read_one_after_the_other() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let place = tempfile::tempdir().unwrap();
    for (count, shards) in [(0, 0), (1, 1), (SHARD_ENTRIES, 1), (SHARD_ENTRIES + 1, 2)] {
        let place = place.path().join(count.to_string());
        let totals = write(&key, &place, false, many(count, 1)).unwrap();
        let expected = Totals { shards, entries: count as u64, bytes: count as u64 };
        assert_eq!(totals, expected);
        assert_eq!(files(&place).len() as u64, shards + 1);
        let place = Folder::new(&place);
        let manifest = ObjectManifest::open(&key, &place).unwrap();
        assert_eq!(manifest.root.entries, count as u64);
        assert!(manifest.objects().map(Result::unwrap).eq(many(count, 1)));
    }
}

#[test]
fn a_manifest_is_replaced_only_if_that_is_asked_for() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("m");
    write(&key, &place, false, many(3, 1)).unwrap();
    let before = files(&place);
    let error = write(&key, &place, false, many(3, 2)).unwrap_err();
    assert!(error.ends_with("m/root: the manifest exists"), "{error}");
    assert_eq!(files(&place), before);
    // The same content produces the same files; other content leaves none of the old ones.
    write(&key, &place, true, many(3, 1)).unwrap();
    assert_eq!(files(&place), before);
    write(&key, &place, true, many(3, 2)).unwrap();
    let after = files(&place);
    assert_eq!((after.len(), &*after[0]), (2, ROOT));
    assert_ne!(after, before);
    // A file that is not a manifest is kept.
    fs::write(place.join(ROOT), "a photo").unwrap();
    let error = write(&key, &place, true, many(1, 1)).unwrap_err();
    assert!(error.ends_with("the file exists and is not a manifest's root"));
    assert_eq!(fs::read(place.join(ROOT)).unwrap(), b"a photo");
}

#[test]
fn until_the_root_is_there_the_old_manifest_is_whole() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    write(&key, folder.path(), false, many(3, 1)).unwrap();
    let mut writer = Writer::new(&key, &place, replacing()).unwrap();
    for object in many(SHARD_ENTRIES, 2) {
        writer.push(&object).unwrap();
    }
    // As after a kill: one new shard exists.
    drop(writer);
    assert_eq!(files(folder.path()).len(), 3);
    let manifest = ObjectManifest::open(&key, &place).unwrap();
    assert!(manifest.objects().map(Result::unwrap).eq(many(3, 1)));
}

#[test]
fn names_out_of_order_are_refused_across_shards() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let twice = many(SHARD_ENTRIES, 1).chain(many(SHARD_ENTRIES, 1).skip(SHARD_ENTRIES - 1));
    let error = write(&key, folder.path(), false, twice).unwrap_err();
    assert_eq!(error, "00065535: added after 00065535; names must be in byte order");
    assert!(!folder.path().join(ROOT).exists());
}

#[test]
fn what_is_missing_or_longer_is_named() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let open = || ObjectManifest::open(&key, &place).map(|_| ()).unwrap_err().to_string();
    assert!(open().ends_with("/root: the manifest has no root"), "{}", open());
    write(&key, folder.path(), false, many(3, 1)).unwrap();
    let shard = folder.path().join(&files(folder.path())[1]);
    let read = || {
        let manifest = ObjectManifest::open(&key, &place).unwrap();
        let mut objects = manifest.objects();
        let error = objects.next().unwrap().unwrap_err().to_string();
        assert!(objects.next().is_none());
        error
    };
    let text = fs::read(&shard).unwrap();
    fs::write(&shard, [&*text, b"\n"].concat()).unwrap();
    let what = format!(": longer than {} bytes", text.len());
    assert!(read().ends_with(&what), "{}", read());
    fs::remove_file(&shard).unwrap();
    assert!(read().ends_with(": the shard is missing"), "{}", read());
    // Reading does not wait for the other end of a pipe.
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &shard,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert!(read().contains("pipe"), "{}", read());
    // A root over the limit is not read.
    fs::File::create(folder.path().join(ROOT)).unwrap().set_len((64 << 20) + 1).unwrap();
    assert!(open().ends_with("/root: longer than 67108864 bytes"));
}

/// If two seals run at once, the one that ends last fails and does not touch the other's files.
#[test]
fn of_two_seals_at_once_one_is_refused_and_the_manifest_is_whole() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    // Each case: a manifest exists before, and the contents that the two seal.
    for (is_there, one, other) in [(true, 2, 3), (true, 2, 2), (true, 1, 2), (false, 2, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder::new(folder.path());
        if is_there {
            write(&key, folder.path(), false, many(3, 1)).unwrap();
        }
        let begun = |byte| {
            let mut writer = Writer::new(&key, &place, replacing()).unwrap();
            for object in many(SHARD_ENTRIES + 1, byte) {
                writer.push(&object).unwrap();
            }
            writer
        };
        let (first, second) = (begun(one), begun(other));
        first.finish().unwrap();
        let error = second.finish().unwrap_err().to_string();
        let expected =
            if is_there { "another seal ran meanwhile" } else { "/root: the file exists" };
        assert!(error.contains("/root: ") && error.ends_with(expected), "{error}");
        let manifest = ObjectManifest::open(&key, &place).unwrap();
        let whole = manifest.objects().map(Result::unwrap).eq(many(SHARD_ENTRIES + 1, one));
        assert!(whole, "{is_there} {one} {other}");
        assert_eq!(files(folder.path()).len(), 3);
    }
}

#[test]
fn what_another_seal_removed_is_missed_before_the_root_is_written() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    write(&key, folder.path(), false, many(3, 1)).unwrap();
    let before = files(folder.path());
    let mut writer = Writer::new(&key, &place, replacing()).unwrap();
    for object in many(SHARD_ENTRIES, 2) {
        writer.push(&object).unwrap();
    }
    let shard = files(folder.path()).into_iter().find(|file| !before.contains(file)).unwrap();
    fs::remove_file(folder.path().join(&shard)).unwrap();
    let error = writer.finish().unwrap_err().to_string();
    let expected = ": the file was removed: another seal ran meanwhile";
    assert!(error.ends_with(&format!("/{shard}{expected}")), "{error}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_seal_that_is_abandoned_leaves_the_shards_of_the_manifest_that_is_there() {
    let (_, key) = key("PMAC-AES128", 128, 7);
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::new(folder.path());
    let begun = |byte| {
        let mut writer = Writer::new(&key, &place, replacing()).unwrap();
        many(SHARD_ENTRIES, byte).for_each(|object| writer.push(&object).unwrap());
        writer
    };
    let abandoned = begun(2);
    write(&key, folder.path(), true, many(SHARD_ENTRIES, 2)).unwrap();
    abandoned.abandon();
    let manifest = ObjectManifest::open(&key, &place).unwrap();
    assert!(manifest.objects().map(Result::unwrap).eq(many(SHARD_ENTRIES, 2)));
    // A seal removes its own shards, which no root names.
    begun(3).abandon();
    assert_eq!(files(folder.path()).len(), 2);
}
