//! How a file is opened by its name.
//!
//! Anybody may have put a pipe, a device or a link to one where a file is expected. So no call here
//! waits for the other end of a pipe, and a name is not trusted before what is open was looked at.
//! Who chose the name says what may be there:
//!
//! - [`regular`]: a file, for all that a list, a manifest or a checkpoint names, and for what is read
//!   twice, at places, or written to. A device is not even opened: that alone may rewind a tape or
//!   start a watchdog.
//! - [`writable`]: the same, to write to it too. [`alone`] besides locks it and follows no link, for
//!   what a run keeps for itself and will replace or remove by its name.
//! - [`given`]: also a device or a pipe of the process's own, for what a user names, and is read once.
//! - [`checked`]: what the caller accepts.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_setfl};

use crate::identity;
use crate::read_error::{Irregular, ReadError};

/// Opens a regular file to read it.
pub fn regular(path: &Path) -> Result<(File, Metadata), ReadError> {
    checked(path, false, is_regular)
}

/// Opens a regular file to read it and to write to it.
pub fn writable(path: &Path) -> Result<File, ReadError> {
    Ok(checked(path, true, is_regular)?.0)
}

/// Opens a regular file to read it and to write to it, and keeps other runs from it. It is open for
/// writing also where it is only read: over NFS and CIFS nothing else can be locked.
pub fn alone(path: &Path) -> Result<File, ReadError> {
    // One that takes its place would take the link's.
    if fs::symlink_metadata(path)?.is_symlink() {
        return Err(ReadError::Link);
    }
    let file = writable(path)?;
    if identity::hold(path, &file)? { Ok(file) } else { Err(ReadError::Busy) }
}

/// Refuses what is no regular file.
pub fn is_regular(facts: &Metadata) -> Result<(), ReadError> {
    let kind = facts.file_type();
    if kind.is_file() {
        return Ok(());
    }
    Err(match kind {
        _ if kind.is_dir() => ReadError::Directory,
        _ if kind.is_fifo() => ReadError::Irregular(Irregular::Pipe),
        _ if kind.is_char_device() || kind.is_block_device() => {
            ReadError::Irregular(Irregular::Device)
        }
        _ => ReadError::Irregular(Irregular::Other),
    })
}

/// What stands for an open descriptor.
const DESCRIPTORS: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];

/// Whether a name is that of an open descriptor of this process.
pub fn is_descriptor(path: &Path) -> bool {
    DESCRIPTORS.iter().any(|one| path.starts_with(one))
}

/// Opens what a user named, unless it is a directory or a pipe with a name of its own. Such a pipe may
/// wait for a writer for ever. Those of the process, as `/dev/stdin` and the `/dev/fd/63` of a shell's
/// `<(...)` are, have an end.
pub fn given(path: &Path) -> Result<(File, Metadata), ReadError> {
    let own = is_descriptor(path);
    let (file, facts) = checked(path, false, |facts| match facts.file_type() {
        kind if kind.is_dir() => Err(ReadError::Directory),
        kind if kind.is_fifo() && !own => Err(ReadError::Pipe),
        _ => Ok(()),
    })?;
    // From here on it may wait: for a terminal, or for who writes into the pipe. A file does so only
    // in /proc and its like, and for ever.
    if !facts.is_file() {
        fcntl_setfl(&file, OFlags::empty()).map_err(std::io::Error::from)?;
    }
    Ok((file, facts))
}

/// Opens what `may` accepts. It is asked before, for to open a device does something to it, and to
/// open a pipe lets its writer go on, into nothing; and after, for it may be another by then. What is
/// open does not wait where it could.
pub fn checked(
    path: &Path,
    write: bool,
    may: impl Fn(&Metadata) -> Result<(), ReadError>,
) -> Result<(File, Metadata), ReadError> {
    may(&fs::metadata(path)?)?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    let file = File::options().read(true).write(write).custom_flags(flags).open(path)?;
    let facts = file.metadata()?;
    may(&facts)?;
    Ok((file, facts))
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};
    use std::os::fd::AsRawFd;

    use rustix::fs::{CWD, FileType, Mode, fcntl_getfl, mknodat};

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
        // A reader waits for what is written.
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
        alone(&path).unwrap().write_all(b"text").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
        let _held = alone(&path).unwrap();
        assert!(matches!(alone(&path), Err(ReadError::Busy)));
    }
}
