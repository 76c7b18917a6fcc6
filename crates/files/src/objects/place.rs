//! Where the files of a manifest are kept.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, io_reason};
use crate::escaped::Escaped;
use crate::memory;
use crate::new_file;
use crate::objects::manifest_key::ManifestFile;
use crate::objects::{MAX_ROOT_BYTES, ROOT};
use crate::open;
use crate::overwrite::Overwrite;
use crate::read_error::ReadError;

/// Where the files of a manifest are kept: a folder, the objects below a prefix.
pub trait Place {
    /// The place's name in messages.
    fn shown(&self) -> String;

    /// A whole file, or `None` if there is none. An error, before memory is taken for it, if it has
    /// more than `max` bytes: see [`too_long`].
    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error>;

    /// Whether there is a file of that name.
    fn has(&self, file: &str) -> Result<bool, Error>;

    /// Writes a shard's file, which appears whole. One of its name has the same content.
    fn write_shard(&self, file: &str, bytes: &[u8]) -> Result<(), Error>;

    /// Writes the root, which appears whole, in the place of `old`. An error if another one is
    /// there: see [`exists`] and [`replaced`].
    fn write_root(&self, bytes: &[u8], old: Option<&[u8]>) -> Result<(), Error>;

    /// Removes a shard's file that no root names any more. It may be gone.
    fn remove_shard(&self, file: &str) -> Result<(), Error>;

    /// A file's name in messages.
    fn shown_file(&self, file: &str) -> String {
        format!("{}/{file}", self.shown().trim_end_matches('/'))
    }
}

/// The error for a file that is longer than it can be.
pub fn too_long(shown: &str, max: u64) -> Error {
    Error::mismatch(format_args!("{shown}: expected at most {max} bytes, found more"))
}

/// The error for a manifest that is there and is not to be replaced.
pub fn exists(shown: &str) -> Error {
    Error::io(format_args!("{shown}: expected no manifest there, found one"))
}

/// The error for a manifest that came or went while another one was made to take its place.
pub fn replaced(shown: &str) -> Error {
    Error::io(format_args!(
        "{shown}: expected the manifest that was there at the start, found a change: another seal \
         ran meanwhile"
    ))
}

/// A folder of the file system.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`. It is made when the first file is written.
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
}

impl Place for Folder {
    fn shown(&self) -> String {
        Escaped::name(&self.path).to_string()
    }

    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error> {
        let (opened, facts) = match open::regular(&self.path.join(file)) {
            Err(ReadError::Missing(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => {
                return Err(Error::io(format_args!("{}: {error}", self.shown_file(file))));
            }
            Ok(opened) => opened,
        };
        if facts.len() > max {
            return Err(too_long(&self.shown_file(file), max));
        }
        let room = usize::try_from(facts.len()).unwrap_or(usize::MAX);
        let mut bytes = memory::reserved(room).map_err(|error| self.failed(file, &error))?;
        // It may grow while it is read.
        let read = opened.take(max + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.failed(file, &error))?;
        if bytes.len() as u64 > max {
            return Err(too_long(&self.shown_file(file), max));
        }
        Ok(Some(bytes))
    }

    fn has(&self, file: &str) -> Result<bool, Error> {
        self.path.join(file).try_exists().map_err(|error| self.failed(file, &error))
    }

    fn write_shard(&self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        self.write(file, Overwrite::Kind("a manifest's shard", is_shard), bytes)
    }

    fn write_root(&self, bytes: &[u8], old: Option<&[u8]>) -> Result<(), Error> {
        let Some(old) = old else { return self.write(ROOT, Overwrite::Nothing, bytes) };
        let folder = File::open(&self.path).map_err(|error| self.failed(ROOT, &error))?;
        // One at a time compares and replaces. Where the file system has no locks, two could do so
        // in the same moment.
        let _ = folder.lock();
        if self.read(ROOT, MAX_ROOT_BYTES)?.as_deref() != Some(old) {
            return Err(replaced(&self.shown_file(ROOT)));
        }
        self.write(ROOT, Overwrite::Kind("a manifest's root", is_root), bytes)
    }

    fn remove_shard(&self, file: &str) -> Result<(), Error> {
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

/// Whether a file begins as one of that kind does.
fn begins(file: File, kind: ManifestFile) -> io::Result<bool> {
    let magic = kind.magic().as_bytes();
    let mut start = Vec::new();
    file.take(magic.len() as u64).read_to_end(&mut start)?;
    Ok(start == magic)
}
