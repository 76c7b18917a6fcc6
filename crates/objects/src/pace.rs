//! A minimum rate for response bodies.
//!
//! The client gives up connections without a byte for 30 seconds. This detects a store that sends a
//! few bytes now and then, and would occupy a request forever.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};

use crate::failure::Failure;

/// A request fails if it waits for `WINDOW` and receives fewer than `MIN_BYTES`. With 32 concurrent
/// requests that is 70 kbit/s.
const MIN_BYTES: usize = 16 << 10;
const WINDOW: Duration = Duration::from_secs(60);

/// The bytes received and the time waited in the current window.
#[derive(Default)]
pub struct Pace {
    waited: Duration,
    bytes: usize,
}

impl Pace {
    /// Returns the next piece of a body, or a failure if the body is too slow.
    pub async fn next(
        &mut self,
        pieces: &mut (impl Stream<Item = Result<Bytes, Failure>> + Unpin),
    ) -> Option<Result<Bytes, Failure>> {
        let asked = Instant::now();
        let piece = pieces.next().await;
        let Some(Ok(bytes)) = &piece else { return piece };
        match self.check(asked.elapsed(), bytes.len()) {
            Ok(()) => piece,
            Err(failure) => Some(Err(failure)),
        }
    }

    /// Counts a piece of a body.
    fn check(&mut self, waited: Duration, bytes: usize) -> Result<(), Failure> {
        self.waited += waited;
        self.bytes += bytes;
        if self.waited < WINDOW {
            return Ok(());
        }
        let Pace { waited, bytes } = std::mem::take(self);
        if bytes >= MIN_BYTES {
            return Ok(());
        }
        let seconds = waited.as_secs();
        let what = format!("the store sent {bytes} bytes in {seconds} s, which is too slow");
        Err(Failure::Passing(what, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts a body of `count` pieces of `bytes` bytes, each after `seconds` seconds. Returns the
    /// number of pieces before a failure.
    fn taken(bytes: usize, seconds: u64, count: usize) -> (usize, Option<Failure>) {
        let mut pace = Pace::default();
        for taken in 0..count {
            if let Err(failure) = pace.check(Duration::from_secs(seconds), bytes) {
                return (taken, Some(failure));
            }
        }
        (count, None)
    }

    #[test]
    fn a_byte_now_and_then_is_too_slow() {
        let what = "the store sent 3 bytes in 60 s, which is too slow".to_string();
        assert_eq!(taken(1, 20, 1000), (2, Some(Failure::Passing(what, None))));
        let (pieces, failure) = taken(MIN_BYTES / 6 - 1, 10, 1000);
        assert!(pieces == 5 && failure.is_some());
    }

    #[test]
    fn a_slow_network_is_not() {
        assert_eq!(taken(MIN_BYTES / 6 + 1, 10, 10_000), (10_000, None));
        // Bytes count only for the window in which they arrive.
        assert_eq!(taken(1, 1, 59), (59, None));
        assert!(taken(1, 1, 60).1.is_some());
    }
}
