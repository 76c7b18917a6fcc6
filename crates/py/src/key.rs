//! `Key`: a key prepared once for any number of messages.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use subtle::ConstantTimeEq;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac, KeyFile};
use tagmac_files::sys;

use crate::algorithm::named;
use crate::buffer::{bytes, released};
use crate::error::{os_error, refused, stays};
use crate::key_source::{self, Encoding};
use crate::mac::{Mac, check};
use crate::nonce::nonce_of;
use crate::secret::Secret;

/// A key and its algorithm, prepared once for any number of messages.
///
/// `Key(key, alg="PMAC-AES128", *, tag_bits=None)` is a key made of the bytes `key`. `tag_bits` is
/// the length of tags in bits, by default the algorithm's longest. `ValueError` is raised for an
/// unknown algorithm and for a wrong length of key or tag.
///
/// A key may be used from several threads at once. It cannot be pickled or copied; send a `KeyRef`.
///
/// ```python
/// >>> import tagmac
/// >>> key = tagmac.Key(bytes(16))
/// >>> key.tag(b"pay 100 to Bob").hex()
/// '2d53ca9b986604a1c1b4b53e444021d2'
///
/// ```
#[pyclass(frozen, module = "tagmac")]
pub struct Key {
    secret: Arc<Secret>,
    mac: AnyMac,
    /// The MAC with the sealer of sums, made on first use.
    open_key: OnceLock<Arc<tagmac_files::open_key::OpenKey>>,
}

impl Key {
    fn of(file: KeyFile, tag_bits: Option<usize>) -> PyResult<Key> {
        let mac = make(file.algorithm(), file.key(), tag_bits)?;
        let secret = Arc::new(Secret::new(file));
        Ok(Key { secret, mac, open_key: OnceLock::new() })
    }

    /// The key's MAC with the sealer of sums, made on first use.
    pub fn open_key(&self) -> &Arc<tagmac_files::open_key::OpenKey> {
        self.open_key.get_or_init(|| {
            let (mac, sealer) = (self.mac.clone(), self.secret.sealer().clone());
            Arc::new(tagmac_files::open_key::OpenKey { mac, sealer })
        })
    }

    /// The key's bytes and algorithm, to derive other keys from.
    pub fn raw_key(&self) -> tagmac_files::raw_key::RawKey {
        let (algorithm, bytes) =
            (self.secret.file().algorithm(), self.secret.file().key().to_vec().into());
        tagmac_files::raw_key::RawKey { algorithm, bytes }
    }

    /// The key's bytes.
    pub fn secret(&self) -> &Arc<Secret> {
        &self.secret
    }

    /// The length of the key in bytes.
    pub fn size(&self) -> usize {
        self.secret.file().key().len()
    }

    /// A `Mac` for one message, under a MAC of this key.
    pub fn start_of(
        &self,
        py: Python<'_>,
        mac: &AnyMac,
        msg: Option<&Bound<'_, PyAny>>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Mac> {
        Mac::start(py, mac, self.size(), Some(&self.secret), msg, nonce)
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

    /// Returns a new random key for the algorithm `alg`.
    ///
    /// Raises `OSError` if the system's random generator fails.
    #[staticmethod]
    #[pyo3(signature = (alg="PMAC-AES128", *, tag_bits=None))]
    fn generate(alg: &str, tag_bits: Option<usize>) -> PyResult<Key> {
        let file = KeyFile::generate(named(alg)?, SystemTime::now())
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        Key::of(file, tag_bits)
    }

    /// Returns the key in a file. As with the command, nobody else may be able to write the file or
    /// to replace it.
    ///
    /// `format` is "auto" for a key file that `save` or `tagmac keygen` wrote, and "raw", "hex" or
    /// "base64" for a bare key, which needs `alg`. For a key file, `alg` is the algorithm that it
    /// must have.
    ///
    /// Raises `OSError` if the file cannot be read, and `ValueError` if others could have written
    /// it or if it contains no such key.
    #[staticmethod]
    #[pyo3(signature = (path, *, alg=None, format="auto", tag_bits=None))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        alg: Option<&str>,
        format: &str,
        tag_bits: Option<usize>,
    ) -> PyResult<Key> {
        Key::of(key_source::from_file(py, &path, Encoding::new(alg, format)?)?, tag_bits)
    }

    /// Returns the key in an environment variable. The formats are those of `from_file`; the last
    /// line feed may be missing.
    ///
    /// Raises `ValueError` if the variable is not set or contains no such key.
    #[staticmethod]
    #[pyo3(signature = (name, *, alg=None, format="auto", tag_bits=None))]
    fn from_env(
        name: OsString,
        alg: Option<&str>,
        format: &str,
        tag_bits: Option<usize>,
    ) -> PyResult<Key> {
        Key::of(key_source::from_env(name, Encoding::new(alg, format)?)?, tag_bits)
    }

    /// Returns the key that a command writes to its standard output. `command` is a list of words
    /// and does not go through a shell. The formats are those of `from_env`.
    ///
    /// Raises `ValueError` if the command fails or writes no such key.
    #[staticmethod]
    #[pyo3(signature = (command, *, alg=None, format="auto", tag_bits=None))]
    fn from_command(
        command: &Bound<'_, PyAny>,
        alg: Option<&str>,
        format: &str,
        tag_bits: Option<usize>,
    ) -> PyResult<Key> {
        let encoding = Encoding::new(alg, format)?;
        Key::of(key_source::from_command(command.py(), command, encoding)?, tag_bits)
    }

    /// Raises `TypeError`: a key cannot be pickled or copied. Send a `KeyRef`.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(stays("Key", "send"))
    }

    /// Writes the key to a new key file that only its owner can read.
    ///
    /// Raises `FileExistsError` if the file exists, and `OSError` if it cannot be written.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = |mut file: File| {
            file.write_all(self.secret.file().to_text().as_bytes())?;
            file.sync_all()
        };
        private(&path).and_then(write).map_err(|error| os_error(py, error, &path))
    }

    /// Returns the tag of a message as bytes.
    ///
    /// Raises `NonceRequired` if the MAC needs a nonce and none is given, and `ValueError` for a
    /// nonce of the wrong length or a message over the MAC's limit.
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

    /// Checks the tag of a message in constant time.
    ///
    /// Raises `InvalidTag` if the tag is wrong.
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

    /// Returns a `Mac` for one message, which is given in pieces. `msg` is the first piece.
    #[pyo3(name = "new", signature = (msg=None, nonce=None))]
    fn start(
        &self,
        py: Python<'_>,
        msg: Option<&Bound<'_, PyAny>>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Mac> {
        self.start_of(py, &self.mac, msg, nonce)
    }

    /// Returns the `Mac` that `Mac.save` saved under this key, to continue its message.
    ///
    /// Raises `InvalidTag` if the bytes were changed or belong to another key or algorithm, and
    /// `ValueError` if their tags have another length.
    ///
    /// If the MAC needs a nonce, restore each saved state only once. Nothing can detect a second
    /// time, and two tags under one nonce let an attacker forge others.
    fn restore(&self, saved: &Bound<'_, PyAny>) -> PyResult<Mac> {
        Mac::restore(&self.mac, &self.secret, &bytes(saved)?)
    }

    /// The key's public id, 16 hex digits. It distinguishes keys and reveals nothing about them.
    #[getter]
    fn id(&self) -> String {
        self.secret.file().id().to_string()
    }

    /// The name of the algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.mac.algorithm().name()
    }

    /// The length of a tag in bytes.
    #[getter]
    fn digest_size(&self) -> usize {
        self.mac.tag_bits().div_ceil(8)
    }

    /// The length of the key in bytes.
    #[getter]
    fn key_size(&self) -> usize {
        self.size()
    }

    /// Compares the bytes (in constant time), the algorithm and the tag length.
    fn __eq__(&self, other: &Bound<'_, Key>) -> bool {
        let other = other.get();
        let same = |key: &Key| (key.mac.algorithm(), key.mac.tag_bits());
        same(self) == same(other)
            && bool::from(self.secret.file().key().ct_eq(other.secret.file().key()))
    }

    /// Equal keys have equal hashes. The hash depends on the public id, and reveals nothing about
    /// the key.
    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.name(), self.mac.tag_bits(), self.secret.file().id().as_bytes()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Key {} id={}>", self.name(), self.id())
    }
}

/// The MAC of a key: bytes, or a [`Key`], which has its own algorithm and tag length.
///
/// # Errors
///
/// `TypeError` if the key is neither, `ValueError` for an invalid name or length.
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
        Some(_) => Ok(Cow::Owned(make(found, key.secret.file().key(), tag_bits)?)),
        None => Ok(Cow::Borrowed(&key.mac)),
    }
}

fn make(algorithm: Algorithm, key: &[u8], tag_bits: Option<usize>) -> PyResult<AnyMac> {
    let tag_bits = tag_bits.unwrap_or(algorithm.default_tag_bits());
    AnyMac::with_options(algorithm, key, tag_bits, Level::best()).map_err(refused)
}

/// Creates a file that only its owner can read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    sys::with_mode(&mut options, 0o600).open(path)
}
