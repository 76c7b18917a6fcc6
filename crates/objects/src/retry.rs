//! How long to wait for a store that has no answer now, and when to give up.

use std::time::Duration;

use crate::failure::Failure;

/// Answers in a row that bring nothing, or next to nothing.
const MAX_TRIES: u32 = 8;
/// So many bytes are something.
const PROGRESS: u64 = 64 << 10;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// The longest pause that a store may ask for.
const MAX_ASKED: Duration = Duration::from_secs(60);

/// The tries at one thing.
pub struct Tries {
    failed: u32,
    /// Bytes since the last pause.
    bytes: u64,
}

impl Tries {
    /// None yet.
    pub fn new() -> Tries {
        Tries { failed: 0, bytes: 0 }
    }

    /// Notes that bytes came.
    pub fn progressed(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Waits before another try; or the failure, if it is not one that passes or there were enough.
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
        // Between a half and the whole, so that clients that failed together do not come together.
        let pause = pause.mul_f64(0.5 + 0.5 * random());
        let pause = asked.map_or(pause, |asked| asked.clamp(pause, MAX_ASKED));
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// From 0 to 1; the middle where no random numbers can be had.
fn random() -> f64 {
    getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX))
}
