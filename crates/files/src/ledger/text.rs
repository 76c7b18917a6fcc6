//! The text of a ledger.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use tagmac::Tag;
use tagmac_any::KeyId;

use crate::day::Day;
use crate::ledger::{Ledger, MAX_ARCS, MAX_EXCEPTIONS};
use crate::objects::line::Lines;

/// The first line, without its line feed.
pub const FIRST_LINE: &str = "tagmac-ledger-1";
/// `0123456789abcdef 2026-11-28` and a line feed.
const LINE: usize = 28;
/// Maximum length of a ledger in bytes: all lines, and the rest in a head and a seal.
pub const MAX_BYTES: u64 = ((MAX_ARCS + MAX_EXCEPTIONS) * LINE + 512) as u64;

/// Returns the lines above the seal.
pub fn body(ledger: &Ledger, key_id: KeyId) -> Vec<u8> {
    let mut text = format!("{FIRST_LINE}\nkey id: {key_id}\n").into_bytes();
    text.extend(lines(ledger));
    text
}

/// Returns the lines between the key ID and the seal.
pub fn lines(ledger: &Ledger) -> Vec<u8> {
    let Ledger { chain, sequence, arcs, exceptions } = ledger;
    let mut text = format!("chain: {chain}\nsequence: {sequence}\narcs: {}\n", arcs.len());
    let put = |text: &mut String, position: u64, day: Option<Day>| {
        writeln!(text, "{position:016x} {}", OrNever(day)).expect("strings can be written to");
    };
    arcs.iter().for_each(|(start, day)| put(&mut text, *start, *day));
    writeln!(text, "exceptions: {}", exceptions.len()).expect("strings can be written to");
    exceptions.iter().for_each(|(position, day)| put(&mut text, *position, *day));
    text.into_bytes()
}

/// A day, or `-`.
struct OrNever(Option<Day>);

impl Display for OrNever {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(day) => day.fmt(f),
            None => f.write_str("-"),
        }
    }
}

/// Parses the lines between the key ID and the seal. The error is a reason; the line's number is
/// that of `lines`.
pub fn parse(lines: &mut Lines<'_>) -> Result<Ledger, String> {
    let chain = lines.labelled("chain: ")?;
    let chain = seal(chain).ok_or("expected 64 hex digits")?;
    let sequence = number(lines.labelled("sequence: ")?).filter(|number| *number > 0);
    let sequence = sequence.ok_or("expected a number from 1")?;
    let count = count(lines.labelled("arcs: ")?, MAX_ARCS)?;
    let mut arcs: Vec<(u64, Option<Day>)> = Vec::new();
    for _ in 0..count {
        let (start, day) = placed(lines)?;
        match arcs.last() {
            None if start != 0 => return Err("expected the first arc to begin at 0".into()),
            Some(last) if start <= last.0 => return Err("expected ascending arcs".into()),
            Some(last) if day == last.1 => return Err("expected another day than before".into()),
            _ => arcs.push((start, day)),
        }
    }
    if arcs.is_empty() {
        return Err("expected at least one arc".into());
    }
    let count = self::count(lines.labelled("exceptions: ")?, MAX_EXCEPTIONS)?;
    let mut ledger = Ledger { chain, sequence, arcs, exceptions: BTreeMap::new() };
    for _ in 0..count {
        let (position, day) = placed(lines)?;
        if ledger.exceptions.last_key_value().is_some_and(|(last, _)| position <= *last) {
            return Err("expected ascending positions".into());
        }
        if day >= ledger.day_at(position) {
            return Err("expected an older day than that of the arc".into());
        }
        ledger.exceptions.insert(position, day);
    }
    lines.end()?;
    Ok(ledger)
}

fn placed(lines: &mut Lines<'_>) -> Result<(u64, Option<Day>), &'static str> {
    let line = lines.next().and_then(|line| line.split_first_chunk::<16>());
    let found = line.and_then(|(position, rest)| {
        let mut bytes = [0; 8];
        base16ct::lower::decode(position, &mut bytes).ok()?;
        let day = match rest.strip_prefix(b" ")? {
            b"-" => None,
            day => Some(Day::parse(day)?),
        };
        Some((u64::from_be_bytes(bytes), day))
    });
    found.ok_or("expected a position in 16 hex digits and a day or '-'")
}

/// Parses a seal in hex.
pub fn seal(text: &[u8]) -> Option<Tag> {
    let bytes = base16ct::lower::decode_vec(text).ok()?;
    Tag::try_from(&bytes[..]).ok().filter(|_| bytes.len() == Tag::MAX_BYTES)
}

/// Parses a number in canonical form.
pub fn number(text: &[u8]) -> Option<u64> {
    let number: u64 = str::from_utf8(text).ok()?.parse().ok()?;
    (number.to_string().as_bytes() == text).then_some(number)
}

fn count(text: &[u8], max: usize) -> Result<usize, String> {
    let count = number(text).and_then(|number| usize::try_from(number).ok());
    count.filter(|count| *count <= max).ok_or_else(|| format!("expected a number up to {max}"))
}
