//! `Session`: a key, its nonces and its budget, for the sender of many messages.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use tagmac::{Assurance, Tag};
use tagmac_any::{Algorithm, AnyMac, GradeError, KeyId};

use crate::buffer::{RELEASE, bytes};
use crate::error::{InvalidTag, refused, session_refused, stays};
use crate::key::Key;
use crate::nonce::nonce_of;

/// Bytes of a nonce by default, if the algorithm accepts that length: 2^64 nonces.
const USUAL_NONCE: usize = 8;

/// A key with its nonces and its budget, for the sender of many messages, such as packets.
///
/// `Session(key, *, next_nonce=None, max_message_bytes=None, probability=2**-32, saved=None)` is a
/// new session, or the one that `save` saved. A new one counts its nonces from `next_nonce`, by
/// default zeros. Messages have at most `max_message_bytes` bytes, by default 1 MiB. `tag` and
/// `reserve` raise `BudgetExhausted` before a forgery becomes more likely than `probability`. With
/// None there is no limit; CMAC and HMAC, which no theorem here bounds, need that.
///
/// Use one session per key: two would use the same nonces. A session that ends with the process
/// need not be saved, and needs a key that nothing else uses. A session that outlives the process
/// must be stored before it is used: `reserve` sets aside the nonces of the next messages, and
/// `save` returns a state that never reuses them. Store that state in place of the previous one,
/// and only then use the tags. A session that was saved or restored tags only the messages that its
/// last save covers.
///
/// ```python
/// >>> import tagmac
/// >>> key = tagmac.Key(bytes(16), "UMAC-64")
/// >>> stored = tagmac.Session(key).save()                # once, where the key is made
/// >>> session = tagmac.Session(key, saved=stored)        # at each start
/// >>> session.reserve(1000)
/// >>> stored = session.save()                            # store it before you tag
/// >>> nonce, tag = session.tag(b"packet")
/// >>> key.verify(b"packet", tag, nonce)
///
/// ```
#[pyclass(frozen, module = "tagmac")]
pub struct Session {
    algorithm: Algorithm,
    id: KeyId,
    state: Mutex<tagmac_any::Session>,
}

impl Session {
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, tagmac_any::Session> {
        self.state.lock_py_attached(py).expect("no work panics")
    }
}

/// The default first nonce.
fn zeros(mac: &AnyMac) -> Vec<u8> {
    let (min, max) = mac.algorithm().nonce_bytes().into_inner();
    vec![0; USUAL_NONCE.clamp(min, max)]
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (key, *, next_nonce=None, max_message_bytes=None, probability=2.3283064365386963e-10, saved=None))]
    fn new(
        key: &Bound<'_, Key>,
        next_nonce: Option<&Bound<'_, PyAny>>,
        max_message_bytes: Option<u64>,
        probability: Option<f64>,
        saved: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Session> {
        let mac = key.get().mac().clone();
        let (algorithm, id) = (mac.algorithm(), mac.key_id());
        let budget = mac.budget(max_message_bytes, probability).map_err(session_refused)?;
        let session = match (saved, next_nonce) {
            (Some(_), Some(_)) => {
                let line =
                    "saved and next_nonce cannot be combined: a saved session has its next nonce";
                return Err(PyValueError::new_err(line));
            }
            (Some(saved), None) => tagmac_any::Session::restore(mac, &bytes(saved)?, budget),
            (None, Some(nonce)) => tagmac_any::Session::new(mac, &bytes(nonce)?, budget),
            (None, None) => {
                let nonce = zeros(&mac);
                tagmac_any::Session::new(mac, &nonce, budget)
            }
        };
        let state = Mutex::new(session.map_err(session_refused)?);
        Ok(Session { algorithm, id, state })
    }

    /// Returns the next nonce and the tag of a message under it. The nonce is empty for a
    /// deterministic MAC.
    ///
    /// Raises `ReserveUsedUp` if the last save does not cover the message, and `BudgetExhausted` if
    /// the key must not tag another one.
    fn tag<'py>(
        &self,
        py: Python<'py>,
        msg: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let msg = bytes(msg)?;
        let made = if msg.len() > RELEASE {
            py.detach(|| self.state.lock().expect("no work panics").tag(&msg))
        } else {
            self.lock(py).tag(&msg)
        };
        let (nonce, tag) = made.map_err(session_refused)?;
        Ok((PyBytes::new(py, nonce.as_bytes()), PyBytes::new(py, tag.as_bytes())))
    }

    /// Checks the tag of a message in constant time, and counts a failure. `nonce` is the one that
    /// the message's sender used; the session's own nonces stay unused.
    ///
    /// `words` is None to check the whole tag. With 1, 2, 3 or 4, a session of UMAC-128 checks only
    /// that number of words of 4 bytes; `allow_grades` must allow it first.
    ///
    /// Raises `InvalidTag` if the tag is wrong, and `BudgetExhausted` if the budget allows no more
    /// failures; then nothing is checked. Save the session after a failure if an attacker can make
    /// the process restart.
    #[pyo3(signature = (msg, tag, nonce=None, *, words=None))]
    fn verify(
        &self,
        py: Python<'_>,
        msg: &Bound<'_, PyAny>,
        tag: &Bound<'_, PyAny>,
        nonce: Option<&Bound<'_, PyAny>>,
        words: Option<usize>,
    ) -> PyResult<()> {
        let (msg, tag) = (bytes(msg)?, bytes(tag)?);
        let nonce = nonce_of(self.algorithm, nonce)?;
        let graded = |words| {
            let line = || format!("words: expected 1 to 4, found {words}");
            Assurance::from_words(words).ok_or_else(|| PyValueError::new_err(line()))
        };
        let grade = words.map(graded).transpose()?;
        self.algorithm.check_nonce(nonce.len()).map_err(refused)?;
        let checked = py.detach(|| {
            let session = self.state.lock().expect("no work panics");
            let bits = session.mac().tag_bits();
            // A tag of another length is counted as a failure: the empty one matches nothing.
            let tag = Tag::new(&tag, bits).unwrap_or_default();
            match grade {
                None => session.verify(&nonce, &msg, &tag).map_err(GradeError::from),
                Some(grade) => session.verify_prefix(&nonce, &msg, &tag, grade),
            }
        });
        checked.map_err(|error| match error {
            GradeError::Mismatch => InvalidTag::new_err(error.to_string()),
            GradeError::Refused(error) => session_refused(error.into()),
            _ => PyValueError::new_err(error.to_string()),
        })
    }

    /// Allows a session of UMAC-128 to check only the first words of tags.
    ///
    /// From now on fewer failures are allowed, for each number of words. Their number is the
    /// largest that keeps the chance that any forgery ever passes, at any number of words, within
    /// `probability`. Below 1.5e-9 it is 0, and first words stay refused.
    ///
    /// There is no bound after a forgery whose first word passed. Check the whole tag before you
    /// accept the next message, and stop using the key if it is wrong. An attacker who can change
    /// the last bytes of a tag in transit can thus force you to stop using the key.
    ///
    /// Failures are saved with the session, and this permission is not: call it again for a
    /// restored one.
    fn allow_grades(&self, py: Python<'_>, probability: f64) -> PyResult<()> {
        self.lock(py).allow_grades(probability).map_err(session_refused)
    }

    /// Sets aside the nonces and the budget of `messages` more messages. Then call `save`, and
    /// store the result before you tag.
    ///
    /// Raises `BudgetExhausted` if the budget or the nonces do not suffice; then nothing is
    /// reserved.
    fn reserve(&self, py: Python<'_>, messages: u64) -> PyResult<()> {
        self.lock(py).reserve(messages).map_err(session_refused)
    }

    /// Returns the state of the session after all reserved messages, as bytes. Store it in place of
    /// the previous state, and only then tag. From now on the session tags the reserved messages,
    /// and no others until the next save.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.lock(py).save().map_err(session_refused)?;
        Ok(PyBytes::new(py, &saved))
    }

    /// Number of messages tagged under the key, including those that were reserved before the
    /// session was restored.
    #[getter]
    fn used(&self, py: Python<'_>) -> u64 {
        self.lock(py).used()
    }

    /// Number of messages that the key may still tag, including the reserved ones.
    #[getter]
    fn left(&self, py: Python<'_>) -> u64 {
        self.lock(py).left()
    }

    /// Number of messages that are reserved and not tagged yet.
    #[getter]
    fn reserved(&self, py: Python<'_>) -> u64 {
        self.lock(py).reserved()
    }

    /// The key's public id, 16 hex digits.
    #[getter]
    fn id(&self) -> String {
        self.id.to_string()
    }

    /// The name of the algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Raises `TypeError`: a key's state cannot be pickled or copied. Use `save`.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(stays("Session", "store the result of save(), send"))
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Session {} id={}>", self.algorithm, self.id)
    }
}
