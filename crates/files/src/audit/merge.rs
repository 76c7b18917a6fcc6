//! The entries of a tree and of its manifest, merged in order.

use std::iter::{Map, Peekable};
use std::path::Path;

use crate::audit::pair::{self, Pair};
use crate::audit::plan::{Plan, Turn};
use crate::audit::scanned::{Both, NewFile, TreeReader, missing};
use crate::audit::source::{Item, Settled};
use crate::audit::{Change, Status};
use crate::dir::{self, EntryKind};
use crate::error::Error;
use crate::manifest::Entries;
use crate::manifest::entry::{Entry, word};
use crate::manifest::listed::{remark_manifest, remark_mount, remark_own};
use crate::read_error::ReadError;
use crate::walk::{self, Walk, WalkItem, below};

/// A walk, with the error type of the manifest's entries.
type Walked = Map<Walk, fn(WalkItem) -> Result<WalkItem, Error>>;

/// The entries of a tree and of its manifest.
pub struct Merge<'a> {
    root: &'a Path,
    /// True if pipes, sockets and devices were sealed.
    special: bool,
    found: Peekable<Walked>,
    sealed: Peekable<Entries<'a>>,
    /// An unreadable directory and the reason: entries sealed in it get no verdict.
    closed: Option<(Vec<u8>, String)>,
    /// The files that the audit itself uses. Sealed ones get no verdict.
    excluded: Vec<Vec<u8>>,
    plan: &'a Plan,
    skipped: u64,
    left_out: u64,
}

impl<'a> Merge<'a> {
    /// Merges a walk through the tree at `root` with the entries of its manifest.
    pub fn new(
        root: &'a Path,
        special: bool,
        found: Walk,
        sealed: Entries<'a>,
        plan: &'a Plan,
    ) -> Merge<'a> {
        let (found, sealed) = (found.map(Ok as fn(_) -> _).peekable(), sealed.peekable());
        let (closed, excluded) = (None, Vec::new());
        Merge { root, special, found, sealed, closed, excluded, plan, skipped: 0, left_out: 0 }
    }

    /// Returns the number of entries that the filters left out so far, where a directory counts as
    /// one.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the number of pipes, sockets and devices skipped so far because their kinds were not
    /// sealed.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Reports a walk's remarks. Returns the path of a directory that cannot be listed completely,
    /// and the reason.
    fn aside(&mut self, found: WalkItem) -> Option<(Vec<u8>, String)> {
        match found {
            WalkItem::UnreadableDir { path, error } => {
                let why = ReadError::from(error).to_string();
                self.closed = Some((path.clone(), why.clone()));
                return Some((path, why));
            }
            WalkItem::Partly { path, error } => {
                return Some((path, ReadError::from(error).to_string()));
            }
            WalkItem::Mount { path } => remark_mount(&below(self.root, &path)),
            WalkItem::Excluded { path, exclusion } => {
                if exclusion == 0 {
                    remark_manifest(&below(self.root, &path));
                }
                self.excluded.push(path);
            }
            WalkItem::LeftOut { .. } => self.left_out += 1,
            WalkItem::Entry { .. } => {}
        }
        None
    }
}

impl<'a> Iterator for Merge<'a> {
    type Item = Result<Item<TreeReader<'a>>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let is_aside =
                |found: &Result<WalkItem, _>| !matches!(found, Ok(WalkItem::Entry { .. }));
            if let Some(Ok(found)) = self.found.next_if(is_aside) {
                match self.aside(found) {
                    None => continue,
                    Some((path, why)) => {
                        let kind = word(EntryKind::Directory);
                        return Some(Ok(Item::settled(path, kind, Status::Unreadable(why))));
                    }
                }
            }
            let pair = pair::next(&mut self.sealed, &mut self.found, |sealed, found| match found {
                WalkItem::Entry { path, .. } => dir::order(&sealed.path, path),
                _ => unreachable!("remarks were handled above"),
            });
            return Some(Ok(match pair? {
                Err(error) => return Some(Err(error)),
                Ok(Pair::Both(sealed, WalkItem::Entry { kind, .. })) if kind == sealed.kind => {
                    // The walk reports this before all entries of the directory. A report here may
                    // also concern a parent directory.
                    let is_closed = |found: &Result<WalkItem, _>| match found {
                        Ok(
                            WalkItem::UnreadableDir { path, .. } | WalkItem::Partly { path, .. },
                        ) => *path == sealed.path,
                        _ => false,
                    };
                    let closed = self.found.next_if(is_closed).and_then(Result::ok);
                    let unlisted = closed.and_then(|found| self.aside(found)).map(|(_, why)| why);
                    let turn = turn(self.plan, &sealed);
                    Item::Both(Both { sealed, unlisted, turn })
                }
                Ok(Pair::Both(sealed, WalkItem::Entry { kind, .. })) => {
                    let (sealed, path) = (word(sealed.kind), sealed.path);
                    let change = Change::new("kind", sealed, word(kind));
                    Item::settled(path, word(kind), Status::Changed(vec![change]))
                }
                Ok(Pair::Sealed(sealed)) if self.excluded.contains(&sealed.path) => {
                    remark_own(&below(self.root, &sealed.path));
                    continue;
                }
                Ok(Pair::Sealed(sealed)) => match &self.closed {
                    Some((folder, why)) if is_in(folder, &sealed.path) => {
                        let (kind, turn) = (word(sealed.kind), turn(self.plan, &sealed));
                        let status = Status::Unreadable(why.clone());
                        Item::Settled(Settled { name: sealed.path, kind, status, turn, anew: None })
                    }
                    _ => missing(turn(self.plan, &sealed), sealed),
                },
                Ok(Pair::Found(WalkItem::Entry { path, kind })) => match kind {
                    EntryKind::File => Item::New(NewFile::new(path)),
                    kind if kind.is_special() && !self.special => {
                        self.skipped += 1;
                        walk::say_skipped(&below(self.root, &path), kind);
                        continue;
                    }
                    kind => Item::settled(path, word(kind), Status::New),
                },
                Ok(Pair::Both(..) | Pair::Found(_)) => unreachable!("remarks were handled above"),
            }));
        }
    }
}

/// Returns what the plan says on a sealed entry, if it is a file.
pub fn turn(plan: &Plan, sealed: &Entry) -> Option<Turn> {
    let content = sealed.content.as_ref()?;
    Some(plan.turn(&sealed.path, content.size, sealed.read))
}

/// Returns whether `path` is below `folder`. Everything is below the root, whose path is empty.
fn is_in(folder: &[u8], path: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.starts_with(b"/"))
}
