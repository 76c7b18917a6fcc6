//! Arrow arrays whose values are messages: binary and string values in each of their layouts, and
//! dictionaries of them; one array, or several one after the other. None is copied.

mod column;
mod interface;

use std::ffi::{CStr, c_int};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use self::column::Column;
use self::interface::{ArrowArray, ArrowArrayStream, ArrowSchema, Filled, Owned};
use crate::memory::{none_left, push};

/// Arrays of one type. They are ours: what a capsule holds, any other consumer may release.
pub struct Arrow {
    schema: Owned<ArrowSchema>,
    arrays: Vec<Owned<ArrowArray>>,
}

impl Arrow {
    /// What an object exports, if it does: one array, or else a stream of them.
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

    /// The values; `what` is a word for one.
    pub fn slices(&self, what: &str) -> PyResult<Vec<&[u8]>> {
        let mut values = Vec::new();
        for array in &self.arrays {
            append(&mut values, what, &self.schema, array)?;
        }
        Ok(values)
    }
}

/// The array of two capsules.
fn one(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<Arrow> {
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast();
    // SAFETY: a capsule of that name points to that struct.
    let taken = unsafe { Owned::taken(schema).zip(Owned::taken(array)) };
    let (schema, array) = taken.ok_or_else(released)?;
    Ok(Arrow { schema, arrays: vec![array] })
}

/// Adds the values of an array, which may be none of nulls.
fn append<'a>(
    values: &mut Vec<&'a [u8]>,
    what: &str,
    schema: &'a ArrowSchema,
    array: &'a ArrowArray,
) -> PyResult<()> {
    // SAFETY: the structs are those of one array that is not released.
    let column = unsafe { Column::of(schema, array)? };
    values.try_reserve(column.len()).map_err(none_left)?;
    let put = |value: Option<&'a [u8]>| {
        let row = values.len();
        values.push(value.ok_or_else(|| {
            PyValueError::new_err(format!("{what} {row}: expected a value, found a null"))
        })?);
        Ok(())
    };
    // SAFETY: as above.
    unsafe { column.each_value(put) }
}

/// All arrays of a stream.
fn read(stream: &Bound<'_, PyCapsule>) -> PyResult<Arrow> {
    let stream = stream.pointer_checked(Some(c"arrow_array_stream"))?.cast::<ArrowArrayStream>();
    // SAFETY: a capsule of that name points to that struct.
    let mut stream = unsafe { Owned::taken(stream) }.ok_or_else(released)?;
    let stream = stream.at();
    // SAFETY: the stream is not released, so it has its functions; so below.
    let (schema, result) = Owned::filled(|to| unsafe { ((*stream).get_schema)(stream, to) });
    // SAFETY: as above.
    unsafe { succeeded(stream, result) }?;
    if schema.is_released() {
        return Err(released());
    }
    // SAFETY: the stream has filled it in. There may be no array to see the type of.
    unsafe { column::check_type(&schema) }?;
    let mut arrays = Vec::new();
    loop {
        // SAFETY: as above.
        let (array, result) = Owned::filled(|to| unsafe { ((*stream).get_next)(stream, to) });
        // SAFETY: as above.
        unsafe { succeeded(stream, result) }?;
        if array.is_released() {
            return Ok(Arrow { schema, arrays });
        }
        push(&mut arrays, array)?;
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
