//! Directories by name.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::faults;
use crate::sys;

/// Returns the directory that contains the last name of a path.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a directory, following links. Fails on anything else: opening a pipe would block.
pub fn open(path: &Path) -> io::Result<File> {
    sys::folder(path)
}

/// Creates a directory and its parents if they do not exist. Syncs the names of all, including
/// those that a killed run created.
pub fn make(path: &Path) -> io::Result<()> {
    let mut above: Vec<&Path> = path.ancestors().filter(|path| path.parent().is_some()).collect();
    above.reverse();
    for path in above {
        let made = match fs::create_dir(path) {
            Err(_) if path.is_dir() => false,
            made => made.map(|()| true)?,
        };
        match open(parent(path)) {
            // It existed: syncing its name was up to its creator.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !made => {}
            folder => faults::sync_folder(&folder?)?,
        }
    }
    Ok(())
}
