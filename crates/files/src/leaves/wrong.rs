//! The count of wrong reads of a manifest's contents, and its limit.

use std::sync::atomic::{AtomicU64, Ordering};

use tagmac_any::Algorithm;
use tagmac_any::bounds::Theorem;

use crate::error::Error;
use crate::manifest::ManifestError;

/// The probability that a reader accepts a wrong leaf within the limit.
const PROBABILITY: f64 = 1.0 / (1u64 << 32) as f64;
/// The limit holds for contents of this length in bytes; a lower one for longer contents.
const USUAL_LENGTH: u64 = 1 << 20;

/// Counts the wrong leaves that the readers of one open manifest have rejected.
pub(crate) struct WrongReads {
    /// The name of the manifest in messages.
    manifest: String,
    algorithm: Algorithm,
    /// The size of the longest content, or more.
    longest: AtomicU64,
    max: AtomicU64,
    count: AtomicU64,
}

impl WrongReads {
    /// Starts the count.
    pub fn new(manifest: String, algorithm: Algorithm) -> WrongReads {
        let (longest, max) = (USUAL_LENGTH.into(), max(algorithm, USUAL_LENGTH).into());
        WrongReads { manifest, algorithm, longest, max, count: AtomicU64::new(0) }
    }

    /// Lowers the limit to that of contents of `size` bytes.
    pub fn open(&self, size: u64) {
        if self.longest.fetch_max(size, Ordering::Relaxed) < size {
            self.max.fetch_min(max(self.algorithm, size), Ordering::Relaxed);
        }
    }

    /// Counts a wrong leaf.
    pub fn add(&self) {
        // A count that wraps would forget the wrong leaves.
        let more = |count: u64| count.checked_add(1);
        let _ = self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// Fails if there were more wrong leaves than the limit. Each thread that reads at the same time
    /// may have one more.
    pub fn check(&self) -> Result<(), Error> {
        let max = self.max.load(Ordering::Relaxed);
        if self.count.load(Ordering::Relaxed) <= max {
            return Ok(());
        }
        Err(ManifestError::WrongReads { manifest: self.manifest.clone(), max }.into())
    }
}

/// Returns the limit for contents of `length` bytes.
fn max(algorithm: Algorithm, length: u64) -> u64 {
    let reads =
        |theorem: Theorem| theorem.reads(length.min(theorem.limit()), PROBABILITY).unwrap_or(0);
    // Without a theorem there is no limit.
    let reads = algorithm.theorem().map_or(u128::MAX, reads);
    reads.try_into().unwrap_or(u64::MAX)
}
