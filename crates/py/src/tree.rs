//! `Tree`: the tag of a file that is updated with each edit, as by the command's `update`.

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

/// A file whose tag is updated with each edit, without reading the whole file again. The hashes of
/// its leaves are in a sidecar file, FILE.tagmac.
///
/// `Tree(path, key, *, threads=0, progress=None)` is a file with a sidecar; `Tree.create` makes the
/// sidecar. `progress(done, total)` is called with the bytes done and in total.
///
/// Each method updates the file and its sidecar, as `tagmac update` does, and returns the nonce and
/// the tag of the file afterwards. The nonce is empty for a deterministic MAC. If you kept the
/// previous tag, pass it as `expect`: `InvalidTag` is raised if it is not the file's.
#[pyclass(frozen, module = "tagmac")]
pub struct Tree {
    key: Arc<OpenKey>,
    path: PathBuf,
    threads: usize,
    progress: Option<Py<PyAny>>,
}

/// A nonce and a tag.
type Tagged<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The new bytes of a file, shared instead of copied.
#[derive(Clone)]
struct Data(Arc<Vec<u8>>);

impl AsRef<[u8]> for Data {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The edit to make.
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

    /// Creates the sidecar of a file. It reads the file once and accepts its content.
    ///
    /// `leaf` is the approximate length of a leaf in bytes, by default 64 KiB.
    ///
    /// Raises `ValueError` if the file has a sidecar already.
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

    /// Returns the nonce and the tag of the file. Only the file's length is checked.
    #[pyo3(signature = (*, expect=None))]
    fn tag<'py>(
        &self,
        py: Python<'py>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Tag, expect)
    }

    /// Writes `data` at `offset`. The affected leaves are verified first.
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

    /// Accepts bytes that were appended to the file.
    #[pyo3(signature = (*, expect=None))]
    fn append<'py>(
        &self,
        py: Python<'py>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Append, expect)
    }

    /// Truncates the file to `length` bytes. The bytes that it removes are verified first.
    #[pyo3(signature = (length, *, expect=None))]
    fn truncate<'py>(
        &self,
        py: Python<'py>,
        length: u64,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Truncate(length), expect)
    }

    /// Accepts the current content of all leaves that overlap the `length` bytes at `offset`.
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

    /// Finishes an interrupted edit. Bytes that are not the edit's stay untouched.
    #[pyo3(signature = (*, expect=None))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Finish, expect)
    }

    /// Undoes an interrupted edit. Bytes that are not the edit's stay untouched.
    #[pyo3(signature = (*, expect=None))]
    fn undo<'py>(
        &self,
        py: Python<'py>,
        expect: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tagged<'py>> {
        self.update(py, Work::Undo, expect)
    }

    /// The name of the algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.key.mac.algorithm().name()
    }

    /// The callback may refer to this object, for example as a method of its owner. Without this,
    /// such a cycle would never be collected.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.progress)
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Tree {} of {:?}>", self.name(), self.path)
    }
}
