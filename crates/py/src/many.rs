//! Many messages in one call: `tag_many` and `verify_many`.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tagmac::Tag;
use tagmac::dynamic::AnyMac;

use crate::batch::Batch;
use crate::buffer::View;
use crate::error::{InvalidTag, NonceReuse, refused};
use crate::key::Key;
use crate::nonce::nonce_of;

/// Tags that are made at once.
const TOGETHER: usize = 256;

/// The tags of many messages, one after the other in one bytes object.
///
/// buffers is a sequence of bytes-like objects, an Arrow array of binary or string values, or a
/// two-dimensional array whose rows are the messages. So is nonces, with as many. A nonce that is there
/// twice raises NonceReuse, and so do nonces of two lengths.
#[pyfunction]
#[pyo3(signature = (key, buffers, nonces=None))]
pub fn tag_many<'py>(
    py: Python<'py>,
    key: &Bound<'py, Key>,
    buffers: &Bound<'py, PyAny>,
    nonces: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mac = key.get().mac();
    let messages = Batch::of(buffers, "message")?;
    let messages = messages.slices()?;
    let nonces = nonces.map(|nonces| Batch::of(nonces, "nonce")).transpose()?;
    let nonces = nonces_of(py, mac, nonces.as_ref(), messages.len())?;
    if mac.algorithm().takes_nonce() {
        py.detach(|| each_once(&nonces)).map_err(NonceReuse::new_err)?;
    }
    let size = mac.tag_bits().div_ceil(8);
    let bytes = messages.len().checked_mul(size).ok_or_else(|| {
        PyValueError::new_err(format!("expected fewer messages, found {}", messages.len()))
    })?;
    PyBytes::new_with(py, bytes, |tags| {
        let work = || {
            let mut made = [Tag::default(); TOGETHER];
            let each = messages.chunks(TOGETHER).zip(nonces.chunks(TOGETHER));
            for (i, ((messages, nonces), tags)) in
                each.zip(tags.chunks_mut(TOGETHER * size)).enumerate()
            {
                let made = &mut made[..messages.len()];
                mac.tag_many(nonces, messages, made)
                    .map_err(|refused| (TOGETHER * i + refused.index, refused.error))?;
                for (tag, made) in tags.chunks_exact_mut(size).zip(made) {
                    tag.copy_from_slice(made.as_bytes());
                }
            }
            Ok(())
        };
        py.detach(work).map_err(|(i, error)| {
            // Only the words: the type is that of one message's error.
            let line = format!("message {i}: {}", refused(error).value(py));
            PyValueError::new_err(line)
        })
    })
}

/// Checks the tags of many messages, each in constant time.
///
/// buffers and nonces are as for tag_many. tags is what tag_many gives, or as many tags of the same
/// kinds as buffers. Raises InvalidTag unless all are right; its indices are those of all that are wrong.
#[pyfunction]
#[pyo3(signature = (key, buffers, tags, nonces=None))]
pub fn verify_many(
    py: Python<'_>,
    key: &Bound<'_, Key>,
    buffers: &Bound<'_, PyAny>,
    tags: &Bound<'_, PyAny>,
    nonces: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let mac = key.get().mac();
    let messages = Batch::of(buffers, "message")?;
    let messages = messages.slices()?;
    let nonces = nonces.map(|nonces| Batch::of(nonces, "nonce")).transpose()?;
    let nonces = nonces_of(py, mac, nonces.as_ref(), messages.len())?;
    let joined = Joined::of(tags)?;
    let tags = joined.tags(mac, messages.len())?;
    let wrong = py.detach(|| {
        let mut wrong = Vec::new();
        let each = messages.chunks(TOGETHER).zip(nonces.chunks(TOGETHER));
        for (i, ((messages, nonces), tags)) in each.zip(tags.chunks(TOGETHER)).enumerate() {
            let mut verdicts = [Ok(()); TOGETHER];
            let verdicts = &mut verdicts[..messages.len()];
            // What it says in all is in the verdicts.
            let _ = mac.verify_many(nonces, messages, tags, verdicts);
            let failed = verdicts.iter().enumerate().filter(|(_, verdict)| verdict.is_err());
            wrong.extend(failed.map(|(j, _)| TOGETHER * i + j));
        }
        wrong
    });
    let Some(first) = wrong.first() else { return Ok(()) };
    let line = match wrong.len() {
        1 => format!("message {first}: the tag does not match the message"),
        count => {
            format!("message {first} and {} more: the tags do not match the messages", count - 1)
        }
    };
    let error = InvalidTag::new_err(line);
    error.value(py).setattr("indices", PyTuple::new(py, wrong)?)?;
    Err(error)
}

/// A nonce for each message; none for a deterministic MAC.
fn nonces_of<'a>(
    py: Python<'_>,
    mac: &AnyMac,
    nonces: Option<&'a Batch<'_>>,
    messages: usize,
) -> PyResult<Vec<&'a [u8]>> {
    let Some(nonces) = nonces else {
        nonce_of(mac.algorithm(), None)?;
        return Ok(vec![&[]; messages]);
    };
    let nonces = nonces.slices()?;
    if nonces.len() != messages {
        let line = format!("expected {messages} nonces, found {}", nonces.len());
        return Err(PyValueError::new_err(line));
    }
    for (i, nonce) in nonces.iter().enumerate() {
        let wrong = |error| format!("message {i}: {}", refused(error).value(py));
        let checked = mac.algorithm().check_nonce(nonce.len());
        checked.map_err(|error| PyValueError::new_err(wrong(error)))?;
    }
    Ok(nonces)
}

/// Nothing if no two of the nonces are one, or what is wrong. Nonces of two lengths may be one, as
/// shorter ones are filled up with zeros.
fn each_once(nonces: &[&[u8]]) -> Result<(), String> {
    let pairs = || nonces.windows(2).enumerate();
    if let Some((i, pair)) = pairs().find(|(_, pair)| pair[0].len() != pair[1].len()) {
        return Err(format!(
            "message {}: expected a nonce of {} bytes as for message {i}, found one of {}",
            i + 1,
            pair[0].len(),
            pair[1].len()
        ));
    }
    // As counters give them.
    if pairs().all(|(_, pair)| pair[0] < pair[1]) {
        return Ok(());
    }
    let mut seen = HashMap::with_capacity(nonces.len());
    for (i, nonce) in nonces.iter().enumerate() {
        if let Some(before) = seen.insert(nonce, i) {
            return Err(format!(
                "message {i}: expected a new nonce, found that of message {before}"
            ));
        }
    }
    Ok(())
}

/// Tags that are to be checked.
enum Joined<'py> {
    /// One after the other, as `tag_many` gives them.
    One(View),
    /// Each by itself.
    Each(Batch<'py>),
}

impl<'py> Joined<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Joined<'py>> {
        // SAFETY: the object is alive, and the call only looks at its type.
        if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 1 {
            let view = View::of(object)?;
            if view.shape().len() == 1 {
                return Ok(Joined::One(view));
            }
        }
        Batch::of(object, "tag").map(Joined::Each)
    }

    /// As many tags as there are messages. What cannot be a tag of the MAC is one that no message has.
    fn tags(&self, mac: &AnyMac, messages: usize) -> PyResult<Vec<Tag>> {
        let size = mac.tag_bits().div_ceil(8);
        let tag = |bytes: &[u8]| match bytes.len() == size {
            true => Tag::new(bytes, mac.tag_bits()).unwrap_or_default(),
            false => Tag::default(),
        };
        let (expected, unit, found, tags) = match self {
            Joined::One(view) => {
                let bytes = view.bytes();
                let tags = bytes.chunks_exact(size).map(tag).collect::<Vec<_>>();
                (messages.checked_mul(size), "bytes of tags", bytes.len(), tags)
            }
            Joined::Each(batch) => {
                let slices = batch.slices()?;
                let tags = slices.iter().map(|bytes| tag(bytes)).collect();
                (Some(messages), "tags", slices.len(), tags)
            }
        };
        if expected != Some(found) {
            let expected = expected.unwrap_or(usize::MAX);
            let line = format!("expected {expected} {unit}, found {found}");
            return Err(PyValueError::new_err(line));
        }
        Ok(tags)
    }
}
