//! `seal` and `audit`: a directory under one tag, as the command does it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use pyo3::prelude::*;
use tagmac_files::audit::{Audited, Change, Counts, Status, TreeAudit};
use tagmac_files::manifest::header::ManifestOptions;
use tagmac_files::seal::{SealCounts, SealOptions, Sealing};

use crate::error::failed;
use crate::key::Key;
use crate::progress::Watch;

/// Seals a directory: writes a manifest of all its entries, in place of one that is there.
///
/// mode, mtime and special seal these too; one_file_system stays on that of the directory. What cannot
/// be read is an OSError and there is no manifest, unless skip_unreadable leaves it out. progress is
/// called with the bytes done, all bytes, the entries done, and all entries.
#[pyfunction]
#[pyo3(signature = (directory, key, manifest, *, mode=false, mtime=false, special=false, one_file_system=false, skip_unreadable=false, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub fn seal(
    py: Python<'_>,
    directory: PathBuf,
    key: &Bound<'_, Key>,
    manifest: PathBuf,
    mode: bool,
    mtime: bool,
    special: bool,
    one_file_system: bool,
    skip_unreadable: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Sealed> {
    let (open_key, raw_key) = (key.get().open_key(), key.get().raw_key());
    let options = SealOptions {
        directory: &directory,
        output: &manifest,
        sealed: ManifestOptions { mode, mtime, special, one_file_system },
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

/// What seal has sealed: how many of each.
#[pyclass(frozen, module = "tagmac")]
pub struct Sealed(SealCounts);

#[pymethods]
impl Sealed {
    /// Regular files.
    #[getter]
    fn files(&self) -> u64 {
        self.0.files
    }

    /// Directories.
    #[getter]
    fn directories(&self) -> u64 {
        self.0.directories
    }

    /// Symbolic links.
    #[getter]
    fn links(&self) -> u64 {
        self.0.links
    }

    /// Pipes, sockets and devices.
    #[getter]
    fn special(&self) -> u64 {
        self.0.special
    }

    /// Bytes of all files.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Pipes, sockets and devices that were not to be sealed.
    #[getter]
    fn skipped(&self) -> u64 {
        self.0.skipped
    }

    /// Entries that could not be read, and are left out.
    #[getter]
    fn unreadable(&self) -> u64 {
        self.0.unreadable
    }

    fn __repr__(&self) -> String {
        let SealCounts { files, directories, links, bytes, .. } = self.0;
        format!(
            "<tagmac.Sealed files={files} directories={directories} links={links} bytes={bytes}>"
        )
    }
}

/// Audits a directory: what has changed since its manifest was sealed.
///
/// The manifest's seal is checked first: InvalidTag if it is damaged, WrongKey if it is of another key.
/// progress is called as by seal.
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
        audit.run(threads, &watch, put)
    };
    let audited = py.detach(work).map_err(|error| watch.failed(|| failed(error)))?;
    watch.tell(py)?;
    let Counts { unchanged, changed, new, missing, renamed, unreadable } = counts;
    let Audited { skipped, renames_complete } = audited;
    Ok(AuditReport {
        unchanged,
        changed,
        new,
        missing,
        renamed,
        unreadable,
        skipped,
        renames_complete,
        differences,
    })
}

/// What audit has found. It is true where everything is as it was sealed.
#[pyclass(frozen, module = "tagmac")]
pub struct AuditReport {
    /// Entries that are as they were sealed.
    #[pyo3(get)]
    unchanged: u64,
    /// Entries that are others than they were.
    #[pyo3(get)]
    changed: u64,
    /// Entries that were not sealed.
    #[pyo3(get)]
    new: u64,
    /// Entries that are not there.
    #[pyo3(get)]
    missing: u64,
    /// Files that were sealed under another path.
    #[pyo3(get)]
    renamed: u64,
    /// Entries that could not be read, so that there is no verdict.
    #[pyo3(get)]
    unreadable: u64,
    /// Entries whose kind was not sealed.
    #[pyo3(get)]
    skipped: u64,
    /// Whether all renamed files were looked for. Some may stand as new and missing otherwise.
    #[pyo3(get)]
    renames_complete: bool,
    differences: Vec<Difference>,
}

#[pymethods]
impl AuditReport {
    /// Whether everything is as it was sealed.
    #[getter]
    fn ok(&self) -> bool {
        self.differences.is_empty()
    }

    /// All entries that are not as they were sealed: those of the tree in its order, then new, missing
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

/// An entry that is not as it was sealed.
#[pyclass(frozen, module = "tagmac")]
#[derive(Clone)]
pub struct Difference {
    /// The path below the directory.
    #[pyo3(get)]
    path: OsString,
    /// file, directory, link, or another kind.
    #[pyo3(get)]
    kind: &'static str,
    /// changed, new, missing, renamed or unreadable.
    #[pyo3(get)]
    status: &'static str,
    /// The path under which a renamed file was sealed.
    #[pyo3(get)]
    was: Option<OsString>,
    changes: Vec<Change>,
    /// Why it is unreadable.
    #[pyo3(get)]
    reason: Option<String>,
}

impl Difference {
    /// The difference in a verdict, if there is one.
    fn new(path: &[u8], kind: &'static str, status: Status<'_>) -> Option<Difference> {
        let path = if path.is_empty() { ".".into() } else { OsStr::from_bytes(path).into() };
        let word = status.word();
        let (was, changes, reason) = match status {
            Status::Unchanged => return None,
            Status::New | Status::Missing => (None, Vec::new(), None),
            Status::Changed(changes) => (None, changes, None),
            Status::Renamed(from, changes) => (Some(OsStr::from_bytes(from).into()), changes, None),
            Status::Unreadable(why) => (None, Vec::new(), Some(why)),
        };
        Some(Difference { path, kind, status: word, was, changes, reason })
    }
}

/// What has changed, as it was sealed, and as it is now.
type Changed = (&'static str, Option<String>, Option<String>);

#[pymethods]
impl Difference {
    /// What has changed: size, content, target, kind, mode, mtime; each with what it was and what it is,
    /// or None for a content.
    #[getter]
    fn changes(&self) -> Vec<Changed> {
        let one = |change: &Change| (change.what, change.expected.clone(), change.found.clone());
        self.changes.iter().map(one).collect()
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Difference {:?} {}>", self.path, self.status)
    }
}
