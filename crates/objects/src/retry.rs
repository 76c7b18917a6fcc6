//! Pauses between retries, and the number of tries.

use std::time::Duration;

use crate::failure::Failure;

/// The number of consecutive tries without progress.
const MAX_TRIES: u32 = 8;
/// A try with at least this many bytes counts as progress.
const PROGRESS: u64 = 64 << 10;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// The longest pause that a store may request.
const MAX_ASKED: Duration = Duration::from_secs(60);

/// The tries at one operation.
pub struct Tries {
    failed: u32,
    /// Bytes since the last pause.
    bytes: u64,
}

impl Tries {
    /// Starts with no failed tries.
    pub fn new() -> Tries {
        Tries { failed: 0, bytes: 0 }
    }

    /// Records that bytes were received.
    pub fn progressed(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Waits before the next try. Returns the failure if a retry would not help or the tries are
    /// used up.
    pub async fn pause(&mut self, failure: Failure) -> Result<(), Failure> {
        let Failure::Passing(what, asked) = failure else { return Err(failure) };
        if self.bytes >= PROGRESS {
            self.failed = 0;
        }
        self.bytes = 0;
        self.failed += 1;
        if self.failed >= MAX_TRIES {
            return Err(Failure::Final(format!("{what} ({MAX_TRIES} tries)")));
        }
        let pause = (FIRST_PAUSE * (1 << self.failed.min(10))).min(MAX_PAUSE);
        // Between half and all of the pause, so that clients that failed together do not retry
        // together.
        let pause = pause.mul_f64(0.5 + 0.5 * random());
        let pause = asked.map_or(pause, |asked| asked.clamp(pause, MAX_ASKED));
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// Returns a random number from 0 to 1; 0.5 if the system has no random numbers.
fn random() -> f64 {
    getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX))
}
