//! Many messages in one call: `tag_many` and `verify_many`.

use std::collections::{HashMap, TryReserveError};

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};
use tagmac::Tag;
use tagmac_any::AnyMac;

use crate::batch::Batch;
use crate::buffer::View;
use crate::error::{InvalidTag, NonceReuse, refused};
use crate::key::Key;
use crate::memory::none_left;
use crate::nonce::nonce_of;

/// Number of messages in one call of the MAC.
const TOGETHER: usize = 256;

/// Returns the tags of many messages, concatenated in one bytes object.
///
/// `buffers` is a sequence of bytes-like objects, an Arrow array of binary or string values, or a
/// two-dimensional array with a message in each row. `nonces` has the same kinds, with one nonce
/// for each message. All nonces must have one length and be different, or `NonceReuse` is raised.
///
/// ```python
/// >>> import tagmac
/// >>> tagmac.tag_many(tagmac.Key(bytes(16)), [b"one", b"two"]).hex()
/// 'c835672f6302c5720b94ca0c0d4a1e1706207531b3c6eb51b1f3f98840abe6ba'
///
/// ```
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
    let nonces = Nonces::of(py, mac, nonces.as_ref(), messages.len())?;
    if let Nonces::Each(nonces) = &nonces {
        py.detach(|| each_once(nonces)).map_err(Repeated::into_py)?;
    }
    let size = mac.tag_bits().div_ceil(8);
    let bytes = messages.len().checked_mul(size).filter(|bytes| *bytes <= isize::MAX as usize);
    let bytes = bytes.ok_or_else(|| {
        PyValueError::new_err(format!("{} messages are too many for one call", messages.len()))
    })?;
    PyBytes::new_with(py, bytes, |tags| {
        let work = || {
            let mut made = [Tag::default(); TOGETHER];
            let each = messages.chunks(TOGETHER).zip(tags.chunks_mut(TOGETHER * size));
            for (i, (messages, tags)) in each.enumerate() {
                let made = &mut made[..messages.len()];
                mac.tag_many(nonces.chunk(i, messages.len()), messages, made)
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
/// `buffers` and `nonces` are as in `tag_many`. `tags` is its result, or a container with one tag
/// for each message, of the kinds that `buffers` may have.
///
/// Raises `InvalidTag` if any tag is wrong. Its attribute `indices` is a tuple of the indices of
/// all messages whose tag is wrong.
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
    let nonces = Nonces::of(py, mac, nonces.as_ref(), messages.len())?;
    let joined = Joined::of(tags)?;
    let tags = joined.tags(mac, messages.len())?;
    let wrong = py.detach(|| {
        let mut wrong = Vec::new();
        for (i, messages) in messages.chunks(TOGETHER).enumerate() {
            let (mut verdicts, mut given) = ([Ok(()); TOGETHER], [Tag::default(); TOGETHER]);
            let (verdicts, given) = (&mut verdicts[..messages.len()], &mut given[..messages.len()]);
            tags.fill(TOGETHER * i, given);
            // The verdicts contain the overall result too.
            let _ = mac.verify_many(nonces.chunk(i, messages.len()), messages, given, verdicts);
            let failed = verdicts.iter().enumerate().filter(|(_, verdict)| verdict.is_err());
            wrong.try_reserve(messages.len())?;
            wrong.extend(failed.map(|(j, _)| TOGETHER * i + j));
        }
        Ok(wrong)
    });
    let wrong: Vec<usize> = wrong.map_err(none_left)?;
    let Some(first) = wrong.first() else { return Ok(()) };
    let line = match wrong.len() {
        1 => format!("message {first}: the tag does not match the message"),
        count => {
            format!("message {first} and {} more: the tags do not match the messages", count - 1)
        }
    };
    let error = InvalidTag::new_err(line);
    error.value(py).setattr("indices", tuple(py, &wrong)?)?;
    Err(error)
}

/// Makes a tuple of numbers. PyO3's own conversion panics if no memory is left.
fn tuple<'py>(py: Python<'py>, numbers: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyBytes::new_with(py, size_of_val(numbers), |bytes| {
        for (to, number) in bytes.chunks_exact_mut(size_of::<usize>()).zip(numbers) {
            to.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })?;
    // N is the format of C's size_t.
    let view = PyMemoryView::from(&bytes)?.call_method1("cast", ("N",))?;
    py.get_type::<PyTuple>().call1((view,))
}

/// The nonces of a batch of messages.
enum Nonces<'a> {
    /// The MAC is deterministic.
    None,
    Each(Vec<&'a [u8]>),
}

impl<'a> Nonces<'a> {
    /// Checks that each message has a valid nonce. Only a deterministic MAC may go without.
    fn of(
        py: Python<'_>,
        mac: &AnyMac,
        nonces: Option<&'a Batch<'_>>,
        messages: usize,
    ) -> PyResult<Nonces<'a>> {
        let Some(nonces) = nonces else {
            nonce_of(mac.algorithm(), None)?;
            return Ok(Nonces::None);
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
        Ok(if mac.algorithm().takes_nonce() { Nonces::Each(nonces) } else { Nonces::None })
    }

    /// The nonces of chunk `i`, which has `len` messages; the others have `TOGETHER`.
    fn chunk(&self, i: usize, len: usize) -> &[&'a [u8]] {
        const NONE: [&[u8]; TOGETHER] = [&[]; TOGETHER];
        match self {
            Nonces::None => &NONE[..len],
            Nonces::Each(nonces) => &nonces[TOGETHER * i..][..len],
        }
    }
}

/// A reason to refuse nonces.
enum Repeated {
    /// Two nonces are or may be equal.
    Line(String),
    /// Out of memory.
    NoneLeft(TryReserveError),
}

impl Repeated {
    fn into_py(self) -> PyErr {
        match self {
            Repeated::Line(line) => NonceReuse::new_err(line),
            Repeated::NoneLeft(error) => none_left(error),
        }
    }
}

/// Checks that no two nonces are equal. Nonces of two lengths may be, since shorter ones are padded
/// with zeros.
fn each_once(nonces: &[&[u8]]) -> Result<(), Repeated> {
    let pairs = || nonces.windows(2).enumerate();
    if let Some((i, pair)) = pairs().find(|(_, pair)| pair[0].len() != pair[1].len()) {
        return Err(Repeated::Line(format!(
            "message {}: its nonce has {} bytes, that of message {i} {}; use one length",
            i + 1,
            pair[1].len(),
            pair[0].len()
        )));
    }
    // Ascending nonces, as from a counter, are distinct.
    if pairs().all(|(_, pair)| pair[0] < pair[1]) {
        return Ok(());
    }
    let mut seen = HashMap::new();
    seen.try_reserve(nonces.len()).map_err(Repeated::NoneLeft)?;
    for (i, nonce) in nonces.iter().enumerate() {
        if let Some(before) = seen.insert(nonce, i) {
            return Err(Repeated::Line(format!(
                "message {i}: its nonce is that of message {before}; use each nonce once"
            )));
        }
    }
    Ok(())
}

/// The tags to check.
enum Joined<'py> {
    /// Concatenated, as `tag_many` returns them.
    One(View),
    /// In a container, with one item for each tag.
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

    /// The tags, once there is one for each message.
    fn tags(&self, mac: &AnyMac, messages: usize) -> PyResult<Tags<'_>> {
        let (bits, size) = (mac.tag_bits(), mac.tag_bits().div_ceil(8));
        let (expected, unit, found, given) = match self {
            Joined::One(view) => {
                let bytes = view.bytes();
                (messages.checked_mul(size), "bytes of tags", bytes.len(), Given::One(bytes))
            }
            Joined::Each(batch) => {
                let slices = batch.slices()?;
                (Some(messages), "tags", slices.len(), Given::Each(slices))
            }
        };
        if expected != Some(found) {
            let expected = expected.unwrap_or(usize::MAX);
            let line = format!("expected {expected} {unit}, found {found}");
            return Err(PyValueError::new_err(line));
        }
        Ok(Tags { bits, size, given })
    }
}

/// The bytes of the tags, one for each message.
struct Tags<'a> {
    bits: usize,
    size: usize,
    given: Given<'a>,
}

enum Given<'a> {
    One(&'a [u8]),
    Each(Vec<&'a [u8]>),
}

impl Tags<'_> {
    /// Fills in the tags from index `start` on. A tag of the wrong length becomes the empty one,
    /// which matches no message.
    fn fill(&self, start: usize, tags: &mut [Tag]) {
        for (i, tag) in (start..).zip(tags) {
            let bytes = match &self.given {
                Given::One(bytes) => &bytes[i * self.size..][..self.size],
                Given::Each(slices) => slices[i],
            };
            *tag = match bytes.len() == self.size {
                true => Tag::new(bytes, self.bits).unwrap_or_default(),
                false => Tag::default(),
            };
        }
    }
}
