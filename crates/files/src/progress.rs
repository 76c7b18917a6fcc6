//! How far a piece of work is.

use crate::error::Error;
use crate::read_error::ReadError;

/// What there is to do, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// Files, or entries of a tree.
    pub files: Option<u64>,
    /// Bytes of files.
    pub bytes: Option<u64>,
}

impl Total {
    /// Nothing.
    pub const NONE: Total = Total { files: Some(0), bytes: Some(0) };
    /// Nobody knows.
    pub const UNKNOWN: Total = Total { files: None, bytes: None };

    /// One file of `bytes` bytes, if its size is known.
    pub fn one(bytes: Option<u64>) -> Total {
        Total { files: Some(1), bytes }
    }

    /// Both together.
    pub fn and(self, other: Total) -> Total {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        Total { files: sum(self.files, other.files), bytes: sum(self.bytes, other.bytes) }
    }
}

/// Hears how far a piece of work is, from all its threads.
pub trait Progress: Sync {
    /// `bytes` more bytes are done.
    fn add(&self, bytes: usize);

    /// `bytes` bytes were done before: they count for the place, not for the rate.
    fn skip(&self, bytes: u64);

    /// One more file is done.
    fn file(&self);

    /// Whether the work is to end, without a result: it does soon after this says so, and leaves what
    /// it was about to write or replace as it was. An edit that writes to a file is not stopped in
    /// its middle. The thread that was asked for the work asks this too, every now and then.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// [`ReadError::Stopped`] if the work is to end.
pub fn stopped(progress: &dyn Progress) -> Result<(), Error> {
    if progress.is_stopped() { Err(Error::io(ReadError::Stopped)) } else { Ok(()) }
}

/// Shows the phases of a piece of work, one after the other.
pub trait Phases {
    /// Starts a phase, a word for what is done: `hashing`. It ends when it is dropped.
    fn start(&self, phase: &'static str, total: Total) -> Box<dyn Progress>;
}

/// For work whose progress nobody asks for.
impl Phases for () {
    fn start(&self, _: &'static str, _: Total) -> Box<dyn Progress> {
        Box::new(())
    }
}

/// For work whose progress nobody asks for.
impl Progress for () {
    fn add(&self, _: usize) {}

    fn skip(&self, _: u64) {}

    fn file(&self) {}
}
