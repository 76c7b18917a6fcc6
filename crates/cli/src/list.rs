//! `tagmac list`: the registry as a table.

use serde::Serialize;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac, Capabilities};
use tagmac_files::Error;

use crate::allowance::Allowance;
use crate::args::ListArgs;
use crate::number::{show_count, show_size};
use crate::table::{name, same_family, span, table};
use crate::{mac, output};

/// Prints the algorithms.
pub fn run(args: &ListArgs) -> Result<(), Error> {
    let level = mac::level()?;
    if args.json {
        return Algorithm::all().try_for_each(|algorithm| output::json(&Row::of(algorithm, level)));
    }
    let mut rows = vec![HEAD.map(String::from).to_vec()];
    let all: Vec<Algorithm> = Algorithm::all().collect();
    for family in all.chunk_by(|a, b| same_family(*a, *b)) {
        rows.push(cells(family[0], family[family.len() - 1], level));
    }
    output::write(table(&rows).as_bytes())
}

const HEAD: [&str; 9] =
    ["ALGORITHM", "KEY", "NONCE", "TAG", "BLOCK", "LIMIT", "BUDGET", "LEVEL", "CAN"];

fn cells(first: Algorithm, last: Algorithm, level: Level) -> Vec<String> {
    let both = |cell: fn(Algorithm) -> String| span(cell(first), cell(last));
    let can = names(first.capabilities()).join(" ");
    vec![
        name(first, last),
        range(first.key_bytes().into_inner(), 1),
        range(first.nonce_bytes().into_inner(), 1),
        range(first.tag_bits().into_inner(), first.tag_step()),
        both(|algorithm| algorithm.block().map_or("-".into(), |block| block.to_string())),
        both(limit),
        both(budget),
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

/// Formats the length of the longest message.
fn limit(algorithm: Algorithm) -> String {
    let limit = algorithm.max_message_bytes();
    limit.map_or("none".into(), |bytes| show_size(bytes.into(), f64::round))
}

/// Formats the number of messages that a key may tag, see `tagmac bounds`.
fn budget(algorithm: Algorithm) -> String {
    let allowance = algorithm.theorem().map(Allowance::usual);
    allowance.map_or("-".into(), |allowance| show_count(allowance.messages))
}

/// Returns the level that the algorithm runs on; `None` if it chooses its own.
fn level_of(algorithm: Algorithm, level: Level) -> Option<&'static str> {
    // The level does not depend on the key.
    let key = vec![0; algorithm.new_key_bytes()];
    let bits = algorithm.default_tag_bits();
    AnyMac::with_options(algorithm, &key, bits, level).ok()?.level().map(Level::name)
}

/// The JSON object of an algorithm.
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
    /// In bits; null if no input can reach the limit.
    limit_bits: Option<u64>,
    /// The limits of a key for a probability of a forgery of at most 2^-32; null if no theorem here
    /// bounds it.
    budget: Option<Allowance>,
    can: Vec<&'static str>,
    level: Option<&'static str>,
}

impl Row {
    fn of(algorithm: Algorithm, level: Level) -> Row {
        let (key, nonce) = (algorithm.key_bytes(), algorithm.nonce_bytes());
        let tag = algorithm.tag_bits();
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
            limit_bits: algorithm.max_message_bits(),
            budget: algorithm.theorem().map(Allowance::usual),
            can: names(algorithm.capabilities()),
            level: level_of(algorithm, level),
        }
    }
}
