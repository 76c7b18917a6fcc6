//! The file of all leaf tags of a manifest.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::atomic::{self, AtomicFile};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::folder;
use crate::leaves::TAG_BYTES;
use crate::manifest::BUFFER;
use crate::open;
use crate::overwrite::Overwrite;
use crate::sys::{FileExt, OsStrExt};

/// The first bytes, as long as a leaf tag.
pub(crate) const MAGIC: &[u8; TAG_BYTES] = b"tagmac-leaves-1\n";
const SUFFIX: &[u8] = b".leaves";
const CUT_OFF: &str = "the file of leaf tags was cut off";
/// The length in bytes of the blocks in which a reader reads tags, and the number that it keeps.
const BLOCK: usize = 4 << 10;
const SLOTS: usize = 256;

/// Returns the path of the leaf tags of the manifest with this path and sequence number.
pub fn path(manifest: &Path, sequence: u64) -> PathBuf {
    let mut name = OsString::from(manifest);
    name.push(format!(".{sequence}.leaves"));
    name.into()
}

/// Writes leaf tags in the order of the manifest.
pub struct LeafWriter {
    path: PathBuf,
    file: AtomicFile,
    buffer: Vec<u8>,
}

impl LeafWriter {
    /// Starts the file. Nothing appears there before it is complete.
    pub fn create(path: PathBuf) -> Result<LeafWriter, Error> {
        let over = Overwrite::Kind("a file of leaf tags", begins_like_leaves);
        let file = AtomicFile::new(&path, 0o666, over);
        let file = file.map_err(|error| Error::file(&path, error))?;
        Ok(LeafWriter { path, file, buffer: MAGIC.to_vec() })
    }

    /// Appends tags.
    pub fn add(&mut self, tags: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(tags);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| Error::file(&self.path, error))
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        self.file.finish().map(drop).map_err(|error| Error::file(&self.path, error))
    }
}

/// An open file of leaf tags. Nothing in it is trusted. It keeps up to 1 MiB of the tags that were
/// read, for all files of the manifest together.
pub struct LeafFile {
    path: PathBuf,
    file: File,
    /// Blocks of the file. Block n is in slot n modulo [`SLOTS`].
    slots: Box<[Mutex<Option<Block>>]>,
}

/// A block of a file of leaf tags.
struct Block {
    number: u64,
    /// [`BLOCK`] bytes, or fewer at the end of the file.
    bytes: Vec<u8>,
}

impl LeafFile {
    /// Opens the leaf tags of the manifest with this path and sequence number.
    pub fn open(manifest: &Path, sequence: u64) -> Result<LeafFile, Error> {
        let path = path(manifest, sequence);
        let (file, _) = open::regular(&path).map_err(|error| Error::file(&path, error))?;
        let slots = (0..SLOTS).map(|_| Mutex::default()).collect();
        let file = LeafFile { path, file, slots };
        let mut start = [0; TAG_BYTES];
        file.read_exact(&mut start, 0)?;
        match &start == MAGIC {
            true => Ok(file),
            false => Err(file.wrong("not a file of leaf tags")),
        }
    }

    /// Returns tag `number`, which may be a kept one.
    pub fn tag(&self, number: u64) -> Result<[u8; TAG_BYTES], Error> {
        let at = (number + 1) * TAG_BYTES as u64;
        let (wanted, within) = (at / BLOCK as u64, (at % BLOCK as u64) as usize);
        let found = |block: &Block| block.bytes.get(within..)?.first_chunk().copied();
        let mut slot = self.slot(wanted);
        if let Some(tag) = slot.as_ref().filter(|block| block.number == wanted).and_then(found) {
            return Ok(tag);
        }
        let bytes = slot.take().map_or_else(Vec::new, |block| block.bytes);
        // Readers of other blocks need not wait for the disk.
        drop(slot);
        let block = Block { number: wanted, bytes: self.block(wanted, bytes)? };
        let tag = found(&block).ok_or_else(|| self.wrong(CUT_OFF))?;
        *self.slot(wanted) = Some(block);
        Ok(tag)
    }

    /// Drops the kept tag `number`, because its leaf differs: the next reader reads the file, which
    /// may have been repaired.
    pub fn forget(&self, number: u64) {
        let block = (number + 1) * TAG_BYTES as u64 / BLOCK as u64;
        self.slot(block).take_if(|kept| kept.number == block);
    }

    fn slot(&self, block: u64) -> MutexGuard<'_, Option<Block>> {
        let slot = &self.slots[(block % SLOTS as u64) as usize];
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a block into memory that is used again.
    fn block(&self, number: u64, mut bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        bytes.resize(BLOCK, 0);
        let mut done = 0;
        while done < BLOCK {
            match self.file.read_at(&mut bytes[done..], number * BLOCK as u64 + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::file(&self.path, error)),
            }
        }
        bytes.truncate(done);
        Ok(bytes)
    }

    /// Reads the tags from number `first` on.
    pub fn read(&self, first: u64, tags: &mut [u8]) -> Result<(), Error> {
        self.read_exact(tags, (first + 1) * TAG_BYTES as u64)
    }

    fn read_exact(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.file.read_exact_at(bytes, at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.wrong(CUT_OFF),
            _ => Error::file(&self.path, error),
        })
    }

    fn wrong(&self, what: &str) -> Error {
        Error::mismatch(format_args!("{}: {what}", Escaped::name(&self.path)))
    }
}

pub(crate) fn begins_like_leaves(file: File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// Removes the leaf tags of manifests with this path and other numbers than `keep`. Those that cannot be removed stay for
/// the next seal.
pub fn sweep(manifest: &Path, keep: Option<u64>) {
    let name = manifest.file_name().unwrap_or_default().as_bytes();
    let keep = keep.map(|keep| path(manifest, keep));
    let keep = keep.as_deref().and_then(Path::file_name);
    let Ok(entries) = fs::read_dir(folder::parent(manifest)) else { return };
    for entry in entries.filter_map(Result::ok) {
        let found = entry.file_name();
        let number = found.as_bytes().strip_prefix(name).and_then(|rest| rest.strip_prefix(b"."));
        let number = number.and_then(|rest| rest.strip_suffix(SUFFIX)).unwrap_or_default();
        let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
        if !is_number || Some(&*found) == keep {
            continue;
        }
        let old = folder::parent(manifest).join(&found);
        if let Ok(file) = open::alone(&old)
            && file.try_clone().and_then(begins_like_leaves).unwrap_or(false)
        {
            // The next seal tries again.
            let _ = atomic::remove(&old, &file);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// More tags than are kept.
    const COUNT: u64 = (SLOTS * BLOCK / TAG_BYTES) as u64 + 1000;

    #[test]
    fn kept_tags_are_those_of_the_file_until_they_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("m");
        let mut writer = LeafWriter::create(path(&manifest, 1)).unwrap();
        for number in 0..COUNT {
            writer.add(&u128::from(number).to_le_bytes()).unwrap();
        }
        writer.finish().unwrap();
        let file = LeafFile::open(&manifest, 1).unwrap();
        let tag = |number| file.tag(number).map(u128::from_le_bytes);
        thread::scope(|scope| {
            for seed in 0..4u64 {
                scope.spawn(move || {
                    let mut state = seed;
                    for _ in 0..5000 {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        let number = (state >> 33) % COUNT;
                        assert_eq!(tag(number).unwrap(), number.into());
                    }
                });
            }
        });
        assert_eq!(tag(COUNT - 1).unwrap(), u128::from(COUNT - 1));
        assert!(tag(COUNT).unwrap_err().to_string().ends_with(CUT_OFF));
        assert_eq!(tag(5).unwrap(), 5);
        let damaged = File::options().write(true).open(path(&manifest, 1)).unwrap();
        damaged.set_len(6 * TAG_BYTES as u64).unwrap();
        damaged.write_all_at(&[1; TAG_BYTES], 6 * TAG_BYTES as u64).unwrap();
        assert_eq!([5, 6].map(|number| tag(number).unwrap()), [5, 6]);
        file.forget(6);
        assert_eq!(tag(5).unwrap(), u128::from_le_bytes([1; TAG_BYTES]));
        assert!(tag(6).unwrap_err().to_string().ends_with(CUT_OFF));
    }
}
