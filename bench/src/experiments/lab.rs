//! Measures the papers' comparators for the tables of `tagmac-lab`.

use std::time::Duration;

use super::cold;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Job;
use crate::record::{LAB, Record};

pub const ABOUT: &str = "what the papers compare with, and our MACs, for the tables of tagmac-lab: \
                         the key ready, a new key, verification from the raw key, and in no cache";

/// The lengths of the papers' tables, and some between them.
const LENGTHS: [usize; 13] =
    [16, 64, 128, 256, 512, 1024, 1536, 2048, 4096, 8192, 16 << 10, 32 << 10, 64 << 10];
/// The lengths at which key set-up still matters.
const KEYED: [usize; 6] = [16, 64, 128, 256, 1024, 1536];

/// Runs the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(LAB, ABOUT, "bytes", "cycles");
    let mut engines = harness.lab();
    harness.begin(LAB, LENGTHS.len() + 2 * KEYED.len() + cold::LENGTHS.len(), budget);
    let mut sweep = |harness: &mut Harness, record: &mut Record, case, xs: &[usize], job: Make| {
        harness.sweep(record, &mut engines, case, (xs, xs.len()), |x| x, job)
    };
    sweep(harness, &mut record, None, &LENGTHS, |engine, harness, x| {
        Box::new(move |calls| engine.timed.repeat(harness.message(0, x), calls))
    })?;
    sweep(harness, &mut record, Some("new key"), &KEYED, |engine, harness, x| {
        Box::new(move |calls| engine.timed.rekey(harness.message(0, x), calls))
    })?;
    sweep(harness, &mut record, Some("raw key, good tag"), &KEYED, |engine, harness, x| {
        let message = harness.message(0, x);
        let tag = engine.timed.tag(message);
        Box::new(move |calls| assert!(engine.timed.verify_raw(message, &tag, calls)))
    })?;
    cold::sweep(harness, &mut record, &mut engines)?;
    Ok(record)
}

/// Makes the job to time.
type Make = for<'a> fn(&'a mut Engine, &'a Harness, usize) -> Job<'a>;
