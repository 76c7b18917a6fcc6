//! Access checks for key files, which Windows does not need in this form: a file has the access rights
//! of its directory, and those of a user's directories admit only that user and administrators. Access
//! control lists are not examined.

use std::fmt;
use std::path::Path;

use crate::sys::Metadata;

/// The reason why a key file is refused. Windows refuses none.
#[derive(Debug)]
pub enum AccessError {}

impl AccessError {
    /// Returns whether the only problem is another owner.
    pub fn is_other_owner(&self) -> bool {
        match *self {}
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for AccessError {}

/// Warns of nothing.
pub fn warn_of_readers(_: &Path, _: &Metadata) {}

/// Accepts every file.
pub fn check_owner(_: &Path, _: &Metadata) -> Result<(), AccessError> {
    Ok(())
}
