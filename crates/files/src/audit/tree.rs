//! Audits of a tree against its manifest.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::audit::leaves::LeafReader;
use crate::audit::lookups::Lookups;
use crate::audit::merge::Merge;
use crate::audit::scanned::TreeReader;
use crate::audit::source::{Item, Sources};
use crate::audit::{Keep, Plan, Put, Tally, audit};
use crate::dir::DirTree;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::filter::Filter;
use crate::manifest::listed::start;
use crate::manifest::{Manifest, ManifestError, seal_mac};
use crate::open_key::OpenKey;
use crate::position::Positions;
use crate::progress::{Progress, Total};
use crate::raw_key::RawKey;
use crate::read_error::ReadError;
use crate::scanner::{Scanners, Second};
use crate::selection::Histogram;
use tagmac_any::AnyMac;

/// The summary of a tree's audit.
#[derive(Clone, Debug)]
pub struct Audited {
    /// The number of entries without a verdict, because their kind was not sealed.
    pub skipped: u64,
    /// True if the search for renamed files was complete. If not, some may be reported as new and
    /// missing.
    pub renames_complete: bool,
    /// The number of entries that the sealed filters left out, where a directory counts as one.
    pub left_out: u64,
    /// Counts of what was read.
    pub tally: Tally,
}

/// An audit of a tree, with a manifest whose seal was verified.
pub struct TreeAudit<'a> {
    key: &'a OpenKey,
    root: &'a Path,
    place: PathBuf,
    manifest: Manifest,
    tree: DirTree,
    excluded: Vec<Exclusion>,
    seal_mac: AnyMac,
    second: Option<Second>,
}

impl<'a> TreeAudit<'a> {
    /// Opens the manifest and the directory `root`.
    pub fn open(
        key: &'a OpenKey,
        raw: &RawKey,
        manifest: &Path,
        root: &'a Path,
    ) -> Result<TreeAudit<'a>, Error> {
        let place = manifest.to_path_buf();
        let seal_mac = seal_mac(raw);
        let manifest = Manifest::open(manifest, key, seal_mac.clone())?;
        let tree = DirTree::open(root).map_err(|error| failed(root, error))?;
        let excluded = Vec::new();
        Ok(TreeAudit { key, root, place, manifest, tree, excluded, seal_mac, second: None })
    }

    /// Excludes the manifest and `others` from the audit.
    pub fn exclude(&mut self, others: io::Result<Vec<Exclusion>>) -> Result<(), Error> {
        let failed = |error| failed(self.root, error);
        // If the path is a link, exclude the manifest that it points to.
        let place = self.place.canonicalize().map_err(failed)?;
        self.excluded = vec![self.manifest.exclusion(&place).map_err(failed)?];
        self.excluded.extend(others.map_err(failed)?);
        Ok(())
    }

    /// Tags every entry under a second key, in the same read.
    pub(crate) fn tag_anew(&mut self, second: Second) {
        self.second = Some(second);
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the number of entries and bytes to audit.
    pub fn total(&self) -> Total {
        Total { files: Some(self.manifest.entries), bytes: Some(self.manifest.bytes) }
    }

    /// Audits what the plan says, on `threads` threads; 0 means one per core. With `paths`, audits
    /// only the sealed entries at and below them, and reports no new ones. `put` receives the
    /// verdicts in the order of the tree; those on new, missing and renamed files come last.
    pub fn run<'s>(
        &'s self,
        plan: &'s Plan,
        paths: &'s [Vec<u8>],
        threads: usize,
        progress: &'s dyn Progress,
        put: &mut Put<'_>,
    ) -> Result<Audited, Error> {
        self.keeping(plan, paths, threads, progress, put, &mut |_| Ok(()))
    }

    /// Audits as [`run`](TreeAudit::run) does. `keep` receives the unchanged entries under the
    /// second key, in order.
    pub(crate) fn keeping<'s>(
        &'s self,
        plan: &'s Plan,
        paths: &'s [Vec<u8>],
        threads: usize,
        progress: &'s dyn Progress,
        put: &mut Put<'_>,
        keep: &mut Keep<'_>,
    ) -> Result<Audited, Error> {
        let header = &self.manifest.header;
        let sealed = self.manifest.entries(self.key)?;
        let failed = |error| failed(self.root, error);
        if header.options.listed || !paths.is_empty() {
            let mut items = Lookups::new(self.tree.again().map_err(failed)?, sealed, paths, plan);
            let (tally, renames_complete) =
                self.audit(&mut items, plan, threads, progress, put, keep)?;
            if let Some(path) = items.unused() {
                return Err(ManifestError::NoEntry { path: path.to_vec() }.into());
            }
            return Ok(Audited { skipped: 0, renames_complete, left_out: 0, tally });
        }
        let filter = Filter::new(&header.filters).map_err(|error| {
            Error::mismatch(format_args!("{}: {error}", Escaped::name(&self.place)))
        })?;
        let found = start(&self.tree, &self.excluded, header.options, filter).map_err(failed)?;
        let mut items = Merge::new(self.root, header.options.special, found, sealed, plan);
        let (tally, renames_complete) =
            self.audit(&mut items, plan, threads, progress, put, keep)?;
        let (skipped, left_out) = (items.skipped(), items.left_out());
        Ok(Audited { skipped, renames_complete, left_out, tally })
    }

    /// Adds the positions and sizes of all sealed files to a histogram.
    pub fn sizes(&self, positions: &Positions, histogram: &mut Histogram) -> Result<(), Error> {
        for entry in self.manifest.entries(self.key)? {
            let entry = entry?;
            if let Some(content) = &entry.content {
                histogram.add(positions.of(&entry.path), content.size);
            }
        }
        Ok(())
    }

    fn audit<'s>(
        &'s self,
        items: impl Iterator<Item = Result<Item<TreeReader<'s>>, Error>>,
        plan: &'s Plan,
        threads: usize,
        progress: &'s dyn Progress,
        put: &mut Put<'_>,
        keep: &mut Keep<'_>,
    ) -> Result<(Tally, bool), Error> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let (key, options) = (self.key, self.manifest.header.options);
        let failed = |error| failed(self.root, error);
        let seal_mac = &self.seal_mac;
        let scanners = Scanners::new(&self.tree, key, seal_mac, options, threads, progress, &NEVER);
        let mut scanners = scanners.map_err(failed)?;
        if let Some(second) = &self.second {
            scanners = scanners.with_second(second);
        }
        let leaves = LeafReader::new(plan, progress);
        let reader = |scanner| TreeReader { scanner, leaves };
        let mut main = reader(scanners.main);
        let mut others: Vec<_> = scanners.others.into_iter().map(reader).collect();
        let sources = Sources { main: &mut main, others: &mut others };
        let nonces = key.mac.algorithm().takes_nonce();
        let mut tally = Tally::default();
        let renames_complete = audit(nonces, items, sources, progress, &mut tally, put, keep)?;
        self.tree.in_place(self.root).map_err(failed)?;
        Ok((tally, renames_complete))
    }
}

fn failed(root: &Path, error: io::Error) -> Error {
    Error::io(format_args!("{}: {}", Escaped::name(root), ReadError::from(error)))
}
