//! Reads Arrow's C stream interface (<https://arrow.apache.org/docs/format/CStreamInterface.html>).
//! The reader in the crate arrow-array accepts only record batches.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::error::released;

/// A stream of arrays of one type. Its functions return 0 or an `errno`.
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<Get<FFI_ArrowSchema>>,
    get_next: Option<Get<FFI_ArrowArray>>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// Fills in a struct.
type Get<T> = unsafe extern "C" fn(*mut ArrowArrayStream, *mut T) -> c_int;

impl ArrowArrayStream {
    /// Moves a stream out of its capsule and marks it there as released, so that no other consumer
    /// can release it while it is in use.
    ///
    /// # Safety
    ///
    /// `from` must point to a struct that follows the specification, and no other thread may use it
    /// during the call.
    pub unsafe fn from_raw(from: NonNull<ArrowArrayStream>) -> ArrowArrayStream {
        let empty = ArrowArrayStream {
            get_schema: None,
            get_next: None,
            get_last_error: None,
            release: None,
            private_data: ptr::null_mut(),
        };
        // SAFETY: the caller guarantees the pointer. The specification allows moving the struct.
        unsafe { from.replace(empty) }
    }

    /// The type of the arrays.
    pub fn schema(&mut self) -> PyResult<FFI_ArrowSchema> {
        let schema = self.filled(self.get_schema, FFI_ArrowSchema::empty())?;
        schema.release().is_some().then_some(schema).ok_or_else(released)
    }

    /// The next array, or `None` at the end of the stream.
    pub fn next_array(&mut self) -> PyResult<Option<FFI_ArrowArray>> {
        let array = self.filled(self.get_next, FFI_ArrowArray::empty())?;
        Ok((!array.is_released()).then_some(array))
    }

    /// Calls one of the stream's functions and returns the struct that it fills in.
    fn filled<T>(&mut self, get: Option<Get<T>>, mut to: T) -> PyResult<T> {
        let (Some(get), Some(_)) = (get, self.release) else {
            return Err(released());
        };
        // SAFETY: the stream is not released, so its functions may be called with an empty struct.
        let code = unsafe { get(self, &mut to) };
        if code == 0 {
            return Ok(to);
        }
        let line = self.get_last_error.map(|get| {
            // SAFETY: as above. The result is null or a C string that is valid until the next call.
            unsafe { NonNull::new(get(self).cast_mut()).map(|line| CStr::from_ptr(line.as_ptr())) }
        });
        let line = line.flatten().unwrap_or_default().to_string_lossy();
        let line = format!("the Arrow stream failed with error {code}: {line}");
        Err(PyValueError::new_err(line))
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer set `release` for this struct, which is not used after this.
            unsafe { release(self) };
        }
    }
}
