//! Objects in stores, which the command line names by URL.
//!
//! With the feature `objects`, `tagmac-objects` reads them; without it, URLs are rejected. A list
//! may come from someone else, but requests use the credentials of the user. So a list may only
//! name URLs that the user has allowed.

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

/// Returns whether a name is the URL of an object.
pub fn is_url(name: &Path) -> bool {
    url::is_url(name.as_os_str().as_bytes())
}

/// Returns the error for an object that a list may not name.
pub fn not_allowed() -> ReadError {
    ReadError::Io(io::Error::other(if cfg!(feature = "objects") {
        "the list names a URL; use --allow-url to allow it"
    } else {
        "the list names a URL, but this tagmac was built without object stores"
    }))
}
