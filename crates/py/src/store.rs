//! Objects in Google Cloud Storage and Azure, for `tagmac.s3` and `tagmac.spark`. The requests are
//! those of the command; S3 itself is boto3's.

use std::iter;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use tagmac_files::objects::Place;
use tagmac_files::url::Url;
use tagmac_objects::bucket::Listing;
use tagmac_objects::{Bucket, DENIED, Failure, Limits, ObjectVersion, Objects, Prefix};

use crate::error::failed;
use crate::memory::copied;

/// The maximum length of a range that one call reads into memory.
const MAX_READ: u64 = 64 << 20;
/// The number of objects that a call of a listing returns.
const PAGE: usize = 1000;

/// A bucket, and the files of a manifest below a prefix of it.
#[pyclass(frozen, module = "tagmac._tagmac")]
pub struct Store {
    bucket: Bucket,
    files: Prefix,
}

/// The reason why a request failed: a word for the kind, and a sentence.
fn refused(failure: Failure) -> PyErr {
    let (kind, reason) = match failure {
        Failure::Missing => ("missing", "no such object".into()),
        Failure::Changed(what) => ("changed", what.into()),
        Failure::Exists => ("exists", "the object already exists".into()),
        Failure::Final(what) if what.starts_with(DENIED) => ("denied", what),
        Failure::Archived(what) | Failure::Passing(what, _) | Failure::Final(what) => {
            ("failed", what)
        }
    };
    // Without an error number, `OSError` keeps its arguments.
    PyOSError::new_err((format!("{kind}: {reason}"),))
}

/// A size, an ETag without quotes, empty if it is weak or missing, and metadata.
type Described = (u64, String, Vec<(String, String)>);

#[pymethods]
impl Store {
    /// Opens the store of a URL, whose key is the prefix of a manifest's files.
    #[new]
    fn new(py: Python<'_>, url: &str) -> PyResult<Store> {
        let url = Url::parse(url.as_bytes());
        let url = url.map_err(|error| PyValueError::new_err(error.to_string()))?;
        // Python limits listings.
        let open = || Objects::new(Limits { requests: 0, objects: u64::MAX })?.bucket(&url);
        let bucket = py.detach(open).map_err(failed)?;
        let files = Prefix::new(bucket.clone(), url.key.clone());
        Ok(Store { bucket, files })
    }

    /// Returns an object's size, ETag and metadata.
    fn describe(&self, py: Python<'_>, key: &str) -> PyResult<Described> {
        let (facts, metadata) = py.detach(|| self.bucket.described(key)).map_err(refused)?;
        Ok((facts.size, etag_of(&facts), metadata))
    }

    /// Reads a range of the object with this ETag and size.
    fn read<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        etag: &str,
        size: u64,
        start: u64,
        end: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if start > end || end > size || end - start > MAX_READ {
            return Err(PyValueError::new_err("range: outside of the object, or too long"));
        }
        let expected = ObjectVersion { size, etag: Some(format!("\"{etag}\"")), version: None };
        let bytes = py.detach(|| self.bucket.bytes(key, start..end, &expected)).map_err(refused)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Lists the objects whose keys begin with `prefix`.
    fn list(&self, py: Python<'_>, prefix: &str) -> StoreListing {
        StoreListing(Mutex::new(py.detach(|| self.bucket.list(prefix))))
    }

    /// Reads a file of the manifest; `None` if it does not exist.
    fn read_file<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        max: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = py.detach(|| self.files.read(name, max)).map_err(failed)?;
        Ok(found.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Returns whether a file of the manifest exists.
    fn has_file(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        py.detach(|| self.files.has(name)).map_err(failed)
    }

    /// Writes a file of the manifest.
    fn write_file(&self, py: Python<'_>, name: &str, data: PyBackedBytes) -> PyResult<()> {
        let data = copied(&data)?;
        py.detach(|| self.files.write_file(name, &data)).map_err(failed)
    }

    /// Writes the root: a new one, or over `old`.
    fn write_root(
        &self,
        py: Python<'_>,
        data: PyBackedBytes,
        old: Option<PyBackedBytes>,
    ) -> PyResult<()> {
        let (data, old) = (copied(&data)?, old.map(|old| copied(&old)).transpose()?);
        py.detach(|| self.files.write_root(&data, old.as_deref())).map_err(failed)
    }

    /// Removes a file of the manifest, which may be gone already.
    fn remove_file(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        py.detach(|| self.files.remove_file(name)).map_err(failed)
    }
}

/// The objects of a listing.
#[pyclass(frozen, module = "tagmac._tagmac")]
pub struct StoreListing(Mutex<Listing>);

#[pymethods]
impl StoreListing {
    /// Returns the key, size and ETag of the next objects; none at the end.
    fn page(&self, py: Python<'_>) -> PyResult<Vec<(String, u64, String)>> {
        let page = py.detach(|| {
            let mut listing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            iter::from_fn(|| listing.next()).take(PAGE).collect::<Result<Vec<_>, _>>()
        });
        let page = page.map_err(failed)?.into_iter();
        Ok(page.map(|each| (each.key, each.facts.size, etag_of(&each.facts))).collect())
    }
}

/// The ETag of a content, without quotes; empty if it is weak or missing.
fn etag_of(facts: &ObjectVersion) -> String {
    let etag = facts.strong_etag().and_then(|etag| etag.strip_prefix('"')?.strip_suffix('"'));
    etag.unwrap_or_default().into()
}
