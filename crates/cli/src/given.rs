//! How a file is opened that the user named on the command line: also a device or a pipe, as it is
//! read once. `tag *` would meet pipes with names of their own in any folder that others can write to, so
//! those are refused; `< PIPE` reads one. [`tagmac_files::open`] has the rules.

use std::fs::{File, Metadata};
use std::path::Path;

use tagmac_files::{ReadError, open};

use crate::stdio;

/// Opens what the user named, unless it is a directory or a pipe with a name.
pub fn given(path: &Path) -> Result<(File, Metadata), ReadError> {
    // Of a descriptor that was closed the runtime has made an empty file.
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if open::is_descriptor(path) => stdio::given(name.parse().unwrap_or(0))?,
        _ => {}
    }
    open::given(path)
}
