//! File identity (device, inode) and the lock against concurrent runs.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

pub use crate::stat::Identity;
#[cfg(unix)]
use crate::sys::MetadataExt;
use crate::sys::{self, Metadata};

impl Identity {
    /// Returns the identity of a file from its metadata.
    pub fn new(file: &Metadata) -> Identity {
        Identity { device: file.dev(), inode: file.ino() }
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
    is_found(sys::metadata(path), file)
}

/// Returns whether the name is the open file itself, not a link to it.
pub fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    is_found(sys::symlink_metadata(path), file)
}

/// Returns whether the metadata found is that of the open file. Fails if it could not be read for
/// another reason than absence.
fn is_found(there: io::Result<Metadata>, file: &File) -> io::Result<bool> {
    match there {
        Ok(there) => Ok(Identity::new(&there) == Identity::new(&sys::metadata_of(file)?)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
