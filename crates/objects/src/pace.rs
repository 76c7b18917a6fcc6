//! A minimum rate for response bodies.
//!
//! The client gives up connections without a byte for 30 seconds. This detects a store that sends a
//! few bytes now and then, and would occupy a request forever.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::time::Instant;

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
        self.waited += asked.elapsed();
        self.bytes += bytes.len();
        if self.waited < WINDOW {
            return piece;
        }
        let Pace { waited, bytes } = std::mem::take(self);
        if bytes >= MIN_BYTES {
            return piece;
        }
        let seconds = waited.as_secs();
        let what = format!("the store sent {bytes} bytes in {seconds} s, which is too slow");
        Some(Err(Failure::Passing(what, None)))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    /// Reads a body of `count` pieces of `bytes` bytes, each after `seconds` seconds. Returns the
    /// number of pieces before a failure.
    async fn taken(bytes: usize, seconds: u64, count: usize) -> (usize, Option<Failure>) {
        let piece = move |number| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            (number < count).then(|| (Ok(Bytes::from(vec![0; bytes])), number + 1))
        };
        let mut pieces = Box::pin(stream::unfold(0, piece));
        let (mut pace, mut taken) = (Pace::default(), 0);
        while let Some(piece) = pace.next(&mut pieces).await {
            match piece {
                Ok(_) => taken += 1,
                Err(failure) => return (taken, Some(failure)),
            }
        }
        (taken, None)
    }

    #[tokio::test(start_paused = true)]
    async fn a_byte_now_and_then_is_too_slow() {
        let what = "the store sent 3 bytes in 60 s, which is too slow".to_string();
        assert_eq!(taken(1, 20, 1000).await, (2, Some(Failure::Passing(what, None))));
        let (pieces, failure) = taken(MIN_BYTES / 6 - 1, 10, 1000).await;
        assert!(pieces == 5 && failure.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_network_is_not() {
        assert_eq!(taken(MIN_BYTES / 6 + 1, 10, 10_000).await, (10_000, None));
        // Bytes count only for the window in which they arrive.
        assert_eq!(taken(1, 1, 59).await, (59, None));
        assert!(taken(1, 1, 60).await.1.is_some());
    }
}
