//! Opening files that the user named on the command line.
//!
//! These may be devices or pipes, because they are read only once. Named pipes are rejected: `tag
//! *` could meet one in any folder that other users can write to. `< PIPE` reads one.
//! [`tagmac_files::open`] has the rules.

use std::fs::File;
use std::path::Path;

use tagmac_files::sys::Metadata;
use tagmac_files::{ReadError, open};

use crate::stdio;

/// Opens a file that the user named. Rejects directories and named pipes.
pub fn given(path: &Path) -> Result<(File, Metadata), ReadError> {
    // The runtime has opened an empty file in place of a closed descriptor.
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if open::is_descriptor(path) => stdio::given(name.parse().unwrap_or(0))?,
        _ => {}
    }
    open::given(path)
}
