//! Arrow arrays whose values are messages: binary or string values in each of their layouts, and
//! dictionaries of them, as one array or as a stream of arrays. No value is copied.

mod error;
mod import;
mod stream;
mod values;

use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use self::error::released;
use self::stream::ArrowArrayStream;
use crate::memory::{none_left, push};

/// Valid arrays of one type, moved out of their capsules: another consumer could release what a
/// capsule still holds.
pub struct Arrow {
    arrays: Vec<ArrayData>,
}

impl Arrow {
    /// Imports the arrays that an object exports: one array, or else a stream. `None` for any other
    /// object.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Arrow>> {
        if let Some(export) = object.getattr_opt("__arrow_c_array__")? {
            let (schema, array) = export.call0()?.extract()?;
            return one(&schema, &array).map(Some);
        }
        match object.getattr_opt("__arrow_c_stream__")? {
            Some(export) => read(&export.call0()?.extract()?).map(Some),
            None => Ok(None),
        }
    }

    /// The values. `what` names one of them in errors.
    pub fn slices(&self, what: &str) -> PyResult<Vec<&[u8]>> {
        let mut slices = Vec::new();
        for array in &self.arrays {
            slices.try_reserve(array.len()).map_err(none_left)?;
            values::each(array, |value| {
                let Some(value) = value else {
                    let row = slices.len();
                    let line = format!("{what} {row}: expected a value, found a null");
                    return Err(PyValueError::new_err(line));
                };
                slices.push(value);
                Ok(())
            })?;
        }
        Ok(slices)
    }
}

/// Imports the array in a pair of capsules.
fn one(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<Arrow> {
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast();
    // SAFETY: a capsule of that name points to that struct, and only this thread uses it.
    // `from_raw` marks the struct in the capsule as released.
    let (schema, array) = unsafe {
        (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr()))
    };
    if schema.release().is_none() || array.is_released() {
        return Err(released());
    }
    // SAFETY: the producer of the type made the array too.
    let array = unsafe { import::array(&import::data_type(&schema)?, array) }?;
    Ok(Arrow { arrays: vec![array] })
}

/// Imports all arrays of a stream.
fn read(stream: &Bound<'_, PyCapsule>) -> PyResult<Arrow> {
    let stream = stream.pointer_checked(Some(c"arrow_array_stream"))?.cast();
    // SAFETY: a capsule of that name points to that struct, and only this thread uses it.
    let mut stream = unsafe { ArrowArrayStream::from_raw(stream) };
    // Check the type even if the stream has no arrays.
    let data_type = import::data_type(&stream.schema()?)?;
    let mut arrays = Vec::new();
    while let Some(array) = stream.next_array()? {
        // SAFETY: all arrays of a stream have its type.
        push(&mut arrays, unsafe { import::array(&data_type, array) }?)?;
    }
    Ok(Arrow { arrays })
}
