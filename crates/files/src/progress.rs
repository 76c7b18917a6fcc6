//! Progress reports.

use crate::error::Error;
use crate::read_error::ReadError;

/// The amount of work, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// The number of files, or of entries of a tree.
    pub files: Option<u64>,
    /// The sum of the file sizes in bytes.
    pub bytes: Option<u64>,
}

impl Total {
    /// No work.
    pub const NONE: Total = Total { files: Some(0), bytes: Some(0) };
    /// An unknown amount of work.
    pub const UNKNOWN: Total = Total { files: None, bytes: None };

    /// One file of `bytes` bytes, if its size is known.
    pub fn one(bytes: Option<u64>) -> Total {
        Total { files: Some(1), bytes }
    }

    /// Returns the sum of both.
    pub fn and(self, other: Total) -> Total {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        Total { files: sum(self.files, other.files), bytes: sum(self.bytes, other.bytes) }
    }
}

/// Receives the progress of an operation, from all its threads.
pub trait Progress: Sync {
    /// Counts `bytes` more bytes as done.
    fn add(&self, bytes: usize);

    /// Counts `bytes` bytes as done before: they count for the position but not for the rate.
    fn skip(&self, bytes: u64);

    /// Counts one more file as done.
    fn file(&self);

    /// Returns whether the operation should stop without a result. It then stops soon, and files
    /// that it was about to write or replace are unchanged. An edit of a file is completed first.
    /// The calling thread also calls this regularly.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Returns [`ReadError::Stopped`] if the operation should stop.
pub fn stopped(progress: &dyn Progress) -> Result<(), Error> {
    if progress.is_stopped() { Err(Error::io(ReadError::Stopped)) } else { Ok(()) }
}

/// Shows the phases of an operation in sequence.
pub trait Phases {
    /// Starts a phase, named by the activity, such as `hashing`. Dropping the result ends it.
    fn start(&self, phase: &'static str, total: Total) -> Box<dyn Progress>;
}

/// Shows nothing.
impl Phases for () {
    fn start(&self, _: &'static str, _: Total) -> Box<dyn Progress> {
        Box::new(())
    }
}

/// Ignores the progress.
impl Progress for () {
    fn add(&self, _: usize) {}

    fn skip(&self, _: u64) {}

    fn file(&self) {}
}
