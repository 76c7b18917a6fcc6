//! `seal` and `audit`: the manifest of a directory, as the command writes and checks it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use pyo3::prelude::*;
use tagmac_files::audit::{Audited, Change, Counts, Plan, Status, TreeAudit};
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::position::Positions;
use tagmac_files::seal::{SealCounts, SealOptions, Sealing};

use crate::error::failed;
use crate::key::Key;
use crate::progress::Watch;

/// Seals a directory: writes a manifest of all its entries to the file `manifest`, replacing an old
/// one.
///
/// `mode`, `mtime`, `owner`, `xattrs` and `special` also seal file modes, modification times, owners,
/// extended attributes, and pipes, sockets and devices. `one_file_system` skips other file systems.
/// `exclude` is a list of patterns in the syntax of gitignore, `exclude_caches` leaves out the
/// contents of directories with a CACHEDIR.TAG, and `max_depth` limits the depth; the manifest records
/// them, and `audit` applies them. Files that show no change since the manifest `since` are not read.
/// `new_chain` starts a new chain instead of continuing that of the manifest that is replaced. `threads` is the number of threads (0: one
/// for each core).
///
/// An entry that cannot be read raises `OSError`, and no manifest is written, unless
/// `skip_unreadable` leaves such entries out. `progress(bytes, total_bytes, entries,
/// total_entries)` is called at intervals and at the end.
#[pyfunction]
#[pyo3(signature = (directory, key, manifest, *, mode=false, mtime=false, owner=false, xattrs=false, special=false, one_file_system=false, exclude=Vec::new(), exclude_caches=false, max_depth=None, since=None, new_chain=false, skip_unreadable=false, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub fn seal(
    py: Python<'_>,
    directory: PathBuf,
    key: &Bound<'_, Key>,
    manifest: PathBuf,
    mode: bool,
    mtime: bool,
    owner: bool,
    xattrs: bool,
    special: bool,
    one_file_system: bool,
    exclude: Vec<OsString>,
    exclude_caches: bool,
    max_depth: Option<u32>,
    since: Option<PathBuf>,
    new_chain: bool,
    skip_unreadable: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Sealed> {
    let (open_key, raw_key) = (key.get().open_key(), key.get().raw_key());
    let filters: Vec<Vec<u8>> = exclude.into_iter().map(OsString::into_vec).collect();
    let options = SealOptions {
        directory: &directory,
        output: &manifest,
        new_chain,
        since: since.as_deref(),
        filters: &filters,
        list: None,
        sealed: ManifestOptions {
            mode,
            mtime,
            owner,
            xattrs,
            special,
            one_file_system,
            exclude_caches,
            listed: false,
            max_depth,
        },
        skip_unreadable,
        threads,
    };
    let watch = Watch::new(progress, true);
    let work = || {
        let sealing = Sealing::new(open_key, &raw_key, options)?;
        if watch.is_heard() {
            let total = sealing.total()?;
            watch.set_total(total.bytes, total.files);
        }
        sealing.run(&watch)
    };
    let counts = py.detach(work).map_err(|error| watch.failed(|| failed(error)))?;
    watch.tell(py)?;
    Ok(Sealed(counts))
}

/// The number of entries that `seal` sealed, by kind.
#[pyclass(frozen, module = "tagmac")]
pub struct Sealed(SealCounts);

#[pymethods]
impl Sealed {
    /// Number of regular files.
    #[getter]
    fn files(&self) -> u64 {
        self.0.files
    }

    /// Number of directories.
    #[getter]
    fn directories(&self) -> u64 {
        self.0.directories
    }

    /// Number of symbolic links.
    #[getter]
    fn links(&self) -> u64 {
        self.0.links
    }

    /// Number of pipes, sockets and devices.
    #[getter]
    fn special(&self) -> u64 {
        self.0.special
    }

    /// Total length of the files in bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Number of pipes, sockets and devices that were left out, since `special` is False.
    #[getter]
    fn skipped(&self) -> u64 {
        self.0.skipped
    }

    /// Number of entries that could not be read and were left out.
    #[getter]
    fn unreadable(&self) -> u64 {
        self.0.unreadable
    }

    /// Number of files that were not read, because they show no change since `since`.
    #[getter]
    fn carried(&self) -> u64 {
        self.0.carried
    }

    /// Number of entries that the filters left out, where a directory counts as one.
    #[getter]
    fn left_out(&self) -> u64 {
        self.0.left_out
    }

    fn __repr__(&self) -> String {
        let SealCounts { files, directories, links, bytes, .. } = self.0;
        format!(
            "<tagmac.Sealed files={files} directories={directories} links={links} bytes={bytes}>"
        )
    }
}

/// Compares a directory with its manifest, and reports all differences.
///
/// The manifest's seal is checked first: `InvalidTag` is raised if it is damaged, `WrongKey` if it
/// belongs to another key. `threads` and `progress` are as in `seal`.
#[pyfunction]
#[pyo3(signature = (manifest, directory, key, *, threads=0, progress=None))]
pub fn audit(
    py: Python<'_>,
    manifest: PathBuf,
    directory: PathBuf,
    key: &Bound<'_, Key>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<AuditReport> {
    let (open_key, raw_key) = (key.get().open_key(), key.get().raw_key());
    let watch = Watch::new(progress, true);
    let (mut counts, mut differences) = (Counts::default(), Vec::new());
    let work = || {
        let mut audit = TreeAudit::open(open_key, &raw_key, &manifest, &directory)?;
        audit.exclude(Ok(Vec::new()))?;
        let total = audit.total();
        watch.set_total(total.bytes, total.files);
        let put = &mut |path: &[u8], kind, status: Status<'_>| {
            counts.add(&status);
            differences.extend(Difference::new(path, kind, status));
        };
        audit.run(&Plan::all(Positions::new(&raw_key)), &[], threads, &watch, put)
    };
    let audited = py.detach(work).map_err(|error| watch.failed(|| failed(error)))?;
    watch.tell(py)?;
    let Counts { unchanged, changed, new, missing, renamed, unreadable, .. } = counts;
    let Audited { skipped, renames_complete, left_out, .. } = audited;
    Ok(AuditReport {
        unchanged,
        changed,
        new,
        missing,
        renamed,
        unreadable,
        skipped,
        left_out,
        renames_complete,
        differences,
    })
}

/// The result of `audit`. It is true if nothing differs from the manifest.
#[pyclass(frozen, module = "tagmac")]
pub struct AuditReport {
    /// Number of entries that match the manifest.
    #[pyo3(get)]
    unchanged: u64,
    /// Number of entries that changed.
    #[pyo3(get)]
    changed: u64,
    /// Number of entries that are not in the manifest.
    #[pyo3(get)]
    new: u64,
    /// Number of entries in the manifest that no longer exist.
    #[pyo3(get)]
    missing: u64,
    /// Number of files that were sealed under another path.
    #[pyo3(get)]
    renamed: u64,
    /// Number of entries that could not be read, and so were not compared.
    #[pyo3(get)]
    unreadable: u64,
    /// Number of pipes, sockets and devices that were not compared, since they were not sealed.
    #[pyo3(get)]
    skipped: u64,
    /// Number of entries that the sealed filters left out, where a directory counts as one.
    #[pyo3(get)]
    left_out: u64,
    /// True if the search for renamed files was complete. Otherwise some are counted as new and
    /// missing.
    #[pyo3(get)]
    renames_complete: bool,
    differences: Vec<Difference>,
}

#[pymethods]
impl AuditReport {
    /// True if nothing differs from the manifest.
    #[getter]
    fn ok(&self) -> bool {
        self.differences.is_empty()
    }

    /// All entries that differ from the manifest: first in the order of the tree, then new, missing
    /// and renamed files.
    #[getter]
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn __bool__(&self) -> bool {
        self.ok()
    }

    fn __repr__(&self) -> String {
        let AuditReport { unchanged, changed, new, missing, renamed, unreadable, .. } = self;
        format!(
            "<tagmac.AuditReport unchanged={unchanged} changed={changed} new={new} \
             missing={missing} renamed={renamed} unreadable={unreadable}>"
        )
    }
}

/// An entry that differs from the manifest.
#[pyclass(frozen, module = "tagmac")]
#[derive(Clone)]
pub struct Difference {
    /// The path relative to the directory.
    #[pyo3(get)]
    path: OsString,
    /// "file", "directory", "link" or another kind.
    #[pyo3(get)]
    kind: &'static str,
    /// "changed", "new", "missing", "renamed" or "unreadable".
    #[pyo3(get)]
    status: &'static str,
    /// The path that a renamed file had in the manifest; None for other entries.
    #[pyo3(get)]
    was: Option<OsString>,
    changes: Vec<Change>,
    /// The error of an unreadable entry; None for other entries.
    #[pyo3(get)]
    reason: Option<String>,
}

impl Difference {
    /// The difference that a status describes, or `None` for an unchanged entry.
    fn new(path: &[u8], kind: &'static str, status: Status<'_>) -> Option<Difference> {
        let path = if path.is_empty() { ".".into() } else { OsStr::from_bytes(path).into() };
        let word = status.word();
        let (was, changes, reason) = match status {
            Status::Unchanged | Status::NotRead => return None,
            Status::New | Status::Missing => (None, Vec::new(), None),
            Status::Changed(changes) => (None, changes, None),
            Status::Renamed(from, changes) => (Some(OsStr::from_bytes(from).into()), changes, None),
            Status::Unreadable(why) => (None, Vec::new(), Some(why)),
        };
        Some(Difference { path, kind, status: word, was, changes, reason })
    }
}

/// The name of a change, the sealed value, and the value found.
type Changed = (&'static str, Option<String>, Option<String>);

#[pymethods]
impl Difference {
    /// The changes of an entry, as tuples of a name, the sealed value and the value found. The
    /// names are size, content, target, kind, mode and mtime. The values are None for a content.
    #[getter]
    fn changes(&self) -> Vec<Changed> {
        let one = |change: &Change| (change.what, change.expected.clone(), change.found.clone());
        self.changes.iter().map(one).collect()
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Difference {:?} {}>", self.path, self.status)
    }
}
