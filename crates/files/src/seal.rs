//! Seals a tree: writes its manifest.

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

/// Options of a seal.
#[derive(Clone, Copy, Debug)]
pub struct SealOptions<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// The manifest to write.
    pub output: &'a Path,
    /// Properties that are sealed in addition to names and contents.
    pub sealed: ManifestOptions,
    /// Leaves out unreadable entries instead of failing.
    pub skip_unreadable: bool,
    /// The number of threads that read; 0 means one per core.
    pub threads: usize,
}

/// A manifest that is being made.
pub struct Sealing<'a> {
    key: &'a OpenKey,
    options: SealOptions<'a>,
    tree: DirTree,
    writer: Writer,
    exclusions: [Exclusion; 3],
}

/// Counts of sealed entries.
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
    /// The sum of all file sizes in bytes.
    pub bytes: u64,
    /// Pipes, sockets and devices that were skipped.
    pub skipped: u64,
    /// Entries left out because they could not be read.
    pub unreadable: u64,
}

impl<'a> Sealing<'a> {
    /// Opens the directory and starts the manifest, which appears only when it is complete.
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

    /// Returns the number of entries and bytes to seal.
    pub fn total(&self) -> Result<Total, Error> {
        let special = self.options.sealed.special;
        Ok(walk::total(self.walk()?, |kind| special || !kind.is_special()))
    }

    /// Seals the tree. Fails if an entry could not be read, unless unreadable entries may be left
    /// out.
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
            // The temporary file of this manifest.
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
                Observation::Large => unreachable!("the main scanner reads every file"),
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

    /// Returns whether the manifest will not be written.
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
