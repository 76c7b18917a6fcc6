//! Rejects names with a special meaning, before any work is done: `-`, and URLs where only files
//! are accepted. A file with such a name is accepted as `./-`, or if it exists.

use std::fs;
use std::path::Path;

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::sys::OsStrExt;
use tagmac_files::url::{self, ForeignUrl};

use crate::say;

/// Rejects `-` as the name of an output file.
pub fn output(option: &str, path: &Path) -> Result<(), Error> {
    match path.as_os_str() == "-" {
        true => Err(Error::usage(format_args!(
            "{option}: expected a file, found '-'; use './-' for a file of that name"
        ))),
        false => Ok(()),
    }
}

/// Rejects `-` and unsupported URLs as the name of a directory.
pub fn directory(path: &Path) -> Result<(), Error> {
    match path.as_os_str() == "-" {
        true => Err(Error::usage("expected a directory, found '-'")),
        false => object(path),
    }
}

/// Rejects an unsupported URL, unless a file has that name.
pub fn object(path: &Path) -> Result<(), Error> {
    match ForeignUrl::from_name(path.as_os_str().as_bytes()).filter(|_| is_free(path)) {
        Some(url) => {
            Err(Error::usage(format_args!("{}: {}", Escaped::name(path), say::foreign_url(url))))
        }
        None => Ok(()),
    }
}

/// Rejects any URL, unless a file has that name.
pub fn file(path: &Path) -> Result<(), Error> {
    match url::is_url(path.as_os_str().as_bytes()) && is_free(path) {
        true => Err(Error::usage(format_args!(
            "{}: expected a file, found the URL of an object; 'tag', 'check --raw-tag', 'part', 'seal', \
             'audit' and 'read' read objects",
            Escaped::name(path)
        ))),
        false => object(path),
    }
}

/// Returns whether no file has the name.
fn is_free(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err()
}
