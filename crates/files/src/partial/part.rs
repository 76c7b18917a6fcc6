//! Hashes a range of a file to a partial.

use std::fs::File;
use std::path::Path;

use tagmac_any::Partial;

use super::error::{Edge, RangeError};
use super::name::check_object;
use crate::error::Error;
use crate::open;
use crate::open_key::OpenKey;
use crate::progress::{Progress, Total};
use crate::read::{self, FileReader, Span};
use crate::read_error::ReadError;
use crate::sys::Metadata;

/// A range of an object.
#[derive(Clone, Copy, Debug)]
pub struct PartRange<'a> {
    /// The object's name, which all its partials share.
    pub object: &'a [u8],
    /// The file that contains the range.
    pub file: &'a Path,
    /// The range's offset in the object, a multiple of the block.
    pub start: u64,
    /// The range's offset in the file; `None` if it is the same.
    pub at: Option<u64>,
    /// The length in bytes, a multiple of the block unless the range is the last. `None` for a last
    /// range that extends to the end of the file.
    pub length: Option<u64>,
    /// True if the object ends with this range, and so does the file.
    pub last: bool,
}

/// A range of an open file.
pub struct Ranged<'a> {
    range: PartRange<'a>,
    key: &'a OpenKey,
    file: File,
    before: Metadata,
    span: Span,
}

impl<'a> Ranged<'a> {
    /// Opens the file and checks the range.
    pub fn open(key: &'a OpenKey, range: PartRange<'a>) -> Result<Ranged<'a>, Error> {
        check_object(range.object)?;
        let block = key.parts()?.block() as u64;
        aligned(key, Edge::Start, block, range.start)?;
        let length = range.inner_length(key, block)?;
        let (file, before) = open::regular(range.file).map_err(|error| range.failed(error))?;
        let span = range.span(length, before.len())?;
        Ok(Ranged { range, key, file, before, span })
    }

    /// Returns the number of bytes to read.
    pub fn total(&self) -> Total {
        Total::one(Some(self.span.bytes))
    }

    /// Returns the sealed partial, computed by `threads` threads; 0 means one per core.
    pub fn partial(self, threads: usize, progress: &dyn Progress) -> Result<Vec<u8>, Error> {
        let Ranged { range, key, file, before, span } = self;
        let mut reader = FileReader::new(&key.mac, threads, progress);
        let made = reader.part(&file, &before, span, range.last);
        let (part, rest) = made.map_err(|error| range.failed(error))?;
        read::in_place(range.file, &file).map_err(|error| range.failed(error))?;
        progress.file();
        let rest = range.last.then_some(rest);
        let sealed = Partial::seal(&key.mac, &key.sealer, range.object, &part, rest);
        Ok(sealed.map_err(RangeError::Seal)?)
    }
}

impl PartRange<'_> {
    /// Returns the length of a range that is not the last, or `None` for the last.
    pub fn inner_length(&self, key: &OpenKey, block: u64) -> Result<Option<u64>, RangeError> {
        if self.last {
            return Ok(None);
        }
        let bytes = self.length.ok_or(RangeError::NoLength)?;
        aligned(key, Edge::Length, block, bytes)?;
        some(bytes)?;
        Ok(Some(bytes))
    }

    /// Returns the range and its position in a file of `found` bytes.
    pub fn span(&self, length: Option<u64>, found: u64) -> Result<Span, RangeError> {
        let (start, at) = (self.start, self.at.unwrap_or(self.start));
        if let Some(bytes) = length {
            return Ok(Span { start, at, bytes });
        }
        let Some(left) = found.checked_sub(at) else {
            return Err(self.failed(ReadError::Short { expected: at, found }));
        };
        let bytes = self.length.unwrap_or(left);
        if bytes < left {
            return Err(RangeError::BeforeEnd { expected: found, found: at + bytes });
        }
        if start > 0 {
            some(bytes)?;
        }
        Ok(Span { start, at, bytes })
    }

    /// Returns an error of the file.
    pub fn failed(&self, error: ReadError) -> RangeError {
        RangeError::Read { file: self.file.into(), in_place: self.at.is_none(), error }
    }
}

/// Checks that a position is a multiple of the block.
pub fn aligned(key: &OpenKey, edge: Edge, block: u64, found: u64) -> Result<(), RangeError> {
    if found.is_multiple_of(block) {
        return Ok(());
    }
    Err(RangeError::Unaligned { edge, algorithm: key.mac.algorithm(), block, found })
}

fn some(bytes: u64) -> Result<(), RangeError> {
    if bytes == 0 { Err(RangeError::LengthZero) } else { Ok(()) }
}
