//! A tree against its manifest.

mod change;
mod merge;
mod renames;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::dir::{DirTree, Kind};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::key::Key;
use crate::mac::Mac;
use crate::manifest::entry::{Entry, word};
use crate::manifest::listed::start;
use crate::manifest::{Manifest, seal_mac};
use crate::pool;
use crate::progress::{Progress, Total, stopped};
use crate::read_error::ReadError;
use crate::scanner::{Observation, Scanner, Scanners};
use crate::walk::Exclusion;
pub use change::Change;
use change::changes;
use merge::{Item, Merge};
use renames::{Found, Renames};

/// The verdict on an entry.
#[derive(Debug)]
pub enum Status<'a> {
    /// It is as it was sealed.
    Unchanged,
    /// It is there, and another.
    Changed(Vec<Change>),
    /// It was not sealed.
    New,
    /// It is not there.
    Missing,
    /// It was sealed under this other path, and what differs beside it.
    Renamed(&'a [u8], Vec<Change>),
    /// There is no verdict, and why.
    Unreadable(String),
}

impl Status<'_> {
    /// The verdict on an entry with these changes.
    fn new(changes: Vec<Change>) -> Self {
        if changes.is_empty() { Status::Unchanged } else { Status::Changed(changes) }
    }
}

/// Takes the verdict on the entry at a path of this kind.
pub type Put<'a> = dyn FnMut(&[u8], Kind, Status<'_>) + 'a;

/// What an audit says in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audited {
    /// Entries that have no verdict, as their kind was not sealed.
    pub skipped: u64,
    /// Whether all renamed files were looked for. Some may stand as new and missing otherwise.
    pub renames_complete: bool,
}

/// An audit of a tree, with a manifest whose seal was checked.
pub struct Audit<'a> {
    mac: &'a Mac,
    root: &'a Path,
    place: PathBuf,
    manifest: Manifest,
    tree: DirTree,
    excluded: Vec<Exclusion>,
}

impl<'a> Audit<'a> {
    /// Opens the manifest and the directory `root`.
    pub fn open(
        mac: &'a Mac,
        key: &Key,
        manifest: &Path,
        root: &'a Path,
    ) -> Result<Audit<'a>, Error> {
        let place = manifest.to_path_buf();
        let manifest = Manifest::open(manifest, mac, seal_mac(key))?;
        let tree = DirTree::open(root).map_err(|error| failed(root, error))?;
        Ok(Audit { mac, root, place, manifest, tree, excluded: Vec::new() })
    }

    /// Leaves the manifest out, and what else is no part of the tree.
    pub fn exclude(&mut self, others: io::Result<Vec<Exclusion>>) -> Result<(), Error> {
        let failed = |error| failed(self.root, error);
        // Where the manifest really is, if a link was given.
        let place = self.place.canonicalize().map_err(failed)?;
        self.excluded = vec![self.manifest.exclusion(&place).map_err(failed)?];
        self.excluded.extend(others.map_err(failed)?);
        Ok(())
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What there is to audit.
    pub fn total(&self) -> Total {
        Total { files: Some(self.manifest.entries), bytes: Some(self.manifest.bytes) }
    }

    /// Audits with `threads` threads, 0 for as many as there are cores. `put` gets the verdicts, in
    /// the order of the tree, and those on new, missing and renamed files after all others.
    pub fn run(
        &self,
        threads: usize,
        progress: &dyn Progress,
        put: &mut Put<'_>,
    ) -> Result<Audited, Error> {
        let (mac, options) = (self.mac, self.manifest.header.options);
        let skip_reading = AtomicBool::new(false);
        let failed = |error| failed(self.root, error);
        let scanners = Scanners::new(&self.tree, mac, options, threads, progress, &skip_reading);
        let Scanners { mut main, mut others } = scanners.map_err(failed)?;
        let found = start(&self.tree, &self.excluded, options).map_err(failed)?;
        let mut items = Merge::new(self.root, options.special, found, self.manifest.entries(mac)?);
        let mut renames = Renames::new(&mac.mac);
        pool::in_order(&mut others, &mut items, scan, |item| {
            progress.file();
            stopped(progress)?;
            one(item, &mut main, &mut renames, put)
        })?;
        let skipped = items.skipped();
        let renames_complete = renames.resolve(&mut main, |found| match found {
            Found::Renamed { from, to, changes } => {
                put(to, Kind::File, Status::Renamed(from, changes))
            }
            Found::New(path) => put(path, Kind::File, Status::New),
            Found::Missing(path) => put(path, Kind::File, Status::Missing),
        });
        // What was not read may not stand as new or missing.
        stopped(progress)?;
        self.tree.in_place(self.root).map_err(failed)?;
        Ok(Audited { skipped, renames_complete })
    }
}

fn failed(root: &Path, error: io::Error) -> Error {
    Error::io(format_args!("{}: {}", Escaped::name(root), ReadError::from(error)))
}

/// The verdict on an item.
fn one(
    item: Item,
    main: &mut Scanner<'_>,
    renames: &mut Renames,
    put: &mut Put<'_>,
) -> Result<(), Error> {
    match item {
        Item::Both(sealed, observed) => {
            let observed = match observed {
                Some(Observation::Large) | None => {
                    main.scan(&sealed.path, sealed.kind, sealed.content.as_ref())
                }
                Some(observed) => observed,
            };
            let status = match observed {
                Observation::Entry(found) => Status::new(changes(&sealed, &found)),
                // It was there when its directory was listed.
                Observation::Unreadable(ReadError::Missing(_)) => Status::Missing,
                Observation::Unreadable(error) => Status::Unreadable(error.to_string()),
                Observation::Large => unreachable!("this scanner leaves nothing to others"),
            };
            match status {
                Status::Missing => missing(sealed, renames, put),
                status => put(&sealed.path, sealed.kind, status),
            }
        }
        Item::UnreadableDir(sealed, why) => {
            let found = main.scan(&sealed.path, sealed.kind, None);
            let changes = match &found {
                Observation::Entry(found) => changes(&sealed, found),
                _ => Vec::new(),
            };
            let status = match changes.is_empty() {
                true => Status::Unreadable(why),
                false => Status::Changed(changes),
            };
            put(&sealed.path, sealed.kind, status)
        }
        Item::Missing(sealed) => missing(sealed, renames, put),
        Item::Kind(sealed, found) => {
            let change = Change::new("kind", word(sealed.kind), word(found));
            put(&sealed.path, found, Status::Changed(vec![change]))
        }
        Item::New(path, kind, size) => match renames.new_file(path, kind, size) {
            None => {}
            Some(path) => put(&path, kind, Status::New),
        },
        Item::Unreadable(path, kind, why) => put(&path, kind, Status::Unreadable(why)),
        Item::Wrong(error) => return Err(error),
    }
    Ok(())
}

/// Scans what is there.
fn scan(scanner: &mut Scanner<'_>, item: Item) -> Item {
    match item {
        Item::Both(sealed, _) => {
            let observed = scanner.scan(&sealed.path, sealed.kind, sealed.content.as_ref());
            Item::Both(sealed, Some(observed))
        }
        Item::New(path, kind @ Kind::File, _) => {
            let size = scanner.size(&path).ok();
            Item::New(path, kind, size)
        }
        other => other,
    }
}

/// A missing file may be a new one under another name; all else is missing.
fn missing(sealed: Entry, renames: &mut Renames, put: &mut Put<'_>) {
    if let Some(sealed) = renames.missing(sealed) {
        put(&sealed.path, sealed.kind, Status::Missing);
    }
}
