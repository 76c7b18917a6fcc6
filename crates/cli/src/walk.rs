//! What is below a directory, in order.
//!
//! The order is that of the bytes of the paths, with `/` below every other byte: a directory, what
//! is in it, what follows it. A directory's names are held in memory and sorted; nothing else is.

use std::ffi::OsStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Dir};
use rustix::io::Errno;

use crate::error::{Shown, say};
use crate::progress::Total;
use crate::tree::{Facts, Identity, Kind, Tree};

/// What a walk comes upon.
#[derive(Debug)]
pub enum Found {
    /// An entry; the path begins below the root.
    Entry {
        /// Its path.
        path: Vec<u8>,
        /// What it is.
        kind: Kind,
    },
    /// A directory, already told of, that cannot be listed.
    Closed {
        /// Its path; empty for the root.
        path: Vec<u8>,
        /// Why.
        error: io::Error,
    },
    /// A directory, already told of, that is the root of another file system.
    Mount {
        /// Its path.
        path: Vec<u8>,
    },
    /// An entry that was to be left out.
    Without {
        /// Its path.
        path: Vec<u8>,
        /// Which of the spots it is.
        spot: usize,
    },
}

/// A name in a directory, or all that begin with it, wherever the directory appears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    folder: Identity,
    name: Vec<u8>,
    begins: bool,
}

impl Spot {
    /// The last name of a path, in the directory that is there now.
    pub fn of(path: &Path) -> io::Result<Spot> {
        let name = path.file_name().unwrap_or_default().as_bytes().to_vec();
        Ok(Spot { folder: Facts::at(folder(path))?.identity, name, begins: false })
    }

    /// The same for all names that begin with the last one.
    pub fn of_all(path: &Path) -> io::Result<Spot> {
        Ok(Spot { begins: true, ..Spot::of(path)? })
    }

    fn has(&self, name: &[u8]) -> bool {
        if self.begins { name.starts_with(&self.name) } else { name == self.name }
    }
}

/// The directory that a path's last name is in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A walk through a tree.
pub struct Walk {
    tree: Tree,
    /// The directory to list next.
    enter: Option<Vec<u8>>,
    frames: Vec<Frame>,
    /// What was left out and is to be told of.
    left: Vec<(Vec<u8>, usize)>,
    without: Vec<Spot>,
    /// The file system to stay on.
    device: Option<u64>,
}

/// A directory's names, sorted, and how many are done.
struct Frame {
    path: Vec<u8>,
    bytes: Vec<u8>,
    names: Vec<Name>,
    next: usize,
}

/// A name's place in the bytes, and what it names.
struct Name {
    start: usize,
    len: u32,
    kind: Kind,
}

impl Walk {
    /// A walk through all of a tree but the spots `without`.
    pub fn new(tree: Tree, without: Vec<Spot>) -> Walk {
        let (enter, frames, left) = (Some(Vec::new()), Vec::new(), Vec::new());
        Walk { tree, enter, frames, left, without, device: None }
    }

    /// The same, and other file systems are not entered.
    pub fn on_one_file_system(mut self) -> io::Result<Walk> {
        self.device = Some(Facts::of_open(self.tree.root())?.identity.0);
        Ok(self)
    }

    /// Lists a directory. `false` if it is on another file system.
    fn list(&mut self, path: &[u8]) -> io::Result<bool> {
        let fd = self.tree.directory(path)?;
        let identity = Facts::of_open(fd)?.identity;
        if self.device.is_some_and(|device| device != identity.0) {
            return Ok(false);
        }
        let mut frame = Frame::read(fd)?;
        let Frame { bytes, names, .. } = &mut frame;
        let text = |name: &Name| &bytes[name.start..][..name.len as usize];
        for (number, spot) in self.without.iter().enumerate().filter(|(_, s)| s.folder == identity)
        {
            names.retain(|name| {
                let stays = !spot.has(text(name));
                if !stays {
                    self.left.push((joined(path, text(name)), number));
                }
                stays
            });
        }
        names.sort_unstable_by(|a, b| text(a).cmp(text(b)));
        frame.path.extend_from_slice(path);
        self.frames.push(frame);
        Ok(true)
    }
}

impl Frame {
    fn read(fd: BorrowedFd<'_>) -> io::Result<Frame> {
        let (path, bytes, names) = (Vec::new(), Vec::new(), Vec::new());
        let mut frame = Frame { path, bytes, names, next: 0 };
        for entry in Dir::read_from(fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match Kind::of(entry.file_type()) {
                Some(kind) => Some(kind),
                // The file system leaves it to the entry itself to tell.
                None => match fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Err(Errno::NOENT) => continue,
                    stat => Facts::of(&stat?).kind,
                },
            };
            let kind = kind.ok_or_else(|| {
                let name = Shown::bytes(name);
                io::Error::other(format!("expected a file or its like at {name}, found neither"))
            })?;
            frame.names.push(Name { start: frame.bytes.len(), len: name.len() as u32, kind });
            frame.bytes.extend_from_slice(name);
        }
        Ok(frame)
    }

    fn bytes(&self, name: &Name) -> &[u8] {
        &self.bytes[name.start..][..name.len as usize]
    }
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        if let Some(path) = self.enter.take() {
            match self.list(&path) {
                Ok(true) => {}
                Ok(false) => return Some(Found::Mount { path }),
                Err(error) => return Some(Found::Closed { path, error }),
            }
        }
        if let Some((path, spot)) = self.left.pop() {
            return Some(Found::Without { path, spot });
        }
        loop {
            let frame = self.frames.last_mut()?;
            let Some(name) = frame.names.get(frame.next) else {
                self.frames.pop();
                continue;
            };
            let (path, kind) = (joined(&frame.path, frame.bytes(name)), name.kind);
            frame.next += 1;
            if kind == Kind::Directory {
                self.enter = Some(path.clone());
            }
            return Some(Found::Entry { path, kind });
        }
    }
}

/// What there is in a tree, as far as it can be had: entries of the kinds that count, and the bytes
/// of its files.
pub fn total(walk: Walk, counts: impl Fn(Kind) -> bool) -> Total {
    let Ok(mut tree) = walk.tree.again() else { return Total::UNKNOWN };
    let one = |found| match found {
        Found::Entry { path, kind } if counts(kind) => Total::one(Some(match kind {
            Kind::File => tree.facts(&path).map_or(0, |facts| facts.size),
            _ => 0,
        })),
        _ => Total::NONE,
    };
    walk.map(one).fold(Total::NONE, Total::and)
}

/// Calls `each` with every file below the directory `root`, in order, and with what cannot be read
/// and why. Links are not followed, but `root` itself may be one. What is skipped is named.
pub fn files<E>(
    root: &Path,
    mut each: impl FnMut(&Path, Option<io::Error>) -> Result<(), E>,
) -> Result<(), E> {
    let tree = match Tree::open(root) {
        Ok(tree) => tree,
        Err(error) => return each(root, Some(error)),
    };
    for found in Walk::new(tree, Vec::new()) {
        match found {
            Found::Entry { path, kind: Kind::File } => each(&below(root, &path), None)?,
            Found::Entry { kind: Kind::Directory, .. } => {}
            Found::Entry { path, kind } => say_skipped(&below(root, &path), kind),
            Found::Closed { path, error } => each(&below(root, &path), Some(error))?,
            Found::Mount { .. } | Found::Without { .. } => {}
        }
    }
    Ok(())
}

/// Says that an entry is skipped for what it is.
pub fn say_skipped(path: &Path, kind: Kind) {
    let name = Shown::name(path);
    say(format_args!("{name}: skipped: expected a file or directory, found {kind}"));
}

/// The path of an entry below `root`, as a user would write it.
pub fn below(root: &Path, path: &[u8]) -> PathBuf {
    if path.is_empty() { root.to_path_buf() } else { root.join(OsStr::from_bytes(path)) }
}

/// Whether the name is that of a directory, not of standard input or a file.
pub fn is_dir(path: &Path) -> bool {
    path.as_os_str() != OsStr::new("-") && path.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::order;

    fn paths(root: &Path) -> Vec<Vec<u8>> {
        let walk = Walk::new(Tree::open(root).unwrap(), Vec::new());
        walk.map(|found| match found {
            Found::Entry { path, .. } => path,
            other => panic!("{other:?}"),
        })
        .collect()
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
