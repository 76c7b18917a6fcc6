//! Opens files by name.
//!
//! A name may be that of a pipe, a device or a link to one. So no function here waits for the other
//! end of a pipe, and each examines the open file rather than trusting the name. The origin of the
//! name decides what is allowed:
//!
//! - [`regular`]: regular files only, for names from a list, a manifest or a checkpoint, and for
//!   files that are read twice, read at offsets, or written to. Devices are not even opened: that
//!   alone may rewind a tape or start a watchdog.
//! - [`writable`]: the same, for writing too. [`alone`] also locks the file and follows no link,
//!   for files that a run owns and will replace or remove by name.
//! - [`given`]: also devices and pipes of the process, for a name from the user that is read once.
//! - [`checked`]: whatever the caller accepts.

use std::fs::{self, File};
use std::path::Path;

use crate::dir::EntryKind;
use crate::identity;
use crate::read_error::{Irregular, ReadError};
use crate::sys::{self, Metadata};

/// Opens a regular file for reading.
pub fn regular(path: &Path) -> Result<(File, Metadata), ReadError> {
    checked(path, false, is_regular)
}

/// Opens a regular file for reading and writing.
pub fn writable(path: &Path) -> Result<File, ReadError> {
    Ok(checked(path, true, is_regular)?.0)
}

/// Opens a regular file for reading and writing, and locks it against other runs. Opens for writing
/// even if it is only read, as NFS and CIFS lock no other files.
pub fn alone(path: &Path) -> Result<File, ReadError> {
    // Replacing the file by its name would replace the link instead.
    if fs::symlink_metadata(path)?.is_symlink() {
        return Err(ReadError::Link);
    }
    let file = writable(path)?;
    if identity::hold(path, &file)? { Ok(file) } else { Err(ReadError::Busy) }
}

/// Rejects anything that is not a regular file.
pub fn is_regular(facts: &Metadata) -> Result<(), ReadError> {
    Err(match sys::kind(facts) {
        Some(EntryKind::File) => return Ok(()),
        Some(EntryKind::Directory) => ReadError::Directory,
        Some(EntryKind::Pipe) => ReadError::Irregular(Irregular::Pipe),
        Some(EntryKind::CharDevice | EntryKind::BlockDevice) => {
            ReadError::Irregular(Irregular::Device)
        }
        _ => ReadError::Irregular(Irregular::Other),
    })
}

/// Paths of open descriptors.
const DESCRIPTORS: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];

/// Returns whether a name is that of an open descriptor of this process.
pub fn is_descriptor(path: &Path) -> bool {
    DESCRIPTORS.iter().any(|one| path.starts_with(one))
}

/// Opens a file that the user named, unless it is a directory or a named pipe, which might wait
/// forever for a writer. The process's own pipes are accepted: `/dev/stdin`, and the `/dev/fd/63`
/// of a shell's `<(...)`.
pub fn given(path: &Path) -> Result<(File, Metadata), ReadError> {
    let own = is_descriptor(path);
    let (file, facts) = checked(path, false, |facts| match sys::kind(facts) {
        Some(EntryKind::Directory) => Err(ReadError::Directory),
        Some(EntryKind::Pipe) if !own => Err(ReadError::Pipe),
        _ => Ok(()),
    })?;
    // From here on, reading may block: for a terminal, or for the writer of a pipe. Regular files
    // block only in /proc and the like, and then forever.
    if !facts.is_file() {
        sys::let_wait(&file)?;
    }
    Ok((file, facts))
}

/// Opens a file that `may` accepts. `may` is called before, as opening a device has effects and
/// opening a pipe lets its writer continue into nothing; and after, as the file may have been
/// replaced. The file is opened in non-blocking mode.
pub fn checked(
    path: &Path,
    write: bool,
    may: impl Fn(&Metadata) -> Result<(), ReadError>,
) -> Result<(File, Metadata), ReadError> {
    may(&sys::metadata(path)?)?;
    let file = sys::without_waiting(&mut File::options()).read(true).write(write).open(path)?;
    let facts = sys::metadata_of(&file)?;
    may(&facts)?;
    Ok((file, facts))
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};
    use std::os::fd::AsRawFd;

    use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, mknodat};

    use super::*;

    #[test]
    fn a_pipe_is_given_where_it_is_the_own_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        assert!(matches!(given(&path), Err(ReadError::Pipe)));
        assert!(matches!(given(folder.path()), Err(ReadError::Directory)));
        let (from, mut to) = io::pipe().unwrap();
        let (mut own, _) = given(Path::new(&format!("/dev/fd/{}", from.as_raw_fd()))).unwrap();
        // The reader waits for the writer.
        assert!(!fcntl_getfl(&own).unwrap().contains(OFlags::NONBLOCK));
        to.write_all(b"text").unwrap();
        drop(to);
        let mut text = String::new();
        own.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
    }

    #[test]
    fn what_is_locked_is_open_for_writing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "").unwrap();
        let mut file = alone(&path).unwrap();
        file.write_all(b"text").unwrap();
        // A process that another test starts has a copy of the file until it runs its program.
        file.unlock().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
        let _held = alone(&path).unwrap();
        assert!(matches!(alone(&path), Err(ReadError::Busy)));
    }
}
