//! Metadata of a file that is about to be read, such that every later write is visible in it.

use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use crate::read::sizes::Sizes;
use crate::read_error::ReadError;
#[cfg(unix)]
use crate::sys::MetadataExt;
use crate::sys::{self, Metadata};

/// Maximum number of attempts, in case the file's times change during the sync.
const TRIES: usize = 4;
/// Maximum resolution of the clock that sets file times.
const LONGEST_STEP: Duration = Duration::from_millis(20);
/// Returns the metadata of a regular file such that every later write changes its times.
///
/// Two effects could hide a write. A page that was written through a mapping accepts more writes
/// without a change of the times until it is on disk; so the file is synced. And the clock of file
/// times advances in steps; so the step of the last change must be over. tmpfs never updates the
/// times for a write to a mapped page, so there it stays hidden.
pub fn settled(file: &File) -> Result<Metadata, ReadError> {
    let times = |file: &Metadata| {
        (file.len(), file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec())
    };
    let mut before = sys::metadata_of(file)?;
    if !Sizes::default().are_true(file, &before) {
        return Err(ReadError::Sizeless);
    }
    for _ in 0..TRIES {
        pass_step(&before);
        match sys::sync_read(file) {
            // The file is not writable, or its file system has nothing to sync.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput
                        | io::ErrorKind::ReadOnlyFilesystem
                        | io::ErrorKind::Unsupported
                ) => {}
            synced => synced?,
        }
        let now = sys::metadata_of(file)?;
        if times(&now) == times(&before) {
            return Ok(now);
        }
        // Some file systems set the times when the bytes reach them.
        before = now;
    }
    Err(ReadError::Written)
}

/// Waits until the clock of file times has passed the file's last change. A time far in the future
/// comes from another clock and is not waited for.
fn pass_step(file: &Metadata) {
    let changed = Duration::new(file.ctime().max(0) as u64, file.ctime_nsec() as u32);
    loop {
        let now = sys::file_clock();
        if changed < now || changed - now > LONGEST_STEP {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
