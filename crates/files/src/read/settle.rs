//! Facts of a file that is about to be read, such that every later write shows in them.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::read::sizes::Sizes;
use crate::read_error::ReadError;

/// How often a file's times may change while it is synced.
const TRIES: usize = 4;
/// The longest step of the clock that files get their times from.
const LONGEST_STEP: Duration = Duration::from_millis(20);
/// That clock.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::RealtimeCoarse;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Realtime;

/// What the system says of a regular file, such that every later write shows in its times.
///
/// A page that a program has mapped and written to takes more writes in silence until it is on disk:
/// so all are put there. And times are those of a clock that goes in steps: so the step of the last
/// change has to be over. What a file system does not keep shows nowhere: tmpfs does not keep the
/// times of mapped writes.
pub fn settled(file: &File) -> Result<Metadata, ReadError> {
    let times = |file: &Metadata| {
        (file.len(), file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec())
    };
    let mut before = file.metadata()?;
    if !Sizes::default().are_true(file, &before) {
        return Err(ReadError::Sizeless);
    }
    for _ in 0..TRIES {
        pass_step(&before);
        match file.sync_data() {
            // Nothing can be written there, or nothing that a sync would have to do with.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput
                        | io::ErrorKind::ReadOnlyFilesystem
                        | io::ErrorKind::Unsupported
                ) => {}
            synced => synced?,
        }
        let now = file.metadata()?;
        if times(&now) == times(&before) {
            return Ok(now);
        }
        // Some file systems set the times when the bytes reach them.
        before = now;
    }
    Err(ReadError::Written)
}

/// Waits until the clock that files get their times from shows another time than the file's last
/// change. A time that is far ahead is another clock's, and not waited for.
fn pass_step(file: &Metadata) {
    let changed = Duration::new(file.ctime().max(0) as u64, file.ctime_nsec() as u32);
    loop {
        let now = clock_gettime(CLOCK);
        let now = Duration::new(now.tv_sec.max(0) as u64, now.tv_nsec as u32);
        if changed < now || changed - now > LONGEST_STEP {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
