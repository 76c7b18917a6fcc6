//! Times one call with message, key, tables and code in no cache.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::clock::cycles_per_ns;
use crate::engine::{Engine, Role};
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Figure;
use crate::record::{Point, Record, Series};

pub const NAME: &str = "cold";
pub const ABOUT: &str = "one call with the message, the key, its tables and the code evicted from \
                         every cache just before, and the same call right after it";

/// Bytes of the messages.
pub const LENGTHS: [usize; 3] = [16, 64, 1536];

/// The distance of messages, so that fetching one does not fetch another.
const APART: usize = 8192;

/// The minimum of rounds for a figure.
const MIN_ROUNDS: usize = 7;

/// Runs the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "bytes", "cycles");
    let mut engines = harness.best(Role::Any)?;
    harness.begin(NAME, LENGTHS.len(), budget);
    sweep(harness, &mut record, &mut engines)?;
    Ok(record)
}

/// Measures the engines at all lengths. Each length is a step.
pub fn sweep(
    harness: &mut Harness,
    record: &mut Record,
    engines: &mut [Engine],
) -> Result<(), Failure> {
    let first = record.series.len();
    let rounds = if harness.quick { MIN_ROUNDS } else { 21 };
    let cache = harness.machine.caches.iter().max().copied().unwrap_or(32 << 20);
    let mut wall = vec![1u8; 2 * cache];
    let messages = vec![7u8; APART * engines.len()];
    record.series.extend(engines.iter().map(|engine| Series::of(engine, Some("cold"))));
    record.series.extend(engines.iter().map(|engine| Series::of(engine, Some("warm"))));
    for length in LENGTHS {
        for engine in &mut *engines {
            assert!(harness.check(engine, length)?, "no limit is as short as that");
        }
        let mut samples = vec![(Vec::new(), Vec::new()); engines.len()];
        let (start, limit) = (Instant::now(), harness.effort().limit);
        for round in 0..rounds {
            if round >= MIN_ROUNDS && start.elapsed() >= limit {
                break;
            }
            let clock = cycles_per_ns();
            for turn in 0..engines.len() {
                // Rotate the order, so that no engine always follows the same one.
                let at = (turn + round) % engines.len();
                let (engine, message) = (&mut engines[at], &messages[APART * at..][..length]);
                // Evict before each call: the previous call may use the same code.
                evict(&mut wall);
                // Subtract the cost of reading the time.
                let idle = clock * (0..9).map(|_| ns(|| ())).fold(f64::MAX, f64::min);
                let mut call = || clock * ns(|| engine.timed.repeat(message, 1)) - idle;
                samples[at].0.push(call().max(0.0));
                samples[at].1.push(call().max(0.0));
            }
        }
        let count = engines.len();
        for (at, (cold, warm)) in samples.into_iter().enumerate() {
            record.series[first + at].add(Point::new(length, Figure::of(cold)));
            record.series[first + count + at].add(Point::new(length, Figure::of(warm)));
        }
        harness.step(record)?;
    }
    Ok(())
}

/// Returns the nanoseconds of one call.
fn ns(call: impl FnOnce()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_secs_f64() * 1e9
}

/// Evicts everything from the caches: writes twice the largest cache's size, line by line.
fn evict(wall: &mut [u8]) {
    for line in wall.chunks_mut(64) {
        line[0] = line[0].wrapping_add(1);
    }
    black_box(wall);
}
