//! `Mac`: one message in pieces, with the interface of `hashlib` and `hmac`.

use std::mem;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use tagmac::save::SaveError;
use tagmac::{Error, Tag};
use tagmac_any::{Algorithm, AnyMac, AnyStream};

use crate::buffer::{RELEASE, bytes, released};
use crate::error::{InvalidTag, NonceReuse, refused, stays};
use crate::nonce::nonce_of;
use crate::secret::Secret;

/// The MAC of one message, which is given in pieces. `new` and `Key.new` create it.
///
/// If the MAC needs a nonce, the first call of `digest`, `hexdigest`, `verify` or `hexverify` ends
/// the message. These may be called again, but `update` and `copy` then raise `NonceReuse`.
///
/// ```python
/// >>> import tagmac
/// >>> mac = tagmac.new(bytes(16), b"pay 100 ")
/// >>> mac.update(b"to Bob").hexdigest()
/// '2d53ca9b986604a1c1b4b53e444021d2'
///
/// ```
#[pyclass(frozen, module = "tagmac")]
pub struct Mac {
    algorithm: Algorithm,
    tag_bits: usize,
    key_bytes: usize,
    /// The key if it is a `Key`; `None` if it was bytes.
    secret: Option<Arc<Secret>>,
    state: Mutex<State>,
}

enum State {
    Open(AnyStream),
    /// Saved under a nonce: only the restored object may continue.
    Saved,
    /// Tagged under a nonce.
    Ended(Result<Tag, Error>),
}

impl Mac {
    /// Starts a message with `msg`, under a key of `key_bytes` bytes.
    ///
    /// # Errors
    ///
    /// As [`nonce_of`] and [`bytes`], or `ValueError` for a nonce of the wrong length.
    pub fn start(
        py: Python<'_>,
        mac: &AnyMac,
        key_bytes: usize,
        secret: Option<&Arc<Secret>>,
        msg: Option<&Bound<'_, PyAny>>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Mac> {
        let algorithm = mac.algorithm();
        let mut stream = mac.stream(&nonce_of(algorithm, nonce)?).map_err(refused)?;
        if let Some(msg) = msg {
            let msg = bytes(msg)?;
            released(py, msg.len(), || stream.update(&msg));
        }
        let (tag_bits, state) = (mac.tag_bits(), Mutex::new(State::Open(stream)));
        Ok(Mac { algorithm, tag_bits, key_bytes, secret: secret.cloned(), state })
    }

    /// Restores an object that was saved under this key.
    ///
    /// # Errors
    ///
    /// [`InvalidTag`] if the seal is wrong, `ValueError` if the MAC's states cannot be saved or the
    /// tag length differs.
    pub fn restore(mac: &AnyMac, secret: &Arc<Secret>, saved: &[u8]) -> PyResult<Mac> {
        let stream = mac.restore(secret.sealer(), saved).map_err(save_refused)?;
        let (algorithm, tag_bits) = (mac.algorithm(), mac.tag_bits());
        let key_bytes = secret.file().key().len();
        let (secret, state) = (Some(secret.clone()), Mutex::new(State::Open(stream)));
        Ok(Mac { algorithm, tag_bits, key_bytes, secret, state })
    }

    fn takes_nonce(&self) -> bool {
        self.algorithm.takes_nonce()
    }

    fn tag(&self, py: Python<'_>) -> PyResult<Tag> {
        let mut state = self.state.lock_py_attached(py).expect("no work panics");
        let tag = match &mut *state {
            State::Open(stream) if !self.takes_nonce() => stream.fork().tag(),
            State::Open(_) => {
                let ended = State::Ended(Err(Error::NonceReused));
                let State::Open(stream) = mem::replace(&mut *state, ended) else { unreachable!() };
                let tag = stream.tag();
                *state = State::Ended(tag);
                tag
            }
            State::Ended(tag) => *tag,
            State::Saved => return Err(saved_one()),
        };
        tag.map_err(refused)
    }
}

#[pymethods]
impl Mac {
    /// Appends `data` to the message. Returns the object itself, so that calls can be chained.
    ///
    /// Raises `NonceReuse` once the message has ended or was saved under a nonce.
    fn update<'py>(slf: Bound<'py, Self>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let (py, data) = (slf.py(), bytes(data)?);
        let mac = slf.get();
        let add = |state: &mut State| match state {
            State::Open(stream) => {
                stream.update(&data);
                Ok(())
            }
            State::Ended(_) => Err(ended()),
            State::Saved => Err(saved_one()),
        };
        if data.len() > RELEASE {
            py.detach(|| add(&mut mac.state.lock().expect("no work panics")))
        } else {
            add(&mut mac.state.lock_py_attached(py).expect("no work panics"))
        }?;
        Ok(slf)
    }

    /// Returns the tag of the message so far, as bytes.
    fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.tag(py)?.as_bytes()))
    }

    /// Returns the tag of the message so far, in lower-case hex.
    fn hexdigest(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.tag(py)?.to_string())
    }

    /// Checks the tag of the message in constant time.
    ///
    /// Raises `InvalidTag` if the tag is wrong.
    fn verify(&self, py: Python<'_>, tag: &Bound<'_, PyAny>) -> PyResult<()> {
        let tag = bytes(tag)?;
        check(&self.tag(py)?, &tag)
    }

    /// Checks the tag of the message, given in hex, in constant time.
    ///
    /// Raises `InvalidTag` if the tag is wrong or is not hex.
    fn hexverify(&self, py: Python<'_>, tag: &str) -> PyResult<()> {
        let expected = self.tag(py)?;
        let tag = base16ct::mixed::decode_vec(tag)
            .map_err(|_| InvalidTag::new_err("the tag is not hex"))?;
        check(&expected, &tag)
    }

    /// Returns a second object with the same message so far.
    ///
    /// Raises `NonceReuse` if the MAC needs a nonce.
    fn copy(&self, py: Python<'_>) -> PyResult<Mac> {
        if self.takes_nonce() {
            return Err(NonceReuse::new_err(format!(
                "{}: a copy could tag a second message under the nonce; use a new object and nonce",
                self.algorithm
            )));
        }
        let state = self.state.lock_py_attached(py).expect("no work panics");
        let State::Open(stream) = &*state else { unreachable!("ended without a nonce") };
        let Mac { algorithm, tag_bits, key_bytes, .. } = *self;
        let (secret, state) = (self.secret.clone(), Mutex::new(State::Open(stream.fork())));
        Ok(Mac { algorithm, tag_bits, key_bytes, secret, state })
    }

    /// Returns the state of the message so far, encrypted under a key derived from the MAC's.
    /// `Key.restore` continues the message, also in another process or on another machine.
    ///
    /// If the MAC needs a nonce, this object ends here, so that only one message uses the nonce:
    /// its other methods then raise `NonceReuse`. `ValueError` is raised for CMAC, HMAC and the
    /// UMAC of 1999, and for an object whose key was bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let Some(secret) = &self.secret else {
            let line = "cannot save a message under a key of bytes: create it with tagmac.Key.new";
            return Err(PyValueError::new_err(line));
        };
        let mut state = self.state.lock_py_attached(py).expect("no work panics");
        let saved = match &*state {
            State::Open(stream) => stream.save(secret.sealer()).map_err(save_refused)?,
            State::Ended(_) => return Err(ended()),
            State::Saved => return Err(saved_one()),
        };
        if self.takes_nonce() {
            *state = State::Saved;
        }
        Ok(PyBytes::new(py, &saved))
    }

    /// The name of the algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// The length of the tag in bytes.
    #[getter]
    fn digest_size(&self) -> usize {
        self.tag_bits.div_ceil(8)
    }

    /// The length of the key in bytes.
    #[getter]
    fn key_size(&self) -> usize {
        self.key_bytes
    }

    /// The length of a block in bytes; None for CMAC and HMAC, whose messages cannot be hashed in
    /// parts.
    #[getter]
    fn block_size(&self) -> Option<usize> {
        self.algorithm.block()
    }

    /// Raises `TypeError`: a key's state cannot be pickled or copied. Use `save`.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(stays("Mac", "send the result of save() and"))
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Mac {}>", self.algorithm)
    }
}

/// Compares two tags in constant time.
///
/// # Errors
///
/// [`InvalidTag`] unless they are equal.
pub fn check(expected: &Tag, found: &[u8]) -> PyResult<()> {
    let (right, len) = (expected.as_bytes().len(), found.len());
    if right != len {
        let line = format!("expected a tag of {right} bytes, found {len}");
        return Err(InvalidTag::new_err(line));
    }
    match Tag::new(found, expected.bits()) {
        Ok(found) if found == *expected => Ok(()),
        _ => Err(InvalidTag::new_err("the tag does not match the message")),
    }
}

#[cold]
fn ended() -> PyErr {
    NonceReuse::new_err(
        "the tag of this object's message was computed; use a new object and a new nonce for the \
         next message",
    )
}

#[cold]
fn saved_one() -> PyErr {
    NonceReuse::new_err(
        "this object was saved, and only one message may use its nonce; continue with the object \
         that Key.restore returns",
    )
}

/// The exception for a stream that cannot be saved or restored.
#[cold]
fn save_refused(error: SaveError) -> PyErr {
    match error {
        SaveError::Seal => InvalidTag::new_err(error.to_string()),
        SaveError::Mac(error) => refused(error),
        SaveError::NoMemory => PyMemoryError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}
