//! A folder by its name.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::faults;

/// The folder that a path's last name is in.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a folder; a link may stand for it. Nothing else is opened: a pipe in its place would let
/// this wait.
pub fn open(path: &Path) -> io::Result<File> {
    let directory = OFlags::DIRECTORY.bits() as i32;
    File::options().read(true).custom_flags(directory).open(path)
}

/// Makes a folder and those above it, where they are not there. The names of all are safe on disk then, also
/// of one that a killed run made.
pub fn make(path: &Path) -> io::Result<()> {
    let mut above: Vec<&Path> = path.ancestors().filter(|path| path.parent().is_some()).collect();
    above.reverse();
    for path in above {
        let made = match fs::create_dir(path) {
            Err(_) if path.is_dir() => false,
            made => made.map(|()| true)?,
        };
        match open(parent(path)) {
            // Whoever made that one has seen to it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !made => {}
            folder => faults::sync_all(&folder?)?,
        }
    }
    Ok(())
}
