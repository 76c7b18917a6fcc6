//! `Tree`: a tag that follows the edits of a file, as the command's update does it.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tagmac_files::Error;
use tagmac_files::open_key::OpenKey;
use tagmac_files::sidecar::{Edit, Sidecar, Update, update};

use crate::buffer::bytes;
use crate::error::failed;
use crate::key::Key;
use crate::memory::copied;
use crate::progress::{Watch, Watched};

/// A file whose tag follows its edits. The sums of its leaves are in a sidecar, FILE.tagmac.
///
/// Tree(path, key) is one that has a sidecar, and Tree.create makes one. Each call is an update of the
/// command: it takes the tag expected of the file before, if you kept that, and gives the nonce, empty
/// for a deterministic MAC, and the tag of the file after.
#[pyclass(frozen, module = "tagmac")]
pub struct Tree {
    key: Arc<OpenKey>,
    path: PathBuf,
    threads: usize,
    progress: Option<Py<PyAny>>,
}

/// A nonce and a tag.
type Tagged<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// New bytes of a file, which are there once.
#[derive(Clone)]
struct Data(Arc<Vec<u8>>);

impl AsRef<[u8]> for Data {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Which edit, with what it needs.
enum Work {
    Tag,
    Patch(u64, Data),
    Append,
    Truncate(u64),
    Range(u64, u64),
    Finish,
    Undo,
}

impl Tree {
    fn update<'py>(
        &self,
        py: Python<'py>,
        work: Work,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.run(py, work, Sidecar::Exists, None, expect)
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        work: Work,
        sidecar: Sidecar,
        leaf: Option<u64>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        let expect = expect.map(|tag| copied(&bytes(tag)?)).transpose()?;
        let progress = self.progress.as_ref().map(|call| call.clone_ref(py));
        let watch = Arc::new(Watch::new(progress, false));
        let watched = Watched(watch.clone());
        let run = || {
            let open: &dyn Fn() -> Result<Box<dyn Read>, Error> = &|| match &work {
                Work::Patch(_, data) => Ok(Box::new(Cursor::new(data.clone()))),
                _ => unreachable!("a patch alone has data"),
            };
            let edit = match work {
                Work::Tag => None,
                Work::Patch(offset, _) => {
                    Some(Edit::Patch { offset, name: Path::new("data"), open })
                }
                Work::Append => Some(Edit::Append),
                Work::Truncate(length) => Some(Edit::Truncate(length)),
                Work::Range(offset, length) => Some(Edit::Range { offset, length }),
                Work::Finish => Some(Edit::Finish),
                Work::Undo => Some(Edit::Undo),
            };
            let (file, threads, expect) = (&*self.path, self.threads, expect.as_deref());
            update(&self.key, &Update { file, sidecar, edit, expect, leaf, threads }, &watched)
        };
        let updated = py.detach(run).map_err(|error| watch.failed(|| failed(error)))?;
        let (nonce, tag) = (&updated.nonce, updated.tagged.tag);
        Ok((PyBytes::new(py, nonce), PyBytes::new(py, tag.as_bytes())))
    }
}

#[pymethods]
impl Tree {
    #[new]
    #[pyo3(signature = (path, key, *, threads=0, progress=None))]
    fn new(
        path: PathBuf,
        key: &Bound<'_, Key>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> Tree {
        Tree { key: key.get().open_key().clone(), path, threads, progress }
    }

    /// Makes the sidecar of a file, which it reads once and accepts as it is. Raises ValueError if
    /// there is one. leaf is the length of a leaf in bytes, nearly, 64 KiB if it is not given.
    #[staticmethod]
    #[pyo3(signature = (path, key, *, leaf=None, threads=0, progress=None))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        key: &Bound<'_, Key>,
        leaf: Option<u64>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Tree> {
        let tree = Tree::new(path, key, threads, progress);
        tree.run(py, Work::Tag, Sidecar::New, leaf, None)?;
        Ok(tree)
    }

    /// The nonce and the tag of the file, of which only the length is looked at.
    #[pyo3(signature = (*, expect=None))]
    fn tag<'py>(
        &self,
        py: Python<'py>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Tag, expect)
    }

    /// Writes data into the file, once the leaves there are found as they were.
    #[pyo3(signature = (offset, data, *, expect=None))]
    fn patch<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        data: &Bound<'_, PyAny>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        let data = Data(Arc::new(copied(&bytes(data)?)?));
        self.update(py, Work::Patch(offset, data), expect)
    }

    /// Accepts what was added at the end of the file.
    #[pyo3(signature = (*, expect=None))]
    fn append<'py>(
        &self,
        py: Python<'py>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Append, expect)
    }

    /// Cuts the file off to this length, once all that goes is found as it was.
    #[pyo3(signature = (length, *, expect=None))]
    fn truncate<'py>(
        &self,
        py: Python<'py>,
        length: u64,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Truncate(length), expect)
    }

    /// Accepts bytes as they are now, and all others in their leaves.
    #[pyo3(signature = (offset, length, *, expect=None))]
    fn range<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        length: u64,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Range(offset, length), expect)
    }

    /// Finishes an edit that was interrupted, and leaves bytes alone that are not its own.
    #[pyo3(signature = (*, expect=None))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Finish, expect)
    }

    /// Takes back an edit that was interrupted, and leaves bytes alone that are not its own.
    #[pyo3(signature = (*, expect=None))]
    fn undo<'py>(
        &self,
        py: Python<'py>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Undo, expect)
    }

    /// The algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.key.mac.algorithm().name()
    }

    /// The callback may lead back to here: a method of what has the tree. Without this both, and the key,
    /// would stay for ever.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.progress)
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Tree {} of {:?}>", self.name(), self.path)
    }
}
