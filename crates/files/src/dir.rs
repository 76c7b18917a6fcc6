//! Access to everything below a directory, without following links.
//!
//! Each directory is opened relative to its parent by a single name, and not at all if a link has
//! replaced it. A concurrent change of the tree can therefore not lead out of it. Names are bytes.

use std::cmp::Ordering;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::faults;
use crate::identity::Identity;
use crate::read_error::ReadError;
pub use crate::stat::{EntryKind, FileStat};
#[cfg(unix)]
use crate::sys::MetadataExt;
use crate::sys::{self, Dir, DirRef, Metadata};

/// Maximum length of a path below the root in bytes, as in Linux. Longer ones only serve an
/// attacker who wants to exhaust memory.
pub const MAX_PATH: usize = 4096;
/// Maximum number of ancestors of the current directory that each thread keeps open. A tree may be
/// deeper than the limit on open files.
const MAX_OPEN: usize = 12;

/// The order of a walk: bytes, with `/` below every other byte. Names have no zero byte.
pub fn order(a: &[u8], b: &[u8]) -> Ordering {
    let key = |&byte: &u8| if byte == b'/' { 0 } else { byte };
    a.iter().map(key).cmp(b.iter().map(key))
}

/// Splits a path at its last `/` into the directory, empty for the root, and the name in it.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(cut) => (&path[..cut], &path[cut + 1..]),
        None => (&[], path),
    }
}

impl FileStat {
    /// Converts the metadata of an open file.
    pub fn from_metadata(file: &Metadata) -> FileStat {
        FileStat {
            kind: sys::kind(file),
            size: file.len(),
            mode: file.mode() & 0o7777,
            owner: sys::owner(file),
            mtime: (file.mtime(), file.mtime_nsec() as u32),
            ctime: (file.ctime(), file.ctime_nsec() as u32),
            identity: Identity::new(file),
        }
    }

    /// Returns the metadata at a path, following links.
    pub fn at(path: &Path) -> io::Result<FileStat> {
        sys::facts_at(path)
    }

    /// Returns the metadata of an open directory.
    pub fn from_fd(folder: DirRef<'_>) -> io::Result<FileStat> {
        sys::facts_of(folder)
    }
}

/// A directory tree, with the current path held open.
pub struct DirTree {
    root: Dir,
    path: Vec<u8>,
    /// Open directories on the current path, each with the length of its path.
    open: Vec<(usize, Dir)>,
}

impl DirTree {
    /// Opens the tree below a directory, following a link at `root` itself.
    pub fn open(root: &Path) -> io::Result<DirTree> {
        sys::open_dir(root).map(DirTree::new)
    }

    fn new(root: Dir) -> DirTree {
        DirTree { root, path: Vec::new(), open: Vec::new() }
    }

    /// Returns the root directory.
    pub fn root(&self) -> DirRef<'_> {
        sys::borrowed(&self.root)
    }

    /// Fails if `root` no longer names this directory.
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

    /// Returns the same tree for another thread.
    pub fn again(&self) -> io::Result<DirTree> {
        self.root.try_clone().map(DirTree::new)
    }

    /// Opens the directory at `path`.
    pub fn directory(&mut self, path: &[u8]) -> io::Result<DirRef<'_>> {
        let on_the_way = |(end, _): &(usize, Dir)| {
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
            let next = faults::open(|| sys::open_dir_in(self.last(), name))?;
            if self.open.len() == MAX_OPEN {
                self.open.remove(0);
            }
            done = start + name.len();
            self.open.push((done, next));
        }
        Ok(self.last())
    }

    fn last(&self) -> DirRef<'_> {
        sys::borrowed(self.open.last().map_or(&self.root, |(_, last)| last))
    }

    /// Opens a regular file for reading, and nothing that has replaced it since it was listed.
    /// Never blocks.
    pub fn file(&mut self, path: &[u8]) -> Result<(File, Metadata), ReadError> {
        let (folder, name) = split(path);
        let folder = self.directory(folder)?;
        let Some(file) = faults::open(|| sys::open_file_in(folder, name))? else {
            return Err(replaced(EntryKind::File, self.facts(path)?.kind));
        };
        let facts = sys::metadata_of(&file)?;
        same_kind(EntryKind::File, FileStat::from_metadata(&facts).kind)?;
        Ok((file, facts))
    }

    /// Returns the metadata of an entry, without following links.
    pub fn facts(&mut self, path: &[u8]) -> io::Result<FileStat> {
        let (folder, name) = split(path);
        sys::facts_in(self.directory(folder)?, name)
    }

    /// Returns the target of a symbolic link.
    pub fn target(&mut self, path: &[u8]) -> io::Result<Vec<u8>> {
        let (folder, name) = split(path);
        let target = sys::target_in(self.directory(folder)?, name)?;
        if target.len() > MAX_PATH {
            let what = format!("the link's target is longer than {MAX_PATH} bytes");
            return Err(io::Error::other(what));
        }
        Ok(target)
    }
}

/// Fails if the kind of an entry changed since its directory was listed.
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
        // Down, and back up past directories that were closed.
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
