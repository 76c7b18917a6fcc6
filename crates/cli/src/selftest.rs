//! `tagmac selftest`: computes known answers on every level.

use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde::Deserialize;
use tagmac::Tag;
use tagmac::isa::{Level, Status};
use tagmac_any::{Algorithm, AnyMac};
use tagmac_files::Error;

use crate::exit::Exit;
use crate::output;

/// The vectors of the library's tests, packed by `build.rs`. `vectors/README.md` lists their
/// sources.
const VECTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vectors.z"));

/// The maximum length of a message in bytes. The library's tests cover longer ones, which would
/// take too long here.
const LONGEST: usize = 2 << 20;

/// A row of the vectors.
#[derive(Deserialize)]
struct Row {
    algorithm: String,
    key: String,
    /// Missing for algorithms without nonces.
    #[serde(default)]
    nonce: String,
    /// Missing if the message is a bit string.
    msg: Option<Message>,
    tag: String,
    tag_bits: usize,
    valid: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Message {
    Hex(String),
    Repeat { repeat: String, total_bytes: usize },
}

/// Runs the self-test. Returns `Some(exit)` if an answer is wrong.
pub fn run() -> Result<Option<Exit>, Error> {
    // Reject an unusable TAGMAC_LEVEL, like every other command.
    crate::mac::level()?;
    let rows = rows();
    let mut good = true;
    for name in Level::NAMES {
        let status = match Level::status(name) {
            Some(Status::Usable) => "usable",
            Some(Status::SelfTestFailed) => "failed its self-test",
            _ => "unsupported",
        };
        good &= !status.starts_with("failed");
        output::write(format!("{name}: {status}\n").as_bytes())?;
        if let Ok(level) = Level::from_name(name) {
            good &= level_holds(level, &rows)?;
        }
    }
    let verdict = if good { "all answers are right" } else { "WRONG ANSWERS: do not use this" };
    output::write(format!("{verdict}\n").as_bytes())?;
    Ok((!good).then_some(Exit::Mismatch))
}

/// Returns the rows with a valid tag of a byte string.
fn rows() -> Vec<Row> {
    let text = decompress_to_vec_zlib(VECTORS).expect("build.rs packs them");
    let files: Vec<Vec<Row>> = serde_json::from_slice(&text).expect("the vectors are of this form");
    files.into_iter().flatten().filter(|row| row.valid && row.msg.is_some()).collect()
}

/// Tests each algorithm on a level, and prints a line for each.
fn level_holds(level: Level, rows: &[Row]) -> Result<bool, Error> {
    let mut good = true;
    for algorithm in Algorithm::all() {
        let own = rows.iter().filter(|row| row.is_of(algorithm));
        let (own, long): (Vec<_>, Vec<_>) = own.partition(|row| row.bytes() <= LONGEST);
        let answers: Vec<bool> = own.iter().map(|row| holds(algorithm, level, row)).collect();
        let right = answers.iter().filter(|&&right| right).count();
        good &= right == answers.len();
        let line = match (answers.len(), right) {
            (0, _) => continue,
            (all, right) if all == right => format!("  {algorithm}: {all} right"),
            (all, right) => format!("  {algorithm}: {} of {all} WRONG", all - right),
        };
        let long = match long.len() {
            0 => String::new(),
            long => format!(", {long} of over {} MiB left out", LONGEST >> 20),
        };
        output::write(format!("{line}{long}\n").as_bytes())?;
    }
    Ok(good)
}

/// Computes the tag in one call, in a stream and from parts, and returns whether all are right.
fn holds(algorithm: Algorithm, level: Level, row: &Row) -> bool {
    let message = row.msg.as_ref().map(Message::bytes).unwrap_or_default();
    let Ok(mac) = AnyMac::with_options(algorithm, &bytes(&row.key), row.tag_bits, level) else {
        return false;
    };
    // A MAC that failed its self-test on a level runs on a lower one.
    if mac.level().is_some_and(|used| used != level) {
        return false;
    }
    let Ok(tag) = Tag::new(&bytes(&row.tag), row.tag_bits) else { return false };
    let nonce = bytes(&row.nonce);
    let stream = || {
        let mut stream = mac.stream(&nonce)?;
        message.chunks(37).for_each(|chunk| stream.update(chunk));
        stream.tag()
    };
    let parts = |parts: tagmac_any::Parts<'_>| {
        let cut = message.len().saturating_sub(1) / parts.block() * parts.block();
        parts.finish(parts.new_part(0, &message[..cut])?, &nonce, &message[cut..])
    };
    mac.tag(&nonce, &message) == Ok(tag)
        && stream() == Ok(tag)
        && mac.parts().is_none_or(|calls| parts(calls) == Ok(tag))
}

impl Row {
    /// Returns the length of the message in bytes.
    fn bytes(&self) -> usize {
        match &self.msg {
            Some(Message::Hex(hex)) => hex.len() / 2,
            Some(Message::Repeat { total_bytes, .. }) => *total_bytes,
            None => 0,
        }
    }

    /// Returns whether the row is an answer of the algorithm. Other rows have keys that it must
    /// reject.
    fn is_of(&self, algorithm: Algorithm) -> bool {
        self.algorithm == algorithm.name() && algorithm.check_key(self.key.len() / 2).is_ok()
    }
}

impl Message {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Message::Hex(hex) => bytes(hex),
            Message::Repeat { repeat, total_bytes } => {
                let unit = bytes(repeat);
                let mut all = unit.repeat(total_bytes.div_ceil(unit.len()));
                all.truncate(*total_bytes);
                all
            }
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    base16ct::mixed::decode_vec(hex).expect("the vectors hold hex")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mac_of_the_registry_has_answers() {
        let family = |name: &str| name.split('-').next().unwrap_or_default().to_string();
        let known: Vec<String> = rows().iter().map(|row| family(&row.algorithm)).collect();
        for algorithm in Algorithm::all() {
            let has_rows = known.contains(&family(algorithm.name()));
            assert!(has_rows, "{algorithm}: expected its file of vectors/ in build.rs, found none");
        }
    }
}
