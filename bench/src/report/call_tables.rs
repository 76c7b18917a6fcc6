//! The tables of a machine for the calls of an application: an overview of all calls, a packet's
//! sender, and a batch.

use tagmac_figures::bytes;

use super::machine_tables::{Machine, NOT_RECORDED, all_xs, cycles, filled, names};
use super::markdown::{head, table};
use crate::record::Record;

/// The case of a packet's sender.
pub const SENDER: &str = "nonce and tag";

/// The ways to tag or to verify a batch: a name, the case in one call, and the case in single
/// calls.
pub const BATCHES: [(&str, &str, &str); 5] = [
    ("one length", "in one call", "one by one"),
    ("lengths up to twice that", "mixed lengths, in one call", "mixed lengths, one by one"),
    ("one length, checked", "checked in one call", "checked one by one"),
    (
        "lengths up to twice that, checked",
        "mixed lengths, checked in one call",
        "mixed lengths, checked one by one",
    ),
    ("one length, a key each", "a key each, in one call", "a key each, one by one"),
];

/// Bytes of the message in [`Machine::calls`].
const LENGTH: u64 = 64;

/// A column of [`Machine::calls`]: its heading, the experiment, and the possible cases. An engine
/// has one of them.
const COLUMNS: [(&str, &str, &[&str]); 8] = [
    ("back to back", "short", &["back to back"]),
    ("chained", "short", &["chained"]),
    ("new key", "keys", &["new key"]),
    ("session", "session", &[SENDER]),
    ("checked", "verify", &["key ready, good tag"]),
    ("checked from the raw key", "verify", &["raw key, good tag"]),
    ("of a batch", "batch", &["in one call", "one by one"]),
    ("cold", "cold", &["cold"]),
];

impl Machine<'_> {
    /// Returns a row for each engine with a column for each call; empty for a record made before
    /// the experiment `session` existed.
    pub(super) fn calls(&self) -> String {
        if self.record("session").is_none() {
            return String::new();
        }
        let columns = COLUMNS.into_iter().filter(|column| self.record(column.1).is_some());
        let columns: Vec<_> = columns.collect();
        let title = format!("{LENGTH} bytes, cycles");
        let mut rows = vec![head(&title, columns.iter().map(|column| column.0.into()))];
        let mut all: Vec<&str> = Vec::new();
        for record in columns.iter().filter_map(|column| self.record(column.1)) {
            let new = names(record).into_iter().filter(|name| !all.contains(name));
            all.extend(new.collect::<Vec<_>>());
        }
        for name in all {
            let mut row = vec![name.to_string()];
            row.extend(columns.iter().map(|(_, experiment, cases)| {
                let series = cases.iter().find_map(|case| self.best(experiment, name, Some(*case)));
                series.and_then(|series| series.at(LENGTH)).map_or(String::new(), cycles)
            }));
            rows.extend(filled(row));
        }
        table(&rows)
    }

    pub(super) fn session(&self) -> String {
        let Some(record) = self.record("session") else { return String::new() };
        let columns = all_xs(record).into_iter().map(|x| (Some(SENDER), x, bytes(x as f64)));
        self.engines("session", "cycles of a packet", columns)
    }

    /// The cycles of each way, and the difference to the first one, the bare call.
    pub(super) fn ways(&self) -> String {
        let Some(record) = self.record("ways") else { return NOT_RECORDED.into() };
        let xs = all_xs(record);
        let mut rows = vec![head("cycles", xs.iter().map(|x| format!("{x} B")))];
        let Some(bare) = record.series.first() else { return NOT_RECORDED.into() };
        for series in &record.series {
            let mut row = vec![series.name.clone()];
            row.extend(xs.iter().map(|x| match series.at(*x).zip(bare.at(*x)) {
                Some((way, bare)) if way != bare => {
                    format!("{} ({:+.0})", cycles(way), way.median - bare.median)
                }
                both => both.map_or(String::new(), |(way, _)| cycles(way)),
            }));
            rows.push(row);
        }
        table(&rows)
    }

    pub(super) fn batch(&self) -> String {
        let Some(record) = self.record("batch") else { return NOT_RECORDED.into() };
        let xs = all_xs(record);
        let heads = xs.iter().map(|x| format!("{x} B"));
        let mut rows =
            vec![head("cycles per message: in a batch / in single calls (ratio)", heads)];
        for name in names(record) {
            for (what, many, each) in BATCHES {
                let (many, each) =
                    (self.best("batch", name, Some(many)), self.best("batch", name, Some(each)));
                let mut row = vec![format!("{name}, {what}")];
                row.extend(xs.iter().map(|x| {
                    let both = many.and_then(|m| m.at(*x)).zip(each.and_then(|e| e.at(*x)));
                    both.map_or(String::new(), |(many, each)| {
                        let ratio = many.median / each.median;
                        format!("{} / {} ({ratio:.2})", cycles(many), cycles(each))
                    })
                }));
                rows.extend(filled(row));
            }
        }
        let peers = self.batches_of_peers(record, &xs);
        [table(&rows)].into_iter().chain(peers).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns other libraries' single calls on messages of one length, if the record has them.
    fn batches_of_peers(&self, record: &Record, xs: &[u64]) -> Option<String> {
        let mut peers: Vec<&str> = Vec::new();
        for series in record.best().filter(|series| !series.is_ours()) {
            if !peers.contains(&&*series.name) {
                peers.push(&series.name);
            }
        }
        let cases = [
            ("tagged", "one by one"),
            ("checked", "checked one by one"),
            ("a key each", "a key each, one by one"),
        ];
        let columns = cases.map(|(what, case)| xs.iter().map(move |x| (what, case, *x)));
        let columns: Vec<_> = columns.into_iter().flatten().collect();
        let heads = columns.iter().map(|(what, _, x)| format!("{what}, {x} B"));
        let mut rows = vec![head("other libraries, one by one, cycles of one", heads)];
        for name in peers {
            let mut row = vec![name.to_string()];
            row.extend(columns.iter().map(|(_, case, x)| {
                let series = self.best("batch", name, Some(case));
                series.and_then(|series| series.at(*x)).map_or(String::new(), cycles)
            }));
            rows.push(row);
        }
        (rows.len() > 1).then(|| table(&rows))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn calls_stand_side_by_side_once_there_are_sessions() {
        let of = |case| [("PMAC-AES128", "PMAC-AES128", case, 10.0)];
        let peer = |case| [("a hash", "HASH", case, 20.0)];
        let each = ("PMAC-AES128", "PMAC-AES128", "one by one", 40.0);
        let batch = [of("in one call")[0], each];
        let records = [
            sample::record("short", &of("chained"), &peer("chained")),
            sample::record("session", &of(SENDER), &[]),
            sample::record("batch", &batch, &peer("one by one")),
        ];
        let machine = Machine::new("some-machine", &records);
        let calls = machine.calls();
        let rows: Vec<&str> = calls.lines().collect();
        assert_eq!(
            rows,
            [
                "| 64 bytes, cycles | back to back | chained | session | of a batch |",
                "|---|---|---|---|---|",
                "| PMAC-AES128 |  | 10 | 10 | 10 |",
                "| a hash |  | 20 |  | 20 |",
            ]
        );
        let batch = machine.batch();
        assert!(batch.contains("\n| PMAC-AES128, one length | 10 / 40 (0.25) |\n\n"), "{batch}");
        assert!(batch.ends_with("\n| a hash | 20 |  |  |"), "{batch}");
        let older = [records[0].clone()];
        let older = Machine::new("some-machine", &older);
        assert_eq!([older.calls(), older.session()], ["", ""]);
    }
}
