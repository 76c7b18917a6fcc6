//! Sealed entries, each looked up in the tree by its path, without a walk.

use std::io;

use crate::audit::merge::turn;
use crate::audit::plan::Plan;
use crate::audit::scanned::{Both, TreeReader, missing};
use crate::audit::source::{Item, Settled};
use crate::audit::{Change, Status};
use crate::dir::{DirTree, EntryKind};
use crate::error::Error;
use crate::manifest::Entries;
use crate::manifest::entry::{Entry, word};
use crate::read_error::ReadError;

/// Sealed entries, looked up in the tree.
pub struct Lookups<'a> {
    tree: DirTree,
    sealed: Entries<'a>,
    /// The paths asked for, and whether the manifest has an entry at or below each.
    paths: Vec<(&'a [u8], bool)>,
    plan: &'a Plan,
}

impl<'a> Lookups<'a> {
    /// Looks up the entries at or below one of `paths`, or all if `paths` is empty.
    pub fn new(
        tree: DirTree,
        sealed: Entries<'a>,
        paths: &'a [Vec<u8>],
        plan: &'a Plan,
    ) -> Lookups<'a> {
        let paths = paths.iter().map(|path| (&**path, false)).collect();
        Lookups { tree, sealed, paths, plan }
    }

    /// Returns a path without an entry at or below it. Call this at the end.
    pub fn unused(&self) -> Option<&'a [u8]> {
        self.paths.iter().find(|(_, used)| !used).map(|(path, _)| *path)
    }

    /// Returns whether an entry was asked for.
    fn is_asked_for(&mut self, entry: &[u8]) -> bool {
        if self.paths.is_empty() {
            return true;
        }
        let mut any = false;
        for (path, used) in &mut self.paths {
            let rest = entry.strip_prefix(*path);
            let is_it = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
            *used |= is_it;
            any |= is_it;
        }
        any
    }

    fn look_up(&mut self, sealed: Entry) -> Item<TreeReader<'a>> {
        let turn = turn(self.plan, &sealed);
        match self.tree.facts(&sealed.path).map(|facts| facts.kind) {
            Ok(Some(kind)) if kind == sealed.kind => {
                Item::Both(Both { sealed, unlisted: None, turn })
            }
            Ok(kind) => {
                let found = kind.map_or("unknown", |kind: EntryKind| word(kind));
                let change = Change::new("kind", word(sealed.kind), found);
                let (name, status) = (sealed.path, Status::Changed(vec![change]));
                Item::Settled(Settled { name, kind: found, status, turn, anew: None })
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                missing(turn, sealed)
            }
            Err(error) => {
                let status = Status::Unreadable(ReadError::from(error).to_string());
                let kind = word(sealed.kind);
                Item::Settled(Settled { name: sealed.path, kind, status, turn, anew: None })
            }
        }
    }
}

impl<'a> Iterator for Lookups<'a> {
    type Item = Result<Item<TreeReader<'a>>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.sealed.next()? {
                Err(error) => return Some(Err(error)),
                Ok(sealed) if self.is_asked_for(&sealed.path) => {
                    return Some(Ok(self.look_up(sealed)));
                }
                Ok(_) => {}
            }
        }
    }
}
