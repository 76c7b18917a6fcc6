//! `docs/PERFORMANCE.md` and its pictures, made from a record that is kept with the source.

use std::collections::BTreeMap;

use super::draw::bytes;
use super::papers::{self, Printed};
use crate::lab::Failure;
use crate::measure::Figure;
use crate::record::{Record, Series};
use crate::table::number;

/// The text around the tables: a line `@name` stands for the table of that name.
const TEXT: &str = include_str!("performance.md");

/// Pictures that the documentation shows.
pub const PICTURES: [&str; 4] = ["lengths", "short-64", "roofline", "agility"];

/// Lengths of the tables.
const LENGTHS: [u64; 8] = [16, 64, 256, 1024, 1536, 4096, 16 << 10, 1 << 20];

/// Engines of the tables that have one row each.
const MAIN: [&str; 11] = [
    "PMAC-AES128",
    "PMAC-AES256",
    "LIGHTMAC-AES128-S16",
    "LIGHTMAC-AES128-S32",
    "LIGHTMAC-AES128-S64",
    "ELIMAC-AES128",
    "ELIMAC-AES128, cached",
    "UMAC-32",
    "UMAC-64",
    "UMAC-128",
    "POLY1305-AES",
];

/// The page.
pub fn page(records: &[Record]) -> Result<String, Failure> {
    let all = Records::of(records)?;
    let mut page = String::new();
    for line in TEXT.lines() {
        match line.strip_prefix('@') {
            Some(name) => page += &all.table(name)?,
            None => page += line,
        }
        page.push('\n');
    }
    Ok(page)
}

struct Records<'a>(BTreeMap<&'a str, &'a Record>);

impl<'a> Records<'a> {
    fn of(records: &'a [Record]) -> Result<Records<'a>, Failure> {
        let all: BTreeMap<&str, &Record> =
            records.iter().map(|record| (record.experiment.as_str(), record)).collect();
        for needed in ["lengths", "sizes", "short", "keys", "cold", "agility"] {
            if !all.contains_key(needed) {
                return Err(format!("the record has no {needed}.json").into());
            }
        }
        Ok(Records(all))
    }

    fn table(&self, name: &str) -> Result<String, Failure> {
        Ok(match name {
            "machine" => format!("Measured on {}.", self.0["sizes"].machine.line()),
            "lengths" => self.by_length(&MAIN),
            "levels" => self.levels(),
            "short" => self.short(),
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
            "ratios" => self.ratios(),
            "others-win" => self.others_win(),
            "keys" => self.keys(),
            "agility" => self.agility(),
            "pmac" => self.printed(
                &papers::PMAC,
                papers::PMAC_LENGTHS,
                &["PMAC-AES128", "OpenSSL CMAC-AES128"],
            ),
            "elimac" => self.printed(
                &papers::ELIMAC,
                papers::ELIMAC_LENGTHS,
                &["LIGHTMAC-AES128-S32", "ELIMAC-AES128", "ELIMAC-AES128, cached"],
            ),
            "poly1305" => self.slides(&papers::POLY1305, papers::POLY1305_LENGTHS),
            "poly1305-unaligned" => {
                self.slides(&papers::POLY1305_UNALIGNED, papers::POLY1305_UNALIGNED_LENGTHS)
            }
            name => return Err(format!("performance.md: no table is called {name}").into()),
        })
    }

    /// An engine on the best level, or a peer.
    fn best(&self, experiment: &str, name: &str, case: Option<&str>) -> Option<&'a Series> {
        let mut best = self.0[experiment].best();
        best.find(|series| series.name == name && series.case.as_deref() == case)
    }

    fn per_byte(series: Option<&Series>, length: u64) -> String {
        let figure = series.and_then(|series| series.at(length));
        figure
            .map_or(String::new(), |figure| flagged(number(figure.median / length as f64), figure))
    }

    fn by_length(&self, names: &[&str]) -> String {
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
            rows.push(row);
        }
        markdown(&rows)
    }

    fn levels(&self) -> String {
        let sizes = self.0["sizes"];
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
                    number(found) + &share.unwrap_or_default()
                }));
            }
            rows.push(row);
        }
        markdown(&rows)
    }

    fn short(&self) -> String {
        let cases = ["chained", "back to back"];
        let columns = cases.iter().flat_map(|case| [16, 64].map(|n| format!("{case}, {n} B")));
        let mut rows = vec![head("cycles per message", columns)];
        for series in
            self.0["short"].best().filter(|series| series.case.as_deref() == Some(cases[0]))
        {
            let mut row = vec![series.name.clone()];
            for case in cases {
                let series = self.best("short", &series.name, Some(case));
                row.extend([16, 64].map(|length| {
                    let figure = series.and_then(|series| series.at(length));
                    figure.map_or(String::new(), |figure| {
                        flagged(format!("{:.0}", figure.median), figure)
                    })
                }));
            }
            rows.push(row);
        }
        markdown(&rows)
    }

    fn peers(&self) -> String {
        let mut rows = vec![head("cycles per byte", LENGTHS.map(|n| bytes(n as f64)))];
        rows[0].push("version".into());
        for series in self.0["sizes"].best().filter(|series| !series.is_ours()) {
            let mut row = vec![series.name.clone()];
            row.extend(LENGTHS.map(|length| Self::per_byte(Some(series), length)));
            row.push(series.library.clone());
            rows.push(row);
        }
        markdown(&rows)
    }

    /// How many times as fast as each peer of the same function.
    fn ratios(&self) -> String {
        let mut rows = vec![head("times as fast", LENGTHS.map(|n| bytes(n as f64)))];
        for peer in self.0["sizes"].best().filter(|series| !series.is_ours()) {
            let Some(ours) = self.same(peer) else { continue };
            let mut row = vec![format!("{}, beside {}", ours.name, peer.name)];
            row.extend(LENGTHS.map(|length| match (ours.at(length), peer.at(length)) {
                (Some(ours), Some(peer)) => {
                    let ratio = peer.median / ours.median;
                    if ratio < 1.0 { format!("**{ratio:.2}**") } else { format!("{ratio:.1}") }
                }
                _ => String::new(),
            }));
            rows.push(row);
        }
        markdown(&rows)
    }

    /// Our engine of a peer's function, counting nonces if the peer does.
    fn same(&self, peer: &Series) -> Option<&'a Series> {
        let counting = peer.name.ends_with(", counting");
        self.0["sizes"].best().find(|ours| {
            ours.is_ours()
                && ours.function == peer.function
                && ours.name.ends_with(", counting") == counting
                && !ours.name.ends_with(", cached")
        })
    }

    /// Each length at which a peer's MAC is faster than all of ours, or than the same function.
    fn others_win(&self) -> String {
        let mut lines = Vec::new();
        for peer in self.0["sizes"].best().filter(|series| !series.is_ours()) {
            let same = self.same(peer);
            let faster = |length: &u64| -> Option<(String, f64)> {
                let found = peer.at(*length)?.median;
                let rivals: Vec<&Series> = match same {
                    Some(same) => vec![same],
                    // Without a cache of subkeys, without short tags.
                    None => ["PMAC-AES128", "ELIMAC-AES128", "UMAC-128", "POLY1305-AES"]
                        .iter()
                        .filter_map(|name| self.best("sizes", name, None))
                        .collect(),
                };
                let best = rivals.iter().filter_map(|ours| Some(ours.at(*length)?.median));
                let ratio = best.fold(f64::MAX, f64::min) / found;
                (ratio > 1.03).then(|| (format!("{} ({ratio:.1})", bytes(*length as f64)), ratio))
            };
            let lengths: Vec<String> =
                LENGTHS.iter().filter_map(faster).map(|(text, _)| text).collect();
            if !lengths.is_empty() {
                let than = same.map_or("every MAC here with tags of 128 bits", |same| &same.name);
                lines.push(format!("- {} beats {than} at {}.", peer.name, lengths.join(", ")));
            }
        }
        lines.join("\n")
    }

    fn keys(&self) -> String {
        let columns = [16u64, 64, 256, 1536];
        let mut rows = vec![head("cycles", columns.map(|n| bytes(n as f64)))];
        rows[0].push("key alone, about".into());
        for series in self.0["keys"].best() {
            if series.case.as_deref() != Some("new key") || series.name.starts_with("UMAC99") {
                continue;
            }
            let mut row = vec![series.name.clone()];
            row.extend(columns.map(|length| {
                series.at(length).map_or(String::new(), |figure| {
                    flagged(format!("{:.0}", figure.median), figure)
                })
            }));
            let ready = self.best("keys", &series.name, Some("key ready"));
            let key = series.at(64).zip(ready.and_then(|ready| ready.at(64)));
            row.push(key.map_or(String::new(), |(new, ready)| {
                format!("{:.0}", (new.median - ready.median).max(0.0))
            }));
            rows.push(row);
        }
        markdown(&rows)
    }

    fn agility(&self) -> String {
        let record = self.0["agility"];
        let first = record.series.first();
        let xs: Vec<u64> =
            first.map_or(&[][..], |series| &series.points).iter().map(|p| p.0).collect();
        let columns = xs.iter().map(|x| format!("{x} key{}", if *x == 1 { "" } else { "s" }));
        let mut rows = vec![head("64 bytes, cycles", columns)];
        for series in
            record.best().filter(|series| MAIN.contains(&&*series.name) || !series.is_ours())
        {
            let mut row = vec![series.name.clone()];
            row.extend(xs.iter().map(|x| {
                series.at(*x).map_or(String::new(), |figure| {
                    flagged(format!("{:.0}", figure.median), figure)
                })
            }));
            rows.push(row);
        }
        markdown(&rows)
    }

    /// A paper's figures, and ours under them.
    fn printed(&self, printed: &[Printed], lengths: [u64; 3], names: &[&str]) -> String {
        let mut rows = vec![head("cycles per byte", lengths.map(|n| bytes(n as f64)))];
        for Printed { name, cpu, figures } in printed {
            let mut row = vec![format!("{name}, {cpu}, the paper")];
            row.extend(figures.map(|figure| figure.to_string()));
            rows.push(row);
        }
        for name in names {
            let series = self.best("lengths", name, None);
            let mut row = vec![format!("**{name}**, this record")];
            row.extend(lengths.map(|length| Self::per_byte(series, length)));
            rows.push(row);
        }
        markdown(&rows)
    }

    /// Cycles of a message whose key is new, which is what the slides give.
    fn slides(&self, printed: &[Printed], lengths: [u64; 3]) -> String {
        let mut rows = vec![head("cycles", lengths.map(|n| bytes(n as f64)))];
        for Printed { cpu, figures, .. } in printed {
            let mut row = vec![format!("{cpu}, the slides")];
            row.extend(figures.map(|figure| figure.to_string()));
            rows.push(row);
        }
        let series = self.best("keys", "POLY1305-AES", Some("new key"));
        let mut row = vec!["**POLY1305-AES**, this record, new key".to_string()];
        row.extend(lengths.map(|length| {
            let figure = series.and_then(|series| series.at(length));
            figure.map_or(String::new(), |figure| flagged(format!("{:.0}", figure.median), figure))
        }));
        rows.push(row);
        markdown(&rows)
    }
}

/// A cell, with a mark if its figure is noisy.
fn flagged(cell: String, figure: Figure) -> String {
    if figure.is_noisy() { cell + "~" } else { cell }
}

fn head(first: &str, columns: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut row = vec![first.to_string()];
    row.extend(columns);
    row
}

/// The rows as a table, the first one its head.
fn markdown(rows: &[Vec<String>]) -> String {
    let mut lines = Vec::new();
    for row in rows {
        lines.push(format!("| {} |", row.join(" | ")));
        if lines.len() == 1 {
            lines.push(format!("|{}", "---|".repeat(row.len())));
        }
    }
    lines.join("\n")
}
