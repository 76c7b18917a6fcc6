//! Bytes of Python objects: `bytes`, and anything else that supports the buffer protocol.

use std::ffi::{CStr, c_char};
use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::memory::boxed;

/// Longer inputs are processed without holding the interpreter. For shorter ones, releasing and
/// reacquiring it would cost as much as the work.
pub const RELEASE: usize = 2048;

/// The bytes of an object, without a copy.
///
/// Other threads may change a `bytearray` or an array while a MAC reads it; the result is then not
/// the tag of any message (documented in `docs/guide/python.md`). `bytes` objects are immutable.
pub enum Bytes<'a> {
    /// A `bytes` object.
    Fixed(&'a [u8]),
    /// Another object, whose memory stays in place until this is dropped.
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

/// A view of an object whose memory is C-contiguous. The exporter fills in the `Py_buffer`, whose
/// address must not change.
pub struct View(NonNull<ffi::Py_buffer>);

// SAFETY: the buffer is only read, and it is released while attached to the interpreter.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// A view of an object, such as an array of any number of dimensions.
    ///
    /// # Errors
    ///
    /// `TypeError` if the object has no buffer or contains pointers, `BufferError` if its memory is
    /// not C-contiguous.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<View> {
        // SAFETY: the object is alive, and the call only looks at its type.
        let has_bytes = unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 1;
        // NumPy's str scalars export a buffer, of NumPy's internal encoding.
        if !has_bytes || object.is_instance_of::<PyString>() {
            return Err(no_bytes(object));
        }
        let buffer = boxed(ffi::Py_buffer::new())?;
        // SAFETY: the object is alive, and the buffer is empty.
        let status = unsafe {
            ffi::PyObject_GetBuffer(object.as_ptr(), buffer.as_ptr(), ffi::PyBUF_FULL_RO)
        };
        if status != 0 {
            // SAFETY: this is the box from above, which the exporter has not filled in.
            drop(unsafe { Box::from_raw(buffer.as_ptr()) });
            return Err(PyErr::fetch(object.py()));
        }
        let view = View(buffer);
        check_pointers(view.format())?;
        // SAFETY: the buffer is filled in. 'C' asks for C order.
        if unsafe { ffi::PyBuffer_IsContiguous(buffer.as_ptr(), b'C' as c_char) } == 0 {
            let line = "the array is not C-contiguous: numpy.ascontiguousarray copies it";
            return Err(PyBufferError::new_err(line));
        }
        Ok(view)
    }

    fn filled(&self) -> &ffi::Py_buffer {
        // SAFETY: `of` filled it in, and it lives until the drop.
        unsafe { self.0.as_ref() }
    }

    /// The format of an item. Exporters that leave it out have bytes.
    fn format(&self) -> &[u8] {
        match self.filled().format {
            format if format.is_null() => b"B",
            // SAFETY: the buffer protocol defines a C string here, which lives as long as the view.
            format => unsafe { CStr::from_ptr(format) }.to_bytes(),
        }
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        let ffi::Py_buffer { buf, len, .. } = *self.filled();
        if len <= 0 {
            return &[];
        }
        // SAFETY: a contiguous buffer has `len` bytes from its start on, and its exporter keeps them
        // in place until it is released, which is when `self` is dropped.
        unsafe { slice::from_raw_parts(buf.cast(), len as usize) }
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> &[usize] {
        let ffi::Py_buffer { shape, ndim, .. } = *self.filled();
        // A view without dimensions has no shape.
        if shape.is_null() || ndim <= 0 {
            return &[];
        }
        // SAFETY: `shape` has a nonnegative length per dimension, and lives as long as the view.
        unsafe { slice::from_raw_parts(shape.cast::<usize>(), ndim as usize) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // At interpreter shutdown the buffer cannot be released.
        let _ = Python::try_attach(|_| {
            // SAFETY: `of` got the buffer from its exporter and made the box. Both end here.
            unsafe {
                ffi::PyBuffer_Release(self.0.as_ptr());
                drop(Box::from_raw(self.0.as_ptr()));
            }
        });
    }
}

const OBJECTS: &str = "expected bytes, found an array of objects, which contains only their \
                       addresses: pass array.tolist() to tag_many";
const POINTERS: &str = "expected bytes, found pointers, which contain only addresses";

/// Rejects a format, as the buffer protocol and ctypes write it, whose items are or contain
/// pointers: their tag would not depend on the data that they point to.
fn check_pointers(format: &[u8]) -> PyResult<()> {
    // Field names are between colons.
    for types in format.split(|&byte| byte == b':').step_by(2) {
        let next = types.iter().skip(1).map(Some).chain([None]);
        for (kind, next) in types.iter().zip(next) {
            match kind {
                b'O' => return Err(PyTypeError::new_err(OBJECTS)),
                // Z before a float type is a complex number.
                b'Z' if next.is_some_and(|next| b"efdg".contains(next)) => {}
                b'&' | b'P' | b'X' | b'Z' | b'z' => return Err(PyTypeError::new_err(POINTERS)),
                _ => {}
            }
        }
    }
    Ok(())
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

/// The exception for an object without a buffer, with a hint about what its caller may have meant.
#[cold]
pub fn no_bytes(object: &Bound<'_, PyAny>) -> PyErr {
    let name = object.get_type().name();
    let name = name.map_or_else(|_| "another object".to_owned(), |name| name.to_string());
    let hint = if object.is_instance_of::<PyString>() {
        ": use text.encode() for text, bytes.fromhex(text) for hex"
    } else if object.hasattr("read").unwrap_or(false) {
        ": to tag a file, use tagmac.file_digest with a file in binary mode"
    } else {
        ""
    };
    PyTypeError::new_err(format!("expected bytes, found {name}{hint}"))
}

/// Runs `work` on `len` bytes, detached from the interpreter if they are more than [`RELEASE`].
#[inline]
pub fn released<T: Send>(py: Python<'_>, len: usize, work: impl FnOnce() -> T + Send) -> T {
    if len > RELEASE { py.detach(work) } else { work() }
}
