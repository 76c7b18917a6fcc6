//! `audit`: compares a directory with its manifest, as the command does.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tagmac_files::audit::{Audited, Change, Counts, Status, TreeAudit};
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::content::Contents;
use tagmac_files::night::{Night, NightOptions, Opened, Proof};
use tagmac_files::objects::ManifestKey;
use tagmac_files::plain;
use tagmac_files::selection::Request;
use tagmac_files::sys::OsStrExt;

use crate::error::failed;
use crate::key::Key;
use crate::progress::Watch;
use crate::verified::entry_path;

/// Compares a directory with its manifest, and reports all differences.
///
/// The manifest's seal is checked first: `InvalidTag` is raised if it is damaged, `WrongKey` if it
/// belongs to another key. `threads` and `progress` are as in `seal`.
///
/// By default everything is read. `quick` reads nothing, and `subset=(n, t)` reads part n of t parts.
/// `sample` reads a random share from 0 to 1, `sample_leaves` a random share of the leaves of each file,
/// and `max_bytes` random files of at most this size in all. The metadata of the other files is compared.
/// The file `ledger` keeps when each file was last read, and `oldest_first` chooses by it. The file
/// `pin` keeps the last manifest, and `InvalidTag` is raised for an older one or a fork. `expect` is the
/// only seal that is accepted. `paths` limits the audit to the entries at and below these paths in the
/// directory.
#[pyfunction]
#[pyo3(signature = (manifest, directory, key, *, quick=false, subset=None, sample=None, sample_leaves=None, max_bytes=None, oldest_first=false, ledger=None, pin=None, expect=None, paths=Vec::new(), threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub fn audit(
    py: Python<'_>,
    manifest: PathBuf,
    directory: PathBuf,
    key: &Bound<'_, Key>,
    quick: bool,
    subset: Option<(u64, u64)>,
    sample: Option<f64>,
    sample_leaves: Option<f64>,
    max_bytes: Option<u64>,
    oldest_first: bool,
    ledger: Option<PathBuf>,
    pin: Option<PathBuf>,
    expect: Option<Vec<u8>>,
    paths: Vec<OsString>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<AuditReport> {
    let shares = [sample, sample_leaves];
    let [whole, leaves] = shares.map(|share| share.is_some());
    let parts = [quick, subset.is_some(), whole, leaves, max_bytes.is_some()];
    if parts.into_iter().filter(|given| *given).count() > 1 {
        return wrong("quick, subset, sample, sample_leaves and max_bytes: expected at most one");
    }
    if quick && ledger.is_some() {
        return wrong("ledger: a quick audit reads nothing, so there is nothing to keep");
    }
    if oldest_first && (ledger.is_none() || sample.is_none() && max_bytes.is_none()) {
        return wrong("oldest_first: needs a ledger, and sample or max_bytes");
    }
    if !paths.is_empty() && (parts[1..].contains(&true) || ledger.is_some()) {
        return wrong("paths: cannot be combined with a part or a ledger");
    }
    if subset.is_some_and(|(number, of)| !(1..=of).contains(&number)) {
        return wrong("subset: expected a part and the number of parts, such as (3, 7)");
    }
    if shares.into_iter().flatten().any(|share| !(0.0..=1.0).contains(&share)) {
        return wrong("sample and sample_leaves: expected a share from 0 to 1");
    }
    let request = subset
        .map(|(number, of)| Request::Subset { number, of })
        .or(sample.map(Request::Sample))
        .or(sample_leaves.map(Request::SampleLeaves))
        .or(max_bytes.map(Request::MaxBytes))
        .unwrap_or(Request::All);
    let paths = paths.into_iter().map(plain).collect::<PyResult<Vec<_>>>()?;
    let (open_key, raw_key) = (key.get().open_key(), key.get().raw_key());
    let watch = Watch::new(progress, true);
    let (mut counts, mut differences) = (Counts::default(), Vec::new());
    let work = || {
        let mut audit = TreeAudit::open(open_key, &raw_key, &manifest, &directory)?;
        let options = NightOptions {
            request,
            quick,
            oldest_first,
            ledger: ledger.as_deref(),
            pin: pin.as_deref(),
            expect: expect.as_deref(),
        };
        audit.exclude(Ok(options.exclusions()))?;
        let total = audit.total();
        watch.set_total(total.bytes, total.files);
        let sealed = audit.manifest();
        let shown = Escaped::name(&manifest).to_string();
        let (chain, seal) = (&sealed.header.chain, sealed.seal);
        let opened = Opened { shown: &shown, chain, seal, is_bucket: false };
        let manifest_key = ManifestKey::new(&open_key.mac, &raw_key);
        let sizes = |positions: &_, histogram: &mut _| audit.sizes(positions, histogram);
        let contents = || Contents::open(open_key, &raw_key, &manifest);
        let mut night = Night::new(options, &raw_key, manifest_key, opened, sizes, contents)?;
        let put = &mut |path: &[u8], kind, status: Status<'_>, _| {
            counts.add(&status);
            differences.extend(Difference::new(path, kind, status));
        };
        let audited = audit.run(&night.plan, &paths, threads, &watch, put)?;
        let proof = night.finish(&audited.tally)?;
        Ok::<_, tagmac_files::Error>((audited, proof))
    };
    let (audited, proof) = py.detach(work).map_err(|error| watch.failed(|| failed(error)))?;
    watch.tell(py)?;
    let Counts { unchanged, changed, new, missing, renamed, unreadable, not_read, .. } = counts;
    let Audited { skipped, renames_complete, left_out, .. } = audited;
    let Proof { read, bytes, leaves, missed, oldest, sequence, .. } = proof;
    let (leaves_read, leaves) = leaves.unzip();
    Ok(AuditReport {
        unchanged,
        changed,
        new,
        missing,
        renamed,
        unreadable,
        not_read,
        skipped,
        left_out,
        renames_complete,
        files_read: read,
        bytes_read: bytes,
        leaves,
        leaves_read,
        missed,
        oldest_read: oldest.map(|day| day.to_string()),
        sequence,
        differences,
    })
}

fn wrong<T>(what: &'static str) -> PyResult<T> {
    Err(PyValueError::new_err(what))
}

/// Returns a path below the directory in the form of a manifest.
fn plain(path: OsString) -> PyResult<Vec<u8>> {
    let mut path = entry_path(path);
    let Ok(length @ 1..) = plain::shorten(&mut path, None) else {
        let path = Escaped::bytes(&path);
        let what = format!("paths: {path}: expected a path relative to the directory and in it");
        return Err(PyValueError::new_err(what));
    };
    path.truncate(length);
    Ok(path)
}

/// The result of `audit`. It is true if nothing that was compared differs from the manifest.
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
    /// Number of files outside the part that was read, with unchanged metadata.
    #[pyo3(get)]
    not_read: u64,
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
    /// Number of sealed files that were read as a whole.
    #[pyo3(get)]
    files_read: u64,
    /// Number of bytes that were read.
    #[pyo3(get)]
    bytes_read: u64,
    /// Number of leaves of all sealed files, where a file without leaf tags is one; None unless leaves
    /// were sampled.
    #[pyo3(get)]
    leaves: Option<u64>,
    /// Number of leaves that were read; None unless leaves were sampled.
    #[pyo3(get)]
    leaves_read: Option<u64>,
    /// The probability that a change of ten files was missed; of ten leaves, if leaves were sampled.
    #[pyo3(get)]
    missed: f64,
    /// The earliest day on which one of the files was last read, such as "2026-11-28"; None if it
    /// is not known.
    #[pyo3(get)]
    oldest_read: Option<String>,
    /// The manifest's number in its chain; 0 for a version without chains.
    #[pyo3(get)]
    sequence: u64,
    differences: Vec<Difference>,
}

#[pymethods]
impl AuditReport {
    /// True if nothing that was compared differs from the manifest.
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
    /// "file", "dir", "link", "pipe", "socket", "chardev" or "blockdev".
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
            Status::Unchanged | Status::NotRead | Status::Archived => return None,
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
