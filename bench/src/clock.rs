//! Measures the core's clock, and whether another program slows the core down, in the same run as
//! everything else.

use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Multiplications in the chain; each waits for the previous one.
const CHAIN: u32 = 60_000;
/// Cycles of a 64-bit multiplication: 3 on every x86-64 since 2008, 3 or 4 on aarch64.
const CYCLES: f64 = 3.0;

/// A core, next to the samples that are taken on it.
pub trait Core {
    /// Returns core cycles per nanosecond.
    fn clock(&mut self) -> f64;

    /// Returns the time of a fixed piece of work, as a multiple of the time of a chain next to it.
    /// Unlike the chain the work fills the core, so it takes longer while a neighbour uses the
    /// core's other hardware thread. A virtual machine sees nothing else of that.
    fn work(&mut self) -> f64;

    /// Returns the work's usual time on an undisturbed core, from all works so far and this one.
    fn undisturbed(&mut self, work: f64) -> f64;
}

/// The core that runs this.
pub struct ThisCore;

impl Core for ThisCore {
    fn clock(&mut self) -> f64 {
        cycles_per_ns()
    }

    fn work(&mut self) -> f64 {
        const HASHES: usize = 200;
        let hashes = || {
            let message = [7; 64];
            let start = Instant::now();
            for _ in 0..HASHES {
                let mut hasher = DefaultHasher::new();
                hasher.write(black_box(&message));
                black_box(hasher.finish());
            }
            start.elapsed().as_secs_f64() * 1e9
        };
        // The first run finds the caches as a sample left them.
        let best = |time: &dyn Fn() -> f64| (0..3).map(|_| time()).fold(f64::MAX, f64::min);
        best(&hashes) / best(&|| chain(CHAIN / 20))
    }

    fn undisturbed(&mut self, work: f64) -> f64 {
        static WORKS: Mutex<Works> = Mutex::new(Works { counts: [0; Works::SIZE] });
        WORKS.lock().unwrap_or_else(PoisonError::into_inner).add(work)
    }
}

/// The works of a run of this program, in classes.
struct Works {
    counts: [u32; Works::SIZE],
}

impl Works {
    const SIZE: usize = 1000;
    /// The next class has works that are longer by this share.
    const STEP: f64 = 0.01;
    /// The least possible work.
    const LEAST: f64 = 0.01;
    /// This share of the works seems even shorter than on an undisturbed core, because something
    /// disturbed the chain.
    const SHORTER: u32 = 20;

    /// Adds a work and returns the usual one on an undisturbed core.
    fn add(&mut self, work: f64) -> f64 {
        let class = (work / Works::LEAST).ln() / Works::STEP.ln_1p();
        self.counts[(class.max(0.0) as usize).min(Works::SIZE - 1)] += 1;
        let all: u32 = self.counts.iter().sum();
        let mut shorter = 0;
        let usual = self.counts.iter().position(|count| {
            shorter += count;
            shorter > all / Works::SHORTER
        });
        Works::LEAST * (usual.unwrap_or(0) as f64 * Works::STEP.ln_1p()).exp()
    }
}

/// Returns core cycles per nanosecond, from a chain of dependent multiplications. Takes the best of
/// several tries, because a disturbance can only slow a try down.
pub fn cycles_per_ns() -> f64 {
    let best = (0..9).map(|_| chain(CHAIN)).fold(f64::MAX, f64::min);
    CYCLES * CHAIN as f64 / best
}

/// Returns the nanoseconds of a chain of multiplications. The compiler cannot fold squaring, which
/// has no closed form.
fn chain(length: u32) -> f64 {
    let mut x = black_box(0x9e37_79b9_7f4a_7c15u64);
    let start = Instant::now();
    for _ in 0..length / 10 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_work_is_the_quiet_cores() {
        let mut works = Works { counts: [0; Works::SIZE] };
        let mut usual = 0.0;
        for i in 0..1000 {
            // Few seem too short, and most are disturbed.
            let work = [0.5, 1.6, 1.7, 1.5][if i % 40 == 0 { 0 } else { 1 + i % 3 }];
            usual = works.add(if i % 10 == 1 { 1.0 } else { work });
        }
        assert!((0.98..=1.0).contains(&usual), "{usual}");
    }
}
