//! Allocations of a size that the caller controls, by a length or by an iterator. They raise
//! `MemoryError` if they fail; Rust's own collections would abort the process.

use std::collections::TryReserveError;
use std::ptr::NonNull;

use pyo3::ffi;
use pyo3::prelude::*;

/// The `MemoryError` for a failed allocation. Python has one ready, since creating one needs
/// memory.
#[cold]
pub fn none_left(_: TryReserveError) -> PyErr {
    Python::attach(|py| {
        // SAFETY: this thread is attached. The call sets the exception and always returns null.
        unsafe { ffi::PyErr_NoMemory() };
        PyErr::fetch(py)
    })
}

/// An empty vector with capacity for `count` items.
pub fn reserved<T>(count: usize) -> PyResult<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(none_left)?;
    Ok(items)
}

/// A copy of a slice.
pub fn copied<T: Copy>(from: &[T]) -> PyResult<Vec<T>> {
    let mut items = reserved(from.len())?;
    items.extend_from_slice(from);
    Ok(items)
}

/// Collects an iterator of known length.
pub fn collected<T>(from: impl ExactSizeIterator<Item = T>) -> PyResult<Vec<T>> {
    let mut items = reserved(from.len())?;
    items.extend(from);
    Ok(items)
}

/// Moves a value to the heap, as `Box::into_raw` does.
pub fn boxed<T>(value: T) -> PyResult<NonNull<T>> {
    let mut one = reserved(1)?;
    one.push(value);
    // A slice of one item has the layout of the item.
    Ok(NonNull::from(Box::leak(one.into_boxed_slice())).cast())
}

/// Appends an item.
pub fn push<T>(items: &mut Vec<T>, item: T) -> PyResult<()> {
    items.try_reserve(1).map_err(none_left)?;
    items.push(item);
    Ok(())
}

/// Collects a Python iterable. Its length is not used: `range(2**40)` has a length and no items in
/// memory.
pub fn extracted<T>(object: &Bound<'_, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let mut items = Vec::new();
    for item in object.try_iter()? {
        push(&mut items, item?.extract().map_err(Into::into)?)?;
    }
    Ok(items)
}
