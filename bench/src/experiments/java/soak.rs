//! Runs the program Soak of java/bench, which fails if a tag is wrong, and records its memory.

use std::process::Command;
use std::time::Duration;

use super::{build, classes, lines};
use crate::experiments::programs::series;
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Figure;
use crate::record::{Point, Record, SOAK};

pub const ABOUT: &str = "the memory of a JVM that uses everything for a long time: needs Maven";

/// The number of figures.
const INTERVALS: usize = 60;
/// In MiB. It is all in use from the start, so that only native memory can grow.
const HEAP: usize = 256;

/// Runs the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(SOAK, ABOUT, "seconds", "MiB resident");
    record.missing.clear();
    harness.begin(SOAK, INTERVALS + 1, budget);
    build()?;
    harness.step(&record)?;
    let seconds = (budget.as_secs() / INTERVALS as u64).max(1);
    let case = format!("4 threads, a heap of {HEAP} MiB");
    let mut java = Command::new("java");
    java.args([&format!("-Xms{HEAP}m"), &format!("-Xmx{HEAP}m"), "-XX:+AlwaysPreTouch"]);
    java.args(["-cp", &classes()?, "org.tagmac.bench.Soak"]);
    java.args([INTERVALS.to_string(), seconds.to_string()]);
    let mut at = 0;
    let mut rounds = 0;
    lines(&mut java, |line| {
        let numbers: Vec<u64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [sum, kib] = numbers[..] else { return Err(format!("Soak: found '{line}'").into()) };
        if sum <= rounds {
            return Err("Soak: no round in an interval".into());
        }
        rounds = sum;
        at += seconds as usize;
        let mib = kib as f64 / 1024.0;
        let point = Point::new(at, Figure { median: mib, low: mib, high: mib });
        match record.series.first_mut() {
            Some(series) => series.points.push(point),
            None => record.series.push(series("memory", "", &case, point)),
        }
        harness.step(&record)
    })?;
    if let Some(series) = record.series.first_mut() {
        series.case = Some(format!("{case}, {rounds} rounds of calls"));
    }
    Ok(record)
}
