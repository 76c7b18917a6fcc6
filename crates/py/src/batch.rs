//! Containers of many messages: sequences of buffers, Arrow arrays, and two-dimensional arrays with
//! a message in each row. Nothing is copied.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::arrow::Arrow;
use crate::buffer::{View, no_bytes};
use crate::memory::{collected, push, reserved};

/// A container of messages, or of nonces, tags or partials.
pub struct Batch<'py> {
    /// Names one item in errors.
    what: &'static str,
    held: Held<'py>,
}

enum Held<'py> {
    Items(Vec<Item<'py>>),
    Rows(View),
    Arrow(Arrow),
}

/// A single item.
enum Item<'py> {
    Fixed(Bound<'py, PyBytes>),
    View(View),
}

impl<'py> Batch<'py> {
    /// The contents of `object`. `what` names one item in errors.
    pub fn of(object: &Bound<'py, PyAny>, what: &'static str) -> PyResult<Batch<'py>> {
        Ok(Batch { what, held: Held::of(object, what)? })
    }

    /// The items' bytes.
    pub fn slices(&self) -> PyResult<Vec<&[u8]>> {
        match &self.held {
            Held::Items(items) => collected(items.iter().map(Item::bytes)),
            Held::Rows(view) => {
                let [rows, _] = *view.shape() else { unreachable!("two dimensions") };
                let bytes = view.bytes();
                if bytes.is_empty() {
                    let mut empty = reserved(rows)?;
                    empty.resize(rows, &[][..]);
                    return Ok(empty);
                }
                collected(bytes.chunks_exact(bytes.len() / rows))
            }
            Held::Arrow(arrow) => arrow.slices(self.what),
        }
    }
}

impl<'py> Held<'py> {
    fn of(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Held<'py>> {
        if let Some(arrow) = Arrow::of(object)? {
            return Ok(Held::Arrow(arrow));
        }
        // SAFETY: the object is alive, and the call only looks at its type.
        if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 1 {
            let view = View::of(object)?;
            return match view.shape() {
                [_, _] => Ok(Held::Rows(view)),
                other => Err(PyTypeError::new_err(format!(
                    "the array has {} dimensions: pass a sequence of {what}s, or an array of 2 \
                     dimensions with a {what} in each row",
                    other.len()
                ))),
            };
        }
        // Iterating over a str would yield its letters, and nothing for an empty one.
        if object.is_instance_of::<PyString>() {
            return Err(no_bytes(object));
        }
        let item_of = |i: usize, item: Bound<'py, PyAny>| {
            let item = match item.cast_into::<PyBytes>() {
                Ok(fixed) => return Ok(Item::Fixed(fixed)),
                Err(error) => error.into_inner(),
            };
            View::of(&item).map(Item::View).map_err(|error| {
                let line = format!("{what} {i}: {}", error.value(item.py()));
                PyErr::from_type(error.get_type(item.py()), line)
            })
        };
        let mut items = Vec::new();
        for (i, item) in object.try_iter()?.enumerate() {
            push(&mut items, item_of(i, item?)?)?;
        }
        Ok(Held::Items(items))
    }
}

impl Item<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Item::Fixed(fixed) => fixed.as_bytes(),
            Item::View(view) => view.bytes(),
        }
    }
}
