//! Weaves many mutants of a source file into one file: each is placed next to the original code,
//! and the environment activates one by its number.
//!
//!     weave SOURCE MUTANTS
//!
//! `MUTANTS` is the output of `cargo mutants --list --json` for this file, with a `number` added to
//! each mutant. The woven text goes to stdout. Each variant is marked by `/*<7*/` and `/*7>*/`, and
//! each place by `/*{3*/` and `/*3}*/`, so that compiler errors can be attributed. Mutants that
//! cannot be woven, mostly in constants, are left out: their numbers go to stderr with a short
//! reason.
//!
//! A mutant is active if `crate::mutation::alive(7)` is true. Operands are evaluated once, in the
//! order of the original. Both arms of a choice are present and have its types.

mod places;
mod render;

use std::collections::HashSet;
use std::process::ExitCode;
use std::{env, fs};

use serde_json::Value;

/// One mutant.
struct Mutant {
    number: u64,
    genre: String,
    replacement: String,
    /// Its place, in bytes of the source.
    start: usize,
    end: usize,
}

/// Byte offsets of lines and columns, both counted from 1, columns in characters.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines { text, starts: [0].into_iter().chain(ends).collect() }
    }

    fn offset(&self, place: &Value) -> Option<usize> {
        let (line, column) = (place["line"].as_u64()? as usize, place["column"].as_u64()? as usize);
        let start = *self.starts.get(line - 1)?;
        let within = self.text[start..].char_indices().nth(column - 1)?.0;
        Some(start + within)
    }
}

fn mutant(one: &Value, lines: &Lines<'_>) -> Option<Mutant> {
    Some(Mutant {
        number: one["number"].as_u64()?,
        genre: one["genre"].as_str()?.into(),
        replacement: one["replacement"].as_str()?.into(),
        start: lines.offset(&one["span"]["start"])?,
        end: lines.offset(&one["span"]["end"])?,
    })
}

fn weave(source: &str, list: &str) -> Result<(String, Vec<u64>), String> {
    let text = fs::read_to_string(source).map_err(|error| format!("{source}: {error}"))?;
    let list = fs::read_to_string(list).map_err(|error| format!("{list}: {error}"))?;
    let list: Value = serde_json::from_str(&list).map_err(|error| error.to_string())?;
    let lines = Lines::new(&text);
    let found: Option<Vec<_>> = list["mutants"]
        .as_array()
        .and_then(|all| all.iter().map(|one| mutant(one, &lines)).collect());
    let mutants = found.ok_or("each mutant needs a number and a span")?;
    // Functions that stay `const`, because a constant calls them.
    let constant: HashSet<String> = list["constant"]
        .as_array()
        .map(|all| all.iter().filter_map(|name| name.as_str().map(String::from)).collect())
        .unwrap_or_default();
    let file = syn::parse_file(&text).map_err(|error| format!("{source}: {error}"))?;
    let places = places::find(&file, &mutants, &constant);
    let woven = render::text(&text, &places);
    let there: HashSet<u64> = places.iter().flat_map(|place| place.numbers()).collect();
    let left =
        mutants.iter().map(|one| one.number).filter(|number| !there.contains(number)).collect();
    Ok((woven, left))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [source, list] = &arguments[..] else {
        eprintln!("usage: weave SOURCE MUTANTS");
        return ExitCode::from(2);
    };
    match weave(source, list) {
        Ok((woven, left)) => {
            print!("{woven}");
            for number in left {
                eprintln!("{number}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("weave: {error}");
            ExitCode::FAILURE
        }
    }
}
