//! How a file is opened by its name. What is in a tree is opened by [`tree`](crate::tree).
//!
//! Anybody may have put a pipe, a device or a link to one where a file is expected. So no call here
//! waits for the other end of a pipe, and a name is not trusted before what is open was looked at.
//! Who chose the name says what may be there:
//!
//! - [`regular`]: a file, for all that a list, a manifest or a state names, and for what is read
//!   twice, at places, or written to. A device is not even opened: that alone may rewind a tape or
//!   start a watchdog.
//! - [`given`]: also a device or a pipe, for what the user names on the command line and what is read
//!   once. A pipe has to be one of the process's own, as `/dev/stdin` and the `/dev/fd/63` of a
//!   shell's `<(...)` are: these have an end. A pipe with a name of its own may wait for a writer for
//!   ever, and `tag *` would meet it in any folder that others can write to. `< PIPE` reads one.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_setfl};

use crate::read::Trouble;

/// What stands for an open descriptor.
const DESCRIPTORS: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];

/// Opens a regular file to read it.
pub fn regular(path: &Path) -> Result<(File, Metadata), Trouble> {
    is_regular(&fs::metadata(path)?)?;
    let file = open(path)?;
    let facts = file.metadata()?;
    // What is there now may be another than what was looked at.
    is_regular(&facts)?;
    Ok((file, facts))
}

/// Opens what the user named, unless it is a directory or a pipe with a name.
pub fn given(path: &Path) -> Result<(File, Metadata), Trouble> {
    let file = open(path)?;
    let facts = file.metadata()?;
    if facts.is_dir() {
        return Err(Trouble::Directory);
    }
    if facts.file_type().is_fifo() && !DESCRIPTORS.iter().any(|one| path.starts_with(one)) {
        return Err(Trouble::Pipe);
    }
    // From here on it may wait: for a terminal, or for who writes into the pipe.
    fcntl_setfl(&file, OFlags::empty()).map_err(std::io::Error::from)?;
    Ok((file, facts))
}

/// Refuses what is no regular file.
pub fn is_regular(facts: &Metadata) -> Result<(), Trouble> {
    match (facts.is_file(), facts.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err(Trouble::Directory),
        _ => Err(Trouble::Irregular),
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    File::options().read(true).custom_flags(flags).open(path)
}
