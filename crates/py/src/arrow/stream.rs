//! Arrow's C stream interface (<https://arrow.apache.org/docs/format/CStreamInterface.html>). The crate
//! arrow-array has it too, but only reads record batches from it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::error::released;

/// Arrays of one type, one after the other. Numbers are 0 or of `errno`.
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
    /// Moves a stream here from where its producer has it, and marks it as released there: another
    /// consumer could release it while it is in use.
    ///
    /// # Safety
    ///
    /// The struct is there, is as the specification has it, and nobody uses it meanwhile.
    pub unsafe fn from_raw(from: NonNull<ArrowArrayStream>) -> ArrowArrayStream {
        let empty = ArrowArrayStream {
            get_schema: None,
            get_next: None,
            get_last_error: None,
            release: None,
            private_data: ptr::null_mut(),
        };
        // SAFETY: as the caller says. The specification lets structs be moved in this way.
        unsafe { from.replace(empty) }
    }

    /// The type of its arrays.
    pub fn schema(&mut self) -> PyResult<FFI_ArrowSchema> {
        let schema = self.filled(self.get_schema, FFI_ArrowSchema::empty())?;
        schema.release().is_some().then_some(schema).ok_or_else(released)
    }

    /// The next array, if there is one.
    pub fn next_array(&mut self) -> PyResult<Option<FFI_ArrowArray>> {
        let array = self.filled(self.get_next, FFI_ArrowArray::empty())?;
        Ok((!array.is_released()).then_some(array))
    }

    /// What a function of the stream fills in.
    fn filled<T>(&mut self, get: Option<Get<T>>, mut to: T) -> PyResult<T> {
        let (Some(get), Some(_)) = (get, self.release) else {
            return Err(released());
        };
        // SAFETY: the stream is not released, so its functions may be called, with empty structs.
        let code = unsafe { get(self, &mut to) };
        if code == 0 {
            return Ok(to);
        }
        let line = self.get_last_error.map(|get| {
            // SAFETY: as above. What it returns is null, or a C string until the next call.
            unsafe { NonNull::new(get(self).cast_mut()).map(|line| CStr::from_ptr(line.as_ptr())) }
        });
        let line = line.flatten().unwrap_or_default().to_string_lossy();
        let line = format!("expected an Arrow array, found error {code} of its stream: {line}");
        Err(PyValueError::new_err(line))
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer gave it for this struct, and nothing uses the struct any more.
            unsafe { release(self) };
        }
    }
}
