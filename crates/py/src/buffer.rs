//! Bytes of Python objects: `bytes`, and whatever else has the buffer protocol.

use std::ops::Deref;
use std::slice;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};

/// Work on more bytes than these is done without the interpreter. With fewer, letting go of it
/// and coming back would cost as much as the work.
pub const RELEASE: usize = 2048;

/// The bytes of an object, without a copy.
///
/// Other threads may change those of a `bytearray` or an array while a MAC reads them. The tag is
/// then that of no message; the documentation says so. `bytes` do not change.
pub enum Bytes<'a> {
    /// Those of `bytes`.
    Fixed(&'a [u8]),
    /// Those of another object, which holds still until this is dropped.
    View(View),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Fixed(bytes) => bytes,
            Bytes::View(view) => view.bytes(),
        }
    }
}

/// A view of an object whose bytes lie in one piece, in the order of C.
pub struct View(PyUntypedBuffer);

impl View {
    /// The view of an object.
    ///
    /// # Errors
    ///
    /// `TypeError` if the object has no bytes or has pointers, `BufferError` if they lie apart.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<View> {
        // SAFETY: the object is alive, and the call only looks at its type.
        if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 0 {
            return Err(no_bytes(object));
        }
        // Those of ctypes leave out what follows from the rest, and a memoryview fills it in.
        let buffer = match PyUntypedBuffer::get(object) {
            Err(error) if error.is_instance_of::<PyBufferError>(object.py()) => {
                PyUntypedBuffer::get(PyMemoryView::from(object)?.as_any())
            }
            got => got,
        }?;
        if !buffer.is_c_contiguous() {
            let line = "expected bytes in one piece, in the order of C, found them apart";
            return Err(PyBufferError::new_err(line));
        }
        if holds_pointers(buffer.format().to_bytes()) {
            return Err(PyTypeError::new_err(POINTERS));
        }
        Ok(View(buffer))
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        let (start, len) = (self.0.buf_ptr() as *const u8, self.0.len_bytes());
        if len == 0 {
            return &[];
        }
        // SAFETY: a contiguous buffer has `len` bytes from `start` on, and its exporter keeps them
        // in place until it is released, which is when `self` is dropped.
        unsafe { slice::from_raw_parts(start, len) }
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> &[usize] {
        self.0.shape()
    }
}

const POINTERS: &str = "expected bytes, found an array of objects, whose bytes are their addresses";

/// Whether items of a format, as the buffer protocol writes it, are pointers or have some: a tag of these
/// says nothing of what they point to.
fn holds_pointers(format: &[u8]) -> bool {
    // The names of fields stand between colons.
    let types = format.split(|&byte| byte == b':').step_by(2);
    types.flatten().any(|byte| b"O&Pz".contains(byte))
}

/// The bytes of an object.
///
/// # Errors
///
/// As [`View::of`].
#[inline]
pub fn bytes<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Bytes<'a>> {
    match object.cast::<PyBytes>() {
        Ok(fixed) => Ok(Bytes::Fixed(fixed.as_bytes())),
        Err(_) => Ok(Bytes::View(View::of(object)?)),
    }
}

/// The exception for an object without bytes, with what its caller may have meant.
#[cold]
pub fn no_bytes(object: &Bound<'_, PyAny>) -> PyErr {
    let name = object.get_type().name();
    let name = name.map_or_else(|_| "another object".to_owned(), |name| name.to_string());
    let hint = if object.is_instance_of::<PyString>() {
        ": text.encode() makes bytes of text, bytes.fromhex(text) of hex"
    } else if object.hasattr("read").unwrap_or(false) {
        ": tagmac.file_digest takes files, opened in binary mode"
    } else {
        ""
    };
    PyTypeError::new_err(format!("expected bytes, found {name}{hint}"))
}

/// Works on `len` bytes, without the interpreter if they are many.
#[inline]
pub fn released<T: Send>(py: Python<'_>, len: usize, work: impl FnOnce() -> T + Send) -> T {
    if len > RELEASE { py.detach(work) } else { work() }
}
