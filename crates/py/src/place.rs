//! The files of a bucket's manifest, which a Python function reads.

use std::ops::Range;

use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::objects::{Place, too_long, wrong_size};

/// The files of a manifest. Nothing can be written.
pub struct ReadPlace {
    /// The name in messages.
    pub shown: String,
    /// Called with the name of a file and the start and end of a range. Returns its bytes, fewer if the
    /// file ends before.
    pub read: Py<PyAny>,
}

impl ReadPlace {
    /// Reads a range; `None` if the file does not exist.
    fn bytes(&self, file: &str, range: Range<u64>) -> Result<Option<Vec<u8>>, Error> {
        let read = |py: Python<'_>| -> PyResult<Option<Vec<u8>>> {
            match self.read.call1(py, (file, range.start, range.end)) {
                Err(error) if error.is_instance_of::<PyFileNotFoundError>(py) => Ok(None),
                read => Ok(Some(read?.extract::<PyBackedBytes>(py)?.to_vec())),
            }
        };
        let bytes = Python::attach(read);
        bytes.map_err(|error| {
            let why = error.to_string();
            let why = Escaped::text(why.as_bytes());
            Error::io(format_args!("{}: {why}", self.shown_file(file)))
        })
    }

    fn read_only(&self, file: &str) -> Error {
        Error::usage(format_args!("{}: cannot be written", self.shown_file(file)))
    }
}

impl Place for ReadPlace {
    fn shown(&self) -> String {
        Escaped::bytes(self.shown.as_bytes()).to_string()
    }

    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error> {
        let bytes = self.bytes(file, 0..max.saturating_add(1))?;
        match bytes.as_ref().is_some_and(|bytes| bytes.len() as u64 > max) {
            true => Err(too_long(&self.shown_file(file), max)),
            false => Ok(bytes),
        }
    }

    fn read_range(
        &self,
        file: &str,
        size: u64,
        range: Range<u64>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let expected = range.end - range.start;
        let bytes = self.bytes(file, range.clone())?;
        match bytes.as_ref().map(|bytes| bytes.len() as u64) {
            Some(found) if found != expected => {
                let found = range.start.saturating_add(found);
                Err(wrong_size(&self.shown_file(file), size, found))
            }
            _ => Ok(bytes),
        }
    }

    fn has(&self, file: &str) -> Result<bool, Error> {
        Ok(self.bytes(file, 0..1)?.is_some())
    }

    fn write_file(&self, file: &str, _: &[u8]) -> Result<(), Error> {
        Err(self.read_only(file))
    }

    fn write_root(&self, _: &[u8], _: Option<&[u8]>) -> Result<(), Error> {
        Err(self.read_only("root"))
    }

    fn remove_file(&self, file: &str) -> Result<(), Error> {
        Err(self.read_only(file))
    }
}
