//! `Key`: a key made ready once, for any number of messages.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tagmac::dynamic::{Algorithm, AnyMac, KeyFile, UnknownAlgorithm};
use tagmac::isa::Level;
use zeroize::Zeroizing;

use crate::buffer::{bytes, released};
use crate::error::refused;
use crate::mac::{Mac, check};
use crate::nonce::nonce_of;

/// A key with its algorithm, made ready once for any number of messages.
///
/// Key(key, alg="PMAC-AES128", *, tag_bits=None) takes the key's bytes. It may be used from
/// several threads at once.
#[pyclass(frozen, module = "tagmac")]
pub struct Key {
    file: KeyFile,
    mac: AnyMac,
}

impl Key {
    fn of(file: KeyFile, tag_bits: Option<usize>) -> PyResult<Key> {
        let mac = make(file.algorithm(), file.key(), tag_bits)?;
        Ok(Key { file, mac })
    }

    /// The key's MAC.
    pub fn mac(&self) -> &AnyMac {
        &self.mac
    }
}

#[pymethods]
impl Key {
    #[new]
    #[pyo3(signature = (key, alg="PMAC-AES128", *, tag_bits=None))]
    fn new(key: &Bound<'_, PyAny>, alg: &str, tag_bits: Option<usize>) -> PyResult<Key> {
        let (algorithm, key) = (named(alg)?, bytes(key)?);
        let file = KeyFile::new(algorithm, &key, SystemTime::now()).map_err(refused)?;
        Key::of(file, tag_bits)
    }

    /// A new random key.
    #[staticmethod]
    #[pyo3(signature = (alg="PMAC-AES128", *, tag_bits=None))]
    fn generate(alg: &str, tag_bits: Option<usize>) -> PyResult<Key> {
        let file = KeyFile::generate(named(alg)?, SystemTime::now())
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        Key::of(file, tag_bits)
    }

    /// The key in a key file of the command tagmac.
    #[staticmethod]
    #[pyo3(signature = (path, *, tag_bits=None))]
    fn load(py: Python<'_>, path: PathBuf, tag_bits: Option<usize>) -> PyResult<Key> {
        let text = fs::read(&path).map_err(|error| failed(py, error, &path))?;
        let file = KeyFile::parse(&Zeroizing::new(text));
        let file =
            file.map_err(|wrong| PyValueError::new_err(format!("{}: {wrong}", path.display())))?;
        Key::of(file, tag_bits)
    }

    /// Writes a key file that only its owner can read. Never over a file that exists.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = |mut file: File| {
            file.write_all(self.file.to_text().as_bytes())?;
            file.sync_all()
        };
        private(&path).and_then(write).map_err(|error| failed(py, error, &path))
    }

    /// The tag of a message.
    #[pyo3(signature = (msg, nonce=None))]
    fn tag<'py>(
        &self,
        py: Python<'py>,
        msg: &Bound<'py, PyAny>,
        nonce: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (msg, nonce) = (bytes(msg)?, nonce_of(self.mac.algorithm(), nonce)?);
        let tag = released(py, msg.len(), || self.mac.tag(&nonce, &*msg)).map_err(refused)?;
        Ok(PyBytes::new(py, tag.as_bytes()))
    }

    /// Checks the tag of a message in constant time. Raises InvalidTag unless it is right.
    #[pyo3(signature = (msg, tag, nonce=None))]
    fn verify(
        &self,
        py: Python<'_>,
        msg: &Bound<'_, PyAny>,
        tag: &Bound<'_, PyAny>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (msg, nonce) = (bytes(msg)?, nonce_of(self.mac.algorithm(), nonce)?);
        let expected = released(py, msg.len(), || self.mac.tag(&nonce, &*msg)).map_err(refused)?;
        check(&expected, &bytes(tag)?)
    }

    /// A MAC object under this key, to which the message is given in pieces.
    #[pyo3(name = "new", signature = (msg=None, nonce=None))]
    fn start(
        &self,
        py: Python<'_>,
        msg: Option<&Bound<'_, PyAny>>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Mac> {
        Mac::start(py, &self.mac, msg, nonce)
    }

    /// The key's id in hex: it tells keys apart and says nothing about them.
    #[getter]
    fn id(&self) -> String {
        self.file.id().to_string()
    }

    /// The algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.mac.algorithm().name()
    }

    /// Bytes of a tag.
    #[getter]
    fn digest_size(&self) -> usize {
        self.mac.tag_bits().div_ceil(8)
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Key {} id={}>", self.name(), self.id())
    }
}

/// The MAC of a key, which is bytes or a [`Key`]. The latter knows its algorithm and tag length.
///
/// # Errors
///
/// `TypeError` if it is neither, `ValueError` for names and lengths that there are not.
pub fn mac_of<'a>(
    key: &'a Bound<'_, PyAny>,
    alg: Option<&str>,
    tag_bits: Option<usize>,
) -> PyResult<Cow<'a, AnyMac>> {
    let algorithm = alg.map(named).transpose()?;
    let Ok(key) = key.cast::<Key>() else {
        let mac = make(algorithm.unwrap_or_default(), &bytes(key)?, tag_bits)?;
        return Ok(Cow::Owned(mac));
    };
    let key = key.get();
    let found = key.mac.algorithm();
    if let Some(expected) = algorithm.filter(|expected| *expected != found) {
        let line = format!("expected a key for {expected}, found one for {found}");
        return Err(PyValueError::new_err(line));
    }
    match tag_bits.filter(|bits| *bits != key.mac.tag_bits()) {
        Some(_) => Ok(Cow::Owned(make(found, key.file.key(), tag_bits)?)),
        None => Ok(Cow::Borrowed(&key.mac)),
    }
}

fn make(algorithm: Algorithm, key: &[u8], tag_bits: Option<usize>) -> PyResult<AnyMac> {
    let tag_bits = tag_bits.unwrap_or(algorithm.default_tag_bits());
    AnyMac::with_options(algorithm, key, tag_bits, Level::best()).map_err(refused)
}

fn named(name: &str) -> PyResult<Algorithm> {
    Algorithm::from_name(name).map_err(|unknown| {
        PyValueError::new_err(match unknown {
            UnknownAlgorithm::Name(name) => {
                format!("expected one of tagmac.algorithms_available, found the algorithm {name:?}")
            }
            other => other.to_string(),
        })
    })
}

/// A new file that only its owner can read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The `OSError` that Python itself would raise: its class goes by the number.
fn failed(py: Python<'_>, error: io::Error, path: &Path) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let why = py.import("os").and_then(|os| os.call_method1("strerror", (number,)));
    match why {
        Ok(why) => PyOSError::new_err((number, why.unbind(), path.as_os_str().to_owned())),
        Err(error) => error,
    }
}
