//! How a file is opened by its name. What is in a tree is opened by [`tree`](crate::tree).
//!
//! Anybody may have put a pipe, a device or a link to one where a file is expected. So no call here
//! waits for the other end of a pipe, and a name is not trusted before what is open was looked at.
//! Who chose the name says what may be there:
//!
//! - [`regular`]: a file, for all that a list, a manifest or a state names, and for what is read
//!   twice, at places, or written to. A device is not even opened: that alone may rewind a tape or
//!   start a watchdog.
//! - [`writable`]: the same, to write to it too. [`alone`] besides locks it and follows no link, for
//!   what a run keeps for itself and will replace or remove by its name.
//! - [`given`]: also a device or a pipe, for what the user names on the command line and what is read
//!   once. A pipe has to be one of the process's own, as `/dev/stdin` and the `/dev/fd/63` of a
//!   shell's `<(...)` are: these have an end. A pipe with a name of its own may wait for a writer for
//!   ever, and `tag *` would meet it in any folder that others can write to. `< PIPE` reads one.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_setfl};

use crate::identity;
use crate::read_error::ReadError;
use crate::stdio;

/// What stands for an open descriptor.
const DESCRIPTORS: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];

/// Opens a regular file to read it.
pub fn regular(path: &Path) -> Result<(File, Metadata), ReadError> {
    looked_at(path, false, is_regular)
}

/// Opens a regular file to read it and to write to it.
pub fn writable(path: &Path) -> Result<File, ReadError> {
    Ok(looked_at(path, true, is_regular)?.0)
}

/// Opens a regular file to read it, or to write to it too, and keeps other runs from it.
pub fn alone(path: &Path, write: bool) -> Result<File, ReadError> {
    // One that takes its place would take the link's.
    if fs::symlink_metadata(path)?.is_symlink() {
        return Err(ReadError::Link);
    }
    let (file, _) = looked_at(path, write, is_regular)?;
    if identity::hold(path, &file)? { Ok(file) } else { Err(ReadError::Busy) }
}

/// Opens what the user named, unless it is a directory or a pipe with a name.
pub fn given(path: &Path) -> Result<(File, Metadata), ReadError> {
    let own = DESCRIPTORS.iter().any(|one| path.starts_with(one));
    // Of a descriptor that was closed the runtime has made an empty file.
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if own => stdio::given(name.parse().unwrap_or(0))?,
        _ => {}
    }
    let (file, facts) = looked_at(path, false, |facts| match facts.file_type() {
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

/// Refuses what is no regular file.
pub fn is_regular(facts: &Metadata) -> Result<(), ReadError> {
    match (facts.is_file(), facts.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err(ReadError::Directory),
        _ => Err(ReadError::Irregular),
    }
}

/// Opens what may be there. That is asked before, for to open a device does something to it, and to
/// open a pipe lets its writer go on, into nothing; and after, for it may be another by then.
fn looked_at(
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
