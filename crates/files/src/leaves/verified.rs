//! A file whose bytes are verified before they are released.

use std::fs::File;
use std::io;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::faults;
use crate::leaves::content::SealedContent;
use crate::read_error::ReadError;

/// A sealed file. Whatever it returns was sealed at that place of that file.
pub struct VerifiedFile {
    content: SealedContent,
    file: File,
    path: PathBuf,
}

/// A leaf that was verified.
#[derive(Default)]
pub struct Leaf {
    /// The offset of its first byte in the file.
    start: u64,
    bytes: Vec<u8>,
}

impl Leaf {
    /// Returns whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes of the leaf from an offset in the file on; none if it is in another leaf.
    pub fn from(&self, offset: u64) -> &[u8] {
        let skipped = offset.checked_sub(self.start).and_then(|skipped| skipped.try_into().ok());
        skipped.and_then(|skipped: usize| self.bytes.get(skipped..)).unwrap_or_default()
    }
}

impl VerifiedFile {
    pub(crate) fn new(content: SealedContent, file: File, path: PathBuf) -> VerifiedFile {
        VerifiedFile { content, file, path }
    }

    /// Returns the sealed content.
    pub fn content(&self) -> &SealedContent {
        &self.content
    }

    /// Fails if the file has another size than the sealed one.
    pub(crate) fn has_its_size(&self) -> Result<(), Error> {
        let found = self.file.metadata().map_err(|error| Error::file(&self.path, error))?.len();
        self.content.has_size(found)
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the leaf with the byte at `offset`, and verifies it. On an error `leaf` is empty.
    pub fn read(&self, offset: u64, leaf: &mut Leaf) -> Result<(), Error> {
        let start = self.content.start_of(offset);
        match self.read_from(&self.file, &self.path, start, leaf)? {
            true => Ok(()),
            false => Err(self.content.differs(self.content.range(start))),
        }
    }

    /// Reads the leaf that begins at `start` from a copy of the file. Returns whether it is the
    /// sealed one; otherwise `leaf` is empty.
    pub(crate) fn read_from(
        &self,
        file: &File,
        path: &Path,
        start: u64,
        leaf: &mut Leaf,
    ) -> Result<bool, Error> {
        let range = self.content.range(start);
        let bytes = (range.end - range.start) as usize;
        let mut buffer = mem::take(&mut leaf.bytes);
        if buffer.try_reserve(bytes.saturating_sub(buffer.len())).is_err() {
            let error = io::Error::from(io::ErrorKind::OutOfMemory);
            return Err(Error::file(path, ReadError::Io(error)));
        }
        buffer.resize(bytes, 0);
        let is_sealed = self.fill(file, path, start, &mut buffer)?;
        if is_sealed {
            *leaf = Leaf { start, bytes: buffer };
        }
        Ok(is_sealed)
    }

    /// Reads the leaf that begins at `start` into a buffer of its length. Returns whether it is the
    /// sealed one.
    fn fill(&self, file: &File, path: &Path, start: u64, leaf: &mut [u8]) -> Result<bool, Error> {
        match faults::read_exact_at(file, leaf, start) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            read => read.map_err(|error| Error::file(path, error))?,
        }
        self.content.is_sealed(start, leaf)
    }

    /// Reads up to `out.len()` bytes at an offset. Returns their number: 0 at the end only. Reads the
    /// file only if `leaf` does not have them. On an error `out` has no byte of the leaf.
    pub fn read_at(&self, out: &mut [u8], offset: u64, leaf: &mut Leaf) -> Result<usize, Error> {
        let Some(range) = self.range_at(offset).filter(|_| !out.is_empty()) else { return Ok(0) };
        if leaf.from(offset).is_empty() {
            if let Some(out) = whole(out, offset, &range) {
                // Nobody else can read `out` before this returns.
                let read = self.fill(&self.file, &self.path, range.start, out);
                if !matches!(read, Ok(true)) {
                    out.fill(0);
                    read?;
                    return Err(self.content.differs(range));
                }
                return Ok(out.len());
            }
            self.read(offset, leaf)?;
        }
        let bytes = leaf.from(offset);
        let count = bytes.len().min(out.len());
        out[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    /// Reads as [`read_at`](VerifiedFile::read_at), into memory that has no bytes yet.
    pub fn read_new_at(
        &self,
        out: &mut [MaybeUninit<u8>],
        offset: u64,
        leaf: &mut Leaf,
    ) -> Result<usize, Error> {
        let Some(range) = self.range_at(offset).filter(|_| !out.is_empty()) else { return Ok(0) };
        if leaf.from(offset).is_empty() {
            if let Some(out) = whole(out, offset, &range) {
                let read = faults::read_new_at(&self.file, out, offset);
                if let Some(bytes) = read.map_err(|error| Error::file(&self.path, error))? {
                    let is_sealed = self.content.is_sealed(offset, bytes);
                    if !matches!(is_sealed, Ok(true)) {
                        bytes.fill(0);
                        is_sealed?;
                        return Err(self.content.differs(range));
                    }
                    return Ok(bytes.len());
                }
            }
            self.read(offset, leaf)?;
        }
        let bytes = leaf.from(offset);
        for (to, from) in out.iter_mut().zip(bytes) {
            to.write(*from);
        }
        Ok(bytes.len().min(out.len()))
    }

    /// Returns the range of the leaf with the byte at an offset.
    fn range_at(&self, offset: u64) -> Option<Range<u64>> {
        let content = &self.content;
        (offset < content.size()).then(|| content.range(content.start_of(offset)))
    }
}

/// Returns the start of `out`, as long as a leaf, if a read at `offset` wants the whole leaf.
fn whole<'o, T>(out: &'o mut [T], offset: u64, leaf: &Range<u64>) -> Option<&'o mut [T]> {
    out.get_mut(..(leaf.end - leaf.start) as usize).filter(|_| offset == leaf.start)
}
