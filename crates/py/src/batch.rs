//! What holds many messages: sequences of buffers, arrays of Arrow, rows of two-dimensional arrays.
//! None is copied.
//!
//! The C data interface of Arrow is two structs, which stand here as its specification has them
//! (<https://arrow.apache.org/docs/format/CDataInterface.html>), so that no Arrow library is
//! needed. The array is read in place, while its capsule lives.

use std::ffi::{CStr, c_char, c_void};
use std::slice;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::buffer::View;

/// Something that holds messages.
pub enum Batch<'py> {
    Items(Vec<Item<'py>>),
    Rows(View),
    Arrow(Arrow<'py>),
}

/// A message by itself.
pub enum Item<'py> {
    Fixed(Bound<'py, PyBytes>),
    View(View),
}

impl<'py> Batch<'py> {
    /// What an object holds; `what` is a word for one.
    pub fn of(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Batch<'py>> {
        if let Some(export) = object.getattr_opt("__arrow_c_array__")? {
            return Ok(Batch::Arrow(Arrow::of(&export)?));
        }
        // SAFETY: the object is alive, and the call only looks at its type.
        if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 1 {
            let view = View::of(object)?;
            return match view.shape() {
                [_, _] => Ok(Batch::Rows(view)),
                other => Err(PyTypeError::new_err(format!(
                    "expected {what}s, or an array of 2 dimensions with one in each row, \
                     found one of {}",
                    other.len()
                ))),
            };
        }
        let items = object.try_iter()?.enumerate().map(|(i, item)| {
            let item = match item?.cast_into::<PyBytes>() {
                Ok(fixed) => return Ok(Item::Fixed(fixed)),
                Err(error) => error.into_inner(),
            };
            View::of(&item).map(Item::View).map_err(|error| {
                let line = format!("{what} {i}: {}", error.value(item.py()));
                PyErr::from_type(error.get_type(item.py()), line)
            })
        });
        Ok(Batch::Items(items.collect::<PyResult<_>>()?))
    }

    /// The messages.
    pub fn slices(&self) -> PyResult<Vec<&[u8]>> {
        match self {
            Batch::Items(items) => Ok(items.iter().map(Item::bytes).collect()),
            Batch::Rows(view) => {
                let [rows, _] = *view.shape() else { unreachable!("two dimensions") };
                let bytes = view.bytes();
                if bytes.is_empty() {
                    return Ok(vec![&[]; rows]);
                }
                Ok(bytes.chunks_exact(bytes.len() / rows).collect())
            }
            Batch::Arrow(arrow) => arrow.slices(),
        }
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

/// An array of Arrow, in its producer's capsules. They release it.
pub struct Arrow<'py> {
    schema: Bound<'py, PyCapsule>,
    array: Bound<'py, PyCapsule>,
}

/// `ArrowSchema` of the specification, to the last field that is read here.
#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *const c_void,
    dictionary: *const c_void,
    release: *const c_void,
}

/// `ArrowArray` of the specification, likewise.
#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const u8,
    children: *const c_void,
    dictionary: *const c_void,
    release: *const c_void,
}

impl<'py> Arrow<'py> {
    fn of(export: &Bound<'py, PyAny>) -> PyResult<Arrow<'py>> {
        let (schema, array) = export.call0()?.extract()?;
        Ok(Arrow { schema, array })
    }

    /// The values of a binary or string array.
    fn slices(&self) -> PyResult<Vec<&[u8]>> {
        let schema = self.schema.pointer_checked(Some(c"arrow_schema"))?.cast::<ArrowSchema>();
        let array = self.array.pointer_checked(Some(c"arrow_array"))?.cast::<ArrowArray>();
        // SAFETY: a capsule of that name points to that struct, and lives as long as `self`.
        let (schema, array) = unsafe { (schema.as_ref(), array.as_ref()) };
        if schema.release.is_null() || array.release.is_null() {
            return Err(PyValueError::new_err("expected an Arrow array, found a released one"));
        }
        // SAFETY: the specification has a C string here, which lives as long as the schema.
        let format = unsafe { CStr::from_ptr(schema.format) }.to_bytes();
        let kind = match format {
            _ if !schema.dictionary.is_null() => None,
            b"z" | b"u" => Some(Kind::Offsets32),
            b"Z" | b"U" => Some(Kind::Offsets64),
            [b'w', b':', width @ ..] => {
                let width = str::from_utf8(width).ok().and_then(|width| width.parse().ok());
                width.map(Kind::Width)
            }
            _ => None,
        };
        let Some(kind) = kind else {
            let found = String::from_utf8_lossy(format);
            return Err(PyTypeError::new_err(format!(
                "expected an Arrow array of binary or string values, found the format {found:?}"
            )));
        };
        let expected = if matches!(kind, Kind::Width(_)) { 2 } else { 3 };
        let fits = |length: i64| usize::try_from(length).ok();
        let (Some(length), Some(start)) = (fits(array.length), fits(array.offset)) else {
            return Err(broken("a length below 0"));
        };
        if array.n_buffers != expected {
            return Err(broken("another number of buffers"));
        }
        if length == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: there are that many pointers, and the bit map, if there is one, has a bit for
        // each of the `start + length` values.
        let null = unsafe { first_null(*array.buffers, array.null_count, start, length) };
        if let Some(row) = null {
            let line = format!("message {row}: expected a value, found a null");
            return Err(PyValueError::new_err(line));
        }
        // SAFETY: there are that many pointers.
        let buffers = unsafe { slice::from_raw_parts(array.buffers, expected as usize) };
        // SAFETY: the specification promises `start + length` values of `width` bytes, or one
        // offset more than that and as many bytes as the last one says. They lie still until the
        // array is released, which is when the capsule goes.
        unsafe {
            match kind {
                Kind::Width(width) => rows(buffers[1], width, start, length),
                Kind::Offsets32 => values::<i32>(buffers[1].cast(), buffers[2], start, length),
                Kind::Offsets64 => values::<i64>(buffers[1].cast(), buffers[2], start, length),
            }
        }
    }
}

/// Where the values of an array are.
enum Kind {
    Offsets32,
    Offsets64,
    /// All have that many bytes.
    Width(usize),
}

/// The number of the first null among `length` values from `start` on.
///
/// # Safety
///
/// `valid` is null or points to a bit for each value.
unsafe fn first_null(valid: *const u8, nulls: i64, start: usize, length: usize) -> Option<usize> {
    if nulls == 0 || valid.is_null() {
        return None;
    }
    // SAFETY: as the caller says.
    let bit = |i: usize| unsafe { *valid.add(i / 8) } >> (i % 8) & 1;
    (0..length).find(|row| bit(start + row) == 0)
}

/// Values of one length.
///
/// # Safety
///
/// `data` points to `start + length` values of `width` bytes that outlive `'a`.
unsafe fn rows<'a>(
    data: *const u8,
    width: usize,
    start: usize,
    length: usize,
) -> PyResult<Vec<&'a [u8]>> {
    // SAFETY: as the caller says.
    let row = |i: usize| unsafe { slice::from_raw_parts(data.add(i * width), width) };
    match width {
        0 => Ok(vec![&[]; length]),
        _ => Ok((start..start + length).map(row).collect()),
    }
}

/// Values between offsets.
///
/// # Safety
///
/// `offsets` points to `start + length + 1` offsets, and `data` to as many bytes as the last one
/// says, that outlive `'a`.
unsafe fn values<'a, T: Copy + TryInto<usize>>(
    offsets: *const T,
    data: *const u8,
    start: usize,
    length: usize,
) -> PyResult<Vec<&'a [u8]>> {
    // SAFETY: as the caller says.
    let offsets = unsafe { slice::from_raw_parts(offsets.add(start), length + 1) };
    let value = |ends: &[T]| {
        let (Ok(from), Ok(to)) = (ends[0].try_into(), ends[1].try_into()) else {
            return Err(broken("an offset below 0"));
        };
        match to.checked_sub(from) {
            // There may be no data at all.
            Some(0) => Ok(&[][..]),
            // SAFETY: as the caller says, since no offset is over the last one.
            Some(len) => Ok(unsafe { slice::from_raw_parts(data.add(from), len) }),
            None => Err(broken("offsets that go down")),
        }
    };
    offsets.windows(2).map(value).collect()
}

fn broken(found: &str) -> PyErr {
    PyValueError::new_err(format!("expected an array as Arrow specifies, found {found}"))
}
