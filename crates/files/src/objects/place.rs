//! Storage of a manifest's files.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, io_reason};
use crate::escaped::Escaped;
use crate::leaves::file::begins_like_leaves;
use crate::manifest::BUFFER;
use crate::memory;
use crate::new_file;
use crate::objects::manifest_key::ManifestFile;
use crate::objects::{MAX_ROOT_BYTES, ROOT};
use crate::open;
use crate::overwrite::Overwrite;
use crate::read_error::ReadError;
use crate::sys::{FileExt, Metadata};

/// The start of the name of a file of leaf tags.
pub const LEAVES: &str = "leaves-";

/// Storage of a manifest's files, such as a directory or the objects below a prefix.
pub trait Place {
    /// Returns the place's name in messages.
    fn shown(&self) -> String;

    /// Reads a whole file; `None` if it does not exist. Fails without allocating if it has more
    /// than `max` bytes; see [`too_long`].
    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error>;

    /// Reads a whole file in pieces, and passes them to `take`. Returns whether the file exists. Fails
    /// if it has more than `size` bytes; see [`too_long`]. A place that overrides this needs little
    /// memory.
    fn read_pieces(
        &self,
        file: &str,
        size: u64,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, Error> {
        let bytes = self.read(file, size)?;
        bytes.iter().for_each(|bytes| take(bytes));
        Ok(bytes.is_some())
    }

    /// Returns whether a file exists.
    fn has(&self, file: &str) -> Result<bool, Error>;

    /// Reads a range of a file; `None` if it does not exist. Fails if it does not have `size` bytes; see
    /// [`wrong_size`].
    fn read_range(
        &self,
        file: &str,
        size: u64,
        range: Range<u64>,
    ) -> Result<Option<Vec<u8>>, Error>;

    /// Writes a shard or a file of leaf tags atomically. An existing file of that name has the same
    /// content.
    fn write_file(&self, file: &str, bytes: &[u8]) -> Result<(), Error>;

    /// Writes the root atomically, replacing `old`. Fails if another root exists; see [`exists`]
    /// and [`replaced`].
    fn write_root(&self, bytes: &[u8], old: Option<&[u8]>) -> Result<(), Error>;

    /// Removes a shard or a file of leaf tags that no root names any more. It may be gone already.
    fn remove_file(&self, file: &str) -> Result<(), Error>;

    /// Returns a file's name in messages.
    fn shown_file(&self, file: &str) -> String {
        format!("{}/{file}", self.shown().trim_end_matches('/'))
    }
}

/// The error for a file that is too long.
pub fn too_long(shown: &str, max: u64) -> Error {
    Error::mismatch(format_args!("{shown}: longer than {max} bytes"))
}

/// The error for a file of another size.
pub fn wrong_size(shown: &str, expected: u64, found: u64) -> Error {
    Error::mismatch(format_args!("{shown}: expected {expected} bytes, found {found}"))
}

/// The error for a manifest that exists and must not be replaced.
pub fn exists(shown: &str) -> Error {
    Error::io(format_args!("{shown}: the manifest exists"))
}

/// The error for a manifest that appeared, changed or vanished during a seal.
pub fn replaced(shown: &str) -> Error {
    Error::io(format_args!(
        "{shown}: the manifest has changed since the start: another seal ran meanwhile"
    ))
}

/// A directory of the file system.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The directory at `path`. It is created with the first file.
    pub fn new(path: &Path) -> Folder {
        Folder { path: path.to_path_buf() }
    }

    fn failed(&self, file: &str, error: &io::Error) -> Error {
        Error::io(format_args!("{}: {}", self.shown_file(file), io_reason(error)))
    }

    fn write(&self, file: &str, over: Overwrite, bytes: &[u8]) -> Result<(), Error> {
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let shown = self.shown();
                Err(Error::io(format_args!("{shown}: {}", io_reason(&error))))
            }
            _ => new_file::write(&self.path.join(file), 0o666, over, bytes),
        }
    }

    /// Opens a file; `None` if it does not exist.
    fn open(&self, file: &str) -> Result<Option<(File, Metadata)>, Error> {
        match open::regular(&self.path.join(file)) {
            Err(ReadError::Missing(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(format_args!("{}: {error}", self.shown_file(file)))),
            Ok(opened) => Ok(Some(opened)),
        }
    }
}

impl Place for Folder {
    fn shown(&self) -> String {
        Escaped::name(&self.path).to_string()
    }

    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some((opened, facts)) = self.open(file)? else { return Ok(None) };
        if facts.len() > max {
            return Err(too_long(&self.shown_file(file), max));
        }
        let room = usize::try_from(facts.len()).unwrap_or(usize::MAX);
        let mut bytes = memory::reserved(room).map_err(|error| self.failed(file, &error))?;
        // The file may grow while it is read.
        let read = opened.take(max + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.failed(file, &error))?;
        if bytes.len() as u64 > max {
            return Err(too_long(&self.shown_file(file), max));
        }
        Ok(Some(bytes))
    }

    fn read_pieces(
        &self,
        file: &str,
        size: u64,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, Error> {
        let Some((opened, facts)) = self.open(file)? else { return Ok(false) };
        if facts.len() > size {
            return Err(too_long(&self.shown_file(file), size));
        }
        let mut input = BufReader::with_capacity(BUFFER, opened.take(size));
        loop {
            let piece = input.fill_buf().map_err(|error| self.failed(file, &error))?;
            let length = piece.len();
            if length == 0 {
                return Ok(true);
            }
            take(piece);
            input.consume(length);
        }
    }

    fn read_range(
        &self,
        file: &str,
        size: u64,
        range: Range<u64>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some((opened, facts)) = self.open(file)? else { return Ok(None) };
        if facts.len() != size {
            return Err(wrong_size(&self.shown_file(file), size, facts.len()));
        }
        let room = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut bytes = memory::reserved(room).map_err(|error| self.failed(file, &error))?;
        bytes.resize(room, 0);
        match opened.read_exact_at(&mut bytes, range.start) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(wrong_size(&self.shown_file(file), size, facts.len().min(range.end - 1)))
            }
            read => read.map(|()| Some(bytes)).map_err(|error| self.failed(file, &error)),
        }
    }

    fn has(&self, file: &str) -> Result<bool, Error> {
        self.path.join(file).try_exists().map_err(|error| self.failed(file, &error))
    }

    fn write_file(&self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        let over = match file.starts_with(LEAVES) {
            true => Overwrite::Kind("a file of leaf tags", begins_like_leaves),
            false => Overwrite::Kind("a manifest's shard", is_shard),
        };
        self.write(file, over, bytes)
    }

    fn write_root(&self, bytes: &[u8], old: Option<&[u8]>) -> Result<(), Error> {
        let Some(old) = old else { return self.write(ROOT, Overwrite::Nothing, bytes) };
        let folder = File::open(&self.path).map_err(|error| self.failed(ROOT, &error))?;
        // The lock makes compare-and-replace atomic. Without locks in the file system, two seals
        // could replace the root at the same moment.
        let _ = folder.lock();
        if self.read(ROOT, MAX_ROOT_BYTES)?.as_deref() != Some(old) {
            return Err(replaced(&self.shown_file(ROOT)));
        }
        self.write(ROOT, Overwrite::Kind("a manifest's root", is_root), bytes)
    }

    fn remove_file(&self, file: &str) -> Result<(), Error> {
        match fs::remove_file(self.path.join(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(file, &error)),
            _ => Ok(()),
        }
    }
}

fn is_shard(file: File) -> io::Result<bool> {
    begins(file, ManifestFile::Shard)
}

fn is_root(file: File) -> io::Result<bool> {
    begins(file, ManifestFile::Root)
}

/// Returns whether a file begins like one of this kind.
fn begins(file: File, kind: ManifestFile) -> io::Result<bool> {
    let magic = kind.magic().as_bytes();
    let mut start = Vec::new();
    file.take(magic.len() as u64).read_to_end(&mut start)?;
    Ok(start == magic)
}
