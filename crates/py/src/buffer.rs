//! Bytes of Python objects: `bytes`, and whatever else has the buffer protocol.

use std::ffi::{CStr, c_char};
use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::memory::boxed;

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

/// A view of an object whose bytes lie in one piece, in the order of C. It has what the object's exporter
/// filled in, whose address may not change.
pub struct View(NonNull<ffi::Py_buffer>);

// SAFETY: it is read and never written, and given back under the interpreter.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// The view of an object, such as an array of any number of dimensions, or of none.
    ///
    /// # Errors
    ///
    /// `TypeError` if the object has no bytes or has pointers, `BufferError` if they lie apart.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<View> {
        // SAFETY: the object is alive, and the call only looks at its type.
        let has_bytes = unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 1;
        // NumPy's text has a buffer, of how NumPy keeps it.
        if !has_bytes || object.is_instance_of::<PyString>() {
            return Err(no_bytes(object));
        }
        let buffer = boxed(ffi::Py_buffer::new())?;
        // SAFETY: the object is alive, and the buffer is empty.
        let status = unsafe {
            ffi::PyObject_GetBuffer(object.as_ptr(), buffer.as_ptr(), ffi::PyBUF_FULL_RO)
        };
        if status != 0 {
            // SAFETY: the box from above, which the exporter has left empty.
            drop(unsafe { Box::from_raw(buffer.as_ptr()) });
            return Err(PyErr::fetch(object.py()));
        }
        let view = View(buffer);
        check_pointers(view.format())?;
        // SAFETY: a buffer that was filled in. The number is the letter for C's order.
        if unsafe { ffi::PyBuffer_IsContiguous(buffer.as_ptr(), b'C' as c_char) } == 0 {
            let line = "expected bytes in one piece, in the order of C, found them apart";
            return Err(PyBufferError::new_err(line));
        }
        Ok(view)
    }

    fn filled(&self) -> &ffi::Py_buffer {
        // SAFETY: `of` has it filled in, and it stays until the drop.
        unsafe { self.0.as_ref() }
    }

    /// The type of an item. An exporter that leaves it out has bytes.
    fn format(&self) -> &[u8] {
        match self.filled().format {
            format if format.is_null() => b"B",
            // SAFETY: the buffer protocol has a C string here, which lives as long as the view.
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
        // A single item has no dimensions, and no place for their lengths.
        if shape.is_null() || ndim <= 0 {
            return &[];
        }
        // SAFETY: there is a length for each dimension, which is not negative, as long as the view lives.
        unsafe { slice::from_raw_parts(shape.cast::<usize>(), ndim as usize) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // At the end of the interpreter, there is nobody to give it back to.
        let _ = Python::try_attach(|_| {
            // SAFETY: `of` got it from its exporter and made the box, and nobody uses it any more.
            unsafe {
                ffi::PyBuffer_Release(self.0.as_ptr());
                drop(Box::from_raw(self.0.as_ptr()));
            }
        });
    }
}

const OBJECTS: &str = "expected bytes, found an array of objects, whose bytes are their addresses: \
                       array.tolist() gives a list of the objects, which tag_many takes";
const POINTERS: &str = "expected bytes, found pointers, whose bytes are addresses";

/// Refuses items of a format, as the buffer protocol and ctypes write it, that are pointers or have some: a
/// tag of these says nothing of what they point to.
fn check_pointers(format: &[u8]) -> PyResult<()> {
    // The names of fields stand between colons.
    for types in format.split(|&byte| byte == b':').step_by(2) {
        let next = types.iter().skip(1).map(Some).chain([None]);
        for (kind, next) in types.iter().zip(next) {
            match kind {
                b'O' => return Err(PyTypeError::new_err(OBJECTS)),
                // Before the kind of its two numbers, it is a complex one.
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
