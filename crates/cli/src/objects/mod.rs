//! Objects in stores, which the command line names by URL.
//!
//! With the feature `objects` they are read by `tagmac-objects`; without it a URL is refused. A list
//! comes from others and requests go out in the user's name, so of the URLs in a list only those are
//! asked for that the user has allowed.

#[cfg(not(feature = "objects"))]
mod absent;
#[cfg(feature = "objects")]
mod manifest;
#[cfg(feature = "objects")]
mod range;
#[cfg(feature = "objects")]
mod stores;

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tagmac_files::{ReadError, url};

#[cfg(not(feature = "objects"))]
pub use absent::Stores;
#[cfg(feature = "objects")]
pub use stores::Stores;

/// Whether a name is that of an object, not of a file.
pub fn is_url(name: &Path) -> bool {
    url::is_url(name.as_os_str().as_bytes())
}

/// Why an object that a list names is not read.
pub fn not_allowed() -> ReadError {
    ReadError::Io(io::Error::other(if cfg!(feature = "objects") {
        "expected a file, found the URL of an object; --allow-url reads those below a URL"
    } else {
        "expected a file, found the URL of an object, and this tagmac was built without object stores"
    }))
}
