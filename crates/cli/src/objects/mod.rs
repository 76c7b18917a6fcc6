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
mod sealed;
#[cfg(feature = "objects")]
mod stores;

use std::io;
use std::path::Path;

use tagmac_files::leaves::Leaves;
use tagmac_files::name_list::NameList;
use tagmac_files::objects::ObjectManifest;
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::Progress;
use tagmac_files::sys::OsStrExt;
use tagmac_files::{ReadError, url};

#[cfg(not(feature = "objects"))]
pub use absent::Stores;
#[cfg(feature = "objects")]
pub use stores::Stores;

/// The objects to seal.
#[cfg_attr(not(feature = "objects"), expect(dead_code, reason = "nothing seals objects"))]
pub struct ObjectSealing<'a> {
    /// The key.
    pub open_key: &'a OpenKey,
    /// Notified of bytes and objects.
    pub progress: &'a dyn Progress,
    /// The URL above the objects.
    pub url: &'a Path,
    /// Patterns of objects to leave out.
    pub filters: &'a [Vec<u8>],
    /// Names below the URL in byte order, instead of all objects.
    pub names: Option<&'a NameList>,
    /// An earlier manifest: objects that have its stamps are not read.
    pub since: Option<&'a ObjectManifest<'a>>,
    /// Makes leaf tags.
    pub leaves: Option<Leaves>,
    /// Leaves out unreadable objects instead of failing.
    pub skip_unreadable: bool,
}

/// Counts of sealed objects.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectCounts {
    /// Objects that could not be read.
    pub unreadable: u64,
    /// Objects that were not read, because they have the stamp of the earlier manifest.
    pub carried: u64,
    /// Archived objects, which have no tag.
    pub archived: u64,
    /// Objects that the filters left out.
    pub left_out: u64,
}

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
