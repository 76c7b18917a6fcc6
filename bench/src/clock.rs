//! Measures the core's clock, and whether another program slows the core down, in the same run as
//! everything else.

use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Multiplications in the chain; each waits for the previous one.
const CHAIN: u32 = 60_000;
/// Cycles of a 64-bit multiplication: 3 on every x86-64 since 2008, 3 or 4 on aarch64.
const CYCLES: f64 = 3.0;

/// A core, next to the samples that are taken on it.
pub trait Core {
    /// Returns core cycles per nanosecond.
    fn clock(&mut self) -> f64;

    /// Returns the nanoseconds of a fixed piece of work. Unlike the chain of the clock it fills the
    /// core, so it takes longer while a neighbour uses the core's other hardware thread. A virtual
    /// machine sees nothing else of that.
    fn work(&mut self) -> f64;

    /// Returns the lowest of `cycles` and of all earlier calls, for [`Core::work`] on an undisturbed
    /// core.
    fn lowest(&mut self, cycles: f64) -> f64;
}

/// The core that runs this.
pub struct ThisCore;

impl Core for ThisCore {
    fn clock(&mut self) -> f64 {
        cycles_per_ns()
    }

    fn work(&mut self) -> f64 {
        const HASHES: usize = 200;
        let message = [7; 64];
        // The first run finds the caches as a sample left them.
        let runs = (0..2).map(|_| {
            let start = Instant::now();
            for _ in 0..HASHES {
                let mut hasher = DefaultHasher::new();
                hasher.write(black_box(&message));
                black_box(hasher.finish());
            }
            start.elapsed().as_secs_f64() * 1e9
        });
        runs.fold(f64::MAX, f64::min)
    }

    fn lowest(&mut self, cycles: f64) -> f64 {
        /// Bits of positive numbers, which have the order of the numbers.
        static LOWEST: AtomicU64 = AtomicU64::new(u64::MAX >> 1);
        let before = LOWEST.fetch_min(cycles.to_bits(), Ordering::Relaxed);
        cycles.min(f64::from_bits(before))
    }
}

/// Returns core cycles per nanosecond, from a chain of dependent multiplications. Takes the best of
/// several tries, because a disturbance can only slow a try down.
pub fn cycles_per_ns() -> f64 {
    let best = (0..9).map(|_| chain()).fold(f64::MAX, f64::min);
    CYCLES * CHAIN as f64 / best
}

/// Returns the nanoseconds of the chain. The compiler cannot fold squaring, which has no closed
/// form.
fn chain() -> f64 {
    let mut x = black_box(0x9e37_79b9_7f4a_7c15u64);
    let start = Instant::now();
    for _ in 0..CHAIN / 10 {
        for _ in 0..10 {
            x = x.wrapping_mul(x);
        }
    }
    let time = start.elapsed();
    black_box(x);
    time.as_secs_f64() * 1e9
}

/// Returns nanoseconds per call of `f`: the best of `tries` runs of about `run_ns` each.
pub fn best_ns(tries: usize, run_ns: f64, mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    f();
    let mut calls = 1usize;
    let mut once = start.elapsed().as_secs_f64() * 1e9;
    // Double the calls until a run is long enough to time.
    while once * (calls as f64) < run_ns && calls < 1 << 24 {
        calls *= 2;
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        once = start.elapsed().as_secs_f64() * 1e9 / calls as f64;
    }
    let runs = (0..tries).map(|_| {
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        start.elapsed().as_secs_f64() * 1e9 / calls as f64
    });
    runs.fold(once, f64::min)
}
