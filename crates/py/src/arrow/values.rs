//! Slices of an array's buffers, one for each value.

use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_data::{ArrayData, ByteView, MAX_INLINE_VIEW_LEN};
use arrow_schema::DataType;
use pyo3::prelude::*;

use super::error::invalid;
use crate::memory::reserved;

/// Calls `put` with each value of a valid array, and with `None` for a null. Returns an error if
/// another thread changes the array meanwhile so that a value is outside its buffer.
pub fn each<'a>(
    array: &'a ArrayData,
    put: impl FnMut(Option<&'a [u8]>) -> PyResult<()>,
) -> PyResult<()> {
    let DataType::Dictionary(numbers, _) = array.data_type() else {
        return each_plain(array, put);
    };
    let number = match **numbers {
        DataType::Int8 => number::<i8>,
        DataType::UInt8 => number::<u8>,
        DataType::Int16 => number::<i16>,
        DataType::UInt16 => number::<u16>,
        DataType::Int32 => number::<i32>,
        DataType::UInt32 => number::<u32>,
        DataType::Int64 => number::<i64>,
        _ => number::<u64>,
    };
    let (buffers, values) = (array.buffers(), &array.child_data()[0]);
    let mut dictionary = reserved(values.len())?;
    each_plain(values, |value| {
        dictionary.push(value);
        Ok(())
    })?;
    each_or_null(array, put, |i| dictionary.get(number(&buffers[0], i)?).copied())
}

/// `each` for an array without a dictionary.
fn each_plain<'a>(
    array: &'a ArrayData,
    put: impl FnMut(Option<&'a [u8]>) -> PyResult<()>,
) -> PyResult<()> {
    let buffers = array.buffers();
    match array.data_type() {
        DataType::Binary => each_index(array, put, |i| between::<i32>(buffers, i)),
        DataType::LargeBinary => each_index(array, put, |i| between::<i64>(buffers, i)),
        DataType::BinaryView => each_index(array, put, |i| viewed(buffers, i)),
        DataType::FixedSizeBinary(width) => {
            let width = *width as usize;
            each_index(array, put, |i| bytes(&buffers[0], i * width, width))
        }
        other => unreachable!("{other}"),
    }
}

/// Calls `put` with the bytes that `value` returns for each index into the buffers.
fn each_index<'a>(
    array: &'a ArrayData,
    put: impl FnMut(Option<&'a [u8]>) -> PyResult<()>,
    value: impl Fn(usize) -> Option<&'a [u8]>,
) -> PyResult<()> {
    each_or_null(array, put, |i| value(i).map(Some))
}

fn each_or_null<'a>(
    array: &'a ArrayData,
    mut put: impl FnMut(Option<&'a [u8]>) -> PyResult<()>,
    value: impl Fn(usize) -> Option<Option<&'a [u8]>>,
) -> PyResult<()> {
    (0..array.len()).try_for_each(|i| match array.is_null(i) {
        true => put(None),
        false => {
            let value = value(array.offset() + i);
            put(value.ok_or_else(|| invalid("it changed while it was read"))?)
        }
    })
}

/// The bytes between two offsets.
fn between<T: ArrowNativeType>(buffers: &[Buffer], i: usize) -> Option<&[u8]> {
    let offsets = buffers[0].typed_data::<T>();
    let (start, end) = (offsets[i].to_usize()?, offsets[i + 1].to_usize()?);
    buffers[1].get(start..end)
}

/// The bytes of a view. The view itself contains short values.
fn viewed(buffers: &[Buffer], i: usize) -> Option<&[u8]> {
    let view = ByteView::from(buffers[0].typed_data::<u128>()[i]);
    let (len, from) = (view.length as usize, view.offset as usize);
    match view.length {
        ..=MAX_INLINE_VIEW_LEN => bytes(&buffers[0], 16 * i + 4, len),
        _ => bytes(buffers[1..].get(view.buffer_index as usize)?, from, len),
    }
}

/// An index into the dictionary.
fn number<T: ArrowNativeType>(numbers: &Buffer, i: usize) -> Option<usize> {
    numbers.typed_data::<T>()[i].to_usize()
}

fn bytes(buffer: &Buffer, from: usize, len: usize) -> Option<&[u8]> {
    buffer.get(from..)?.get(..len)
}
