//! `Part`, `Partial` and `combine`: an object's tag from ranges that were hashed on any machines.
//!
//! As in the command, `tagmac_files::partial` does the work.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyString};
use tagmac::save::Zeroizing;
use tagmac_files::Error;
use tagmac_files::open_key::OpenKey;
use tagmac_files::partial::{self, Expected, Opened, PartStream, Stored, split_version, versioned};

use crate::batch::Batch;
use crate::buffer::{RELEASE, bytes};
use crate::error::{failed, refused, stays};
use crate::key::Key;
use crate::memory::{collected, copied};
use crate::nonce::nonce_of;

/// The hash of one range of an object. `combine` makes the object's tag from the hashes of all
/// ranges.
///
/// `Part(key, *, object, version, start=0, last=False)` begins the range at byte `start`, a
/// multiple of `block_size`. `object` is the object's name. `version` identifies its content: a
/// version id, an ETag or an upload's id, which no other content of that name may have. `last` is
/// True for the range at the end of the object; every other range ends at a multiple of
/// `block_size`. Call `update` with the bytes of the range, then `seal` once.
///
/// ```python
/// >>> import tagmac
/// >>> key = tagmac.Key(bytes(16))
/// >>> first = tagmac.Part(key, object="photo", version="1").update(bytes(64)).seal()
/// >>> rest = tagmac.Part(key, object="photo", version="1", start=64, last=True)
/// >>> blobs = [first, rest.update(b"end").seal()]
/// >>> tagmac.combine(key, blobs) == key.tag(bytes(64) + b"end")
/// True
///
/// ```
#[pyclass(frozen, module = "tagmac")]
pub struct Part {
    algorithm: &'static str,
    name: Vec<u8>,
    start: u64,
    last: bool,
    block: usize,
    state: Mutex<State>,
}

enum State {
    Open(PartStream<Arc<OpenKey>>),
    /// Sealed; the field is the end of the range.
    Sealed(u64),
}

#[pymethods]
impl Part {
    #[new]
    #[pyo3(signature = (key, *, object, version, start=0, last=false))]
    fn new(
        key: &Bound<'_, Key>,
        object: &Bound<'_, PyAny>,
        version: &Bound<'_, PyAny>,
        start: u64,
        last: bool,
    ) -> PyResult<Part> {
        let name =
            versioned(&text("object", object)?, &text("version", version)?).map_err(failed)?;
        let stream = PartStream::new(key.get().open_key().clone(), name.clone(), start, last);
        let stream = stream.map_err(failed)?;
        let algorithm = key.get().mac().algorithm();
        let (algorithm, block) = (algorithm.name(), algorithm.block().unwrap_or_default());
        let state = Mutex::new(State::Open(stream));
        Ok(Part { algorithm, name, start, last, block, state })
    }

    /// Opens a partial that `seal` or the command made, and checks that it is intact.
    ///
    /// Raises `InvalidTag` if it is damaged, and `WrongKey` if it was made under another key.
    #[staticmethod]
    fn open(key: &Bound<'_, Key>, blob: &Bound<'_, PyAny>) -> PyResult<Partial> {
        let bytes = bytes(blob)?;
        let blob = Blob { index: None, bytes: &bytes };
        let opened = partial::open(key.get().open_key(), &blob).map_err(failed)?;
        Ok(Partial { algorithm: key.get().mac().algorithm().name(), opened })
    }

    /// Appends bytes to the range. Returns the object itself, so that calls can be chained.
    fn update<'py>(slf: Bound<'py, Self>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let (py, data) = (slf.py(), bytes(data)?);
        let part = slf.get();
        let add = |state: &mut State| match state {
            State::Open(stream) => stream.update(&data).map_err(refused),
            State::Sealed(_) => Err(sealed()),
        };
        if data.len() > RELEASE {
            py.detach(|| add(&mut part.state.lock().expect("no work panics")))
        } else {
            add(&mut part.state.lock_py_attached(py).expect("no work panics"))
        }?;
        Ok(slf)
    }

    /// Returns the partial as bytes, encrypted under a key derived from the MAC's. It can be called
    /// once.
    ///
    /// Raises `ValueError` if the range is empty, or if it ends within a block and is not the last.
    fn seal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut state = self.state.lock_py_attached(py).expect("no work panics");
        let State::Open(stream) = &*state else { return Err(sealed()) };
        let blob = stream.seal().map_err(failed)?;
        *state = State::Sealed(stream.end());
        Ok(PyBytes::new(py, &blob))
    }

    /// The object's name, as bytes.
    #[getter]
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, split_version(&self.name).0)
    }

    /// The version of the object's content, as bytes.
    #[getter]
    fn version<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, split_version(&self.name).1.unwrap_or_default())
    }

    /// The offset of the range's first byte.
    #[getter]
    fn start(&self) -> u64 {
        self.start
    }

    /// The end of the range so far: the offset after its last byte.
    #[getter]
    fn end(&self, py: Python<'_>) -> u64 {
        match &*self.state.lock_py_attached(py).expect("no work panics") {
            State::Open(stream) => stream.end(),
            State::Sealed(end) => *end,
        }
    }

    /// True if the object ends with this range.
    #[getter]
    fn last(&self) -> bool {
        self.last
    }

    /// The length of a block in bytes. Ranges start and end at multiples of it, except for the end
    /// of the last one.
    #[getter]
    fn block_size(&self) -> usize {
        self.block
    }

    /// The name of the algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm
    }

    /// Raises `TypeError`: a key's state cannot be pickled or copied. Use `seal`.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(stays("Part", "send the result of seal() and"))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<tagmac.Part {} bytes {} to {}>", self.algorithm, self.start, self.end(py))
    }
}

#[cold]
fn sealed() -> PyErr {
    PyValueError::new_err("the part was sealed; use a new one for another range")
}

/// The range that a partial covers. `Part.open` returns it once the partial is checked.
#[pyclass(frozen, module = "tagmac")]
pub struct Partial {
    algorithm: &'static str,
    opened: Opened,
}

#[pymethods]
impl Partial {
    /// The object's name, as bytes: the partial's name up to its last @.
    #[getter]
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, split_version(&self.opened.object).0)
    }

    /// The version of the object's content, as bytes; None if the partial was made without one.
    #[getter]
    fn version<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        split_version(&self.opened.object).1.map(|version| PyBytes::new(py, version))
    }

    /// The offset of the range's first byte.
    #[getter]
    fn start(&self) -> u64 {
        self.opened.start
    }

    /// The end of the range: the offset after its last byte.
    #[getter]
    fn end(&self) -> u64 {
        self.opened.end
    }

    /// True if the object ends with this range.
    #[getter]
    fn last(&self) -> bool {
        self.opened.last
    }

    /// The name of the algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm
    }

    fn __repr__(&self) -> String {
        let Opened { start, end, .. } = self.opened;
        format!("<tagmac.Partial {} bytes {start} to {end}>", self.algorithm)
    }
}

/// Returns the tag of the object that the partials cover, as bytes.
///
/// `blobs` contains the results of `Part.seal` or of the command `tagmac part`, in any order and in
/// any container that `tag_many` accepts. `nonce` is the tag's nonce, if the MAC needs one. All
/// partials must be of one object and version, and of `object` and `version` if these are given.
///
/// Raises `IncompleteObject` if a range is missing or present twice, `WrongObject` or `WrongKey` if
/// a partial belongs to another object, version or key, and `InvalidTag` if one is damaged.
#[pyfunction]
#[pyo3(signature = (key, blobs, nonce=None, *, object=None, version=None))]
pub fn combine<'py>(
    py: Python<'py>,
    key: &Bound<'py, Key>,
    blobs: &Bound<'py, PyAny>,
    nonce: Option<&Bound<'py, PyAny>>,
    object: Option<&Bound<'py, PyAny>>,
    version: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let open_key = key.get().open_key();
    let algorithm = open_key.mac.algorithm();
    let nonce = nonce_of(algorithm, nonce)?;
    algorithm.check_nonce(nonce.len()).map_err(refused)?;
    open_key.parts().map_err(failed)?;
    let object = object.map(|object| text("object", object)).transpose()?;
    let version = version.map(|version| text("version", version)).transpose()?;
    let expected = Expected::Object { object: object.as_deref(), version: version.as_deref() };
    let blobs = Batch::of(blobs, "blob")?;
    let blobs = blobs.slices()?;
    let blobs = blobs.iter().enumerate();
    let blobs = collected(blobs.map(|(i, bytes)| Blob { index: Some(i), bytes }))?;
    let combined =
        py.detach(|| partial::combine(open_key, expected, &blobs, &nonce)).map_err(failed)?;
    Ok(PyBytes::new(py, combined.tagged.tag.as_bytes()))
}

/// A partial in memory.
struct Blob<'a> {
    index: Option<usize>,
    bytes: &'a [u8],
}

impl Stored for Blob<'_> {
    fn name(&self) -> String {
        self.index.map_or("blob".into(), |index| format!("blob {index}"))
    }

    fn read(&self, most: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(self.bytes.len());
        let copy = tagmac_files::memory::copied(&self.bytes[..most]);
        Ok(Zeroizing::new(
            copy.map_err(|error| Error::io(format_args!("{}: {error}", self.name())))?,
        ))
    }
}

/// The bytes of a name, which is `bytes` or a `str` to encode in UTF-8.
fn text(what: &str, name: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(name) = name.cast::<PyString>() {
        return copied(name.to_str()?.as_bytes());
    }
    match bytes(name) {
        Ok(name) => copied(&name),
        Err(_) => {
            let found = name.get_type().qualname()?;
            let line = format!("{what}: expected str or bytes, found {found}");
            Err(PyTypeError::new_err(line))
        }
    }
}
