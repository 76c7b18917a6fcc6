//! Audits of a tree against its manifest.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::audit::merge::Merge;
use crate::audit::source::Sources;
use crate::audit::{Put, audit};
use crate::dir::DirTree;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::manifest::listed::start;
use crate::manifest::{Manifest, seal_mac};
use crate::open_key::OpenKey;
use crate::progress::{Progress, Total};
use crate::raw_key::RawKey;
use crate::read_error::ReadError;
use crate::scanner::Scanners;

/// The summary of a tree's audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audited {
    /// The number of entries without a verdict, because their kind was not sealed.
    pub skipped: u64,
    /// True if the search for renamed files was complete. If not, some may be reported as new and
    /// missing.
    pub renames_complete: bool,
}

/// An audit of a tree, with a manifest whose seal was verified.
pub struct TreeAudit<'a> {
    key: &'a OpenKey,
    root: &'a Path,
    place: PathBuf,
    manifest: Manifest,
    tree: DirTree,
    excluded: Vec<Exclusion>,
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
        let manifest = Manifest::open(manifest, key, seal_mac(raw))?;
        let tree = DirTree::open(root).map_err(|error| failed(root, error))?;
        Ok(TreeAudit { key, root, place, manifest, tree, excluded: Vec::new() })
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

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the number of entries and bytes to audit.
    pub fn total(&self) -> Total {
        Total { files: Some(self.manifest.entries), bytes: Some(self.manifest.bytes) }
    }

    /// Audits on `threads` threads; 0 means one per core. `put` receives the verdicts in the order
    /// of the tree; those on new, missing and renamed files come last.
    pub fn run(
        &self,
        threads: usize,
        progress: &dyn Progress,
        put: &mut Put<'_>,
    ) -> Result<Audited, Error> {
        let (key, options) = (self.key, self.manifest.header.options);
        let skip_reading = AtomicBool::new(false);
        let failed = |error| failed(self.root, error);
        let scanners = Scanners::new(&self.tree, key, options, threads, progress, &skip_reading);
        let Scanners { mut main, mut others } = scanners.map_err(failed)?;
        let found = start(&self.tree, &self.excluded, options).map_err(failed)?;
        let mut items = Merge::new(self.root, options.special, found, self.manifest.entries(key)?);
        let sources = Sources { main: &mut main, others: &mut others };
        let nonces = key.mac.algorithm().takes_nonce();
        let renames_complete = audit(nonces, &mut items, sources, progress, put)?;
        self.tree.in_place(self.root).map_err(failed)?;
        Ok(Audited { skipped: items.skipped(), renames_complete })
    }
}

fn failed(root: &Path, error: io::Error) -> Error {
    Error::io(format_args!("{}: {}", Escaped::name(root), ReadError::from(error)))
}
