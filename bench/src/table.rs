//! Prints a record as a table for a terminal.

use std::fmt::Write;

use tagmac_figures::number;

use crate::record::{Record, Series};

/// The maximum of columns that fit.
const COLUMNS: usize = 12;

/// Returns the table, in cycles per byte if x is the length of a message.
pub fn of(record: &Record) -> String {
    let xs = columns(record);
    let mut text = format!("\n{}: {}\n", record.experiment, record.about);
    let per_byte = record.x == "bytes" && record.y == "cycles";
    let unit = if per_byte { "cycles per byte" } else { &record.y };
    let heading = format!("{unit}, by {}; ~ is noisy", record.x);
    let width = record.series.iter().map(|series| title(series).len()).max().unwrap_or(0);
    let width = width.max(heading.len());
    let _ = write!(text, "{heading:width$}");
    for x in &xs {
        let _ = write!(text, " {x:>8}");
    }
    text.push('\n');
    for series in &record.series {
        let _ = write!(text, "{:width$}", title(series));
        for &x in &xs {
            let cell = series.at(x).map_or("-".into(), |figure| {
                let y = if per_byte { figure.median / x.max(1) as f64 } else { figure.median };
                format!("{}{}", number(y), if figure.is_noisy() { "~" } else { "" })
            });
            let _ = write!(text, " {cell:>8}");
        }
        text.push('\n');
    }
    text
}

/// Returns the name of a series, with its level and its case.
pub fn title(series: &Series) -> String {
    let more = [&series.level, &series.case];
    let more: Vec<&str> = more.into_iter().flatten().map(String::as_str).collect();
    match more.is_empty() {
        true => series.name.clone(),
        false => format!("{} ({})", series.name, more.join(", ")),
    }
}

/// Returns the values of x for the table: all, only powers of two, or evenly spaced ones.
fn columns(record: &Record) -> Vec<u64> {
    let mut xs: Vec<u64> =
        record.series.iter().flat_map(|series| &series.points).map(|point| point.0).collect();
    xs.sort_unstable();
    xs.dedup();
    let first = xs.first().copied();
    if xs.len() > COLUMNS {
        let powers: Vec<u64> = xs.iter().copied().filter(|x| x.is_power_of_two()).collect();
        let pick = if powers.len() > 4 { powers } else { xs };
        let step = pick.len().div_ceil(COLUMNS);
        xs = pick.into_iter().rev().step_by(step).collect();
        xs.extend(first);
        xs.reverse();
        xs.dedup();
    }
    xs
}
