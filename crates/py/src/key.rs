//! `Key`: a key made ready once, for any number of messages.

use std::borrow::Cow;
#[cfg(unix)]
use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::sync::OnceLock;
use std::time::SystemTime;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use subtle::ConstantTimeEq;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac, KeyFile};

use crate::algorithm::named;
use crate::buffer::{bytes, released};
use crate::error::{os_error, refused, stays};
#[cfg(unix)]
use crate::key_source::{self, Encoding};
use crate::mac::{Mac, check};
use crate::nonce::nonce_of;
use crate::secret::Secret;

/// A key with its algorithm, made ready once for any number of messages.
///
/// Key(key, alg="PMAC-AES128", *, tag_bits=None) takes the key's bytes. It may be used from
/// several threads at once.
#[pyclass(frozen, module = "tagmac")]
pub struct Key {
    secret: Arc<Secret>,
    mac: AnyMac,
    /// The same with the sealer of sums, once that is needed.
    #[cfg(unix)]
    open_key: OnceLock<Arc<tagmac_files::open_key::OpenKey>>,
}

impl Key {
    fn of(file: KeyFile, tag_bits: Option<usize>) -> PyResult<Key> {
        let mac = make(file.algorithm(), file.key(), tag_bits)?;
        let secret = Arc::new(Secret::new(file));
        Ok(Key {
            secret,
            mac,
            #[cfg(unix)]
            open_key: OnceLock::new(),
        })
    }

    /// The key's MAC with the sealer of sums.
    #[cfg(unix)]
    pub fn open_key(&self) -> &Arc<tagmac_files::open_key::OpenKey> {
        self.open_key.get_or_init(|| {
            let (mac, sealer) = (self.mac.clone(), self.secret.sealer().clone());
            Arc::new(tagmac_files::open_key::OpenKey { mac, sealer })
        })
    }

    /// The key's bytes with their algorithm, from which other keys are derived.
    #[cfg(unix)]
    pub fn raw_key(&self) -> tagmac_files::raw_key::RawKey {
        let (algorithm, bytes) =
            (self.secret.file().algorithm(), self.secret.file().key().to_vec().into());
        tagmac_files::raw_key::RawKey { algorithm, bytes }
    }

    /// The key's bytes.
    pub fn secret(&self) -> &Arc<Secret> {
        &self.secret
    }

    /// Bytes of the key.
    pub fn size(&self) -> usize {
        self.secret.file().key().len()
    }

    /// A new object of a MAC of this key.
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

    /// A new random key.
    #[staticmethod]
    #[pyo3(signature = (alg="PMAC-AES128", *, tag_bits=None))]
    fn generate(alg: &str, tag_bits: Option<usize>) -> PyResult<Key> {
        let file = KeyFile::generate(named(alg)?, SystemTime::now())
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        Key::of(file, tag_bits)
    }

    /// The key in a file, under the command's rules: nobody else may be able to write the file or to
    /// put another in its place.
    ///
    /// format is auto for a key file of save or the command's keygen; raw, hex and base64 are bare keys
    /// and need alg. Where a key file has to be for one algorithm, alg says so.
    #[cfg(unix)]
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

    /// The key in a variable of the environment. Its formats are those of from_file; a last line feed
    /// may be missing.
    #[cfg(unix)]
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

    /// The key that a command writes: a list of its words, which no shell reads. Its formats are those
    /// of from_env.
    #[cfg(unix)]
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

    /// Refuses: a key goes nowhere by pickle, copy or deepcopy.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(stays("Key", "send"))
    }

    /// Writes a key file that only its owner can read. Never over a file that exists.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = |mut file: File| {
            file.write_all(self.secret.file().to_text().as_bytes())?;
            file.sync_all()
        };
        private(&path).and_then(write).map_err(|error| os_error(py, error, &path))
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
        self.start_of(py, &self.mac, msg, nonce)
    }

    /// The MAC object that Mac.save sealed under this key, to go on with its message.
    ///
    /// Raises InvalidTag if the bytes were altered or are of another key or algorithm, and ValueError if
    /// the tags have another length. With a MAC that takes a nonce, restore what was saved once: nobody
    /// can see that it goes on twice, and two tags under one nonce let others forge.
    fn restore(&self, saved: &Bound<'_, PyAny>) -> PyResult<Mac> {
        Mac::restore(&self.mac, &self.secret, &bytes(saved)?)
    }

    /// The key's id in hex: it tells keys apart and says nothing about them.
    #[getter]
    fn id(&self) -> String {
        self.secret.file().id().to_string()
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

    /// Bytes of the key.
    #[getter]
    fn key_size(&self) -> usize {
        self.size()
    }

    /// Whether the other key has the same bytes, algorithm and tag length, in constant time.
    fn __eq__(&self, other: &Bound<'_, Key>) -> bool {
        let other = other.get();
        let same = |key: &Key| (key.mac.algorithm(), key.mac.tag_bits());
        same(self) == same(other)
            && bool::from(self.secret.file().key().ct_eq(other.secret.file().key()))
    }

    /// Equal keys have one hash. It is made from the id and says nothing about the key either.
    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.name(), self.mac.tag_bits(), self.secret.file().id().as_bytes()).hash(&mut hasher);
        hasher.finish()
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
        Some(_) => Ok(Cow::Owned(make(found, key.secret.file().key(), tag_bits)?)),
        None => Ok(Cow::Borrowed(&key.mac)),
    }
}

fn make(algorithm: Algorithm, key: &[u8], tag_bits: Option<usize>) -> PyResult<AnyMac> {
    let tag_bits = tag_bits.unwrap_or(algorithm.default_tag_bits());
    AnyMac::with_options(algorithm, key, tag_bits, Level::best()).map_err(refused)
}

/// A new file that only its owner can read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
