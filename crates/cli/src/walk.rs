//! What is below a directory, in order, without following links.
//!
//! Each directory is opened from its parent by its one name, and not at all if a link stands in its
//! place. So whoever changes the tree meanwhile cannot lead the walk out of it. Names are bytes.
//! The order is that of the bytes of the paths, with `/` below every other byte: a directory, what
//! is in it, what follows it. A directory's names are held in memory and sorted; nothing else is.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

use crate::error::{Shown, say};

/// So many directories on the way to the current one stay open for each thread: a tree may be deeper
/// than a process may have open files.
const MOST_OPEN: usize = 12;

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
}

impl Kind {
    /// Whether it is a pipe, a socket or a device, none of which is ever opened.
    pub fn is_special(self) -> bool {
        !matches!(self, Kind::File | Kind::Directory | Kind::Link)
    }

    fn of(file: FileType) -> Option<Kind> {
        Some(match file {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice => Kind::CharDevice,
            FileType::BlockDevice => Kind::BlockDevice,
            _ => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::File => "a file",
            Kind::Directory => "a directory",
            Kind::Link => "a symbolic link",
            Kind::Pipe => "a pipe",
            Kind::Socket => "a socket",
            Kind::CharDevice => "a character device",
            Kind::BlockDevice => "a block device",
        })
    }
}

/// The order of a walk: bytes, with `/` below every other byte. No name has a zero byte.
pub fn order(a: &[u8], b: &[u8]) -> Ordering {
    let key = |&byte: &u8| if byte == b'/' { 0 } else { byte };
    a.iter().map(key).cmp(b.iter().map(key))
}

/// A path cut at its last `/`: the directory, empty for the root, and the name in it.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(cut) => (&path[..cut], &path[cut + 1..]),
        None => (&[], path),
    }
}

/// What the system says of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// What it is; `None` for what has no name here.
    pub kind: Option<Kind>,
    /// Its size in bytes.
    pub size: u64,
    /// Permissions, with the bits of set-user-id and its like.
    pub mode: u32,
    /// When it was written to: seconds since 1970, rounded down, and nanoseconds.
    pub mtime: (i64, u32),
    /// What two names of one thing have in common.
    pub identity: Identity,
}

/// The number of a file system and the number of a file in it.
pub type Identity = (u64, u64);

impl Facts {
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    fn of(stat: &Stat) -> Facts {
        Facts {
            kind: Kind::of(FileType::from_raw_mode(stat.st_mode)),
            size: stat.st_size as u64,
            mode: stat.st_mode as u32 & 0o7777,
            mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            identity: (stat.st_dev as u64, stat.st_ino as u64),
        }
    }

    /// Of an open file.
    pub fn of_file(file: &std::fs::Metadata) -> Facts {
        Facts {
            kind: Kind::of(FileType::from_raw_mode(file.mode() as RawMode)),
            size: file.len(),
            mode: file.mode() & 0o7777,
            mtime: (file.mtime(), file.mtime_nsec() as u32),
            identity: (file.dev(), file.ino()),
        }
    }

    /// Of what a path stands for.
    pub fn at(path: &Path) -> io::Result<Facts> {
        Ok(Facts::of(&fs::stat(path)?))
    }

    /// Of something open.
    pub fn of_open(fd: impl AsFd) -> io::Result<Facts> {
        Ok(Facts::of(&fs::fstat(fd)?))
    }
}

/// A directory and the way to one below it, held open.
pub struct Tree {
    root: OwnedFd,
    path: Vec<u8>,
    /// Directories on the way to `path`, each with the length of its own path.
    open: Vec<(usize, OwnedFd)>,
}

impl Tree {
    /// The tree below a directory; a link may stand for it.
    pub fn open(root: &Path) -> io::Result<Tree> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Tree::of(fs::openat(fs::CWD, root, flags, Mode::empty())?))
    }

    fn of(root: OwnedFd) -> Tree {
        Tree { root, path: Vec::new(), open: Vec::new() }
    }

    /// The same tree for another thread.
    pub fn again(&self) -> io::Result<Tree> {
        self.root.try_clone().map(Tree::of)
    }

    /// The directory at `path`.
    pub fn directory(&mut self, path: &[u8]) -> io::Result<BorrowedFd<'_>> {
        let on_the_way = |(end, _): &(usize, OwnedFd)| {
            path.starts_with(&self.path[..*end]) && matches!(path.get(*end), None | Some(b'/'))
        };
        let kept = self.open.iter().rposition(on_the_way).map_or(0, |last| last + 1);
        self.open.truncate(kept);
        self.path.clear();
        self.path.extend_from_slice(path);
        let mut done = self.open.last().map_or(0, |(end, _)| *end);
        while done < path.len() {
            let start = if done == 0 { 0 } else { done + 1 };
            let name = path[start..].split(|&byte| byte == b'/').next().unwrap_or_default();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let next = fs::openat(self.last(), name, flags, Mode::empty())?;
            if self.open.len() == MOST_OPEN {
                self.open.remove(0);
            }
            done = start + name.len();
            self.open.push((done, next));
        }
        Ok(self.last())
    }

    fn last(&self) -> BorrowedFd<'_> {
        self.open.last().map_or(self.root.as_fd(), |(_, fd)| fd.as_fd())
    }

    /// Opens a file to read it. It never waits for what else may have taken the file's place.
    pub fn file(&mut self, path: &[u8]) -> io::Result<std::fs::File> {
        let (folder, name) = split(path);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = fs::openat(self.directory(folder)?, name, flags | OFlags::CLOEXEC, Mode::empty())?;
        Ok(fd.into())
    }

    /// What the system says of an entry.
    pub fn facts(&mut self, path: &[u8]) -> io::Result<Facts> {
        let (folder, name) = split(path);
        let folder = self.directory(folder)?;
        Ok(Facts::of(&fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Where a symbolic link leads.
    pub fn target(&mut self, path: &[u8]) -> io::Result<Vec<u8>> {
        let (folder, name) = split(path);
        Ok(fs::readlinkat(self.directory(folder)?, name, Vec::new())?.into_bytes())
    }
}

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

/// A name in a directory, wherever the directory appears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    folder: Identity,
    name: Vec<u8>,
}

impl Spot {
    /// The last name of a path, in the directory that is there now.
    pub fn of(path: &Path) -> io::Result<Spot> {
        let name = path.file_name().unwrap_or_default().as_bytes().to_vec();
        Ok(Spot { folder: Facts::at(folder(path))?.identity, name })
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
        self.device = Some(Facts::of_open(&self.tree.root)?.identity.0);
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
        for (number, spot) in self.without.iter().enumerate() {
            let is_it = |name: &Name| spot.folder == identity && frame.bytes(name) == spot.name;
            if let Some(at) = frame.names.iter().position(is_it) {
                frame.names.swap_remove(at);
                self.left.push((joined(path, &spot.name), number));
            }
        }
        let Frame { bytes, names, .. } = &mut frame;
        let text = |name: &Name| &bytes[name.start..][..name.len as usize];
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
    use proptest::prelude::*;

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
    fn a_tree_may_be_deeper_than_what_stays_open() {
        let place = tempfile::tempdir().unwrap();
        let deep = "d/".repeat(3 * MOST_OPEN);
        std::fs::create_dir_all(place.path().join(&deep)).unwrap();
        // Names after each directory make the walk come back to all of them.
        for depth in 1..=3 * MOST_OPEN {
            std::fs::write(place.path().join("d/".repeat(depth)).join("z"), "text").unwrap();
        }
        let found = paths(place.path());
        assert_eq!(found.len(), 6 * MOST_OPEN);
        assert!(found.is_sorted_by(|a, b| order(a, b).is_lt()));
        let mut tree = Tree::open(place.path()).unwrap();
        for path in found.iter().rev().filter(|path| path.ends_with(b"z")) {
            assert_eq!(tree.facts(path).unwrap().size, 4);
        }
        assert!(tree.open.len() <= MOST_OPEN);
    }

    #[test]
    fn a_link_in_the_place_of_a_directory_is_refused() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("real")).unwrap();
        std::fs::write(place.path().join("real/f"), "").unwrap();
        std::os::unix::fs::symlink("real", place.path().join("link")).unwrap();
        let mut tree = Tree::open(place.path()).unwrap();
        assert!(tree.file(b"real/f").is_ok());
        assert!(tree.file(b"link/f").is_err());
        assert!(tree.file(b"link").is_err());
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_names_in_turn(
            a in prop::collection::vec("[!-/a-b]{1,3}", 1..4),
            b in prop::collection::vec("[!-/a-b]{1,3}", 1..4),
        ) {
            let names = |path: &[String]| path.iter().map(|name| name.replace('/', "+")).collect();
            let (a, b): (Vec<String>, Vec<String>) = (names(&a), names(&b));
            let [one, two] = [&a, &b].map(|names| names.join("/"));
            prop_assert_eq!(order(one.as_bytes(), two.as_bytes()), a.cmp(&b));
        }
    }
}
