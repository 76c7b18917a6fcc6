//! Exclusions from a walk: a name in a directory, or all names with a prefix.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::dir::FileStat;
use crate::folder;
use crate::identity::Identity;
use crate::sys::{self, OsStrExt};

/// A name in a directory, or all names with that prefix, wherever the directory appears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    folder: Identity,
    name: Vec<u8>,
    begins: bool,
    /// The only file to exclude under that name, if set.
    pub(crate) only: Option<Identity>,
}

impl Exclusion {
    /// Excludes the last name of a path, in the directory that exists there now.
    pub fn new(path: &Path) -> io::Result<Exclusion> {
        let name = path.file_name().unwrap_or_default().as_bytes().to_vec();
        let folder = FileStat::at(folder::parent(path))?.identity;
        Ok(Exclusion { folder, name, begins: false, only: None })
    }

    /// Excludes the last name of a path only while it is this file: another file under that name
    /// cannot hide.
    pub fn of_file(path: &Path, file: &File) -> io::Result<Exclusion> {
        let only = Some(Identity::new(&sys::metadata_of(file)?));
        Ok(Exclusion { only, ..Exclusion::new(path)? })
    }

    /// Excludes all names that begin with the last name of a path.
    pub fn with_prefix(path: &Path) -> io::Result<Exclusion> {
        Ok(Exclusion { begins: true, ..Exclusion::new(path)? })
    }

    pub(crate) fn has(&self, folder: Identity, name: &[u8]) -> bool {
        let is_one = if self.begins { name.starts_with(&self.name) } else { name == self.name };
        is_one && folder == self.folder
    }
}
