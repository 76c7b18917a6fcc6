//! Memory whose size the caller names, by a length or by the end of an iterator. Where there is none, the
//! call raises `MemoryError`; Rust's own collections would end the process.

use std::collections::TryReserveError;
use std::ptr::NonNull;

use pyo3::ffi;
use pyo3::prelude::*;

/// The exception for a size that the system does not have. Python has it ready: to make one takes memory.
#[cold]
pub fn none_left(_: TryReserveError) -> PyErr {
    Python::attach(|py| {
        // SAFETY: the interpreter is ours. The call sets the exception, and its result is always null.
        unsafe { ffi::PyErr_NoMemory() };
        PyErr::fetch(py)
    })
}

/// An empty vector with room for `count` items.
pub fn reserved<T>(count: usize) -> PyResult<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(none_left)?;
    Ok(items)
}

/// A copy of some items.
pub fn copied<T: Copy>(from: &[T]) -> PyResult<Vec<T>> {
    let mut items = reserved(from.len())?;
    items.extend_from_slice(from);
    Ok(items)
}

/// What an iterator of known length gives.
pub fn collected<T>(from: impl ExactSizeIterator<Item = T>) -> PyResult<Vec<T>> {
    let mut items = reserved(from.len())?;
    items.extend(from);
    Ok(items)
}

/// A value with an address of its own, as `Box::into_raw` gives it.
pub fn boxed<T>(value: T) -> PyResult<NonNull<T>> {
    let mut one = reserved(1)?;
    one.push(value);
    // A slice of one item lies in memory as the item does.
    Ok(NonNull::from(Box::leak(one.into_boxed_slice())).cast())
}

/// Adds an item.
pub fn push<T>(items: &mut Vec<T>, item: T) -> PyResult<()> {
    items.try_reserve(1).map_err(none_left)?;
    items.push(item);
    Ok(())
}

/// What a Python iterable gives. Its length is not believed: `range(2**40)` has none of its items yet.
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
