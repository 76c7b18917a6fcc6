//! `seal`: writes the manifest of a directory, as the command does.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tagmac_files::leaf_size;
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::open_key::OpenKey;
use tagmac_files::seal::{SealCounts, SealOptions, Sealing};
use tagmac_files::sys::OsStringExt;

use crate::error::failed;
use crate::key::Key;
use crate::progress::Watch;

/// Seals a directory: writes a manifest of all its entries to the file `manifest`, replacing an old
/// one.
///
/// `mode`, `mtime`, `owner`, `xattrs` and `special` also seal file modes, modification times,
/// owners, extended attributes, and pipes, sockets and devices. `one_file_system` skips other file
/// systems. `exclude` is a list of patterns in the syntax of gitignore, `exclude_caches` leaves out
/// the contents of directories with a CACHEDIR.TAG, and `max_depth` limits the depth; the manifest
/// records them, and `audit` applies them. Files that show no change since the manifest `since` are
/// not read. `leaves` is the length of leaves in bytes, from 4096 to 64 MiB, such as 65536: then
/// `open_verified` can read ranges of the files. `new_chain` starts a new chain instead of
/// continuing that of the manifest that is replaced. `threads` is the number of threads (0: one for
/// each core).
///
/// An entry that cannot be read raises `OSError`, and no manifest is written, unless
/// `skip_unreadable` leaves such entries out. `progress(bytes, total_bytes, entries,
/// total_entries)` is called at intervals and at the end.
#[pyfunction]
#[pyo3(signature = (directory, key, manifest, *, mode=false, mtime=false, owner=false, xattrs=false, special=false, one_file_system=false, exclude=Vec::new(), exclude_caches=false, max_depth=None, since=None, leaves=None, new_chain=false, skip_unreadable=false, threads=0, progress=None))]
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
    leaves: Option<u64>,
    new_chain: bool,
    skip_unreadable: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Sealed> {
    let (open_key, raw_key) = (key.get().open_key(), key.get().raw_key());
    let leaves = leaves.map(|size| leaf(open_key, size)).transpose()?;
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
            leaves,
        },
        skip_unreadable,
        threads,
        checkpoint: None,
        checkpoint_every: None,
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

fn leaf(key: &OpenKey, size: u64) -> PyResult<u64> {
    let (min, max) = (leaf_size::MIN, leaf_size::MAX);
    if !(min..=max).contains(&size) {
        let line = format!("leaves: expected {min} to {max} bytes, found {size}");
        return Err(PyValueError::new_err(line));
    }
    key.whole_blocks(size).map_err(failed)
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
