//! What is below a directory, without following links.
//!
//! Each directory is opened from its parent by its one name, and not at all if a link stands in its
//! place. So whoever changes the tree meanwhile cannot lead out of it. Names are bytes.

use std::cmp::Ordering;
use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::faults;
use crate::folder;
use crate::identity::Identity;
use crate::read_error::ReadError;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

/// Bytes of the longest path below the root: as many as Linux takes in one name of a file. Longer
/// ones serve nobody but who wants to fill memory.
pub const MAX_PATH: usize = 4096;
/// So many directories on the way to the current one stay open for each thread: a tree may be deeper
/// than a process may have open files.
const MAX_OPEN: usize = 12;

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
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

impl EntryKind {
    /// Whether it is a pipe, a socket or a device, none of which is ever opened.
    pub fn is_special(self) -> bool {
        !matches!(self, EntryKind::File | EntryKind::Directory | EntryKind::Link)
    }

    /// The kind that the system means; `None` for what has no name here.
    pub fn from_file_type(file: FileType) -> Option<EntryKind> {
        Some(match file {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            FileType::Fifo => EntryKind::Pipe,
            FileType::Socket => EntryKind::Socket,
            FileType::CharacterDevice => EntryKind::CharDevice,
            FileType::BlockDevice => EntryKind::BlockDevice,
            _ => return None,
        })
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryKind::File => "a file",
            EntryKind::Directory => "a directory",
            EntryKind::Link => "a symbolic link",
            EntryKind::Pipe => "a pipe",
            EntryKind::Socket => "a socket",
            EntryKind::CharDevice => "a character device",
            EntryKind::BlockDevice => "a block device",
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

/// The metadata of an entry, as the system reports it.
#[derive(Clone, Copy, Debug)]
pub struct FileStat {
    /// What it is; `None` for what has no name here.
    pub kind: Option<EntryKind>,
    /// Its size in bytes.
    pub size: u64,
    /// Permissions, with the bits of set-user-id and its like.
    pub mode: u32,
    /// When it was written to: seconds since 1970, rounded down, and nanoseconds.
    pub mtime: (i64, u32),
    /// When it was changed in any way, which nobody can set.
    pub ctime: (i64, u32),
    /// What two names of one thing have in common.
    pub identity: Identity,
}

impl FileStat {
    /// Of what the system says.
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub fn from_stat(stat: &Stat) -> FileStat {
        FileStat {
            kind: EntryKind::from_file_type(FileType::from_raw_mode(stat.st_mode)),
            size: stat.st_size as u64,
            mode: stat.st_mode as u32 & 0o7777,
            mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            ctime: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
            identity: Identity::from_stat(stat),
        }
    }

    /// Of an open file.
    pub fn from_metadata(file: &Metadata) -> FileStat {
        FileStat {
            kind: EntryKind::from_file_type(FileType::from_raw_mode(file.mode() as RawMode)),
            size: file.len(),
            mode: file.mode() & 0o7777,
            mtime: (file.mtime(), file.mtime_nsec() as u32),
            ctime: (file.ctime(), file.ctime_nsec() as u32),
            identity: Identity::new(file),
        }
    }

    /// Of what a path stands for.
    pub fn at(path: &Path) -> io::Result<FileStat> {
        Ok(FileStat::from_stat(&fs::stat(path)?))
    }

    /// Of something open.
    pub fn from_fd(fd: impl AsFd) -> io::Result<FileStat> {
        Ok(FileStat::from_stat(&fs::fstat(fd)?))
    }
}

/// A directory and the way to one below it, held open.
pub struct DirTree {
    root: OwnedFd,
    path: Vec<u8>,
    /// Directories on the way to `path`, each with the length of its own path.
    open: Vec<(usize, OwnedFd)>,
}

impl DirTree {
    /// The tree below a directory; a link may stand for it.
    pub fn open(root: &Path) -> io::Result<DirTree> {
        Ok(DirTree::new(folder::open(root)?.into()))
    }

    fn new(root: OwnedFd) -> DirTree {
        DirTree { root, path: Vec::new(), open: Vec::new() }
    }

    /// The directory itself.
    pub fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Refuses a tree whose name leads to another directory by now, or to none.
    pub fn in_place(&self, root: &Path) -> io::Result<()> {
        let held = FileStat::from_fd(self.root())?.identity;
        match FileStat::at(root) {
            Ok(there) if there.identity == held => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Err(io::Error::other(
                "the directory was removed or replaced while this run was using it",
            )),
        }
    }

    /// The same tree for another thread.
    pub fn again(&self) -> io::Result<DirTree> {
        self.root.try_clone().map(DirTree::new)
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
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            let next = faults::open_in(self.last(), name, flags, Mode::empty())?;
            if self.open.len() == MAX_OPEN {
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

    /// Opens a file to read it, and nothing that has taken its place since it was listed. It never
    /// waits.
    pub fn file(&mut self, path: &[u8]) -> Result<(File, Metadata), ReadError> {
        let (folder, name) = split(path);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let folder = self.directory(folder)?;
        let file = match faults::open_in(folder, name, flags, Mode::empty()) {
            // What a link and a socket answer.
            Err(Errno::LOOP | Errno::NXIO) => {
                return Err(replaced(EntryKind::File, self.facts(path)?.kind));
            }
            file => File::from(file.map_err(io::Error::from)?),
        };
        let facts = file.metadata()?;
        same_kind(EntryKind::File, FileStat::from_metadata(&facts).kind)?;
        Ok((file, facts))
    }

    /// What the system says of an entry.
    pub fn facts(&mut self, path: &[u8]) -> io::Result<FileStat> {
        let (folder, name) = split(path);
        let folder = self.directory(folder)?;
        Ok(FileStat::from_stat(&fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Where a symbolic link leads.
    pub fn target(&mut self, path: &[u8]) -> io::Result<Vec<u8>> {
        let (folder, name) = split(path);
        let target = fs::readlinkat(self.directory(folder)?, name, Vec::new())?.into_bytes();
        if target.len() > MAX_PATH {
            let what = format!("expected a target of at most {MAX_PATH} bytes, found a longer one");
            return Err(io::Error::other(what));
        }
        Ok(target)
    }
}

/// Refuses what has taken the place of an entry since the directory was listed.
pub fn same_kind(listed: EntryKind, found: Option<EntryKind>) -> Result<(), ReadError> {
    if found == Some(listed) { Ok(()) } else { Err(replaced(listed, found)) }
}

fn replaced(listed: EntryKind, found: Option<EntryKind>) -> ReadError {
    let found = found.map_or("something else".into(), |kind| kind.to_string());
    ReadError::Io(io::Error::other(format!(
        "expected {listed}, as listed, found {found}: the tree changed while it was read"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tree_may_be_deeper_than_what_stays_open() {
        let place = tempfile::tempdir().unwrap();
        let deep = "d/".repeat(3 * MAX_OPEN);
        std::fs::create_dir_all(place.path().join(&deep)).unwrap();
        for depth in 1..=3 * MAX_OPEN {
            std::fs::write(place.path().join("d/".repeat(depth)).join("z"), "text").unwrap();
        }
        let mut tree = DirTree::open(place.path()).unwrap();
        // Down, and back up past those that are closed.
        for depth in (1..=3 * MAX_OPEN).chain((1..=3 * MAX_OPEN).rev()) {
            let path = "d/".repeat(depth) + "z";
            assert_eq!(tree.facts(path.as_bytes()).unwrap().size, 4);
            assert!(tree.open.len() <= MAX_OPEN);
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_directory_is_refused() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("real")).unwrap();
        std::fs::write(place.path().join("real/f"), "").unwrap();
        std::os::unix::fs::symlink("real", place.path().join("link")).unwrap();
        let mut tree = DirTree::open(place.path()).unwrap();
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
