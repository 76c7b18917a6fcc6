//! Arrow arrays whose values are messages: binary and string values in each of their layouts, and
//! dictionaries of them; one array, or several one after the other. None is copied.

mod column;
mod interface;

use std::ffi::{CStr, c_int};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use self::column::Column;
use self::interface::{ArrowArray, ArrowArrayStream, ArrowSchema, Owned, Released};

/// Arrays of Arrow.
pub enum Arrow<'py> {
    /// One, in its producer's capsules. They release it.
    Array { schema: Bound<'py, PyCapsule>, array: Bound<'py, PyCapsule> },
    /// What came from a stream.
    Stream { schema: Owned<ArrowSchema>, arrays: Vec<Owned<ArrowArray>> },
}

impl<'py> Arrow<'py> {
    /// What an object exports, if it does: one array, or else a stream of them.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Arrow<'py>>> {
        if let Some(export) = object.getattr_opt("__arrow_c_array__")? {
            let (schema, array) = export.call0()?.extract()?;
            return Ok(Some(Arrow::Array { schema, array }));
        }
        match object.getattr_opt("__arrow_c_stream__")? {
            Some(export) => read(&export.call0()?.extract()?).map(Some),
            None => Ok(None),
        }
    }

    /// The values; `what` is a word for one.
    pub fn slices(&self, what: &str) -> PyResult<Vec<&[u8]>> {
        let mut values = Vec::new();
        match self {
            Arrow::Array { schema, array } => {
                let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast();
                let array = array.pointer_checked(Some(c"arrow_array"))?.cast();
                // SAFETY: a capsule of that name points to that struct, and lives as long as `self`.
                append(&mut values, what, unsafe { schema.as_ref() }, unsafe { array.as_ref() })?;
            }
            Arrow::Stream { schema, arrays } => {
                for array in arrays {
                    append(&mut values, what, schema, array)?;
                }
            }
        }
        Ok(values)
    }
}

/// Adds the values of an array, which may be none of nulls.
fn append<'a>(
    values: &mut Vec<&'a [u8]>,
    what: &str,
    schema: &'a ArrowSchema,
    array: &'a ArrowArray,
) -> PyResult<()> {
    if schema.is_released() || array.is_released() {
        return Err(released());
    }
    // SAFETY: the structs are those of one array that is not released.
    let added = unsafe { Column::of(schema, array)?.values()? };
    values.reserve(added.len());
    for value in added {
        let row = values.len();
        values.push(value.ok_or_else(|| {
            PyValueError::new_err(format!("{what} {row}: expected a value, found a null"))
        })?);
    }
    Ok(())
}

/// All arrays of a stream.
fn read<'py>(stream: &Bound<'py, PyCapsule>) -> PyResult<Arrow<'py>> {
    let stream = stream.pointer_checked(Some(c"arrow_array_stream"))?;
    let stream = stream.cast::<ArrowArrayStream>().as_ptr();
    // SAFETY: a capsule of that name points to that struct.
    if unsafe { (*stream).release }.is_none() {
        return Err(released());
    }
    // SAFETY: the stream is not released, so it has its functions; so below.
    let (schema, result) = Owned::filled(|to| unsafe { ((*stream).get_schema)(stream, to) });
    // SAFETY: as above.
    unsafe { succeeded(stream, result) }?;
    // SAFETY: the stream has filled it in. There may be no array to see the type of.
    unsafe { column::check_type(&schema) }?;
    let mut arrays = Vec::new();
    loop {
        // SAFETY: as above.
        let (array, result) = Owned::filled(|to| unsafe { ((*stream).get_next)(stream, to) });
        // SAFETY: as above.
        unsafe { succeeded(stream, result) }?;
        if array.is_released() {
            return Ok(Arrow::Stream { schema, arrays });
        }
        arrays.push(array);
    }
}

/// Nothing, or what a stream says of its last call.
///
/// # Safety
///
/// The stream is not released.
unsafe fn succeeded(stream: *mut ArrowArrayStream, result: c_int) -> PyResult<()> {
    if result == 0 {
        return Ok(());
    }
    // SAFETY: as the caller says. What it gives is null, or a C string until the next call.
    let line = unsafe {
        let line = ((*stream).get_last_error)(stream);
        if line.is_null() { c"" } else { CStr::from_ptr(line) }
    };
    let line = line.to_string_lossy();
    let line = format!("expected an Arrow array, found error {result} of its stream: {line}");
    Err(PyValueError::new_err(line))
}

fn released() -> PyErr {
    PyValueError::new_err("expected an Arrow array, found a released one")
}
