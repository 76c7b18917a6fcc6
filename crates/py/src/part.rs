//! `Part`, `Partial` and `combine`: an object's tag from ranges that were hashed anywhere.
//!
//! `tagmac_files::partial` does it, as for the command.

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

/// The hash of a range of an object, which combine makes a tag of with the others.
///
/// Part(key, *, object, version, start=0, last=False) begins the range at byte start, a multiple of
/// the algorithm's block. version is what the object's content has and no other content of that name:
/// a version id, an ETag, the id of an upload. last says that the object ends with the range; every
/// other range ends with a block. update adds the range's bytes, and seal gives the partial, once.
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
    /// Sealed, with the byte after the range.
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

    /// Opens a partial that seal or the command made, and checks that it is whole and was made under
    /// this key. Raises InvalidTag or WrongKey unless it was.
    #[staticmethod]
    fn open(key: &Bound<'_, Key>, blob: &Bound<'_, PyAny>) -> PyResult<Partial> {
        let bytes = bytes(blob)?;
        let blob = Blob { index: None, bytes: &bytes };
        let opened = partial::open(key.get().open_key(), &blob).map_err(failed)?;
        Ok(Partial { algorithm: key.get().mac().algorithm().name(), opened })
    }

    /// Adds the bytes that follow. Returns the object itself.
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

    /// The partial, once: sealed under a key that is made from the MAC's. Only combine takes it.
    ///
    /// Raises ValueError if the range ends within a block and is not the last, or is empty.
    fn seal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut state = self.state.lock_py_attached(py).expect("no work panics");
        let State::Open(stream) = &*state else { return Err(sealed()) };
        let blob = stream.seal().map_err(failed)?;
        *state = State::Sealed(stream.end());
        Ok(PyBytes::new(py, &blob))
    }

    /// The object's name.
    #[getter]
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, split_version(&self.name).0)
    }

    /// The version of the object's content.
    #[getter]
    fn version<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, split_version(&self.name).1.unwrap_or_default())
    }

    /// The first byte of the range.
    #[getter]
    fn start(&self) -> u64 {
        self.start
    }

    /// The byte after what there is of the range.
    #[getter]
    fn end(&self, py: Python<'_>) -> u64 {
        match &*self.state.lock_py_attached(py).expect("no work panics") {
            State::Open(stream) => stream.end(),
            State::Sealed(end) => *end,
        }
    }

    /// Whether the object ends with the range.
    #[getter]
    fn last(&self) -> bool {
        self.last
    }

    /// Bytes of a block: ranges start at multiples of it, and end there unless they are the last.
    #[getter]
    fn block_size(&self) -> usize {
        self.block
    }

    /// The algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm
    }

    /// Refuses: a key's state goes nowhere by pickle, copy or deepcopy.
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(stays("Part", "send what seal() gives, and for the key"))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<tagmac.Part {} bytes {} to {}>", self.algorithm, self.start, self.end(py))
    }
}

#[cold]
fn sealed() -> PyErr {
    PyValueError::new_err("expected a new part for another range, found one that was sealed")
}

/// A partial that Part.open has checked: of which range of which object it is.
#[pyclass(frozen, module = "tagmac")]
pub struct Partial {
    algorithm: &'static str,
    opened: Opened,
}

#[pymethods]
impl Partial {
    /// The object's name, before the last @ of what the partial calls it.
    #[getter]
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, split_version(&self.opened.object).0)
    }

    /// The version of the object's content; None if the partial was made without one.
    #[getter]
    fn version<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        split_version(&self.opened.object).1.map(|version| PyBytes::new(py, version))
    }

    /// The first byte of the range.
    #[getter]
    fn start(&self) -> u64 {
        self.opened.start
    }

    /// The byte after the range.
    #[getter]
    fn end(&self) -> u64 {
        self.opened.end
    }

    /// Whether the object ends with the range.
    #[getter]
    fn last(&self) -> bool {
        self.opened.last
    }

    /// The algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm
    }

    fn __repr__(&self) -> String {
        let Opened { start, end, .. } = self.opened;
        format!("<tagmac.Partial {} bytes {start} to {end}>", self.algorithm)
    }
}

/// The tag of the object that the partials make, in any order.
///
/// blobs is what Part.seal or the command's part made, as tag_many takes messages. object and version
/// say whose they have to be; they are of one object and version in any case. Raises IncompleteObject
/// if a range is missing or there twice, WrongObject and WrongKey if a partial is of another object,
/// version or key, InvalidTag if one is damaged.
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

/// The bytes of a name: those of `bytes`, or of a `str` in UTF-8.
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
