//! The lengths at which the code changes its way, with what the records say about each.

use tagmac_figures::bytes;

use super::call_tables::BATCHES;
use super::machine_tables::{Machine, cycles};
use super::markdown::{filled_columns, head, table};

/// The figures that show whether a threshold is at the right length.
enum Evidence {
    /// The cycles of a message of this length, which is the last of the first way, and of one byte
    /// more.
    Step(u64),
    /// The cycles of a message of this length, divided by those in another way: the cases of
    /// both in the experiment of batches.
    Ratio(u64, [&'static str; 2]),
    /// The same for one thread per core and one thread.
    Threads(u64),
}

use Evidence::{Ratio, Step, Threads};

/// A threshold: the engine, its file in `crates/tagmac/src`, the change in words, and what to show.
type Threshold = (&'static str, &'static str, &'static str, Evidence);

const ONE_LENGTH: [&str; 2] = [BATCHES[0].1, BATCHES[0].2];
const MIXED: [&str; 2] = [BATCHES[1].1, BATCHES[1].2];
const KEY_EACH: [&str; 2] = [BATCHES[4].1, BATCHES[4].2];

const THRESHOLDS: [Threshold; 17] = [
    ("PMAC-AES128", "algo/xor.rs", "one block is one cipher call", Step(16)),
    ("PMAC-AES128", "algo/pmac/offsets.rs", "up to 8 blocks need no loop", Step(128)),
    (
        "POLY1305-AES",
        "algo/poly1305/hash.rs",
        "up to 7 whole blocks need no powers of r",
        Step(127),
    ),
    ("UMAC-64", "algo/umac/nh.rs", "whole vectors from 128 bytes", Step(127)),
    ("UMAC-64", "algo/umac/uhash.rs", "one chunk needs no POLY", Step(1024)),
    ("PMAC-AES128", "algo/many/limits.rs", "a batch, up to 32 blocks", Ratio(512, ONE_LENGTH)),
    ("ELIMAC-AES128", "algo/many/limits.rs", "a batch, up to 48 blocks", Ratio(512, ONE_LENGTH)),
    (
        "LIGHTMAC-AES128-S32",
        "algo/many/limits.rs",
        "a batch, up to 48 blocks",
        Ratio(512, ONE_LENGTH),
    ),
    ("POLY1305-AES", "algo/poly1305/many.rs", "a batch, up to 32 blocks", Ratio(512, ONE_LENGTH)),
    ("UMAC-64", "algo/umac/many.rs", "a batch, up to 512 bytes", Ratio(512, ONE_LENGTH)),
    ("UMAC-128", "algo/umac/many.rs", "a batch, up to 512 bytes", Ratio(512, ONE_LENGTH)),
    ("CMAC-AES128", "algo/cmac/many.rs", "a batch of any lengths", Ratio(512, MIXED)),
    ("PMAC-AES128", "algo/many_keys/window.rs", "keys each, to 33 blocks", Ratio(512, KEY_EACH)),
    ("CMAC-AES128", "algo/many_keys/window.rs", "keys each, to 33 blocks", Ratio(512, KEY_EACH)),
    ("UMAC-64", "algo/umac/each.rs", "keys each, to 1,024 bytes", Ratio(512, KEY_EACH)),
    ("PMAC-AES128", "threads.rs", "threads, if they save time", Threads(1 << 18)),
    ("PMAC-AES128", "threads.rs", "threads, if they save time", Threads(1 << 20)),
];

/// Returns a row for each threshold and a column for each machine.
pub fn of_all(machines: &[Machine]) -> String {
    let mut heads = vec!["change".to_string(), "bytes".into()];
    heads.extend(machines.iter().map(Machine::title));
    heads.push("in `crates/tagmac/src`".into());
    let mut rows = vec![head("MAC", heads)];
    for (name, file, what, evidence) in &THRESHOLDS {
        let (Step(length) | Ratio(length, _) | Threads(length)) = evidence;
        let mut row = vec![name.to_string(), what.to_string(), bytes(*length as f64)];
        row.extend(machines.iter().map(|machine| found(machine, name, evidence)));
        if row[3..].iter().all(String::is_empty) {
            continue;
        }
        row.push(format!("`{file}`"));
        rows.push(row);
    }
    table(&filled_columns(&rows))
}

/// Returns what the records of a machine say about an engine's threshold; empty without a record.
fn found(machine: &Machine, name: &str, evidence: &Evidence) -> String {
    let at = |experiment, case, length| {
        machine.best(experiment, name, case).and_then(|series| series.at(length))
    };
    let [before, after] = match evidence {
        Step(last) => [*last, last + 1].map(|length| at("lengths", None, length)),
        Ratio(length, [way, other]) => [other, way].map(|case| at("batch", Some(case), *length)),
        Threads(length) => {
            let Some(record) = machine.record("threads") else { return String::new() };
            let all = format!("{} threads", record.machine.cores);
            ["1 thread", &all].map(|case| at("threads", Some(case), *length))
        }
    };
    let Some((before, after)) = before.zip(after) else { return String::new() };
    match evidence {
        Step(_) => format!("{} to {}", cycles(before), cycles(after)),
        Ratio(..) | Threads(_) => format!("{:.2}", after.median / before.median),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::record::Point;

    #[test]
    fn a_step_has_both_sides_and_a_way_its_ratio() {
        let [many, each] = ONE_LENGTH;
        let ours = [("UMAC-64", "A", many, 40.0), ("UMAC-64", "A", each, 80.0)];
        let mut batch = sample::record("batch", &ours, &[]);
        for series in &mut batch.series {
            series.points[0].0 = 512;
        }
        let mut lengths = sample::record("lengths", &[("UMAC-64", "A", "", 100.0)], &[]);
        let only = &mut lengths.series[0];
        only.case = None;
        only.points = [(127, 100.0), (128, 90.0)].map(|(x, at)| Point(x, at, at, at)).into();
        let rows = of_all(&[Machine::new("some-machine", &[batch, lengths])]);
        let rows: Vec<&str> = rows.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| UMAC-64 | whole vectors from 128 bytes | 127 | 100 to 90 | `algo/umac/nh.rs` |",
                "| UMAC-64 | a batch, up to 512 bytes | 512 | 0.50 | `algo/umac/many.rs` |",
            ]
        );
    }
}
