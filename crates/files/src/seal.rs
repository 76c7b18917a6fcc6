//! A manifest of a tree, made.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diagnostic::diagnostic;
use crate::dir::{DirTree, EntryKind};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::manifest::ManifestError;
use crate::manifest::entry::Entry;
use crate::manifest::header::{Header, ManifestOptions};
use crate::manifest::listed::{remark_leftover, remark_manifest, remark_mount, start};
use crate::manifest::seal_mac;
use crate::manifest::writer::Writer;
use crate::open_key::OpenKey;
use crate::pool;
use crate::progress::{Progress, Total, stopped};
use crate::raw_key::RawKey;
use crate::read_error::ReadError;
use crate::scanner::{Observation, Scanner, Scanners};
use crate::walk::{self, Walk, WalkItem, below};

/// What to seal, and how.
#[derive(Clone, Copy, Debug)]
pub struct SealOptions<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// The manifest to write.
    pub output: &'a Path,
    /// What is sealed beside names and contents.
    pub sealed: ManifestOptions,
    /// Seals the rest where entries cannot be read.
    pub skip_unreadable: bool,
    /// How many threads read, 0 for as many as there are cores.
    pub threads: usize,
}

/// A manifest in the making.
pub struct Sealing<'a> {
    key: &'a OpenKey,
    options: SealOptions<'a>,
    tree: DirTree,
    writer: Writer,
    exclusions: [Exclusion; 3],
}

/// What was sealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealCounts {
    /// Regular files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links.
    pub links: u64,
    /// Pipes, sockets and devices.
    pub special: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Pipes, sockets and devices that were not to be sealed.
    pub skipped: u64,
    /// Entries that could not be read, and are left out.
    pub unreadable: u64,
}

impl<'a> Sealing<'a> {
    /// Opens the directory and begins the manifest, which is nowhere until it is whole.
    pub fn new(
        key: &'a OpenKey,
        raw: &RawKey,
        options: SealOptions<'a>,
    ) -> Result<Sealing<'a>, Error> {
        let tree = DirTree::open(options.directory).map_err(|error| failed(&options, error))?;
        let header = Header::new(key, options.sealed);
        let writer = Writer::create(options.output, header, &seal_mac(raw))?;
        let exclusions = writer.exclusions()?;
        Ok(Sealing { key, options, tree, writer, exclusions })
    }

    fn walk(&self) -> Result<Walk, Error> {
        start(&self.tree, &self.exclusions, self.options.sealed)
            .map_err(|error| failed(&self.options, error))
    }

    /// What there is to seal.
    pub fn total(&self) -> Result<Total, Error> {
        let special = self.options.sealed.special;
        Ok(walk::total(self.walk()?, |kind| special || !kind.is_special()))
    }

    /// Seals. An error if something could not be, unless that is to be left out.
    pub fn run(self, progress: &dyn Progress) -> Result<SealCounts, Error> {
        let (root, options) = (self.options.directory, self.options.sealed);
        let will_fail = AtomicBool::new(false);
        let threads = self.options.threads;
        let scanners = Scanners::new(&self.tree, self.key, options, threads, progress, &will_fail);
        let Scanners { mut main, mut others } =
            scanners.map_err(|error| failed(&self.options, error))?;
        let walk = self.walk()?;
        let counts = SealCounts::default();
        let mut sealer = Sealer { options: self.options, progress, writer: self.writer, counts };
        let mut skipped = 0;
        let jobs = walk.filter_map(|found| match found {
            WalkItem::Entry { path, kind } if kind.is_special() && !options.special => {
                skipped += 1;
                walk::say_skipped(&below(root, &path), kind);
                None
            }
            WalkItem::Entry { path, kind } => Some((path, Ok(kind))),
            WalkItem::UnreadableDir { path, error } | WalkItem::Partly { path, error } => {
                Some((path, Err(error)))
            }
            WalkItem::Mount { path } => {
                remark_mount(&below(root, &path));
                None
            }
            WalkItem::Excluded { path, exclusion: 0 } => {
                remark_manifest(&below(root, &path));
                None
            }
            WalkItem::Excluded { path, exclusion: 2 } => {
                remark_leftover(&below(root, &path));
                None
            }
            // What is not yet the manifest.
            WalkItem::Excluded { .. } => None,
        });
        let scan = |scanner: &mut Scanner<'_>, (path, kind): (Vec<u8>, io::Result<EntryKind>)| {
            let observed = match kind {
                Ok(kind) => scanner.scan(&path, kind, None),
                Err(error) => Observation::Unreadable(error.into()),
            };
            (path, observed)
        };
        pool::in_order(&mut others, jobs, scan, |(path, observed)| {
            stopped(progress)?;
            let observed = match observed {
                Observation::Large => main.scan(&path, EntryKind::File, None),
                other => other,
            };
            match observed {
                Observation::Entry(entry) => sealer.entry(&Entry { path, ..entry }),
                Observation::Unreadable(error) => {
                    will_fail.store(!sealer.options.skip_unreadable, Ordering::Relaxed);
                    sealer.unreadable(&path, &error);
                    Ok(())
                }
                Observation::Large => unreachable!("this scanner leaves nothing to others"),
            }
        })?;
        sealer.counts.skipped = skipped;
        self.tree.in_place(root).map_err(|error| failed(&self.options, error))?;
        sealer.finish()
    }
}

fn failed(options: &SealOptions<'_>, error: io::Error) -> Error {
    Error::io(format_args!("{}: {}", Escaped::name(options.directory), ReadError::from(error)))
}

struct Sealer<'a> {
    options: SealOptions<'a>,
    progress: &'a dyn Progress,
    writer: Writer,
    counts: SealCounts,
}

impl Sealer<'_> {
    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let counts = &mut self.counts;
        match entry.kind {
            EntryKind::File => counts.files += 1,
            EntryKind::Directory => counts.directories += 1,
            EntryKind::Link => counts.links += 1,
            _ => counts.special += 1,
        }
        counts.bytes += entry.content.as_ref().map_or(0, |content| content.size);
        self.progress.file();
        if self.will_fail() { Ok(()) } else { self.writer.entry(entry) }
    }

    /// Whether the manifest will not be written.
    fn will_fail(&self) -> bool {
        self.counts.unreadable > 0 && !self.options.skip_unreadable
    }

    fn unreadable(&mut self, path: &[u8], error: &ReadError) {
        self.counts.unreadable += 1;
        let path = below(self.options.directory, path);
        diagnostic(format_args!("{}: {error}", Escaped::name(&path)));
    }

    fn finish(self) -> Result<SealCounts, Error> {
        if self.will_fail() {
            let (manifest, entries) = (self.options.output.into(), self.counts.unreadable);
            return Err(ManifestError::Unsealed { manifest, entries }.into());
        }
        self.writer.finish()?;
        Ok(self.counts)
    }
}
