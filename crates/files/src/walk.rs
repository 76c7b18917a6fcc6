//! Walks through everything below a directory, in order.
//!
//! The order is that of the bytes of the paths, with `/` below every other byte: a directory, its
//! contents, then what follows it. Memory is bounded for any tree: a path has at most [`MAX_PATH`]
//! bytes, and all names in memory, together with the space to sort them, at most six times `ROOM`.
//! A directory whose names do not fit is read several times; see `listing.rs`. If the directories
//! on the current path hold too many names, the outermost drop theirs and are read again when the
//! walk returns to them. One holds at most two of the three times `ROOM` available, so those below
//! it then hold more than `ROOM` bytes of names. Therefore a directory is read at most once per
//! `ROOM` bytes of names in it or below it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use crate::diagnostic::diagnostic;
use crate::dir::{DirTree, EntryKind, FileStat, MAX_PATH};
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::listing::{Listing, Names};
use crate::progress::Total;
use crate::read_error::ReadError;
use crate::rules::Rules;
use crate::sys::{self, Metadata, OsStrExt};

/// Bytes that the names of one directory may always use. Those of its ancestors may use three times
/// this in total. A reading needs three times the memory of the names it keeps, so it keeps a
/// third of what the ancestors leave of six times `ROOM`: one to two times `ROOM`.
const ROOM: usize = 4 << 20;

/// An item of a walk.
#[derive(Debug)]
pub enum WalkItem {
    /// An entry; its path is relative to the root.
    Entry {
        /// The path.
        path: Vec<u8>,
        /// The kind.
        kind: EntryKind,
    },
    /// A directory, already returned as an entry, that cannot be listed.
    UnreadableDir {
        /// The path; empty for the root.
        path: Vec<u8>,
        /// The reason.
        error: io::Error,
    },
    /// A directory, already returned as an entry, whose listing is incomplete. Its other entries
    /// follow or came before.
    Partly {
        /// The path; empty for the root.
        path: Vec<u8>,
        /// The reason.
        error: io::Error,
    },
    /// A directory, already returned as an entry, that is the root of another file system.
    Mount {
        /// The path.
        path: Vec<u8>,
    },
    /// An excluded entry.
    Excluded {
        /// The path.
        path: Vec<u8>,
        /// The index of the exclusion.
        exclusion: usize,
    },
    /// An entry that the rules leave out. Or a directory that was already returned as an entry, and
    /// that is not entered.
    LeftOut {
        /// The path.
        path: Vec<u8>,
    },
}

/// A walk through a tree.
pub struct Walk {
    tree: DirTree,
    /// The path of the last entry returned.
    path: Vec<u8>,
    /// True if that is a directory to list next.
    enter: bool,
    /// The directories on the path to it.
    frames: Vec<Frame>,
    excluded: Vec<Exclusion>,
    rules: Rules,
    /// The file system to stay on, if set.
    device: Option<u64>,
    /// Bytes that the names of one directory may always use.
    room: usize,
    /// Space to sort a directory's names.
    scratch: Names,
}

/// A directory and the length of its path.
struct Frame {
    end: usize,
    listing: Listing,
}

impl Walk {
    /// Starts a walk through a tree without the entries in `excluded`.
    pub fn new(tree: DirTree, excluded: Vec<Exclusion>) -> Walk {
        let (path, frames) = (Vec::new(), Vec::new());
        let (room, scratch, rules) = (ROOM, Names::default(), Rules::default());
        Walk { tree, path, enter: true, frames, excluded, rules, device: None, room, scratch }
    }

    /// Leaves out what the rules leave out.
    pub fn with_rules(self, rules: Rules) -> Walk {
        Walk { rules, ..self }
    }

    /// Returns the rules, with the number of times that each pattern decided.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Does not enter other file systems.
    pub fn on_one_file_system(mut self) -> io::Result<Walk> {
        self.device = Some(FileStat::from_fd(self.tree.root())?.identity.device);
        Ok(self)
    }

    /// Lists the directory at the path. Returns false if it is on another file system.
    fn list(&mut self) -> io::Result<bool> {
        let listing = Listing::new(self.tree.directory(&self.path)?)?;
        if self.device.is_some_and(|device| device != listing.identity().device) {
            return Ok(false);
        }
        self.frames.push(Frame { end: self.path.len(), listing });
        self.read().inspect_err(|_| drop(self.frames.pop())).map(|()| true)
    }

    /// Reads the last directory, which is at the path, for names still to come.
    fn read(&mut self) -> io::Result<()> {
        let [others @ .., frame] = &mut self.frames[..] else { return Ok(()) };
        let mut held: usize = others.iter().map(|other| other.listing.held()).sum();
        for other in others {
            if held <= 3 * self.room {
                break;
            }
            held -= other.listing.held();
            other.listing.release();
        }
        let folder = if frame.end == 0 { 0 } else { frame.end + 1 };
        let fd = self.tree.directory(&self.path)?;
        let (longest, room) = (MAX_PATH.saturating_sub(folder), (6 * self.room - held) / 3);
        frame.listing.read(fd, longest, room, &mut self.scratch)
    }

    /// Reports that the last reading was incomplete.
    fn partly(&mut self, first: bool) -> Option<WalkItem> {
        let listing = &mut self.frames.last_mut()?.listing;
        let what = match listing.too_long() {
            _ if listing.changed() => "the directory changed while it was read".into(),
            found @ 1.. if first => {
                format!("paths in it that are longer than {MAX_PATH} bytes: {found}")
            }
            _ => return None,
        };
        Some(WalkItem::Partly { path: self.path.clone(), error: io::Error::other(what) })
    }

    /// Returns whether an exclusion applies to the file at `path`.
    fn is_the_one(&mut self, exclusion: usize, path: &[u8]) -> bool {
        let is_it = |only| self.tree.facts(path).is_ok_and(|facts| facts.identity == only);
        self.excluded[exclusion].only.is_none_or(is_it)
    }

    fn closed(&self, error: io::Error) -> WalkItem {
        WalkItem::UnreadableDir { path: self.path.clone(), error }
    }
}

impl Iterator for Walk {
    type Item = WalkItem;

    fn next(&mut self) -> Option<WalkItem> {
        if mem::take(&mut self.enter) {
            if self.rules.close(&mut self.tree, &self.path) {
                return Some(WalkItem::LeftOut { path: self.path.clone() });
            }
            match self.list() {
                Ok(true) => {}
                Ok(false) => return Some(WalkItem::Mount { path: self.path.clone() }),
                Err(error) => return Some(self.closed(error)),
            }
            if let Some(partly) = self.partly(true) {
                return Some(partly);
            }
        }
        loop {
            let Frame { end, listing } = self.frames.last_mut()?;
            self.path.truncate(*end);
            let folder = listing.identity();
            if let Some((name, kind)) = listing.next_name() {
                if !self.path.is_empty() {
                    self.path.push(b'/');
                }
                self.path.extend_from_slice(name);
                let path = self.path.clone();
                if let Some(exclusion) =
                    self.excluded.iter().position(|exclusion| exclusion.has(folder, name))
                    && self.is_the_one(exclusion, &path)
                {
                    return Some(WalkItem::Excluded { path, exclusion });
                }
                if self.rules.filter.leaves_out(&path, kind == EntryKind::Directory) {
                    return Some(WalkItem::LeftOut { path });
                }
                self.enter = kind == EntryKind::Directory;
                return Some(WalkItem::Entry { path, kind });
            }
            if !listing.has_more() {
                self.frames.pop();
                continue;
            }
            if let Err(error) = self.read() {
                self.frames.pop();
                return Some(self.closed(error));
            }
            if let Some(partly) = self.partly(false) {
                return Some(partly);
            }
        }
    }
}

/// Counts the entries that `counts` accepts, and the bytes of their files, as far as the tree can
/// be read.
pub fn total(
    mut tree: DirTree,
    found: impl Iterator<Item = WalkItem>,
    counts: impl Fn(EntryKind) -> bool,
) -> Total {
    let one = |found| match found {
        WalkItem::Entry { path, kind } if counts(kind) => Total::one(Some(match kind {
            EntryKind::File => tree.facts(&path).map_or(0, |facts| facts.size),
            _ => 0,
        })),
        _ => Total::NONE,
    };
    found.map(one).fold(Total::NONE, Total::and)
}

/// Opens every file below the directory `root`, in order, and calls `each` with it, or with the
/// reason if it cannot be read. Does not follow links, but `root` may be one. Reports skipped
/// entries.
pub fn files<E>(
    root: &Path,
    mut each: impl FnMut(&Path, Result<(File, Metadata), ReadError>) -> Result<(), E>,
) -> Result<(), E> {
    let trees = DirTree::open(root).and_then(|tree| Ok((tree.again()?, tree)));
    let (mut tree, walk) = match trees {
        Ok((again, tree)) => (again, Walk::new(tree, Vec::new())),
        Err(error) => return each(root, Err(error.into())),
    };
    for found in walk {
        match found {
            WalkItem::Entry { path, kind: EntryKind::File } => {
                each(&below(root, &path), tree.file(&path))?
            }
            WalkItem::Entry { kind: EntryKind::Directory, .. } => {}
            WalkItem::Entry { path, kind } => say_skipped(&below(root, &path), kind),
            WalkItem::UnreadableDir { path, error } | WalkItem::Partly { path, error } => {
                each(&below(root, &path), Err(error.into()))?
            }
            WalkItem::Mount { .. } | WalkItem::Excluded { .. } | WalkItem::LeftOut { .. } => {}
        }
    }
    Ok(())
}

/// Reports that an entry is skipped because of its kind.
pub fn say_skipped(path: &Path, kind: EntryKind) {
    let name = Escaped::name(path);
    diagnostic(format_args!("{name}: skipped: expected a file or directory, found {kind}"));
}

/// Returns the path of an entry below `root`, as a user would write it.
pub fn below(root: &Path, path: &[u8]) -> PathBuf {
    if path.is_empty() { root.into() } else { sys::joined(root, OsStr::from_bytes(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir::order;

    fn paths(root: &Path) -> Vec<Vec<u8>> {
        Walk::new(DirTree::open(root).unwrap(), Vec::new()).map(entry).collect()
    }

    #[test]
    fn a_walk_has_the_order_of_its_paths() {
        let place = tempfile::tempdir().unwrap();
        for name in ["a/x/y", "a-b", "a.c/d", "a0", "a/x-", "b", "\u{1}", "a/\u{1}z"] {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = paths(place.path());
        assert_eq!(found.len(), 11);
        assert!(found.is_sorted_by(|a, b| order(a, b).is_lt()));
        assert_eq!(found[1], b"a");
        assert_eq!(found[6], b"a-b");
    }

    /// A walk with little memory.
    fn narrow(root: &Path, room: usize) -> Walk {
        Walk { room, ..Walk::new(DirTree::open(root).unwrap(), Vec::new()) }
    }

    fn held(walk: &Walk) -> usize {
        walk.frames.iter().map(|frame| frame.listing.held()).sum()
    }

    fn entry(found: WalkItem) -> Vec<u8> {
        match found {
            WalkItem::Entry { path, .. } => path,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn little_room_changes_nothing_but_the_time() {
        let place = tempfile::tempdir().unwrap();
        // Deep and wide: five levels, each with names before and after the next one.
        for depth in 0..5 {
            let folder = place.path().join("m/".repeat(depth));
            std::fs::create_dir_all(&folder).unwrap();
            for number in 0..150 {
                std::fs::write(folder.join(format!("{number:03}{}", "x".repeat(number))), "")
                    .unwrap();
                std::fs::write(folder.join(format!("z{number}")), "").unwrap();
            }
        }
        let all = paths(place.path());
        assert_eq!(all.len(), 5 * 300 + 4);
        for room in [1, 500, 2000, 10_000] {
            let (mut walk, mut found) = (narrow(place.path(), room), Vec::new());
            while let Some(one) = walk.next() {
                found.push(entry(one));
                // Each level exceeds the room; a single name may, too.
                assert!(held(&walk) <= 4 * room + 1500, "{}", held(&walk));
            }
            assert_eq!(found, all, "{room}");
        }
    }

    #[test]
    fn a_wide_directory_is_not_read_again_for_each_one_in_it() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..20 {
            std::fs::create_dir_all(place.path().join(format!("d{number:02}/x/y/z"))).unwrap();
        }
        // The names of the first level barely fit.
        let mut walk = narrow(place.path(), 115);
        let mut held = Vec::new();
        while walk.next().is_some() {
            held.push(walk.frames[0].listing.held());
        }
        assert_eq!(held.len(), 80);
        assert!(
            (220..=230).contains(&held[0]) && held.iter().all(|&bytes| bytes == held[0]),
            "{held:?}"
        );
    }

    #[test]
    fn a_directory_that_changes_between_two_readings() {
        let place = tempfile::tempdir().unwrap();
        let names = |from: u8, to: u8| (from..=to).map(|c| [c].to_vec()).collect::<Vec<_>>();
        for name in names(b'a', b'z') {
            std::fs::write(place.path().join(OsStr::from_bytes(&name)), "").unwrap();
        }
        let mut walk = narrow(place.path(), 50);
        assert_eq!(walk.by_ref().take(5).map(entry).collect::<Vec<_>>(), names(b'a', b'e'));
        let before = FileStat::at(place.path()).unwrap();
        // One name moves from before the position to after it, one the other way, and one is removed.
        for (from, to) in [("b", "zz"), ("y", "aa")] {
            std::fs::rename(place.path().join(from), place.path().join(to)).unwrap();
        }
        std::fs::remove_file(place.path().join("x")).unwrap();
        // A coarse clock may give several changes the same time.
        while FileStat::at(place.path()).unwrap().ctime == before.ctime {
            let same = std::fs::metadata(place.path()).unwrap().permissions();
            std::fs::set_permissions(place.path(), same).unwrap();
        }
        let (mut rest, mut told) = (Vec::new(), 0);
        for found in walk {
            match found {
                WalkItem::Partly { path, error } => {
                    told += 1;
                    assert!(path.is_empty());
                    assert!(error.to_string().contains("changed while it was read"));
                }
                other => rest.push(entry(other)),
            }
        }
        assert_eq!(told, 1);
        assert_eq!(rest, [names(b'f', b'w'), vec![b"z".to_vec(), b"zz".to_vec()]].concat());
    }

    #[test]
    fn a_path_that_is_too_long_is_told_with_its_directory() {
        let place = tempfile::tempdir().unwrap();
        let (name, mut tree) = ("n".repeat(255), DirTree::open(place.path()).unwrap());
        let mut path = Vec::new();
        for _ in 0..20 {
            let folder = tree.directory(&path).unwrap();
            for name in [&name[..], "short"] {
                rustix::fs::mkdirat(folder, name, 0o700.into()).unwrap();
            }
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_bytes());
        }
        let mut partly = Vec::new();
        let walk = Walk::new(tree.again().unwrap(), Vec::new());
        let entries = walk.filter_map(|found| match found {
            WalkItem::Entry { path, .. } => Some(path),
            WalkItem::Partly { path, error } => {
                partly.push((path, error.to_string()));
                None
            }
            other => panic!("{other:?}"),
        });
        let entries: Vec<_> = entries.collect();
        // 15 names and the slashes between them have 3839 bytes, 16 have 4095, and 17 have more.
        // `short` exists in all directories down to the 15th.
        assert_eq!(entries.len(), 16 + 16);
        assert!(entries.iter().all(|path| path.len() <= MAX_PATH));
        let [(path, error)] = &partly[..] else { panic!("{partly:?}") };
        assert_eq!(path.len(), 16 * 256 - 1);
        assert_eq!(error, "paths in it that are longer than 4096 bytes: 2");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_takes_a_files_place_behind_the_listing_is_not_opened() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["a", "b", "c", "d"] {
            std::fs::write(at(name), "text").unwrap();
        }
        for name in ["s", "t"] {
            std::fs::create_dir(at(name)).unwrap();
            std::fs::write(at(name).join("f"), "text").unwrap();
        }
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let mut seen = Vec::new();
        files(place.path(), |path, file| {
            let name = path.file_name().unwrap().to_str().unwrap().to_string();
            seen.push((name, file.map(drop).map_err(|error| error.to_string())));
            // The whole root has been listed.
            if seen.len() == 1 {
                for name in ["b", "c"] {
                    std::fs::remove_file(at(name)).unwrap();
                }
                let pipe = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, at("b"), pipe, mode, 0).unwrap();
                std::os::unix::fs::symlink("d", at("c")).unwrap();
                std::fs::rename(at("s"), at("elsewhere")).unwrap();
                std::os::unix::fs::symlink("elsewhere", at("s")).unwrap();
            }
            Ok::<(), ()>(())
        })
        .unwrap();
        let replaced = |found| {
            format!("expected a file, as listed, found {found}: the tree changed while it was read")
        };
        let expected = [
            ("a", Ok(())),
            ("b", Err(replaced("a pipe"))),
            ("c", Err(replaced("a symbolic link"))),
            ("d", Ok(())),
            ("s", Err("Not a directory".into())),
            ("f", Ok(())),
        ];
        assert_eq!(seen, expected.map(|(name, what)| (name.to_string(), what)));
    }

    #[test]
    fn a_walk_comes_back_to_directories_that_were_closed() {
        let place = tempfile::tempdir().unwrap();
        for depth in 1..=100 {
            let folder = place.path().join("d/".repeat(depth));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("z"), "").unwrap();
        }
        let found = paths(place.path());
        assert_eq!(found.len(), 200);
        assert!(found.is_sorted_by(|a, b| order(a, b).is_lt()));
    }
}
