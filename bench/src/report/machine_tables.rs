//! The tables of one machine, made from its records.

use std::collections::BTreeMap;

use tagmac_figures::{bytes, number};

use super::age::Present;
use super::markdown::{filled_columns, flagged, head, table};
use super::memory;
use crate::measure::Figure;
use crate::record::{Record, Series};

/// The text in place of a table without a record.
pub const NOT_RECORDED: &str = "This machine has no record of the present code.";

/// The lengths in the tables.
pub const LENGTHS: [u64; 8] = [16, 64, 256, 1024, 1536, 4096, 16 << 10, 1 << 20];

/// The engines that have one row each.
pub const MAIN: [&str; 12] = [
    "PMAC-AES128",
    "PMAC-AES256",
    "LIGHTMAC-AES128-S16",
    "LIGHTMAC-AES128-S32",
    "LIGHTMAC-AES128-S64",
    "ELIMAC-AES128",
    "ELIMAC-AES128, cached",
    "CMAC-AES128",
    "UMAC-32",
    "UMAC-64",
    "UMAC-128",
    "POLY1305-AES",
];

/// The records of one machine.
pub struct Machine<'a> {
    /// The name of the folder: `amd-epyc-zen4`.
    pub id: &'a str,
    records: BTreeMap<&'a str, &'a Record>,
    /// The calls whose figures were left out because their code is newer.
    pub left_out: &'a [&'static str],
}

impl<'a> Machine<'a> {
    /// Wraps the records of the folder `id`.
    pub fn new(id: &'a str, records: &'a [Record]) -> Machine<'a> {
        let by_name = |record: &'a Record| (record.experiment.as_str(), record);
        Machine { id, records: records.iter().map(by_name).collect(), left_out: &[] }
    }

    /// Wraps the records of the present code of the folder `id`.
    pub fn present(id: &'a str, present: &'a Present) -> Machine<'a> {
        Machine { left_out: &present.left_out, ..Machine::new(id, &present.records) }
    }

    /// Returns the name for a heading: `AMD EPYC Zen 4`.
    pub fn title(&self) -> String {
        let word = |word: &str| match word.strip_prefix("zen") {
            Some(number) if !number.is_empty() => format!("Zen {number}"),
            _ if word.len() <= 4 => word.to_uppercase(),
            _ => word[..1].to_uppercase() + &word[1..],
        };
        self.id.split('-').map(word).collect::<Vec<_>>().join(" ")
    }

    /// Returns the record of an experiment.
    pub fn record(&self, experiment: &str) -> Option<&'a Record> {
        self.records.get(experiment).copied()
    }

    /// Returns all records.
    pub fn records(&self) -> impl Iterator<Item = &'a Record> {
        self.records.values().copied()
    }

    /// Returns the series of an engine on the best level, or of a peer.
    pub fn best(&self, experiment: &str, name: &str, case: Option<&str>) -> Option<&'a Series> {
        let mut best = self.record(experiment)?.best();
        best.find(|series| series.name == name && series.case.as_deref() == case)
    }

    /// Returns the table called `name`.
    pub fn table(&self, name: &str) -> Option<String> {
        Some(match name {
            "about" => self.about(),
            "lengths" => self.by_length(&MAIN),
            "parameters" => self.by_length(&[
                "PMAC-PRESENT80",
                "LIGHTMAC-PRESENT80-S16",
                "PMAC-RC6",
                "UMAC99-STD-30",
                "UMAC99-STD-60",
                "UMAC99-MMX-15",
                "UMAC99-MMX-30",
                "UMAC99-MMX-60",
            ]),
            "peers" => self.peers(),
            "levels" => self.levels(),
            "ceilings" => self.ceilings(),
            "short" => {
                let columns = ["chained", "back to back"]
                    .map(|case| [16, 64].map(|x| (Some(case), x, format!("{case}, {x} B"))));
                self.engines("short", "cycles per message", columns.into_iter().flatten())
            }
            "calls" => self.calls(),
            "session" => self.session(),
            "keys" => self.keys(),
            "verify" => self.verify(),
            "cold" => {
                let columns = ["cold", "warm"]
                    .map(|case| [16, 64, 1536].map(|x| (Some(case), x, format!("{case}, {x} B"))));
                self.engines("cold", "cycles", columns.into_iter().flatten())
            }
            "unaligned" => self.unaligned(),
            "agility" => {
                let record = self.record("agility");
                let xs = record.map(all_xs).unwrap_or_default();
                let plural = |x: u64| if x == 1 { "" } else { "s" };
                let columns = xs.into_iter().map(|x| (None, x, format!("{x} key{}", plural(x))));
                self.engines("agility", "64 bytes, cycles", columns)
            }
            "batch" => self.batch(),
            "threads" => self.threads(),
            "command" => self.command(),
            "tree" => self.tree(),
            "reads" => self.reads(),
            "ways" => self.ways(),
            "java" => self.java(),
            "spark" => self.spark(),
            "soak" => self.soak(),
            _ => return None,
        })
    }

    /// Describes the machine, the extent of its records, and the share of noisy figures.
    fn about(&self) -> String {
        let Some(first) = self.record("sizes").or(self.records().next()) else {
            return NOT_RECORDED.into();
        };
        let all = || self.records().flat_map(|record| &record.series);
        let figures = || all().flat_map(|series| &series.points).map(|point| point.figure());
        let noisy = figures().filter(Figure::is_noisy).count() * 100 / figures().count().max(1);
        let mut text = format!(
            "Measured on {}. In {noisy} % of the figures the quartiles are more than 6 % apart.",
            first.machine.line()
        );
        if !first.machine.commit.is_empty() {
            text += &format!(" The long messages are of the commit {}.", first.machine.commit);
        }
        let count = |experiment: &str| self.record(experiment).map_or(0, |r| all_xs(r).len());
        let keys = self.record("agility").and_then(|record| all_xs(record).last().copied());
        text += &format!(
            " The record has {} lengths from 0 to 8192 bytes of {} engines, {} offsets of 64, and \
             up to {} keys in turn.",
            count("lengths"),
            self.record("lengths").map_or(0, |record| record.series.len()),
            count("unaligned"),
            keys.unwrap_or(0),
        );
        let mut missing: Vec<&str> =
            self.records().flat_map(|r| &r.missing).map(|m| &**m).collect();
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            text += &format!(" Left out: {}.", missing.join("; "));
        }
        text += &self.code_is_newer();
        text
    }

    /// Describes where and when it was measured, and which calls are left out.
    pub fn measured(&self) -> String {
        let Some(first) = self.record("sizes").or(self.records().next()) else {
            return NOT_RECORDED.into();
        };
        let dates = || self.records().map(|record| &record.machine.date);
        let days = match (dates().min(), dates().max()) {
            (Some(since), Some(until)) if since != until => {
                format!(" The records are of {since} to {until}; these are the long messages'.")
            }
            _ => String::new(),
        };
        format!("Measured on {}.{days}{}", first.machine.line(), self.code_is_newer())
    }

    fn code_is_newer(&self) -> String {
        if self.left_out.is_empty() {
            return String::new();
        }
        format!(
            " The code of these calls is newer than the record, so their figures are left out: {}.",
            self.left_out.join(", ")
        )
    }

    fn per_byte(series: Option<&Series>, length: u64) -> String {
        let figure = series.and_then(|series| series.at(length));
        figure
            .map_or(String::new(), |figure| flagged(number(figure.median / length as f64), figure))
    }

    fn by_length(&self, names: &[&str]) -> String {
        if self.record("sizes").is_none() {
            return NOT_RECORDED.into();
        }
        let mut rows = vec![head("cycles per byte", LENGTHS.map(|n| bytes(n as f64)))];
        rows[0].extend(["ceiling".into(), "share".into()]);
        for name in names {
            let series = self.best("sizes", name, None);
            let mut row = vec![name.to_string()];
            row.extend(LENGTHS.map(|length| Self::per_byte(series, length)));
            let found = series.and_then(|series| Some((series.ceiling?, series.at(16384)?)));
            match found {
                Some((ceiling, found)) => {
                    let share = ceiling / (found.median / 16384.0);
                    row.extend([number(ceiling), format!("{share:.2}")]);
                }
                None => row.extend([String::new(), String::new()]),
            }
            rows.extend(filled(row));
        }
        table(&rows)
    }

    fn peers(&self) -> String {
        let Some(record) = self.record("sizes") else { return NOT_RECORDED.into() };
        let mut rows = vec![head("cycles per byte", LENGTHS.map(|n| bytes(n as f64)))];
        rows[0].push("version".into());
        for series in record.best().filter(|series| !series.is_ours()) {
            let mut row = vec![series.name.clone()];
            row.extend(LENGTHS.map(|length| Self::per_byte(Some(series), length)));
            row.push(series.library.clone());
            rows.push(row);
        }
        table(&rows)
    }

    fn levels(&self) -> String {
        let Some(sizes) = self.record("sizes") else { return NOT_RECORDED.into() };
        let levels = &sizes.machine.levels;
        let mut rows = vec![head("16 KiB, cycles per byte (share)", levels.iter().cloned())];
        for name in MAIN {
            let mut row = vec![name.to_string()];
            for level in levels {
                let series = sizes
                    .series
                    .iter()
                    .find(|series| series.name == name && series.level.as_ref() == Some(level));
                let cell = series.and_then(|series| Some((series.ceiling, series.at(16384)?)));
                row.push(cell.map_or(String::new(), |(ceiling, figure)| {
                    let found = figure.median / 16384.0;
                    let share = ceiling.map(|ceiling| format!(" ({:.2})", ceiling / found));
                    flagged(number(found), figure) + &share.unwrap_or_default()
                }));
            }
            rows.extend(filled(row));
        }
        table(&rows)
    }

    fn ceilings(&self) -> String {
        let Some(record) = self.record("ceilings") else { return NOT_RECORDED.into() };
        let mut names = vec!["AES round", "32-bit products", "52-bit half products"];
        // Records made before CMAC do not have it.
        let chained = "AES round, chained";
        if record.series.iter().any(|series| series.name == chained) {
            names.insert(1, chained);
        }
        let mut rows =
            vec![head("cycles per 16 bytes of vector", names.iter().map(ToString::to_string))];
        for level in &record.machine.levels {
            let mut row = vec![level.clone()];
            row.extend(names.iter().map(|name| {
                let mut all = record.series.iter();
                let found = all.find(|s| s.name == *name && s.level.as_ref() == Some(level));
                let figure = found.and_then(|series| series.at(16));
                figure.map_or(String::new(), |figure| number(figure.median))
            }));
            rows.push(row);
        }
        let memory = memory::record_costs(record);
        let memory =
            memory.iter().map(|(name, cycles)| format!("{name} costs {}", number(*cycles)));
        let memory = memory.collect::<Vec<_>>().join(", ");
        format!("{}\n\nIn cycles per byte, {memory}.", table(&rows))
    }

    /// Returns a row for each engine except UMAC 1999's, with a column for each case and x.
    pub(super) fn engines(
        &self,
        experiment: &str,
        unit: &str,
        columns: impl IntoIterator<Item = (Option<&'static str>, u64, String)>,
    ) -> String {
        let Some(record) = self.record(experiment) else { return NOT_RECORDED.into() };
        let columns: Vec<_> = columns.into_iter().collect();
        let mut rows = vec![head(unit, columns.iter().map(|(_, _, name)| name.clone()))];
        for name in names(record) {
            let mut row = vec![name.to_string()];
            row.extend(columns.iter().map(|(case, x, _)| {
                let figure = self.best(experiment, name, *case).and_then(|series| series.at(*x));
                figure.map_or(String::new(), cycles)
            }));
            rows.push(row);
        }
        table(&filled_columns(&rows))
    }

    fn keys(&self) -> String {
        let is_new = |series: &Series| series.case.as_deref() == Some("new key");
        let record = self.record("keys").filter(|record| record.series.iter().any(is_new));
        let Some(record) = record else { return NOT_RECORDED.into() };
        let columns = [16u64, 64, 256, 1536];
        let mut rows = vec![head("cycles", columns.map(|n| bytes(n as f64)))];
        rows[0].push("key alone, about".into());
        for name in names(record) {
            let new = self.best("keys", name, Some("new key"));
            let ready = self.best("keys", name, Some("key ready"));
            let mut row = vec![name.to_string()];
            row.extend(
                columns
                    .map(|length| new.and_then(|new| new.at(length)).map_or(String::new(), cycles)),
            );
            let key = new.and_then(|new| new.at(64)).zip(ready.and_then(|ready| ready.at(64)));
            row.push(key.map_or(String::new(), |(new, ready)| {
                format!("{:.0}", (new.median - ready.median).max(0.0))
            }));
            rows.push(row);
        }
        table(&rows)
    }

    fn verify(&self) -> String {
        let columns =
            ["key ready, good tag", "key ready, bad tag", "raw key, good tag", "raw key, bad tag"]
                .map(|case| {
                    let lengths: &[u64] =
                        if case.ends_with("good tag") { &[16, 64, 1536] } else { &[64] };
                    lengths.iter().map(move |x| (Some(case), *x, format!("{case}, {x} B")))
                });
        self.engines("verify", "cycles to the verdict", columns.into_iter().flatten())
    }

    fn unaligned(&self) -> String {
        let Some(record) = self.record("unaligned") else { return NOT_RECORDED.into() };
        let columns = ["on a line", "worst offset", "times as long", "that offset"];
        let mut rows = vec![head("1536 bytes, cycles", columns.map(Into::into))];
        for name in names(record) {
            let Some(series) = self.best("unaligned", name, None) else { continue };
            let (Some(aligned), Some((at, worst))) = (series.at(0), worst(series)) else {
                continue;
            };
            rows.push(vec![
                name.to_string(),
                cycles(aligned),
                cycles(worst),
                format!("{:.2}", worst.median / aligned.median),
                at.to_string(),
            ]);
        }
        table(&rows)
    }

    fn threads(&self) -> String {
        let Some(record) = self.record("threads") else { return NOT_RECORDED.into() };
        let xs: Vec<u64> = all_xs(record).into_iter().step_by(2).collect();
        let mut rows = vec![head("cycles per byte", xs.iter().map(|x| bytes(*x as f64)))];
        for series in &record.series {
            let mut row = vec![crate::table::title(series)];
            row.extend(xs.iter().map(|x| Self::per_byte(Some(series), *x)));
            rows.push(row);
        }
        table(&rows)
    }

    fn command(&self) -> String {
        let columns = ["command", "files", "each", "seconds", "quartiles", "GB/s", "version"];
        self.cases("cli", columns, |series, case, x, figure| {
            let files: f64 =
                case.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(1.0);
            [
                series.name.clone(),
                case.into(),
                bytes(x as f64),
                flagged(number(figure.median), figure),
                quartiles(figure, 1.0),
                number(files * x as f64 / figure.median / 1e9),
                series.library.split(" (Library").next().unwrap_or_default().into(),
            ]
        })
    }

    fn reads(&self) -> String {
        const MICROS: f64 = 1e-3;
        let columns =
            ["a file is read", "by", "bytes per read", "µs per read", "quartiles", "GB/s"];
        self.cases("reads", columns, |series, case, x, figure| {
            [
                case.into(),
                series.name.clone(),
                bytes(x as f64),
                flagged(number(MICROS * figure.median), figure),
                quartiles(figure, MICROS),
                number(x as f64 / figure.median),
            ]
        })
    }

    fn tree(&self) -> String {
        let columns = ["each file is", "command", "files", "seconds", "quartiles", "version"];
        self.cases("tree", columns, |series, case, x, figure| {
            [
                case.into(),
                series.name.clone(),
                x.to_string(),
                flagged(number(figure.median), figure),
                quartiles(figure, 1.0),
                series.library.clone(),
            ]
        })
    }

    /// Returns a table of the series of a record that have a case, by the first figure of each.
    pub fn cases<const COLUMNS: usize>(
        &self,
        record: &str,
        columns: [&str; COLUMNS],
        row: impl Fn(&Series, &str, u64, Figure) -> [String; COLUMNS],
    ) -> String {
        let Some(record) = self.record(record) else { return NOT_RECORDED.into() };
        let mut rows = vec![columns.map(Into::into).to_vec()];
        for series in &record.series {
            if let (Some(case), Some(point)) = (&series.case, series.points.first()) {
                rows.push(row(series, case, point.0, point.figure()).to_vec());
            }
        }
        table(&rows)
    }
}

/// Returns the quartiles of a figure, multiplied by `scale`.
pub fn quartiles(figure: Figure, scale: f64) -> String {
    format!("{} to {}", number(scale * figure.low), number(scale * figure.high))
}

/// Returns all values of x in a record.
pub fn all_xs(record: &Record) -> Vec<u64> {
    let mut xs: Vec<u64> =
        record.series.iter().flat_map(|series| &series.points).map(|point| point.0).collect();
    xs.sort_unstable();
    xs.dedup();
    xs
}

/// Returns the x with the highest figure.
pub fn worst(series: &Series) -> Option<(u64, Figure)> {
    let points = series.points.iter().map(|point| (point.0, point.figure()));
    points.max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
}

/// Returns the row unless it has only a name, as for an engine that is newer than the record.
pub fn filled(row: Vec<String>) -> Option<Vec<String>> {
    row[1..].iter().any(|cell| !cell.is_empty()).then_some(row)
}

/// Returns the names of a record's engines on the best level and of the peers, without UMAC 1999's.
pub fn names(record: &Record) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for series in record.best() {
        if !names.contains(&&*series.name) && !series.name.starts_with("UMAC99") {
            names.push(&series.name);
        }
    }
    names
}

/// Returns a cell of cycles or nanoseconds.
pub fn cycles(figure: Figure) -> String {
    flagged(format!("{:.0}", figure.median), figure)
}
