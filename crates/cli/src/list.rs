//! `tagmac list`: the registry as a table.

use serde::Serialize;
use tagmac::any::{Algorithm, AnyMac, Capabilities};
use tagmac::isa::Level;

use crate::args::List;
use crate::error::Error;
use crate::{mac, output};

/// Shows the algorithms.
pub fn run(args: &List) -> Result<(), Error> {
    let level = mac::level()?;
    if args.json {
        return Algorithm::all().try_for_each(|algorithm| output::json(&Row::of(algorithm, level)));
    }
    let mut rows = vec![HEAD.map(String::from)];
    let mut all = Algorithm::all().peekable();
    while let Some(first) = all.next() {
        // LightMACs that differ in their counters alone share a row.
        let family = family(first);
        let mut last = first;
        while let Some(next) = all.next_if(|next| family.is_some() && self::family(*next) == family)
        {
            last = next;
        }
        rows.push(cells(first, last, level));
    }
    output::write(table(&rows).as_bytes())
}

const HEAD: [&str; 8] = ["ALGORITHM", "KEY", "NONCE", "TAG", "BLOCK", "LIMIT", "LEVEL", "CAN"];

/// The name without the length of the counter, if it has one.
fn family(algorithm: Algorithm) -> Option<&'static str> {
    algorithm
        .name()
        .rsplit_once("-S")
        .map(|(family, _)| family)
        .filter(|_| algorithm.name().starts_with("LIGHTMAC-"))
}

fn cells(first: Algorithm, last: Algorithm, level: Level) -> [String; 8] {
    let span = |cell: fn(Algorithm) -> String| {
        let (a, b) = (cell(first), cell(last));
        if a == b { a } else { format!("{a}..{b}") }
    };
    let name = match (family(first), last.name().rsplit_once('-')) {
        (Some(_), Some((_, counter))) => format!("{}..{counter}", first.name()),
        _ => first.name().into(),
    };
    let can = names(first.capabilities()).join(" ");
    [
        name,
        range(first.key_bytes().into_inner(), 1),
        range(first.nonce_bytes().into_inner(), 1),
        range(first.tag_bits().into_inner(), first.tag_step()),
        span(|algorithm| algorithm.block().map_or("-".into(), |block| block.to_string())),
        span(limit),
        level_of(first, level).unwrap_or("own").into(),
        if can.is_empty() { "-".into() } else { can },
    ]
}

fn range((min, max): (usize, usize), step: usize) -> String {
    match (min == max, step) {
        (true, _) => max.to_string(),
        (false, 1) => format!("{min}..{max}"),
        (false, step) => format!("{min}..{max} by {step}"),
    }
}

fn names(can: Capabilities) -> Vec<&'static str> {
    let columns = [
        (can.parts, "parts"),
        (can.threads, "threads"),
        (can.batch, "batch"),
        (can.edits, "edits"),
        (can.bits, "bits"),
    ];
    columns.iter().filter(|(can, _)| *can).map(|(_, name)| *name).collect()
}

/// The longest message, in words.
fn limit(algorithm: Algorithm) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let bits = algorithm.limit_bits();
    if bits == u64::MAX {
        return "none".into();
    }
    let (mut size, mut unit) = (bits as f64 / 8.0, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let size = format!("{size:.2}");
    format!("{} {}", size.trim_end_matches('0').trim_end_matches('.'), UNITS[unit])
}

/// The level that serves the algorithm; `None` if it chooses its own.
fn level_of(algorithm: Algorithm, level: Level) -> Option<&'static str> {
    // The key is of no use: the level is all that is asked.
    let key = vec![0; algorithm.new_key_bytes()];
    let bits = *algorithm.tag_bits().end();
    AnyMac::with(algorithm, &key, bits, level).ok()?.level().map(Level::name)
}

fn table(rows: &[[String; 8]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// An algorithm as `--json` shows it.
#[derive(Serialize)]
struct Row {
    algorithm: &'static str,
    key_bytes: usize,
    min_key_bytes: usize,
    max_key_bytes: usize,
    min_nonce_bytes: usize,
    max_nonce_bytes: usize,
    min_tag_bits: usize,
    max_tag_bits: usize,
    tag_step_bits: usize,
    block_bytes: Option<usize>,
    /// In bits; null if there is no limit in reach.
    limit_bits: Option<u64>,
    can: Vec<&'static str>,
    level: Option<&'static str>,
}

impl Row {
    fn of(algorithm: Algorithm, level: Level) -> Row {
        let (key, nonce) = (algorithm.key_bytes(), algorithm.nonce_bytes());
        let tag = algorithm.tag_bits();
        let limit = algorithm.limit_bits();
        Row {
            algorithm: algorithm.name(),
            key_bytes: algorithm.new_key_bytes(),
            min_key_bytes: *key.start(),
            max_key_bytes: *key.end(),
            min_nonce_bytes: *nonce.start(),
            max_nonce_bytes: *nonce.end(),
            min_tag_bits: *tag.start(),
            max_tag_bits: *tag.end(),
            tag_step_bits: algorithm.tag_step(),
            block_bytes: algorithm.block(),
            limit_bits: (limit < u64::MAX).then_some(limit),
            can: names(algorithm.capabilities()),
            level: level_of(algorithm, level),
        }
    }
}
