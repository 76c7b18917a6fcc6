//! How a file is opened that the user named on the command line: also a device or a pipe, as it is
//! read once.
//!
//! A pipe has to be one of the process's own, as `/dev/stdin` and the `/dev/fd/63` of a shell's
//! `<(...)` are: these have an end. A pipe with a name of its own may wait for a writer for ever, and
//! `tag *` would meet it in any folder that others can write to. `< PIPE` reads one. What other names
//! may lead to is in [`tagmac_files::open`].

use std::fs::{File, Metadata};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::fs::{OFlags, fcntl_setfl};
use tagmac_files::{ReadError, open};

use crate::stdio;

/// What stands for an open descriptor.
const DESCRIPTORS: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];

/// Opens what the user named, unless it is a directory or a pipe with a name.
pub fn given(path: &Path) -> Result<(File, Metadata), ReadError> {
    let own = DESCRIPTORS.iter().any(|one| path.starts_with(one));
    // Of a descriptor that was closed the runtime has made an empty file.
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if own => stdio::given(name.parse().unwrap_or(0))?,
        _ => {}
    }
    let (file, facts) = open::checked(path, false, |facts| match facts.file_type() {
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
