//! Weaves many mutants of a source file into one: each is there beside what was written, and a number that the
//! program gets from outside says which one is alive.
//!
//!     weave SOURCE MUTANTS
//!
//! `MUTANTS` is a list of `cargo mutants --list --json`, of this file alone, in which each has a `number` from
//! outside. The woven text goes to stdout. Each variant stands between `/*<7*/` and `/*7>*/`, each place between
//! `/*{3*/` and `/*3}*/`, so that what does not compile is found again. Mutants that cannot be woven, in
//! constants above all, are left out: their numbers go to stderr, with a word of why.
//!
//! A mutant is alive where `crate::mutation::alive(7)` is true. Operands are evaluated once and in the order of
//! the original; both arms of a choice are there, with their types.

mod places;
mod render;

use std::collections::HashSet;
use std::process::ExitCode;
use std::{env, fs};

use serde_json::Value;

/// What one mutant changes.
struct Mutant {
    number: u64,
    genre: String,
    replacement: String,
    /// Where, in bytes of the source.
    start: usize,
    end: usize,
}

/// Byte offsets of lines and columns, both from 1, columns in characters.
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
    let mutants = found.ok_or("expected mutants with a number and a span, found others")?;
    // Functions that stay `const`, because a constant is made by them.
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
