//! Verified reads of a sealed tree while its files, its manifest and its leaf tags change. The first
//! byte chooses the MAC, and operations follow: changes, reads, searches for damage and repairs. The
//! last one may seal the rest of the input as the lines of a manifest.
//!
//! A reader may fail, but what it returns are the sealed bytes of that place of that version.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use tagmac::Tag;
use tagmac_files::chain::Chain;
use tagmac_files::day::Day;
use tagmac_files::error::{Error, ErrorKind};
use tagmac_files::fuzzing::entries;
use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::repair::repair;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::{Leaf, VerifiedFile};
use tagmac_files::manifest::header::Header;
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::manifest::seal_mac;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealOptions, Sealing};

use crate::input::{Input, pattern};
use crate::plant::Plant;
use crate::subject::{any, count};

/// Whole blocks of every MAC.
const LEAF: usize = 4080;
/// The sealed files: of four leaves, of two that the first one has too, without leaves, and empty.
const PATHS: [&str; 4] = ["a", "d/b", "s", "z"];
/// All files: those of the tree, a copy of the first one, the manifest and the leaf tags of both
/// versions.
const FILES: [&str; 8] = ["t/a", "t/d/b", "t/s", "t/z", "copy", "m", "m.1.leaves", "m.2.leaves"];
const COPY: usize = 4;
const MANIFEST: usize = 5;
/// Operations in a run.
const MAX_OPERATIONS: usize = 24;

/// The key, and two versions of all files.
struct Sealed {
    raw: RawKey,
    key: OpenKey,
    versions: [Version; 2],
}

struct Version {
    seal: Tag,
    /// By `FILES`. The leaf tags of the other version are empty.
    files: [Vec<u8>; FILES.len()],
}

/// The MACs that make leaf tags.
static ALL: LazyLock<Vec<(u8, OnceLock<Sealed>)>> = LazyLock::new(|| {
    let makes_leaves = |&choice: &u8| {
        let (algorithm, most) = (any(choice).algorithm, any(choice).best().max_message_bytes());
        algorithm.block().is_some_and(|block| LEAF.is_multiple_of(block))
            && !algorithm.takes_nonce()
            && most.is_none_or(|most| most >= 4 * LEAF as u64)
    };
    (0..count()).filter(makes_leaves).map(|choice| (choice, OnceLock::new())).collect()
});

impl Sealed {
    fn of(choice: u8) -> &'static Sealed {
        let (subject, sealed) = &ALL[usize::from(choice) % ALL.len()];
        sealed.get_or_init(|| {
            let (raw, key) = (any(*subject).raw_key(), any(*subject).open_key());
            let folder = Folder::new();
            let a = pattern(1, 3 * LEAF + 100);
            let b = [&a[LEAF..2 * LEAF], &a[..LEAF]].concat();
            let mut a2 = a.clone();
            a2[2 * LEAF] ^= 1;
            let contents = [[a, b.clone(), pattern(2, 100)], [a2, b, pattern(3, 101)]];
            let versions = contents.map(|[a, b, s]| {
                for (name, bytes) in FILES.iter().zip([&a, &b, &s, &Vec::new(), &a]) {
                    fs::write(folder.path(name), bytes).expect("a file");
                }
                let (root, manifest) = (folder.path("t"), folder.path(FILES[MANIFEST]));
                let sealed =
                    ManifestOptions { leaves: Some(LEAF as u64), ..ManifestOptions::default() };
                let options = SealOptions { sealed, ..SealOptions::new(&root, &manifest) };
                let sealing = Sealing::new(&key, &raw, options).expect("it can be sealed");
                sealing.run(&()).expect("it can be sealed");
                let contents = Contents::open(&key, &raw, &manifest).expect("its own manifest");
                let read = |name| fs::read(folder.path(name)).unwrap_or_default();
                Version { seal: contents.seal(), files: FILES.map(read) }
            });
            Sealed { raw, key, versions }
        })
    }
}

/// A folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let memory = Path::new("/dev/shm");
        let temporary = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = temporary.join(format!("tagmac-leaves-{}-{number}", process::id()));
        let folder = Folder(folder);
        fs::create_dir_all(folder.path("t/d")).expect("a folder");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Leftovers are small.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// All files, and the reader.
struct State {
    sealed: &'static Sealed,
    folder: Folder,
    /// The bytes of `FILES`.
    files: [Vec<u8>; FILES.len()],
    /// The tree, and the version that its manifest seals.
    tree: Option<(SealedTree, usize)>,
    /// An open file, its number, its version, and the last leaf.
    open: Option<(VerifiedFile, usize, usize, Leaf)>,
}

pub fn run(data: &[u8]) {
    let input = &mut Input::new(data);
    let sealed = Sealed::of(input.byte());
    let mut files = sealed.versions[1].files.clone();
    files[MANIFEST + 1].clone_from(&sealed.versions[0].files[MANIFEST + 1]);
    let mut state = State { sealed, folder: Folder::new(), files, tree: None, open: None };
    for number in 0..FILES.len() {
        state.put(number);
    }
    for _ in 0..MAX_OPERATIONS {
        if input.is_empty() {
            break;
        }
        match input.byte() % 10 {
            0 => state.alter(input),
            1 => state.cut(input),
            2 => state.splice(input),
            3 => state.restore(input),
            4 => state.open_tree(),
            5 => state.open_file(input),
            6 => state.read(input),
            7 => state.damage(input),
            8 => state.repair(input),
            _ => return state.lines(input),
        }
    }
}

impl State {
    /// Writes a file in place, so that open files change.
    fn put(&self, number: usize) {
        fs::write(self.folder.path(FILES[number]), &self.files[number]).expect("a file");
    }

    fn alter(&mut self, input: &mut Input<'_>) {
        let number = input.up_to(FILES.len() - 1);
        let file = &mut self.files[number];
        let at = input.up_to(0xffff).checked_rem(file.len()).unwrap_or_default();
        let mask = input.byte();
        file.get_mut(at).into_iter().for_each(|byte| *byte ^= mask);
        self.put(number);
    }

    fn cut(&mut self, input: &mut Input<'_>) {
        let number = input.up_to(FILES.len() - 1);
        self.files[number].resize(input.up_to(5 * LEAF), 0);
        self.put(number);
    }

    fn splice(&mut self, input: &mut Input<'_>) {
        let (from, to) = (input.up_to(FILES.len() - 1), input.up_to(FILES.len() - 1));
        let unit = [1, 16, LEAF][input.up_to(2)];
        let (start, at, count) = (input.byte(), input.byte(), input.byte());
        let [start, at, count] = [start, at, count].map(|number| usize::from(number) * unit);
        let bytes = self.files[from].get(start..).unwrap_or_default();
        let bytes = bytes[..count.min(bytes.len())].to_vec();
        let to_bytes = self.files[to].get_mut(at..).unwrap_or_default();
        let count = bytes.len().min(to_bytes.len());
        to_bytes[..count].copy_from_slice(&bytes[..count]);
        self.put(to);
    }

    fn restore(&mut self, input: &mut Input<'_>) {
        let (number, version) = (input.up_to(FILES.len() - 1), input.up_to(1));
        self.files[number].clone_from(&self.sealed.versions[version].files[number]);
        self.put(number);
    }

    fn open_tree(&mut self) {
        let Sealed { raw, key, versions } = self.sealed;
        let manifest = self.folder.path(FILES[MANIFEST]);
        self.tree = match SealedTree::open(key, raw, &manifest, &self.folder.path("t")) {
            Ok(tree) => {
                let seal = tree.contents().seal();
                let version = versions.iter().position(|version| version.seal == seal);
                Some((tree, version.expect("must be a manifest that was sealed")))
            }
            Err(error) => {
                let is_sealed = |version: &Version| version.files[MANIFEST] == self.files[MANIFEST];
                assert!(!versions.iter().any(is_sealed), "must open the manifest: {error}");
                None
            }
        };
    }

    fn open_file(&mut self, input: &mut Input<'_>) {
        let number = input.up_to(PATHS.len() - 1);
        let Some((tree, version)) = &mut self.tree else { return };
        let version = *version;
        let opened = tree.file(PATHS[number].as_bytes());
        match opened {
            Ok(file) => {
                let expected = self.sealed.versions[version].files[number].len() as u64;
                assert_eq!(file.content().size(), expected, "must have the sealed size");
                self.open = Some((file, number, version, Leaf::default()));
            }
            Err(error) => self.failed(&error, number, version),
        }
    }

    /// Checks an error of a reader: the sealed files can be read.
    fn failed(&self, error: &Error, number: usize, version: usize) {
        let is_expected = matches!(error.kind(), ErrorKind::Mismatch | ErrorKind::Io);
        assert!(is_expected, "{:?}: {error}", error.kind());
        let intact = self.is_intact(number, version) && self.has_tags(version);
        assert!(!intact, "must read {}: {error}", PATHS[number]);
    }

    fn is_intact(&self, number: usize, version: usize) -> bool {
        self.files[number] == self.sealed.versions[version].files[number]
    }

    /// Returns whether the manifest and its leaf tags are those of the version.
    fn has_tags(&self, version: usize) -> bool {
        self.is_intact(MANIFEST, version) && self.is_intact(MANIFEST + 1 + version, version)
    }

    fn read(&mut self, input: &mut Input<'_>) {
        let offset = match input.byte() {
            0xff => u64::MAX - input.byte() as u64,
            0xfe => 1 << (input.byte() % 64),
            leaf => u64::from(leaf % 6) * LEAF as u64 + input.byte() as u64,
        };
        let mut out = vec![0; input.up_to(4 * LEAF)];
        let Some((file, number, version, leaf)) = &mut self.open else { return };
        let (number, version) = (*number, *version);
        let sealed = &self.sealed.versions[version].files[number];
        let expected = usize::try_from(offset).ok().and_then(|offset| sealed.get(offset..));
        let expected = expected.unwrap_or_default();
        match file.read_at(&mut out, offset, leaf) {
            Ok(mut read) => {
                let now = || self.files[number].get(offset as usize..).unwrap_or_default();
                if Plant::LeafUnverified.is_set() && read > 0 {
                    let rest = now().get(read..).unwrap_or_default().iter().zip(&mut out[read..]);
                    read += rest.map(|(from, to)| *to = *from).count();
                }
                if Plant::ReadAgain.is_set() {
                    out.iter_mut().zip(now()).take(read).for_each(|(to, from)| *to = *from);
                }
                assert_eq!(read == 0, out.is_empty() || expected.is_empty(), "0 only at the end");
                assert!(read <= expected.len(), "must not read past the sealed end");
                assert!(out[..read] == expected[..read], "must be the bytes that were sealed");
            }
            Err(error) => {
                assert!(out.iter().all(|&byte| byte == 0), "must release nothing on an error");
                self.failed(&error, number, version);
            }
        }
    }

    fn damage(&mut self, input: &mut Input<'_>) {
        let number = input.up_to(PATHS.len() - 1);
        let Some((tree, version)) = &mut self.tree else { return };
        let version = *version;
        let found = tree.damage(PATHS[number].as_bytes(), &());
        let (sealed, now) = (&self.sealed.versions[version].files[number], &self.files[number]);
        match found {
            Ok(damage) => {
                let differs: Vec<Range<u64>> = leaves(sealed)
                    .filter(|range| sealed.get(range.clone()) != now.get(range.clone()))
                    .map(|range| range.start as u64..range.end as u64)
                    .collect();
                let listed = |range: &Range<u64>| {
                    let covers =
                        |found: &Range<u64>| found.start <= range.start && range.end <= found.end;
                    damage.ranges.iter().any(covers)
                };
                assert!(differs.iter().all(listed), "must find all damage: {damage:?}");
                assert_eq!(damage.of, leaves(sealed).count() as u64);
                if self.has_tags(version) {
                    assert_eq!(damage.leaves, differs.len() as u64, "must find nothing else");
                    assert_eq!(damage.is_none(), sealed == now);
                }
            }
            Err(error) => self.failed(&error, number, version),
        }
    }

    fn repair(&mut self, input: &mut Input<'_>) {
        let (number, from) = (input.up_to(PATHS.len() - 1), input.up_to(COPY));
        let Some((tree, version)) = &mut self.tree else { return };
        let version = *version;
        let copy = self.folder.path(FILES[from]);
        let repaired = repair(tree, PATHS[number].as_bytes(), &copy, &());
        let sealed = &self.sealed.versions[version].files[number];
        let now = fs::read(self.folder.path(FILES[number])).expect("a file");
        let before = &self.files[number];
        let is_right = |(at, byte)| before.get(at) == Some(byte) || sealed.get(at) == Some(byte);
        assert!(now.iter().enumerate().all(is_right), "must write sealed bytes only");
        assert!(now.len() >= before.len(), "must not cut");
        match &repaired {
            Ok(_) => assert!(now == *sealed, "must be the sealed file"),
            Err(error) => {
                assert!(now == *before, "must change nothing: {error}");
                let has_copy = self.files[from] == *sealed && before.len() <= sealed.len();
                assert!(!(has_copy && self.has_tags(version)), "must repair: {error}");
            }
        }
        self.files[number] = now;
    }

    /// Seals the rest of the input as the lines of a manifest, and reads what it describes.
    fn lines(&mut self, input: &mut Input<'_>) {
        let Sealed { raw, key, .. } = self.sealed;
        let leaves = [None, Some(4000), Some(LEAF as u64), Some(64 << 20)][input.up_to(3)];
        let options = ManifestOptions { leaves, ..ManifestOptions::default() };
        let day = Day::from_days(20_000).expect("it is in 2024");
        let header = Header::new(key, options, Chain::start(day), Vec::new());
        let lines = input.rest();
        let (list, wrong) = entries(lines.strip_suffix(b"\n").unwrap_or(lines), &header);
        let bytes: u64 = list.iter().map(|entry| entry.size()).sum();
        let mut text = [&header.text(), lines].concat();
        text.extend_from_slice(format!("entries: {}\nbytes: {bytes}\n", list.len()).as_bytes());
        let seal = seal_mac(raw).tag(&[], &text).expect("HMAC has no limit");
        text.extend_from_slice(format!("seal: {seal}\n").as_bytes());
        self.files[MANIFEST] = text;
        self.put(MANIFEST);
        let manifest = self.folder.path(FILES[MANIFEST]);
        let mut tree = match SealedTree::open(key, raw, &manifest, &self.folder.path("t")) {
            Ok(tree) => tree,
            Err(error) => {
                let is_complete = wrong.is_none() && lines.ends_with(b"\n");
                return assert!(!is_complete, "must open the manifest: {error}");
            }
        };
        let found: Result<Vec<_>, _> = tree.contents().entries(b"").collect();
        assert_eq!(found.expect("no line changed").len(), list.len(), "must list all entries");
        for entry in &list {
            let single = tree.contents().entry(&entry.path).expect("it is listed");
            assert_eq!(single.path, entry.path, "must find each entry");
            let below = tree.contents().children(&entry.path).expect("no line changed");
            let is_below =
                |path: &[u8]| path.len() > entry.path.len() && path.starts_with(&entry.path);
            assert!(below.iter().all(|child| is_below(&child.path)), "must be below it");
            let Ok(file) = tree.file(&entry.path) else { continue };
            let read = file.read(input.byte() as u64 * 100, &mut Leaf::default());
            assert!(file.content().size() <= 4 * LEAF as u64, "must be the size of a file");
            drop(read);
        }
    }
}

/// Returns the ranges of the leaves of a file. An empty file has one.
fn leaves(file: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let size = file.len();
    (0..size.div_ceil(LEAF).max(1)).map(move |i| i * LEAF..size.min((i + 1) * LEAF))
}

pub fn seeds() -> Vec<Vec<u8>> {
    let size = |bytes: usize| (bytes as u16).to_le_bytes();
    let [small, most] = [size(100), size(4 * LEAF)];
    let open = [4, 5, 0];
    let read = |leaf: u8, length: [u8; 2]| [6, leaf, 7, length[0], length[1]];
    let alter = |file: u8, at: [u8; 2]| [0, file, at[0], at[1], 1];
    let mut seeds = Vec::new();
    for choice in 0..ALL.len() as u8 {
        let mut all = vec![choice];
        all.extend_from_slice(&open);
        for leaf in [0, 1, 3] {
            all.extend_from_slice(&read(leaf, small));
        }
        all.extend_from_slice(&read(0, most));
        seeds.push(all);
    }
    let many: [&[&[u8]]; 6] = [
        &[
            &open,
            &read(1, small),
            &alter(0, size(LEAF + 9)),
            &read(1, small),
            &[7, 0, 8, 0, 4, 7, 0],
        ],
        &[&alter(0, size(9)), &open, &read(0, most), &read(1, most), &[8, 0, 4], &read(0, most)],
        // Leaves and leaf tags from elsewhere.
        &[&open, &[2, 1, 0, 2, 0, 1, 1], &read(1, small), &[2, 7, 7, 1, 1, 2, 1], &read(0, small)],
        // An older version.
        &[&[3, 5, 0, 3, 0, 0], &open, &read(2, small), &[3, 0, 1], &read(2, small)],
        &[&[1, 0], &size(LEAF), &open, &[7, 0, 8, 0, 4], &open, &read(3, small)],
        &[&[1, 7], &size(40), &[4, 5, 1], &read(1, small), &[5, 2], &read(0, small), &[5, 3]],
    ];
    seeds.extend(many.iter().map(|operations| [&[0], operations.concat().as_slice()].concat()));
    let tag = "0123456789abcdef0123456789abcdef";
    for (leaves, lines) in [
        (1, format!("file\t12340\t{tag}\ta\ndir\t-\t-\td\nfile\t8160\t{tag}\td/b\n")),
        (3, format!("file\t18446744073709551000\t{tag}\ta\nfile\t100\t{tag}\ts\n")),
        (0, format!("file\t12340\t{tag}\ta\nlink\t-\t-\tl\ta\nfile\t0\t{tag}\tz\n")),
    ] {
        seeds.push([&[0, 9, leaves], lines.as_bytes()].concat());
    }
    seeds
}
