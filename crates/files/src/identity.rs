//! File identity (device, inode) and the lock against concurrent runs.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::Stat;

/// Identifies a file as long as it is open somewhere, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The file system's number.
    pub device: u64,
    /// The inode's number in it.
    pub inode: u64,
}

impl Identity {
    /// Returns the identity of a file from its metadata.
    pub fn new(file: &Metadata) -> Identity {
        Identity { device: file.dev(), inode: file.ino() }
    }

    /// Returns the identity of a file from the result of `stat`.
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub fn from_stat(stat: &Stat) -> Identity {
        Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }

    /// Fails if `there` belongs to another file.
    pub fn is_of(self, there: &Metadata) -> io::Result<()> {
        if self == Identity::new(there) {
            return Ok(());
        }
        Err(io::Error::other("the file was replaced while this run was using it"))
    }
}

/// Locks a file that was opened under this name. Returns false if another run holds it, or held it
/// and replaced it.
pub fn hold(path: &Path, file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => is_at(path, file),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns whether the name leads to the open file, following links.
pub fn leads_to(path: &Path, file: &File) -> io::Result<bool> {
    is_found(fs::metadata(path), file)
}

/// Returns whether the name is the open file itself, not a link to it.
pub fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    is_found(fs::symlink_metadata(path), file)
}

/// Returns whether the metadata found is that of the open file. Fails if it could not be read for
/// another reason than absence.
fn is_found(there: io::Result<Metadata>, file: &File) -> io::Result<bool> {
    match there {
        Ok(there) => Ok(Identity::new(&there) == Identity::new(&file.metadata()?)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
