//! A tree and its manifest side by side. They have one order, so each is read once.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::path::Path;

use crate::dir::{self, Kind};
use crate::error::Error;
use crate::manifest::Entries;
use crate::manifest::entry::Entry;
use crate::manifest::listed::{remark_manifest, remark_mount};
use crate::read_error::ReadError;
use crate::scanner::Observation;
use crate::walk::{self, Found, Walk, below};

/// An entry of the tree, of the manifest, or of both.
pub enum Item {
    /// One of the manifest that is there, as it seems, and what was seen of it since.
    Both(Entry, Option<Observation>),
    /// A directory of the manifest that is there and cannot be listed, or not wholly, and why.
    UnreadableDir(Entry, String),
    /// One that is there as something else.
    Kind(Entry, Kind),
    /// One of the manifest alone.
    Missing(Entry),
    /// One of the tree alone, with the size that was seen since, if it is a file.
    New(Vec<u8>, Kind, Option<u64>),
    /// There is no verdict on what is at this path, and why.
    Unreadable(Vec<u8>, Kind, String),
    /// The manifest is wrong, or cannot be read.
    Wrong(Error),
}

/// The entries of a tree and of its manifest.
pub struct Merge<'a> {
    root: &'a Path,
    /// Whether pipes, sockets and devices were sealed.
    special: bool,
    found: Peekable<Walk>,
    sealed: Peekable<Entries<'a>>,
    /// A directory that cannot be listed, and why: there is no verdict on what was sealed in it.
    closed: Option<(Vec<u8>, String)>,
    skipped: u64,
}

impl<'a> Merge<'a> {
    /// The walk through the tree at `root`, and the entries of its manifest.
    pub fn new(root: &'a Path, special: bool, found: Walk, sealed: Entries<'a>) -> Merge<'a> {
        let (found, sealed) = (found.peekable(), sealed.peekable());
        Merge { root, special, found, sealed, closed: None, skipped: 0 }
    }

    /// The pipes, sockets and devices so far that were not sealed for what they are.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Says what a walk tells beside entries, and returns a directory that cannot be listed, or not
    /// wholly.
    fn aside(&mut self, found: Found) -> Option<Item> {
        match found {
            Found::UnreadableDir { path, error } => {
                let why = ReadError::from(error).to_string();
                self.closed = Some((path.clone(), why.clone()));
                return Some(Item::Unreadable(path, Kind::Directory, why));
            }
            Found::Partly { path, error } => {
                let why = ReadError::from(error).to_string();
                return Some(Item::Unreadable(path, Kind::Directory, why));
            }
            Found::Mount { path } => remark_mount(&below(self.root, &path)),
            Found::Excluded { path, exclusion: 0 } => remark_manifest(&below(self.root, &path)),
            Found::Excluded { .. } | Found::Entry { .. } => {}
        }
        None
    }
}

impl Iterator for Merge<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(found) = self.found.next_if(|found| !matches!(found, Found::Entry { .. })) {
                match self.aside(found) {
                    None => continue,
                    item => return item,
                }
            }
            let found = match self.found.peek() {
                Some(Found::Entry { path, .. }) => Some(path),
                _ => None,
            };
            let order = match (self.sealed.peek(), found) {
                (None, None) => return None,
                (Some(Err(_)), _) => return self.sealed.next()?.err().map(Item::Wrong),
                (Some(Ok(_)), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(Ok(sealed)), Some(path)) => dir::order(&sealed.path, path),
            };
            let sealed = if order.is_le() { self.sealed.next()?.ok() } else { None };
            let found = if order.is_ge() { self.found.next() } else { None };
            return Some(match (sealed, found) {
                (Some(sealed), Some(Found::Entry { kind, .. })) if kind == sealed.kind => {
                    // The walk says so before all else of the directory. Of one above it may say so
                    // here too.
                    let is_closed = |found: &Found| match found {
                        Found::UnreadableDir { path, .. } | Found::Partly { path, .. } => {
                            *path == sealed.path
                        }
                        _ => false,
                    };
                    match self.found.next_if(is_closed).and_then(|found| self.aside(found)) {
                        Some(Item::Unreadable(.., why)) => Item::UnreadableDir(sealed, why),
                        _ => Item::Both(sealed, None),
                    }
                }
                (Some(sealed), Some(Found::Entry { kind, .. })) => Item::Kind(sealed, kind),
                (Some(sealed), _) => match &self.closed {
                    Some((folder, why)) if is_in(folder, &sealed.path) => {
                        Item::Unreadable(sealed.path, sealed.kind, why.clone())
                    }
                    _ => Item::Missing(sealed),
                },
                (None, Some(Found::Entry { path, kind })) => {
                    if kind.is_special() && !self.special {
                        self.skipped += 1;
                        walk::say_skipped(&below(self.root, &path), kind);
                        continue;
                    }
                    Item::New(path, kind, None)
                }
                (None, _) => return None,
            });
        }
    }
}

/// Whether a path is below that of a directory; all are below the root, whose path is empty.
fn is_in(folder: &[u8], path: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.starts_with(b"/"))
}
