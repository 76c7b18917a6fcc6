//! Errors of saving and opening sums.

use core::fmt;

use crate::error::{Error, FOREIGN_PART, holds_mac_error};

/// An error of saving a state or of opening a saved one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaveError {
    /// The sealed data was altered, or was sealed under another key or for another purpose.
    Seal,
    /// The sealed data is authentic, but of another kind than this function opens.
    Saved {
        /// The expected kind.
        expected: &'static str,
    },
    /// Memory for the sealed data is exhausted.
    NoMemory,
    /// The MAC's state within a message cannot be saved.
    NoSavedState,
    /// A part is of another kind of MAC, or was made under another key.
    ForeignPart,
    /// An error of the MAC.
    Mac(Error),
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Seal => f.write_str(
                "the sealed data was altered, or was sealed under another key or for another purpose",
            ),
            SaveError::Saved { expected } => {
                write!(f, "the sealed data is not {expected}")
            }
            SaveError::NoMemory => f.write_str("not enough memory to open the sealed data"),
            SaveError::NoSavedState => f.write_str("this MAC's state cannot be saved"),
            SaveError::ForeignPart => f.write_str(FOREIGN_PART),
            SaveError::Mac(error) => error.fmt(f),
        }
    }
}

holds_mac_error!(SaveError);
