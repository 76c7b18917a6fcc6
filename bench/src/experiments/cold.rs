//! One call whose message, key, tables and code are in no cache.

use std::hint::black_box;
use std::time::Instant;

use crate::clock::cycles_per_ns;
use crate::lab::{Failure, Lab, bar};
use crate::measure::Figure;
use crate::record::{Point, Record, Series};

pub const NAME: &str = "cold";
pub const ABOUT: &str = "one call with the message, the key and its tables evicted from every \
                         cache, and the same call right after it";

/// Messages lie apart, so that none is fetched along with another.
const APART: usize = 8192;

/// Makes the experiment.
pub fn run(lab: &mut Lab) -> Result<Record, Failure> {
    let mut record = lab.record(NAME, ABOUT, "bytes", "cycles");
    let mut engines = lab.best()?;
    let lengths = [16, 64, 1536];
    let rounds = if lab.quick { 15 } else { 45 };
    let cache = lab.machine.caches.iter().max().copied().unwrap_or(32 << 20);
    let mut wall = vec![1u8; 2 * cache];
    let messages = vec![7u8; APART * engines.len()];
    let mut cold: Vec<Series> = engines.iter().map(|e| Series::of(e, Some("cold"))).collect();
    let mut warm: Vec<Series> = engines.iter().map(|e| Series::of(e, Some("warm"))).collect();
    let bar = bar(lengths.len() * rounds, NAME);
    for length in lengths {
        for engine in &mut engines {
            assert!(lab.check(engine, length)?, "no limit is as short as that");
        }
        let mut samples = vec![(Vec::new(), Vec::new()); engines.len()];
        for _ in 0..rounds {
            evict(&mut wall);
            let clock = cycles_per_ns();
            let idle = clock * (0..9).map(|_| ns(|| ())).fold(f64::MAX, f64::min);
            for (at, engine) in engines.iter_mut().enumerate() {
                let message = &messages[APART * at..][..length];
                let mut call = || clock * ns(|| engine.timed.repeat(message, 1)) - idle;
                samples[at].0.push(call().max(0.0));
                samples[at].1.push(call().max(0.0));
            }
            bar.inc(1);
        }
        for (at, (first, second)) in samples.into_iter().enumerate() {
            cold[at].points.push(Point::new(length, Figure::of(first)));
            warm[at].points.push(Point::new(length, Figure::of(second)));
        }
    }
    bar.finish_and_clear();
    record.series.extend(cold);
    record.series.extend(warm);
    Ok(record)
}

/// Nanoseconds of one call.
fn ns(call: impl FnOnce()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_secs_f64() * 1e9
}

/// Fills the caches with something else: twice the bytes of the largest, written line by line.
fn evict(wall: &mut [u8]) {
    for line in wall.chunks_mut(64) {
        line[0] = line[0].wrapping_add(1);
    }
    black_box(wall);
}
