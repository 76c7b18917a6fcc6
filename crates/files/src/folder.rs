//! A folder by its name.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

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
