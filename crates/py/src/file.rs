//! `file_digest`: the tag of a file or a file object.
//!
//! A regular file given by its path is read in parallel by `tagmac_files`. Anything else is read in
//! order through `readinto`.
//!
//! The calling thread hashes like the others. Between pieces it checks for signals, so that Ctrl-C
//! works, and calls `progress`. An exception from either stops all threads.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBlockingIOError, PyOSError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};
use tagmac::Tag;
use tagmac_any::AnyMac;

use crate::error::refused;
use crate::key::{Key, mac_of};
use crate::nonce::nonce_of;
use crate::progress::Watch;

/// Approximate number of bytes between two checks.
const STEP: usize = 128 << 10;

/// Returns the tag of a file as bytes.
///
/// `file` is a path or a binary file object. A regular file given by its path is read on `threads`
/// threads (0: one for each core). A file object is read in order from its current position. `key`,
/// `alg`, `nonce` and `tag_bits` are as in `new`.
///
/// `progress(done, total)` is called at the start, at the end, and at intervals. Both are bytes;
/// `total` is None if the size is unknown. An exception that it raises stops the work and is passed
/// on.
///
/// Raises `OSError` if the file cannot be read or changes meanwhile, and `TypeError` if it is open in
/// text mode or comes after the key. Raises `NonceRequired` if the MAC needs a nonce and none is
/// given.
#[pyfunction]
#[pyo3(signature = (file, key, alg=None, *, nonce=None, tag_bits=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub fn file_digest<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    key: &Bound<'py, PyAny>,
    alg: Option<&str>,
    nonce: Option<&Bound<'py, PyAny>>,
    tag_bits: Option<usize>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes_first = file.is_instance_of::<PyBytes>();
    if file.is_instance_of::<Key>()
        || bytes_first && (key.is_instance_of::<PyString>() || is_path(key)?)
    {
        let line = "the file comes before the key: file_digest(file, key)";
        return Err(PyTypeError::new_err(line));
    }
    let mac = mac_of(key, alg, tag_bits)?;
    let nonce = nonce_of(mac.algorithm(), nonce)?;
    mac.algorithm().check_nonce(nonce.len()).map_err(refused)?;
    let job = Job { mac: &mac, nonce: &nonce, threads, watch: Watch::new(progress, false) };
    let has = |name: &Bound<'py, PyString>| file.hasattr(name);
    let tag = if has(intern!(py, "readinto"))? {
        job.stream(file)
    } else if has(intern!(py, "read"))? && !is_path(file)? {
        return Err(no_binary_file(file, has(intern!(py, "encoding"))?));
    } else {
        job.open(file)
    };
    Ok(PyBytes::new(py, tag?.as_bytes()))
}

/// Returns whether an object is an `os.PathLike`.
fn is_path(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.hasattr(intern!(object.py(), "__fspath__"))
}

#[cold]
fn no_binary_file(file: &Bound<'_, PyAny>, text: bool) -> PyErr {
    if text {
        let line = "the file is open in text mode; open it with open(path, \"rb\")";
        return PyTypeError::new_err(line);
    }
    let name = file.get_type().name();
    let name = name.map_or_else(|_| "another object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("expected a path or a file with readinto, found {name}"))
}

struct Job<'a> {
    mac: &'a AnyMac,
    nonce: &'a [u8],
    threads: usize,
    watch: Watch,
}

impl Job<'_> {
    /// The tag of the file at a path. Python opens it, so that errors are Python's own.
    fn open(self, path: &Bound<'_, PyAny>) -> PyResult<Tag> {
        let py = path.py();
        let path = py.import(intern!(py, "os"))?.call_method1(intern!(py, "fspath"), (path,))?;
        let open = py.import(intern!(py, "io"))?.getattr(intern!(py, "open"))?;
        let file = open.call1((path, "rb", 0))?;
        let tag = self.read(&file);
        file.call_method0(intern!(py, "close"))?;
        tag
    }

    fn read(self, file: &Bound<'_, PyAny>) -> PyResult<Tag> {
        let regular = parts::regular(file)?;
        let size = regular.as_ref().map(|(_, size)| *size);
        self.watch.set_total(size, None);
        match regular.filter(|_| self.mac.parts().is_some()) {
            Some((regular, size)) => parts::tag(file.py(), self, &regular, size),
            None => self.stream_of(file, size),
        }
    }

    fn stream(self, file: &Bound<'_, PyAny>) -> PyResult<Tag> {
        self.stream_of(file, None)
    }

    /// Reads a file object to its end, which must come after `size` bytes if the size is known.
    fn stream_of(self, file: &Bound<'_, PyAny>, size: Option<u64>) -> PyResult<Tag> {
        let py = file.py();
        let mut stream = self.mac.stream(self.nonce).map_err(refused)?;
        let buffer = PyByteArray::new_with(py, 2 * STEP, |_| Ok(()))?;
        // The view fixes the buffer's length while it exists.
        let view = PyUntypedBuffer::get(&buffer)?;
        let mut done = 0;
        self.watch.tell(py)?;
        loop {
            let read = file.call_method1(intern!(py, "readinto"), (&buffer,))?;
            let read: Option<usize> = read.extract()?;
            let Some(read) = read else {
                let line =
                    "the file is in nonblocking mode and has no data now; open it in blocking mode";
                return Err(PyBlockingIOError::new_err(line));
            };
            if read > view.len_bytes() {
                let line =
                    format!("readinto: expected at most {} bytes, found {read}", view.len_bytes());
                return Err(PyValueError::new_err(line));
            }
            if read == 0 {
                break;
            }
            // SAFETY: the view keeps the buffer's bytes in place.
            let bytes = unsafe { std::slice::from_raw_parts(view.buf_ptr() as *const u8, read) };
            py.detach(|| stream.update(bytes));
            done += read as u64;
            self.watch.count(read as u64);
            self.watch.now_and_then(py)?;
        }
        if let Some(size) = size.filter(|size| *size != done) {
            return Err(changed(size, done));
        }
        self.watch.tell(py)?;
        stream.tag().map_err(refused)
    }
}

fn changed(before: u64, after: u64) -> PyErr {
    PyOSError::new_err(format!(
        "expected {before} bytes, found {after}: the file changed while it was read"
    ))
}

/// Tags one file on several threads.
mod parts {
    use std::fs::File;
    #[cfg(unix)]
    use std::os::fd::BorrowedFd;
    #[cfg(windows)]
    use std::os::windows::io::{BorrowedHandle, RawHandle};

    use pyo3::exceptions::{PyOSError, PyValueError};
    use pyo3::intern;
    use pyo3::prelude::*;
    use tagmac::{Error, Tag};
    use tagmac_files::ReadError;
    use tagmac_files::read::FileReader;

    use super::{Job, changed};
    use crate::error::refused;

    /// The file of a file object and its size in bytes, if it is a regular file that is not empty.
    /// Files in /proc report a size of 0.
    pub fn regular(file: &Bound<'_, PyAny>) -> PyResult<Option<(File, u64)>> {
        let own = duplicate(file)?;
        let about = own.metadata()?;
        Ok((about.is_file() && about.len() > 0).then_some((own, about.len())))
    }

    #[cfg(unix)]
    fn duplicate(file: &Bound<'_, PyAny>) -> PyResult<File> {
        let number = file.call_method0(intern!(file.py(), "fileno"))?.extract()?;
        // SAFETY: the file object is open, and its descriptor is borrowed only for this call.
        let own = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()?;
        Ok(own.into())
    }

    #[cfg(windows)]
    fn duplicate(file: &Bound<'_, PyAny>) -> PyResult<File> {
        let py = file.py();
        let number = file.call_method0(intern!(py, "fileno"))?;
        let handle = py.import(intern!(py, "msvcrt"))?;
        let handle = handle.call_method1(intern!(py, "get_osfhandle"), (number,))?;
        let handle = handle.extract::<isize>()? as RawHandle;
        // SAFETY: the file object is open, and its handle is borrowed only for this call.
        let own = unsafe { BorrowedHandle::borrow_raw(handle) }.try_clone_to_owned()?;
        Ok(own.into())
    }

    /// The tag of a file of `size` bytes, at least 1, for a MAC that has parts.
    pub fn tag(py: Python<'_>, job: Job<'_>, file: &File, size: u64) -> PyResult<Tag> {
        let Job { mac, nonce, threads, watch } = job;
        watch.tell(py)?;
        let tag = py.detach(|| FileReader::new(mac, threads, &watch).tag_bytes(file, size, nonce));
        let tag = tag.map_err(|error| {
            watch.failed(|| match error {
                ReadError::Missing(error) | ReadError::Io(error) => error.into(),
                ReadError::Changed { before, after } => changed(before, after),
                ReadError::TooLong { .. } => {
                    let limit_bits = mac.algorithm().max_message_bits().unwrap_or(u64::MAX);
                    refused(Error::TooLong { limit_bits })
                }
                ReadError::Mac(error) => PyValueError::new_err(error.to_string()),
                other => PyOSError::new_err(other.to_string()),
            })
        })?;
        let after = file.metadata()?.len();
        if after != size {
            return Err(changed(size, after));
        }
        watch.tell(py)?;
        Ok(tag)
    }
}
