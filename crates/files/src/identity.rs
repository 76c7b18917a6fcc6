//! What tells one file from all others, and the lock that keeps other runs from it.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::Stat;

/// What two names of one file have in common, as long as it is open somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The file system's number.
    pub device: u64,
    /// The file's number in it.
    pub inode: u64,
}

impl Identity {
    /// Of a file of which the system says this.
    pub fn new(file: &Metadata) -> Identity {
        Identity { device: file.dev(), inode: file.ino() }
    }

    /// The same in the system's own words.
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub fn from_stat(stat: &Stat) -> Identity {
        Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }

    /// Refuses another file.
    pub fn is_of(self, there: &Metadata) -> io::Result<()> {
        if self == Identity::new(there) {
            return Ok(());
        }
        Err(io::Error::other("expected the file that this run holds, found another"))
    }
}

/// Locks a file that was opened by this name, for this run alone. False: another run has it, or had
/// it and has put another in its place.
pub fn hold(path: &Path, file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => is_at(path, file),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the name, or the link of that name, leads to the open file.
pub fn leads_to(path: &Path, file: &File) -> io::Result<bool> {
    is_found(fs::metadata(path), file)
}

/// Whether the name is that of the open file.
pub fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    is_found(fs::symlink_metadata(path), file)
}

/// Whether what a name has is the open file. An error if the system does not say what it has.
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
