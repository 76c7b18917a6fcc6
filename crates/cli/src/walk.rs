//! Which files a name stands for: with `-r`, all regular files below a directory.

use std::ffi::OsStr;
use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use walkdir::WalkDir;

use crate::error::{Shown, say};

/// Calls `each` with every file below the directory `root`, in order of the names, and with what
/// cannot be read and why. Links are not followed, but `root` itself may be one. What is skipped
/// is named.
pub fn walk<E>(
    root: &Path,
    mut each: impl FnMut(&Path, Option<io::Error>) -> Result<(), E>,
) -> Result<(), E> {
    for entry in WalkDir::new(root).min_depth(1).sort_by_file_name() {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) if entry.file_type().is_file() => each(entry.path(), None)?,
            Ok(entry) => {
                let (name, kind) = (Shown::name(entry.path()), kind(entry.file_type()));
                say(format_args!("{name}: skipped: expected a file or directory, found {kind}"));
            }
            Err(error) => {
                let path = error.path().unwrap_or(root).to_path_buf();
                let error = error.into_io_error();
                let error = error.unwrap_or_else(|| io::Error::other("found a loop of links"));
                each(&path, Some(error))?;
            }
        }
    }
    Ok(())
}

/// Whether the name is that of a directory, not of standard input or a file.
pub fn is_dir(path: &Path) -> bool {
    path.as_os_str() != OsStr::new("-") && path.is_dir()
}

fn kind(file: FileType) -> &'static str {
    match file {
        _ if file.is_symlink() => "a symbolic link",
        _ if file.is_fifo() => "a pipe",
        _ if file.is_socket() => "a socket",
        _ => "a device",
    }
}
