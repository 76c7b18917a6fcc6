//! The entries that a seal finds: a walk through a tree, or the paths of a list.

use std::io;

use crate::diagnostic::diagnostic;
use crate::dir::{self, DirTree, EntryKind};
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::name_list::NameList;
use crate::walk::{Walk, WalkItem};

/// The entries that a seal finds, in the order of a manifest.
pub enum Found<'a> {
    /// Everything in a tree.
    Walk(Walk),
    /// The entries that a list names.
    List(Listed<'a>),
}

impl Found<'_> {
    /// Reports filters that had no effect, after the last entry, or that left `nothing` to seal.
    pub fn remark(&self, filters: &[Vec<u8>], nothing: bool) {
        let Found::Walk(walk) = self else { return };
        for number in walk.rules().filter.unused() {
            let filter = Escaped::text(&filters[number]).to_string();
            diagnostic(format_args!("the pattern '{filter}' matched nothing"));
        }
        if nothing {
            diagnostic("the filters left out everything");
        }
    }
}

impl Iterator for Found<'_> {
    type Item = WalkItem;

    fn next(&mut self) -> Option<WalkItem> {
        match self {
            Found::Walk(walk) => walk.next(),
            Found::List(list) => list.next(),
        }
    }
}

/// The entries that a list names, each after its directories.
pub struct Listed<'a> {
    tree: DirTree,
    paths: &'a NameList,
    /// The index of the next path.
    next: usize,
    /// The path whose directories come first, and how much of it was returned.
    current: Option<(&'a [u8], usize)>,
    /// The last path returned.
    last: Vec<u8>,
    excluded: Vec<Exclusion>,
}

impl<'a> Listed<'a> {
    /// The entries of `tree` at `paths`, which are relative to its root and sorted by
    /// [`dir::order`].
    pub fn new(tree: DirTree, paths: &'a NameList, excluded: Vec<Exclusion>) -> Listed<'a> {
        assert!(paths.iter().is_sorted_by(|a, b| dir::order(a, b).is_lt()), "the list is sorted");
        Listed { tree, paths, next: 0, current: None, last: Vec::new(), excluded }
    }

    /// Returns the next prefix of the current path that was not returned with an earlier path.
    fn advance(&mut self) -> Option<&'a [u8]> {
        loop {
            let (path, done) = match self.current.take() {
                Some((path, done)) if done < path.len() => (path, done),
                _ => {
                    self.next += 1;
                    (self.paths.get(self.next - 1)?, 0)
                }
            };
            let start = if done == 0 { 0 } else { done + 1 };
            let rest = &path[start..];
            let end = start + rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
            self.current = Some((path, end));
            let prefix = &path[..end];
            // Paths are sorted, so an earlier path with this prefix was the last one.
            let seen =
                self.last.starts_with(prefix) && matches!(self.last.get(end), None | Some(b'/'));
            if !seen {
                self.last.clear();
                self.last.extend_from_slice(prefix);
                return Some(prefix);
            }
        }
    }

    fn look(&mut self, path: &[u8]) -> io::Result<WalkItem> {
        let (folder, name) = dir::split(path);
        let folder = dir::FileStat::from_fd(self.tree.directory(folder)?)?.identity;
        let exclusion = self.excluded.iter().position(|exclusion| exclusion.has(folder, name));
        if let Some(exclusion) = exclusion {
            return Ok(WalkItem::Excluded { path: path.to_vec(), exclusion });
        }
        match self.tree.facts(path)?.kind {
            Some(kind) => Ok(WalkItem::Entry { path: path.to_vec(), kind }),
            None => Err(io::Error::other("an entry of an unknown kind")),
        }
    }
}

impl Iterator for Listed<'_> {
    type Item = WalkItem;

    fn next(&mut self) -> Option<WalkItem> {
        let path = self.advance()?;
        let whole = self.current.is_none_or(|(whole, _)| whole.len() == path.len());
        let found = self.look(path).and_then(|found| match found {
            WalkItem::Entry { kind, .. } if !whole && kind != EntryKind::Directory => {
                Err(io::ErrorKind::NotADirectory.into())
            }
            found => Ok(found),
        });
        Some(found.unwrap_or_else(|error| {
            // Nothing below it can be read either: the next path begins.
            if let Some((whole, done)) = &mut self.current {
                *done = whole.len();
            }
            WalkItem::UnreadableDir { path: path.to_vec(), error }
        }))
    }
}
