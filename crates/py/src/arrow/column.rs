//! The values of an array, where its buffers have them.

use std::ffi::CStr;
use std::slice;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::interface::{ArrowArray, ArrowSchema};
use crate::memory::reserved;

/// How the values of an array are laid out.
enum Layout<'a> {
    /// Ends of values in one buffer, as numbers of 32 bits.
    Offsets32,
    /// The same of 64 bits.
    Offsets64,
    /// All have that many bytes.
    Width(usize),
    /// Short values in place, others in one of several buffers.
    Views,
    /// Numbers of values in another array, and the format of a number.
    Dictionary(u8, Box<Column<'a>>),
}

/// An array whose buffers are counted, with how it is laid out.
pub struct Column<'a> {
    layout: Layout<'a>,
    buffers: &'a [*const u8],
    /// A bit for each value, or null where all are there.
    valid: *const u8,
    start: usize,
    length: usize,
}

impl<'a> Column<'a> {
    /// The column of an array.
    ///
    /// # Safety
    ///
    /// The structs are as the specification has them, and are not released while `'a` lasts.
    pub unsafe fn of(schema: &'a ArrowSchema, array: &'a ArrowArray) -> PyResult<Column<'a>> {
        // SAFETY: as the caller says.
        let format = unsafe { format_of(schema) };
        // SAFETY: both are null or point to the structs of another array, which lives as long.
        let dictionary = unsafe { (schema.dictionary.as_ref(), array.dictionary.as_ref()) };
        let layout = match dictionary {
            // SAFETY: as the caller says.
            (Some(schema), Some(array)) => unsafe { dictionary_of(format, schema, array) }?,
            (None, None) => plain(format),
            _ => return Err(broken("a dictionary of the array or of its type alone")),
        };
        let layout = layout.ok_or_else(|| other(format))?;
        let fits = |length: i64| usize::try_from(length).ok();
        let (Some(length), Some(start)) = (fits(array.length), fits(array.offset)) else {
            return Err(broken("a length below 0"));
        };
        let right = match layout {
            Layout::Width(_) | Layout::Dictionary(..) => array.n_buffers == 2,
            Layout::Offsets32 | Layout::Offsets64 => array.n_buffers == 3,
            Layout::Views => array.n_buffers >= 3,
        };
        if !right {
            return Err(broken("another number of buffers"));
        }
        if start.checked_add(length).is_none() {
            return Err(broken("a length over the machine's"));
        }
        if length == 0 {
            // An empty array may have no buffers at all.
            return Ok(Column { layout, buffers: &[], valid: std::ptr::null(), start, length });
        }
        // SAFETY: there are that many pointers, and at least two.
        let buffers = unsafe { slice::from_raw_parts(array.buffers, array.n_buffers as usize) };
        let valid = if array.null_count == 0 { std::ptr::null() } else { buffers[0] };
        Ok(Column { layout, buffers, valid, start, length })
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// The values, and None for nulls.
    ///
    /// # Safety
    ///
    /// The buffers hold what the specification says, and lie still while `'a` lasts.
    pub unsafe fn values(&self) -> PyResult<Vec<Option<&'a [u8]>>> {
        let mut values = reserved(self.length)?;
        // SAFETY: as the caller says.
        unsafe {
            self.each_value(|value| {
                values.push(value);
                Ok(())
            })?;
        }
        Ok(values)
    }

    /// Calls `put` with each value, and None for a null.
    ///
    /// # Safety
    ///
    /// As for [`values`](Column::values).
    pub unsafe fn each_value(
        &self,
        put: impl FnMut(Option<&'a [u8]>) -> PyResult<()>,
    ) -> PyResult<()> {
        if self.length == 0 {
            return Ok(());
        }
        match &self.layout {
            Layout::Width(width) => {
                let data = self.buffers[1];
                // SAFETY: there are `start + length` values of that width.
                let value = |i| unsafe { bytes(data, i * width, *width) };
                self.each(put, |i| Ok(value(i)))
            }
            // SAFETY: there is one offset more than values, and as many bytes as the last says.
            Layout::Offsets32 => self.each(put, |i| unsafe { self.between::<i32>(i) }),
            // SAFETY: likewise.
            Layout::Offsets64 => self.each(put, |i| unsafe { self.between::<i64>(i) }),
            // SAFETY: there is a view for each value, and a length for each buffer they point into.
            Layout::Views => self.each(put, |i| unsafe { self.view(i) }),
            Layout::Dictionary(format, dictionary) => {
                // SAFETY: as the caller says, of the dictionary too.
                let values = unsafe { dictionary.values()? };
                self.each_or_null(put, |i| {
                    // SAFETY: there are `start + length` numbers of that format.
                    let number = unsafe { dictionary_number(self.buffers[1], i, *format) };
                    let value = number.and_then(|number| values.get(number));
                    value.copied().ok_or_else(|| broken("a number that the dictionary has not"))
                })
            }
        }
    }

    /// Calls `put` with what `value` has for each place that is no null.
    fn each(
        &self,
        put: impl FnMut(Option<&'a [u8]>) -> PyResult<()>,
        value: impl Fn(usize) -> PyResult<&'a [u8]>,
    ) -> PyResult<()> {
        self.each_or_null(put, |i| value(i).map(Some))
    }

    fn each_or_null(
        &self,
        mut put: impl FnMut(Option<&'a [u8]>) -> PyResult<()>,
        value: impl Fn(usize) -> PyResult<Option<&'a [u8]>>,
    ) -> PyResult<()> {
        let valid = self.valid;
        // SAFETY: `valid` is null or has a bit for each value.
        let null = |i: usize| !valid.is_null() && unsafe { *valid.add(i / 8) } >> (i % 8) & 1 == 0;
        (self.start..self.start + self.length)
            .try_for_each(|i| put(if null(i) { None } else { value(i)? }))
    }

    /// The value between two offsets.
    ///
    /// # Safety
    ///
    /// The buffers are those of a value's offsets and of its bytes.
    unsafe fn between<T: Copy + TryInto<usize>>(&self, i: usize) -> PyResult<&'a [u8]> {
        let offsets = self.buffers[1];
        // SAFETY: as the caller says.
        let ends = unsafe { (read::<T>(offsets, i), read::<T>(offsets, i + 1)) };
        let (Some(from), Some(to)) = ends else {
            return Err(broken("an offset below 0"));
        };
        let Some(len) = to.checked_sub(from) else {
            return Err(broken("offsets that go down"));
        };
        // SAFETY: as the caller says, since no offset is over the last one.
        Ok(unsafe { bytes(self.buffers[2], from, len) })
    }

    /// The value of a view.
    ///
    /// # Safety
    ///
    /// The buffers are one of views, those that they point into, and one of their lengths.
    unsafe fn view(&self, i: usize) -> PyResult<&'a [u8]> {
        let (lengths, data) = self.buffers[2..].split_last().expect("three buffers");
        // SAFETY: as the caller says.
        let view = unsafe { bytes(self.buffers[1], i * 16, 16) };
        // Length and, if it is over 12, four bytes, the number of a buffer, the place in it.
        // SAFETY: a view has four numbers.
        let [len, _, number, from] =
            [0, 1, 2, 3].map(|at| unsafe { read::<i32>(view.as_ptr(), at) });
        let len = match len {
            Some(len @ ..=12) => return Ok(&view[4..4 + len]),
            Some(len) => len,
            None => return Err(broken("a view with a length below 0")),
        };
        let place = number.and_then(|number| Some((number, *data.get(number)?, from?)));
        let Some((number, data, from)) = place else {
            return Err(broken("a view of no buffer"));
        };
        // SAFETY: there is a length for each buffer.
        match unsafe { read::<i64>(*lengths, number) } {
            // SAFETY: the buffer has these bytes.
            Some(end) if from + len <= end => Ok(unsafe { bytes(data, from, len) }),
            _ => Err(broken("a view over the end of its buffer")),
        }
    }
}

/// Nothing if arrays of a type hold bytes.
///
/// # Safety
///
/// The struct is as the specification has it, and is not released.
pub unsafe fn check_type(schema: &ArrowSchema) -> PyResult<()> {
    // SAFETY: as the caller says: it is null or points to the type of other values.
    let format = unsafe { format_of(schema.dictionary.as_ref().unwrap_or(schema)) };
    plain(format).map(drop).ok_or_else(|| other(format))
}

/// The format of a type.
///
/// # Safety
///
/// As [`check_type`].
unsafe fn format_of(schema: &ArrowSchema) -> &[u8] {
    // SAFETY: the specification has a C string here.
    unsafe { CStr::from_ptr(schema.format) }.to_bytes()
}

fn other(format: &[u8]) -> PyErr {
    let found = String::from_utf8_lossy(format);
    PyTypeError::new_err(format!(
        "expected an Arrow array of binary or string values, found the format {found:?}"
    ))
}

/// The layout of an array of this format, if its values are bytes.
fn plain(format: &[u8]) -> Option<Layout<'static>> {
    match format {
        b"z" | b"u" => Some(Layout::Offsets32),
        b"Z" | b"U" => Some(Layout::Offsets64),
        b"vz" | b"vu" => Some(Layout::Views),
        [b'w', b':', width @ ..] => {
            let width = str::from_utf8(width).ok().and_then(|width| width.parse().ok());
            width.map(Layout::Width)
        }
        _ => None,
    }
}

/// That of numbers in another array.
///
/// # Safety
///
/// As [`Column::of`].
unsafe fn dictionary_of<'a>(
    format: &[u8],
    schema: &'a ArrowSchema,
    array: &'a ArrowArray,
) -> PyResult<Option<Layout<'a>>> {
    let [format @ (b'c' | b'C' | b's' | b'S' | b'i' | b'I' | b'l' | b'L')] = *format else {
        return Ok(None);
    };
    if !schema.dictionary.is_null() {
        return Err(broken("a dictionary of dictionaries"));
    }
    // SAFETY: as the caller says.
    let dictionary = unsafe { Column::of(schema, array) }?;
    Ok(Some(Layout::Dictionary(format, Box::new(dictionary))))
}

/// The number of a value in the dictionary, unless it is below 0.
///
/// # Safety
///
/// The buffer has more than `i` numbers of this format.
unsafe fn dictionary_number(data: *const u8, i: usize, format: u8) -> Option<usize> {
    // SAFETY: as the caller says.
    unsafe {
        match format {
            b'c' => read::<i8>(data, i),
            b'C' => read::<u8>(data, i),
            b's' => read::<i16>(data, i),
            b'S' => read::<u16>(data, i),
            b'i' => read::<i32>(data, i),
            b'I' => read::<u32>(data, i),
            b'l' => read::<i64>(data, i),
            _ => read::<u64>(data, i),
        }
    }
}

/// A number of a buffer, unless it is below 0. It may lie anywhere: Arrow only recommends alignment.
///
/// # Safety
///
/// The buffer has more than `i` such numbers.
unsafe fn read<T: Copy + TryInto<usize>>(data: *const u8, i: usize) -> Option<usize> {
    // SAFETY: as the caller says.
    unsafe { data.cast::<T>().add(i).read_unaligned() }.try_into().ok()
}

/// Bytes of a buffer, which may be null if they are none.
///
/// # Safety
///
/// The buffer has them while `'a` lasts.
unsafe fn bytes<'a>(data: *const u8, from: usize, len: usize) -> &'a [u8] {
    match len {
        0 => &[],
        // SAFETY: as the caller says.
        _ => unsafe { slice::from_raw_parts(data.add(from), len) },
    }
}

fn broken(found: &str) -> PyErr {
    PyValueError::new_err(format!("expected an array as Arrow specifies, found {found}"))
}
