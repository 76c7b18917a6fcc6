//! `tagmac bounds`: how much one key may authenticate.

use std::fmt::Display;
use std::path::Path;

use serde::Serialize;
use tagmac::bounds::{Bound, BoundError, Term, Theorem, Workload};
use tagmac::dynamic::Algorithm;
use tagmac_files::Error;

use crate::allowance::{Allowance, PROBABILITY, USUAL_LENGTH, show_bound};
use crate::args::Bounds;
use crate::number::{show_count, show_probability, show_size};
use crate::plot::Line;
use crate::table::{self, table};
use crate::{output, plot};

/// Shows the bounds, or draws them.
pub fn run(args: &Bounds) -> Result<(), Error> {
    if let Some(file) = &args.plot {
        return draw(args, file);
    }
    let rows = if args.algorithms.is_empty() {
        let bounded = Algorithm::all().filter(|algorithm| algorithm.theorem().is_some());
        let bounded: Vec<Algorithm> = match args.tag_bits {
            Some(bits) => {
                bounded.filter(|algorithm| algorithm.check_tag_bits(bits).is_ok()).collect()
            }
            None => bounded.collect(),
        };
        if let (Some(bits), true) = (args.tag_bits, bounded.is_empty()) {
            return Err(Error::usage(format_args!(
                "--tag-bits: no algorithm has tags of {bits} bits"
            )));
        }
        rows(args, bounded.into_iter(), true)?
    } else {
        rows(args, args.algorithms.iter().copied(), false)?
    };
    if args.json {
        return rows.iter().try_for_each(|row| output::json(&row.record(args)));
    }
    output::write(text(args, &rows).as_bytes())
}

/// Draws the algorithms that are asked for, or the figure of the paper.
fn draw(args: &Bounds, file: &Path) -> Result<(), Error> {
    if args.algorithms.is_empty() {
        // It has its own probabilities and whole tags.
        return match (args.tag_bits, args.probability) {
            (None, None) => plot::figure(file),
            _ => Err(Error::usage(
                "--plot: expected -a with --tag-bits or --probability, found no algorithm",
            )),
        };
    }
    let (most, found) = (Line::MOST, args.algorithms.len());
    if found > most {
        return Err(Error::usage(format_args!(
            "--plot: expected at most {most} algorithms, found {found}"
        )));
    }
    let line = |algorithm: &Algorithm| {
        let theorem = theorem(args, *algorithm)?;
        let line = Line::new(algorithm.name(), theorem, args.probability());
        line.map_err(|error| Error::usage(format_args!("--probability: {error}")))
    };
    let lines = args.algorithms.iter().map(line).collect::<Result<Vec<_>, Error>>()?;
    let tags = args.tag_bits.map(|bits| format!(" with tags of {bits} bits")).unwrap_or_default();
    let probability = show_probability(args.probability());
    let title = format!(
        "What one key may authenticate{tags} while a forgery has a probability of at most {probability}"
    );
    plot::keys(file, &title, &lines)
}

/// The theorem that bounds an algorithm with the tags that are asked for.
fn theorem(args: &Bounds, algorithm: Algorithm) -> Result<Theorem, Error> {
    let Some(theorem) = algorithm.theorem() else {
        return Err(Error::usage(format_args!(
            "-a: {algorithm} has no bound here: CMAC and HMAC are not covered"
        )));
    };
    match args.tag_bits {
        Some(bits) => with_tag_bits(algorithm, theorem, bits),
        None => Ok(theorem),
    }
}

impl Bounds {
    /// The probability asked for, or the usual one.
    fn probability(&self) -> f64 {
        self.probability.unwrap_or(PROBABILITY)
    }
}

/// An algorithm and what its key may do.
struct Row {
    algorithm: Algorithm,
    allowance: Allowance,
    /// The bound on the tags of the messages that were asked for, if any were.
    bound: Option<Bound>,
    /// What comes on top.
    terms: Vec<Term>,
}

/// The rows of the algorithms; `cut` has a length over an algorithm's limit cut to it.
fn rows(
    args: &Bounds,
    algorithms: impl Iterator<Item = Algorithm>,
    cut: bool,
) -> Result<Vec<Row>, Error> {
    let row = |algorithm: Algorithm| {
        let theorem = theorem(args, algorithm)?;
        let limit = theorem.limit();
        let length = match args.length {
            Some(length) if !cut => length,
            length => length.unwrap_or(USUAL_LENGTH).min(limit),
        };
        Row::new(args, algorithm, theorem, length).map_err(|error| match error {
            BoundError::Probability { .. } => Error::usage(format_args!("--probability: {error}")),
            BoundError::TooLong { .. } => {
                Error::usage(format_args!("--length: {algorithm}: {error}"))
            }
            _ => Error::usage(format_args!("--messages: {algorithm}: {error}")),
        })
    };
    algorithms.map(row).collect()
}

/// The theorem for tags of that length, which are those that `tag --tag-bits` makes.
fn with_tag_bits(algorithm: Algorithm, theorem: Theorem, bits: usize) -> Result<Theorem, Error> {
    let wrong =
        |error: &dyn Display| Error::usage(format_args!("--tag-bits: {algorithm}: {error}"));
    algorithm.check_tag_bits(bits).map_err(|error| wrong(&error))?;
    let bits = u32::try_from(bits).map_err(|error| wrong(&error))?;
    theorem.with_tag_bits(bits).map_err(|error| wrong(&error))
}

impl Row {
    fn new(
        args: &Bounds,
        algorithm: Algorithm,
        theorem: Theorem,
        length: u64,
    ) -> Result<Row, BoundError> {
        let allowance = Allowance::new(theorem, length, args.probability())?;
        let tags = |messages| theorem.tags(&Workload { messages, length, attempts: 0 });
        let bound = args.messages.map(tags).transpose()?;
        // At least a message, so that there are terms.
        let messages = args.messages.unwrap_or(allowance.messages.max(1));
        let terms = theorem.forgery(&Workload { messages, length, attempts: 1 })?.terms().to_vec();
        Ok(Row { algorithm, allowance, bound, terms })
    }

    fn record(&self, args: &Bounds) -> Record<'_> {
        Record {
            algorithm: self.algorithm.name(),
            tag_bits: args.tag_bits.unwrap_or(self.algorithm.default_tag_bits()),
            probability: args.probability(),
            allowance: &self.allowance,
            bound: self.bound.as_ref().map(Bound::value),
            bound_log2: self.bound.as_ref().map(Bound::log2).filter(|log2| log2.is_finite()),
            plus: self.terms.iter().map(Term::to_string).collect(),
        }
    }
}

/// A row as `--json` shows it.
#[derive(Serialize)]
struct Record<'a> {
    algorithm: &'static str,
    tag_bits: usize,
    probability: f64,
    #[serde(flatten)]
    allowance: &'a Allowance,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_log2: Option<f64>,
    /// What comes on top, with the messages asked for, or allowed, and one guess.
    plus: Vec<String>,
}

fn text(args: &Bounds, rows: &[Row]) -> String {
    let all = args.algorithms.is_empty();
    let bound = args.messages.map(|messages| format!("AFTER {}", show_count(messages)));
    let head = ["ALGORITHM", "LENGTH", "MESSAGES", "BYTES", "GUESSES"].map(String::from);
    let mut cells = vec![Vec::from_iter(head.into_iter().chain(bound))];
    let groups = rows.chunk_by(|a, b| all && table::same_family(a.algorithm, b.algorithm));
    cells.extend(groups.map(|group| line(&group[0], &group[group.len() - 1])));
    let mut plus: Vec<Vec<String>> = rows.iter().map(|row| row.plus(all)).collect();
    plus.dedup();
    let tags = args.tag_bits.map(|bits| format!(" with tags of {bits} bits")).unwrap_or_default();
    format!(
        "What one key may authenticate{tags} while a forgery has a probability of at most {}:\n\n{}\n\
         Plus the advantage of the best attack on the cipher; Adv^prp_E(q) is that of telling the\n\
         cipher E from a random permutation with q queries. E1 and E2 are E under the first and the\n\
         second key of a MAC:\n\n{}",
        show_probability(args.probability()),
        table(&cells),
        table(&plus),
    )
}

/// The line of the rows from one to another.
fn line(first: &Row, last: &Row) -> Vec<String> {
    let both = |cell: fn(&Row) -> String| table::span(cell(first), cell(last));
    let cells = [
        table::name(first.algorithm, last.algorithm),
        both(|row| show_size(row.allowance.length.into(), f64::floor)),
        both(|row| show_count(row.allowance.messages)),
        both(|row| show_size(row.allowance.bytes, f64::floor)),
        both(|row| show_count(row.allowance.guesses)),
    ];
    let bound = first.bound.as_ref().map(show_bound);
    cells.into_iter().chain(bound).collect()
}

impl Row {
    /// Who has which terms: all algorithms of a kind have the same, with other numbers of queries.
    fn plus(&self, kind: bool) -> Vec<String> {
        let name = self.algorithm.name();
        let terms = self.terms.iter().map(Term::to_string);
        if !kind {
            return vec![name.into(), terms.collect::<Vec<_>>().join(" + ")];
        }
        let name = name.split('-').next().unwrap_or(name);
        let terms = terms.map(|term| term.split('(').next().unwrap_or_default().into());
        vec![name.into(), terms.collect::<Vec<String>>().join(" + ")]
    }
}
