//! A limit on the rate of reading, shared by all threads.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Shorter pauses are saved up, because a thread sleeps longer than it asked for.
const SLACK: Duration = Duration::from_millis(10);

/// A limit in bytes per second.
///
/// A thread reports each piece after it has read it, and waits until the rate allows that piece.
/// So the threads can be ahead by one piece each, and by the bytes of [`SLACK`].
#[derive(Debug)]
pub struct RateLimit {
    per_second: u64,
    start: Instant,
    /// The time from the start at which the rate allows all bytes so far.
    due: Mutex<Duration>,
}

impl RateLimit {
    /// A limit of `per_second` bytes per second, at least 1.
    pub fn new(per_second: u64) -> RateLimit {
        RateLimit {
            per_second: per_second.max(1),
            start: Instant::now(),
            due: Mutex::new(Duration::ZERO),
        }
    }

    /// Counts `bytes` bytes, and waits until the rate allows them.
    pub fn wait(&self, bytes: usize) {
        let pause = self.pause(bytes, self.start.elapsed());
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }

    /// Counts `bytes` bytes at the time `now` from the start. Returns how long to wait.
    fn pause(&self, bytes: usize, now: Duration) -> Duration {
        let takes = Duration::from_secs_f64(bytes as f64 / self.per_second as f64);
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        // An idle time is not made up for.
        *due = (*due).max(now).saturating_add(takes);
        let pause = *due - now;
        if pause < SLACK { Duration::ZERO } else { pause }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// At the end of each wait, the bytes counted so far are at most those of the time and of
        /// the slack; and a thread that only reads is not slower than the rate.
        #[test]
        fn bytes_never_outrun_the_rate(
            rate in 1u64..1 << 40,
            steps in prop::collection::vec((0usize..1 << 24, 0u64..50_000_000), 1..60),
        ) {
            let limit = RateLimit::new(rate);
            let (mut now, mut bytes, mut idle) = (Duration::ZERO, 0u64, Duration::ZERO);
            for (read, spent) in steps {
                now += Duration::from_nanos(spent);
                idle += Duration::from_nanos(spent);
                now += limit.pause(read, now);
                bytes += read as u64;
                let allowed = (now + SLACK).as_secs_f64() * rate as f64;
                prop_assert!(bytes as f64 <= allowed * (1.0 + 1e-6) + 1.0);
                let needed = bytes as f64 / rate as f64;
                prop_assert!(now.as_secs_f64() <= (needed + idle.as_secs_f64()) * (1.0 + 1e-6) + 1e-6);
            }
        }
    }
}
