//! Sealed contents: `Manifest` and its parts, and the reads of files from this machine.

use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tagmac_files::Error;
use tagmac_files::leaves::content::{Contents, SealedContent};
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::{Leaf, VerifiedFile};
use tagmac_files::manifest::ManifestError;
use tagmac_files::manifest::entry::{Entry, word};
use tagmac_files::sys::{OsStrExt, OsStringExt};

use crate::buffer::{bytes, released};
use crate::error::failed;
use crate::key::Key;
use crate::place::ReadPlace;

/// Returns a path below the sealed directory in the form of a manifest. Windows has two separators.
pub fn entry_path(path: OsString) -> Vec<u8> {
    let mut path = path.into_vec();
    if cfg!(windows) {
        path.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    path
}

/// The memory for leaves that a file keeps between reads, besides one leaf.
const SPARE: u64 = 1 << 20;

/// The manifest of a directory or of a bucket, whose files can be read from any place.
///
/// `Manifest(path, key)` opens it and verifies the seal: `InvalidTag` is raised if it is damaged,
/// `WrongKey` if it belongs to another key. The manifest of a bucket is a folder. If `read` is given,
/// `path` is only its name in messages. `read(name, start, end)` returns a range of the file `name`,
/// or fewer bytes if the file ends before. It raises `FileNotFoundError` for a missing file. Paths are
/// relative to the sealed directory or prefix. A path without an entry raises `FileNotFoundError`. In a
/// bucket, a path with objects below it is a directory.
#[pyclass(frozen, module = "tagmac")]
pub struct Manifest {
    contents: Arc<Contents>,
    path: PathBuf,
}

#[pymethods]
impl Manifest {
    #[new]
    #[pyo3(signature = (path, key, *, read=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        key: &Bound<'_, Key>,
        read: Option<Py<PyAny>>,
    ) -> PyResult<Manifest> {
        let (open_key, raw_key) = (key.get().open_key(), key.get().raw_key());
        let open = || match read {
            Some(read) => {
                let place = ReadPlace { shown: path.to_string_lossy().into(), read };
                Contents::open_bucket(open_key, &raw_key, Box::new(place))
            }
            None => Contents::open(open_key, &raw_key, &path),
        };
        let contents = py.detach(open).map_err(failed)?;
        Ok(Manifest { contents: Arc::new(contents), path })
    }

    /// Returns the entry of a path.
    fn info(&self, py: Python<'_>, path: OsString) -> PyResult<ManifestEntry> {
        py.detach(|| self.contents.entry(&entry_path(path))).map(ManifestEntry).map_err(unreadable)
    }

    /// Returns the entries in a directory, in the order of the manifest; with `recursive` also
    /// those in its directories. `""` is the sealed directory itself.
    #[pyo3(signature = (path=OsString::new(), *, recursive=false))]
    fn entries(
        &self,
        py: Python<'_>,
        path: OsString,
        recursive: bool,
    ) -> PyResult<Vec<ManifestEntry>> {
        let path = &*entry_path(path);
        let listed = || {
            if !path.is_empty() {
                self.contents.entry(path)?;
            }
            match recursive {
                false => self.contents.children(path),
                true => {
                    let itself = |entry: &Entry| entry.path == path;
                    let entries = self.contents.entries(path);
                    entries.filter(|entry| !entry.as_ref().is_ok_and(itself)).collect()
                }
            }
        };
        let entries = py.detach(listed).map_err(unreadable)?;
        Ok(entries.into_iter().map(ManifestEntry).collect())
    }

    /// Returns the sealed content of a file, which verifies bytes from any place.
    fn content(&self, py: Python<'_>, path: OsString) -> PyResult<Content> {
        let content = || self.contents.content(&entry_path(path.clone()), Path::new(&path));
        py.detach(content).map(Content).map_err(unreadable)
    }

    /// The seal. Manifests with equal seals have equal entries.
    #[getter]
    fn seal<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.contents.seal().as_bytes())
    }

    /// The manifest's number in its chain; 0 for a version without chains.
    #[getter]
    fn sequence(&self) -> u64 {
        self.contents.chain().sequence
    }

    /// The day on which the manifest was sealed, as YYYY-MM-DD; None if it is not known.
    #[getter]
    fn day(&self) -> Option<String> {
        self.contents.chain().day.map(|day| day.to_string())
    }

    /// True if the manifest describes a bucket.
    #[getter]
    fn is_bucket(&self) -> bool {
        self.contents.is_bucket()
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Manifest {:?}>", self.path)
    }
}

/// An entry of a manifest.
#[pyclass(frozen, module = "tagmac")]
pub struct ManifestEntry(Entry);

#[pymethods]
impl ManifestEntry {
    /// The path relative to the sealed directory.
    #[getter]
    fn path(&self) -> &OsStr {
        OsStr::from_bytes(&self.0.path)
    }

    /// "file", "dir", "link", "pipe", "socket", "chardev" or "blockdev".
    #[getter]
    fn kind(&self) -> &'static str {
        word(self.0.kind)
    }

    /// The size of a file in bytes; None for other entries.
    #[getter]
    fn size(&self) -> Option<u64> {
        self.0.content.as_ref().map(|content| content.size)
    }

    /// The tag of a file's content; None for other entries.
    #[getter]
    fn tag<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let tag = self.0.content.as_ref()?.tag?;
        Some(PyBytes::new(py, tag.as_bytes()))
    }

    /// The permissions; None if they were not sealed.
    #[getter]
    fn mode(&self) -> Option<u32> {
        self.0.mode
    }

    /// The modification time in nanoseconds since 1970; None if it was not sealed.
    #[getter]
    fn mtime_ns(&self) -> Option<i128> {
        let (seconds, nanoseconds) = self.0.mtime?;
        Some(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))
    }

    /// The target of a link; None for other entries.
    #[getter]
    fn target(&self) -> Option<OsString> {
        self.0.target.clone().map(OsString::from_vec)
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.ManifestEntry {} {:?}>", self.kind(), self.path())
    }
}

/// The content of a file, as it was sealed. It consists of leaves, which are verified one by one.
#[pyclass(frozen, module = "tagmac")]
pub struct Content(SealedContent);

#[pymethods]
impl Content {
    /// The size in bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.0.size()
    }

    /// The length of a leaf in bytes. Only the last leaf may be shorter. A file without leaf tags
    /// has one leaf.
    #[getter]
    fn leaf_size(&self) -> u64 {
        self.0.leaf()
    }

    /// Checks that `data` is what was sealed from byte `start` on: one leaf or several. No thread
    /// may change `data` from then on, so use `bytes`.
    ///
    /// Raises `InvalidTag` if it is not, and `ValueError` if no leaf begins at `start`.
    fn verify(&self, py: Python<'_>, start: u64, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let (content, data) = (&self.0, bytes(data)?);
        if !start.is_multiple_of(content.leaf()) || start >= content.size().max(1) {
            let leaf = content.leaf();
            let line =
                format!("start: expected a multiple of {leaf} below the size, found {start}");
            return Err(PyValueError::new_err(line));
        }
        released(py, data.len(), || verify(content, start, &data)).map_err(failed)
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Content of {} bytes>", self.0.size())
    }
}

/// Verifies leaves from the one that begins at `start` on.
fn verify(content: &SealedContent, mut start: u64, mut data: &[u8]) -> Result<(), Error> {
    loop {
        let range = content.range(start);
        let bytes = (range.end - range.start).min(data.len() as u64) as usize;
        let (leaf, rest) = data.split_at(bytes);
        if !content.is_sealed(start, leaf)? || (range.end == content.size() && !rest.is_empty()) {
            return Err(content.differs(range));
        }
        if rest.is_empty() {
            return Ok(());
        }
        (start, data) = (range.end, rest);
    }
}

/// An open file of a directory. All bytes that it returns are verified. For `tagmac.open_verified`.
#[pyclass(frozen, module = "tagmac._tagmac")]
pub struct SealedFile {
    file: VerifiedFile,
    /// Verified leaves, for small reads; the least recently used one first.
    spare: Mutex<Vec<Leaf>>,
}

#[pymethods]
impl SealedFile {
    #[new]
    fn new(
        py: Python<'_>,
        manifest: &Bound<'_, Manifest>,
        root: PathBuf,
        path: OsString,
    ) -> PyResult<SealedFile> {
        let contents = manifest.get().contents.clone();
        let open = || SealedTree::new(contents, &root)?.file(&entry_path(path));
        let file = py.detach(open).map_err(unreadable)?;
        Ok(SealedFile { file, spare: Mutex::default() })
    }

    /// The size in bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.file.content().size()
    }

    /// Returns the verified bytes from `offset` on: `length` of them, or fewer at the end of the
    /// file.
    fn read_at<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        length: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let length = length.min(self.size().saturating_sub(offset));
        let length =
            usize::try_from(length).map_err(|_| PyValueError::new_err("length: too large"))?;
        new_bytes(py, length, |out| py.detach(|| self.fill(out, offset)).map_err(failed))
    }
}

impl SealedFile {
    /// Fills `out`, unless it returns an error.
    fn fill(&self, mut out: &mut [MaybeUninit<u8>], mut offset: u64) -> Result<(), Error> {
        let mut leaf = self.leaf_at(offset);
        let mut read = Ok(());
        if self.size() == 0 {
            // An empty file can be a damaged one.
            read = self.file.read(0, &mut leaf);
        }
        while read.is_ok() && !out.is_empty() {
            match self.file.read_new_at(out, offset, &mut leaf) {
                Ok(count) => {
                    out = &mut out[count..];
                    offset += count as u64;
                }
                Err(error) => read = Err(error),
            }
        }
        self.keep(leaf);
        read
    }

    /// Takes the kept leaf with the byte at `offset`, or else the least recently used one.
    fn leaf_at(&self, offset: u64) -> Leaf {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let found = spare.iter().position(|leaf| !leaf.from(offset).is_empty());
        match found {
            Some(index) => spare.remove(index),
            None if spare.len() >= self.most() => spare.remove(0),
            None => Leaf::default(),
        }
    }

    /// The maximum number of kept leaves.
    fn most(&self) -> usize {
        (SPARE / self.file.content().leaf()).max(1) as usize
    }

    fn keep(&self, leaf: Leaf) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if !leaf.is_empty() && spare.len() < self.most() {
            spare.push(leaf);
        }
    }
}

/// Returns a `bytes` object that `fill` fills. It is not zeroed first: a large one is new memory.
fn new_bytes(
    py: Python<'_>,
    length: usize,
    fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> PyResult<()>,
) -> PyResult<Bound<'_, PyBytes>> {
    let signed = length as ffi::Py_ssize_t;
    // SAFETY: a null pointer asks for an object whose bytes are not set.
    let object = unsafe { ffi::PyBytes_FromStringAndSize(ptr::null(), signed) };
    // SAFETY: it is a new object, or null and an exception.
    let bytes = unsafe { Bound::from_owned_ptr_or_err(py, object) }?.cast_into::<PyBytes>()?;
    // SAFETY: it is a `bytes` object.
    let start = unsafe { ffi::PyBytes_AsString(bytes.as_ptr()) }.cast::<MaybeUninit<u8>>();
    // SAFETY: it has `length` bytes, and nobody else has the object.
    fill(unsafe { slice::from_raw_parts_mut(start, length) })?;
    Ok(bytes)
}

/// The exception for an error of a lookup or of a read.
fn unreadable(error: Error) -> PyErr {
    match &error {
        Error::Manifest(why) if matches!(**why, ManifestError::NoEntry { .. }) => {
            PyFileNotFoundError::new_err(error.to_string())
        }
        _ => failed(error),
    }
}
