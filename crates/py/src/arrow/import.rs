//! Imports arrays through Arrow's C data interface
//! (<https://arrow.apache.org/docs/format/CDataInterface.html>). The crate arrow-data defines the
//! structs and validates the result. `from_ffi` of arrow-array is not used: it reads offsets,
//! buffer counts and lengths before it checks them, and aborts if it runs out of memory for a copy.

use std::ptr::NonNull;
use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::error::invalid;
use crate::memory::{collected, reserved};

/// The data type of an array of binary or string values. Strings are read as bytes, since their
/// layout is the same: the message is the UTF-8 encoding, which need not be valid.
pub fn data_type(schema: &FFI_ArrowSchema) -> PyResult<DataType> {
    let Some(values) = schema.dictionary() else {
        return bytes_type(schema.format());
    };
    let key = match schema.format() {
        "c" => DataType::Int8,
        "C" => DataType::UInt8,
        "s" => DataType::Int16,
        "S" => DataType::UInt16,
        "i" => DataType::Int32,
        "I" => DataType::UInt32,
        "l" => DataType::Int64,
        "L" => DataType::UInt64,
        format => return Err(other(format)),
    };
    if values.dictionary().is_some() {
        return Err(invalid("the values of a dictionary are a dictionary"));
    }
    Ok(DataType::Dictionary(Box::new(key), Box::new(bytes_type(values.format())?)))
}

/// The binary type that a format string names.
fn bytes_type(format: &str) -> PyResult<DataType> {
    let fixed = |width: &str| width.parse().ok().filter(|width: &i32| *width >= 0);
    Ok(match format {
        "z" | "u" => DataType::Binary,
        "Z" | "U" => DataType::LargeBinary,
        "vz" | "vu" => DataType::BinaryView,
        _ => match format.strip_prefix("w:").and_then(fixed) {
            Some(width) => DataType::FixedSizeBinary(width),
            None => return Err(other(format)),
        },
    })
}

fn other(format: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "expected an Arrow array of binary or string values, found format {format:?}"
    ))
}

/// The array in a struct, checked as far as the interface allows.
///
/// # Safety
///
/// The struct must follow the specification for this type: its pointers are valid, and its buffers
/// are as long as its length and offset require, or its last offset for variable-length values.
pub unsafe fn array(data_type: &DataType, array: FFI_ArrowArray) -> PyResult<ArrayData> {
    let array = Arc::new(array);
    // SAFETY: the caller guarantees it.
    unsafe { Exported::new(&array, &array) }?.data(data_type)
}

/// An array in a struct, and the struct that owns its memory. They are the same, except for the
/// values of a dictionary.
struct Exported<'a> {
    array: &'a FFI_ArrowArray,
    owner: &'a Arc<FFI_ArrowArray>,
    /// Number of values in the buffers, including those before the array's offset.
    end: usize,
}

impl<'a> Exported<'a> {
    /// # Safety
    ///
    /// As [`array`].
    unsafe fn new(
        array: &'a FFI_ArrowArray,
        owner: &'a Arc<FFI_ArrowArray>,
    ) -> PyResult<Exported<'a>> {
        // The struct's fields are signed, so negative ones appear here as huge.
        let numbers = [array.len(), array.offset(), array.num_buffers()];
        if numbers.iter().any(|number| isize::try_from(*number).is_err()) {
            return Err(invalid("a length, an offset or a number of buffers is negative"));
        }
        Ok(Exported { array, owner, end: array.len() + array.offset() })
    }

    fn data(&self, data_type: &DataType) -> PyResult<ArrayData> {
        if self.array.is_empty() {
            // An empty array may have no buffers.
            return Ok(ArrayData::new_empty(data_type));
        }
        let count = self.array.num_buffers();
        let (expected, children) = match data_type {
            DataType::Dictionary(_, values) => {
                let Some(array) = self.array.dictionary() else {
                    return Err(invalid("the dictionary is missing"));
                };
                // SAFETY: `new` requires this type, so the dictionary has that of the values.
                (2, vec![unsafe { Exported::new(array, self.owner) }?.data(values)?])
            }
            _ if self.array.dictionary().is_some() => {
                return Err(invalid("it has a dictionary, contrary to its type"));
            }
            DataType::FixedSizeBinary(_) => (2, vec![]),
            DataType::BinaryView => (count.max(3), vec![]),
            _ => (3, vec![]),
        };
        if count != expected {
            return Err(invalid(format!("expected {expected} buffers, found {count}")));
        }
        let buffers = match data_type {
            DataType::Binary => self.variable::<i32>()?,
            DataType::LargeBinary => self.variable::<i64>()?,
            DataType::BinaryView => self.views()?,
            DataType::FixedSizeBinary(width) => vec![self.buffer(1, self.end, *width as usize)?],
            DataType::Dictionary(numbers, _) => {
                let width = numbers.primitive_width().expect("integers");
                vec![self.numbers(1, self.end, width)?]
            }
            other => unreachable!("{other}"),
        };
        let nulls = match self.array.null_count() {
            0 => None,
            _ if self.array.buffer(0).is_null() => None,
            _ => Some(self.buffer(0, self.end.div_ceil(8), 1)?),
        };
        let data = ArrayData::builder(data_type.clone())
            .len(self.array.len())
            .offset(self.array.offset())
            .null_bit_buffer(nulls)
            .buffers(buffers)
            .child_data(children);
        // `build` validates each offset, view and dictionary index.
        data.build().map_err(|error| match error {
            ArrowError::InvalidArgumentError(line) => invalid(line),
            error => invalid(error),
        })
    }

    /// The offsets of variable-length values, and the values.
    fn variable<T: ArrowNativeType>(&self) -> PyResult<Vec<Buffer>> {
        let offsets = self.numbers(1, self.end + 1, size_of::<T>())?;
        let last = offsets.typed_data::<T>()[self.end].to_usize();
        let last = last.ok_or_else(|| invalid("the last offset is negative"))?;
        Ok(vec![offsets, self.buffer(2, last, 1)?])
    }

    /// The views and their data buffers.
    fn views(&self) -> PyResult<Vec<Buffer>> {
        let last = self.array.num_buffers() - 1;
        let lengths = self.numbers(last, last - 2, size_of::<i64>())?;
        let mut buffers = reserved(last - 1)?;
        buffers.push(self.numbers(1, self.end, size_of::<u128>())?);
        for (i, length) in (2..last).zip(lengths.typed_data::<i64>()) {
            let length =
                length.to_usize().ok_or_else(|| invalid("a buffer's length is negative"))?;
            buffers.push(self.buffer(i, length, 1)?);
        }
        Ok(buffers)
    }

    /// A buffer of `count` numbers of `width` bytes. Arrow only recommends alignment, so an
    /// unaligned buffer is copied.
    fn numbers(&self, index: usize, count: usize, width: usize) -> PyResult<Buffer> {
        let buffer = self.buffer(index, count, width)?;
        if buffer.as_ptr().align_offset(width) == 0 {
            return Ok(buffer);
        }
        let words: Vec<u128> = collected(buffer.chunks(16).map(|chunk| {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            u128::from_ne_bytes(word)
        }))?;
        Ok(Buffer::from_vec(words).slice_with_length(0, buffer.len()))
    }

    /// A buffer of `count` values of `width` bytes.
    fn buffer(&self, index: usize, count: usize, width: usize) -> PyResult<Buffer> {
        let bytes = count.checked_mul(width).filter(|bytes| isize::try_from(*bytes).is_ok());
        let start = NonNull::new(self.array.buffer(index).cast_mut());
        match (bytes, start) {
            (Some(0), _) => Ok(Buffer::default()),
            (Some(bytes), Some(start)) => {
                let owner = Arc::clone(self.owner);
                // SAFETY: `new` requires buffers of the lengths that follow from the array's
                // fields. The owner is released when the last buffer is dropped.
                Ok(unsafe { Buffer::from_custom_allocation(start, bytes, owner) })
            }
            (Some(_), None) => Err(invalid(format!("buffer {index} is missing"))),
            (None, _) => Err(invalid("the length exceeds the address space")),
        }
    }
}
