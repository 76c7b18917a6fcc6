//! `Mac`: a message in pieces, as `hashlib` and `hmac` have it.

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

/// A message that comes in pieces. tagmac.new and Key.new make it.
///
/// With a MAC that takes a nonce, the first digest, hexdigest, verify or hexverify ends the
/// message. They may be called again, but update and copy raise NonceReuse.
#[pyclass(frozen, module = "tagmac")]
pub struct Mac {
    algorithm: Algorithm,
    tag_bits: usize,
    key_bytes: usize,
    /// The key, unless it was bare bytes.
    secret: Option<Arc<Secret>>,
    state: Mutex<State>,
}

enum State {
    Open(AnyStream),
    /// Under a nonce, and saved: another goes on.
    Saved,
    /// Under a nonce, and tagged.
    Ended(Result<Tag, Error>),
}

impl Mac {
    /// A new object that has `msg`, under a key of `key_bytes` bytes.
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

    /// The object that was saved under a key.
    ///
    /// # Errors
    ///
    /// [`InvalidTag`] if the seal is wrong, `ValueError` if the MAC has no such state.
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
    /// Adds to the message. Returns the object itself.
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

    /// The tag of the message so far.
    fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.tag(py)?.as_bytes()))
    }

    /// The tag in hex.
    fn hexdigest(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.tag(py)?.to_string())
    }

    /// Checks a tag in constant time. Raises InvalidTag unless it is right.
    fn verify(&self, py: Python<'_>, tag: &Bound<'_, PyAny>) -> PyResult<()> {
        let tag = bytes(tag)?;
        check(&self.tag(py)?, &tag)
    }

    /// Checks a tag in hex in constant time. Raises InvalidTag unless it is right.
    fn hexverify(&self, py: Python<'_>, tag: &str) -> PyResult<()> {
        let expected = self.tag(py)?;
        let tag = base16ct::mixed::decode_vec(tag)
            .map_err(|_| InvalidTag::new_err("expected a tag in hex, found something else"))?;
        check(&expected, &tag)
    }

    /// A second object with the same message so far. Raises NonceReuse with a MAC that takes a
    /// nonce.
    fn copy(&self, py: Python<'_>) -> PyResult<Mac> {
        if self.takes_nonce() {
            return Err(NonceReuse::new_err(format!(
                "{}: expected one message under a nonce, found a copy that could be another",
                self.algorithm
            )));
        }
        let state = self.state.lock_py_attached(py).expect("no work panics");
        let State::Open(stream) = &*state else { unreachable!("ended without a nonce") };
        let Mac { algorithm, tag_bits, key_bytes, .. } = *self;
        let (secret, state) = (self.secret.clone(), Mutex::new(State::Open(stream.fork())));
        Ok(Mac { algorithm, tag_bits, key_bytes, secret, state })
    }

    /// The message so far, sealed under a key that is made from the MAC's: Key.restore goes on with it,
    /// in another process or on another machine.
    ///
    /// With a MAC that takes a nonce this object ends here, so that one message is under the nonce: it
    /// raises NonceReuse from now on. CMAC, HMAC and the UMAC of 1999 raise ValueError, as does an
    /// object whose key was bare bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let Some(secret) = &self.secret else {
            let line =
                "expected an object of a tagmac.Key, found one of bare bytes: make it by Key.new";
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

    /// The algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Bytes of the tag.
    #[getter]
    fn digest_size(&self) -> usize {
        self.tag_bits.div_ceil(8)
    }

    /// Bytes of the key.
    #[getter]
    fn key_size(&self) -> usize {
        self.key_bytes
    }

    /// Bytes of a block; None for CMAC and HMAC, whose messages have no parts.
    #[getter]
    fn block_size(&self) -> Option<usize> {
        self.algorithm.block()
    }

    /// Refuses: a key's state goes nowhere by pickle, copy or deepcopy.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(stays("Mac", "send what save() gives, and"))
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Mac {}>", self.algorithm)
    }
}

/// Compares tags in constant time.
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
        "expected a new object and a new nonce for the next message, found an object that has given \
         its tag",
    )
}

#[cold]
fn saved_one() -> PyErr {
    NonceReuse::new_err(
        "expected the object that Key.restore makes, found the one that was saved: one message is \
         under the nonce",
    )
}

/// The exception for a stream that cannot be saved, or restored.
#[cold]
fn save_refused(error: SaveError) -> PyErr {
    match error {
        SaveError::Seal => InvalidTag::new_err(error.to_string()),
        SaveError::Mac(error) => refused(error),
        SaveError::NoMemory => PyMemoryError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}
