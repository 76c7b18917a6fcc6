//! `Session`: what the sender of packets holds.

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

/// Nonces where nothing else is asked for, if the algorithm takes such: 2^64 of them.
const USUAL_NONCE: usize = 8;

/// A key with the nonces under it and its budget: what the sender of packets holds.
///
/// Messages have up to max_message_bytes bytes, 1 MiB unless it is given. Where one more would make a
/// forgery more likely than probability, tag and reserve raise BudgetExhausted; None counts messages and
/// limits nothing. saved is what save gave; without it the nonces begin with next_nonce, or zeros.
///
/// tag gives the next nonce and the tag. One session per key, or two use the same nonces. One that
/// ends with the process is never saved, and needs a key of its own. For one that outlives the process:
/// store before you use. reserve takes the nonces of the next messages, save gives a state from which
/// no restored session reuses them, and that has to be stored, in place of the one before it, before
/// the next tag is used. A session that was saved or restored tags no message that its last save does
/// not cover.
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

/// The first nonce where there is no other.
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
                let line = "expected a saved session or its next nonce, found both";
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

    /// The next nonce and the tag of a message under it. The nonce is empty for a deterministic MAC.
    ///
    /// Raises ReserveUsedUp if the last save does not cover the message, and BudgetExhausted if the
    /// key may tag no more.
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

    /// Checks the tag of a message under the key in constant time, and counts it if it is wrong. The nonce
    /// is that of the message's sender; none of the session's is used up. words is None for the whole tag;
    /// a session of UMAC-128 checks the first 1, 2, 3 or all 4 words of 4 bytes, once allow_grades allows it.
    ///
    /// Raises InvalidTag if it is wrong, and BudgetExhausted if the budget has no failure left; then
    /// nothing is checked. Save after a failure where somebody else can make the process start again.
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
            let line = || format!("expected 1 to 4 words of a tag, found {words}");
            Assurance::from_words(words).ok_or_else(|| PyValueError::new_err(line()))
        };
        let grade = words.map(graded).transpose()?;
        self.algorithm.check_nonce(nonce.len()).map_err(refused)?;
        let checked = py.detach(|| {
            let session = self.state.lock().expect("no work panics");
            let bits = session.mac().tag_bits();
            // A tag of another length is a wrong one, and counted: it matches nothing.
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

    /// Lets a session of UMAC-128 check the first words of tags. Fewer failures are allowed from now on,
    /// for each number of words: as many as keep the chance that a forger's attempt ever passes, at any
    /// number of words, to the probability. Below 1.5e-9 that is none, and first words stay refused. After
    /// a first word that passed there is no bound: check the whole tag at once, and end the key if it is
    /// wrong (so whoever can change the last bytes of a tag on its way can end the key). Failures are saved and this permission is not: call it again for a saved session.
    fn allow_grades(&self, py: Python<'_>, probability: f64) -> PyResult<()> {
        self.lock(py).allow_grades(probability).map_err(session_refused)
    }

    /// Takes the nonces and the budget of that many messages more. Save then, and store what that
    /// gives, before you tag.
    fn reserve(&self, py: Python<'_>, messages: u64) -> PyResult<()> {
        self.lock(py).reserve(messages).map_err(session_refused)
    }

    /// The session as it is once all that is reserved has been used. Store it in place of the one
    /// before it, and only then tag: from now on the session tags what is reserved, and no more before
    /// it is saved again.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.lock(py).save().map_err(session_refused)?;
        Ok(PyBytes::new(py, &saved))
    }

    /// Messages tagged under the key, with what was reserved before the session was restored.
    #[getter]
    fn used(&self, py: Python<'_>) -> u64 {
        self.lock(py).used()
    }

    /// Messages that may still be tagged, those that are reserved among them.
    #[getter]
    fn left(&self, py: Python<'_>) -> u64 {
        self.lock(py).left()
    }

    /// Messages that are reserved and not tagged yet.
    #[getter]
    fn reserved(&self, py: Python<'_>) -> u64 {
        self.lock(py).reserved()
    }

    /// The id of the key, in hex.
    #[getter]
    fn id(&self) -> String {
        self.id.to_string()
    }

    /// The algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Refuses: a key's state goes nowhere by pickle, copy or deepcopy.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(stays("Session", "store what save() gives, and send"))
    }

    fn __repr__(&self) -> String {
        format!("<tagmac.Session {} id={}>", self.algorithm, self.id)
    }
}
