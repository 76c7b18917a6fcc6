//! A file of which every byte is verified before it is released.

use std::fmt;
use std::fs::File;
use std::io;
use std::mem;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tagmac::Tag;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::faults;
use crate::leaves::file::LeafFile;
use crate::leaves::{LeafMac, Leaves, TAG_BYTES};
use crate::manifest::entry::Content;
use crate::open_key::OpenKey;
use crate::read_error::ReadError;

/// A sealed file. Whatever it returns was sealed at that place of that file.
pub struct VerifiedFile {
    key: OpenKey,
    file: File,
    path: PathBuf,
    content: Content,
    leaves: Option<(LeafMac, LeafTags)>,
}

/// The leaf tags of one file.
pub(crate) struct LeafTags {
    pub file: LeafFile,
    /// The number of the file's first tag.
    pub first: u64,
    /// The length of a leaf in bytes.
    pub leaf: u64,
}

/// A leaf that was verified.
#[derive(Default)]
pub struct Leaf {
    /// The offset of its first byte in the file.
    start: u64,
    bytes: Vec<u8>,
}

impl Leaf {
    /// Returns the bytes of the leaf from an offset in the file on; none if it is in another leaf.
    pub fn from(&self, offset: u64) -> &[u8] {
        let skipped = offset.checked_sub(self.start).and_then(|skipped| skipped.try_into().ok());
        skipped.and_then(|skipped: usize| self.bytes.get(skipped..)).unwrap_or_default()
    }
}

impl VerifiedFile {
    pub(crate) fn new(
        (key, leaves): (OpenKey, &Leaves),
        (file, path): (File, &Path),
        content: Content,
        tags: Option<LeafTags>,
    ) -> VerifiedFile {
        let tag = content.tag.expect("a manifest has a tag of each file");
        let leaves = tags.map(|tags| (LeafMac::new(leaves, &tag, content.size, tags.leaf), tags));
        VerifiedFile { key, file, path: path.to_path_buf(), content, leaves }
    }

    /// Fails if the file has another size than the sealed one.
    pub(crate) fn has_its_size(&self) -> Result<(), Error> {
        let found = self.file.metadata().map_err(|error| Error::file(&self.path, error))?.len();
        match self.content.size {
            expected if expected == found => Ok(()),
            expected => Err(self.wrong(format_args!("expected {expected} bytes, found {found}"))),
        }
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.content.size
    }

    /// Returns the length of a leaf in bytes. A file without leaves is one leaf.
    pub fn leaf(&self) -> u64 {
        self.leaves.as_ref().map_or(self.content.size.max(1), |(_, tags)| tags.leaf)
    }

    /// Reads the leaf with the byte at `offset`, and verifies it. On an error `leaf` is empty.
    pub fn read(&self, offset: u64, leaf: &mut Leaf) -> Result<(), Error> {
        let start = offset / self.leaf() * self.leaf();
        match self.read_from(&self.file, &self.path, start, leaf)? {
            true => Ok(()),
            false => Err(self.differs(self.range(start))),
        }
    }

    /// Returns the range of the leaf that begins at `start`.
    pub(crate) fn range(&self, start: u64) -> Range<u64> {
        start..start.saturating_add(self.leaf()).min(self.content.size)
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
        let range = self.range(start);
        let bytes = (range.end - range.start) as usize;
        let mut buffer = mem::take(&mut leaf.bytes);
        if buffer.try_reserve(bytes.saturating_sub(buffer.len())).is_err() {
            let error = io::Error::from(io::ErrorKind::OutOfMemory);
            return Err(Error::file(path, ReadError::Io(error)));
        }
        buffer.resize(bytes, 0);
        match faults::before("read").and_then(|()| file.read_exact_at(&mut buffer, start)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            read => read.map_err(|error| Error::file(path, error))?,
        }
        let is_right = self.verify(start, &buffer)?;
        if is_right {
            *leaf = Leaf { start, bytes: buffer };
        }
        Ok(is_right)
    }

    /// Returns whether these are the sealed bytes of the leaf that begins at `start`.
    fn verify(&self, start: u64, bytes: &[u8]) -> Result<bool, Error> {
        let end = start + bytes.len() as u64;
        Ok(match &self.leaves {
            None => {
                let tag = self.content.tag.as_ref().expect("a manifest has a tag of each file");
                self.key.mac.verify(&self.content.nonce, bytes, tag).is_ok()
            }
            Some((mac, tags)) => {
                let mut tag = [0; TAG_BYTES];
                let number = start / tags.leaf;
                tags.file.read(tags.first + number, &mut tag)?;
                let tag = Tag::try_from(&tag[..]).expect("16 bytes");
                let is_last = end == self.content.size;
                let parts = self.key.parts()?;
                mac.is_tag_of(parts, number, start, (bytes, is_last), &tag)
                    .map_err(|error| Error::file(&self.path, error))?
            }
        })
    }

    /// Returns the error for a leaf that is not the sealed one.
    pub(crate) fn differs(&self, Range { start, end }: Range<u64>) -> Error {
        self.wrong(format_args!("bytes {start} to {end} differ from those sealed"))
    }

    /// Reads up to `out.len()` bytes at an offset. Returns their number: 0 at the end only. Reads the
    /// file only if `leaf` does not have them.
    pub fn read_at(&self, out: &mut [u8], offset: u64, leaf: &mut Leaf) -> Result<usize, Error> {
        if out.is_empty() || offset >= self.content.size {
            return Ok(0);
        }
        if leaf.from(offset).is_empty() {
            self.read(offset, leaf)?;
        }
        let bytes = leaf.from(offset);
        let count = bytes.len().min(out.len());
        out[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn wrong(&self, what: impl fmt::Display) -> Error {
        Error::mismatch(format_args!("{}: {what}", Escaped::name(&self.path)))
    }
}
