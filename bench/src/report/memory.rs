//! The cost of reading, from the record of the ceilings.

use crate::record::Record;

/// Returns the cost of reading a byte; empty if it was not recorded.
pub fn costs(records: &[Record]) -> Vec<(String, f64)> {
    let record = records.iter().find(|record| record.experiment == "ceilings");
    record.map(record_costs).unwrap_or_default()
}

/// Returns the cost of reading a byte from each cache and from memory.
pub fn record_costs(record: &Record) -> Vec<(String, f64)> {
    let points = record.series.first().map_or(&[][..], |series| &series.points);
    let caches = &record.machine.caches;
    // A size well within the cache.
    let cost = |bytes: usize| {
        let within = points.iter().rev().find(|point| point.0 <= bytes as u64);
        within.map(|point| point.1 / point.0 as f64)
    };
    let from_cache = caches.iter().enumerate().skip(1);
    let mut all: Vec<(String, f64)> = from_cache
        .filter_map(|(at, bytes)| {
            Some((format!("reading from cache {}", at + 1), cost(bytes / 2)?))
        })
        .collect();
    all.extend(cost(usize::MAX).map(|cost| ("reading from memory".into(), cost)));
    all
}
