//! Names that no file has and that mean something else: `-`, and URLs where files alone are read.
//! They are refused before anything is done. A file of such a name is `./-`, or is there.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::url::{self, ForeignUrl};

use crate::say;

/// Refuses `-` where a file is to be made.
pub fn output(option: &str, path: &Path) -> Result<(), Error> {
    match path.as_os_str() == "-" {
        true => Err(Error::usage(format_args!("{option}: expected a file to write, found '-'"))),
        false => Ok(()),
    }
}

/// Refuses what is no directory and no URL that objects are below.
pub fn directory(path: &Path) -> Result<(), Error> {
    match path.as_os_str() == "-" {
        true => Err(Error::usage("expected a directory, found '-'")),
        false => object(path),
    }
}

/// Refuses the URL of what is no object here, unless a file has that name.
pub fn object(path: &Path) -> Result<(), Error> {
    match ForeignUrl::from_name(path.as_os_str().as_bytes()).filter(|_| is_free(path)) {
        Some(url) => {
            Err(Error::usage(format_args!("{}: {}", Escaped::name(path), say::foreign_url(url))))
        }
        None => Ok(()),
    }
}

/// Refuses any URL where only a file will do, unless a file has that name.
pub fn file(path: &Path) -> Result<(), Error> {
    match url::is_url(path.as_os_str().as_bytes()) && is_free(path) {
        true => Err(Error::usage(format_args!(
            "{}: expected a file, found the URL of an object; 'tag', 'check --raw-tag', 'part', 'seal' \
             and 'audit' read objects",
            Escaped::name(path)
        ))),
        false => object(path),
    }
}

/// Whether nothing has the name.
fn is_free(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err()
}
