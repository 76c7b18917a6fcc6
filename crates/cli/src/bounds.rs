//! `tagmac bounds`: how much data one key may authenticate.

use std::fmt::Display;

use serde::Serialize;
use tagmac_any::Algorithm;
use tagmac_any::bounds::{Bound, BoundError, NonceKind, Term, Theorem, Workload, per_key};
use tagmac_files::Error;

use crate::allowance::{Allowance, PROBABILITY, USUAL_LENGTH, show_bound};
use crate::args::{BoundsArgs, Nonces};
use crate::number::{show_count, show_probability, show_size};
use crate::output;
use crate::table::{self, table};

/// Prints the bounds.
pub fn run(args: &BoundsArgs) -> Result<(), Error> {
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

/// Returns the theorem for an algorithm, adjusted to the nonces and the tag length of the options.
fn theorem(args: &BoundsArgs, algorithm: Algorithm) -> Result<Theorem, Error> {
    let Some(theorem) = algorithm.theorem() else {
        return Err(Error::usage(format_args!(
            "-a: {algorithm} has no bound here: CMAC and HMAC are not covered"
        )));
    };
    let theorem = match args.nonces() {
        // The registry's theorems are for random nonces of full length.
        Nonces::Random => theorem,
        Nonces::Counter => theorem.with_nonces(NonceKind::Counted),
    };
    match args.tag_bits {
        Some(bits) => with_tag_bits(algorithm, theorem, bits),
        None => Ok(theorem),
    }
}

impl BoundsArgs {
    /// Returns the value of `--probability`, or the default.
    fn probability(&self) -> f64 {
        self.probability.unwrap_or(PROBABILITY)
    }

    fn nonces(&self) -> Nonces {
        self.nonces.unwrap_or(Nonces::Random)
    }

    fn keys(&self) -> u128 {
        self.keys.unwrap_or(1)
    }

    /// Returns each key's share of the probability.
    fn per_key(&self) -> Result<f64, Error> {
        per_key(self.probability(), self.keys()).map_err(|error| match error {
            BoundError::NoKeys => Error::usage(format_args!("--keys: {error}")),
            _ => Error::usage(format_args!("--probability: {error}")),
        })
    }

    /// Returns the first words of a table.
    fn who(&self) -> String {
        match self.keys() {
            1 => "What one key may authenticate".into(),
            keys => format!("What each of {} keys may authenticate", show_count(keys)),
        }
    }
}

/// The limits of an algorithm.
struct Row {
    algorithm: Algorithm,
    nonces: Option<NonceKind>,
    allowance: Allowance,
    /// The bound after the number of messages of `--messages`.
    bound: Option<Bound>,
    /// The maximum number of wrong leaves that a reader may reject, with `--leaves` and if the
    /// algorithm has leaf tags.
    reads: Option<u128>,
    /// The advantages of attacks on the cipher, which add to the bound.
    terms: Vec<Term>,
}

/// Returns the rows of the algorithms. With `cut`, a length above an algorithm's limit is reduced
/// to the limit.
fn rows(
    args: &BoundsArgs,
    algorithms: impl Iterator<Item = Algorithm>,
    cut: bool,
) -> Result<Vec<Row>, Error> {
    let each = args.per_key()?;
    let row = |algorithm: Algorithm| {
        let theorem = theorem(args, algorithm)?;
        let limit = theorem.limit();
        let length = match args.length {
            Some(length) if !cut => length,
            length => length.unwrap_or(USUAL_LENGTH).min(limit),
        };
        Row::new(args, algorithm, theorem, length, each).map_err(|error| match error {
            BoundError::Probability { .. } => Error::usage(format_args!("--probability: {error}")),
            BoundError::TooLong { .. } => {
                Error::usage(format_args!("--length: {algorithm}: {error}"))
            }
            BoundError::NoLeafTags => Error::usage(format_args!("--leaves: {algorithm}: {error}")),
            _ => Error::usage(format_args!("--messages: {algorithm}: {error}")),
        })
    };
    algorithms.map(row).collect()
}

/// Adjusts the theorem to tags that `tag --tag-bits` shortened to `bits` bits.
fn with_tag_bits(algorithm: Algorithm, theorem: Theorem, bits: usize) -> Result<Theorem, Error> {
    let wrong =
        |error: &dyn Display| Error::usage(format_args!("--tag-bits: {algorithm}: {error}"));
    algorithm.check_tag_bits(bits).map_err(|error| wrong(&error))?;
    let bits = u32::try_from(bits).map_err(|error| wrong(&error))?;
    theorem.with_tag_bits(bits).map_err(|error| wrong(&error))
}

impl Row {
    fn new(
        args: &BoundsArgs,
        algorithm: Algorithm,
        theorem: Theorem,
        length: u64,
        each: f64,
    ) -> Result<Row, BoundError> {
        let allowance = Allowance::new(theorem, length, each)?;
        let keys = args.keys();
        let tags =
            |messages| theorem.tags(&Workload { messages, length, attempts: 0 })?.of_keys(keys);
        let bound = args.messages.map(tags).transpose()?;
        let reads = match args.leaves.then(|| theorem.reads(length, each)).transpose() {
            // Listed without reads, unless named.
            Err(BoundError::NoLeafTags) if args.algorithms.is_empty() => None,
            reads => reads?,
        };
        // The terms need at least one message.
        let messages = args.messages.unwrap_or(allowance.messages.max(1));
        let load = Workload { messages, length, attempts: 1 };
        let forgery = match reads {
            Some(_) => theorem.leaves(&load)?,
            None => theorem.forgery(&load)?,
        };
        let terms = forgery.of_keys(keys)?.terms().to_vec();
        Ok(Row { algorithm, nonces: theorem.nonces(), allowance, bound, reads, terms })
    }

    /// Returns the expected number of trials of a search for one of the keys, as a logarithm to
    /// base 2.
    fn search(&self, keys: u128) -> f64 {
        (self.algorithm.cipher_key_bits() as f64 - (keys as f64).log2()).max(0.0)
    }

    fn record(&self, args: &BoundsArgs) -> BoundsRecord<'_> {
        BoundsRecord {
            algorithm: self.algorithm.name(),
            tag_bits: args.tag_bits.unwrap_or(self.algorithm.default_tag_bits()),
            probability: args.probability(),
            keys: args.keys,
            key_search_log2: args.keys.map(|keys| self.search(keys)),
            nonces: self.nonces.map(|nonces| match nonces {
                NonceKind::Counted => "counter",
                NonceKind::Random { .. } => "random",
            }),
            allowance: &self.allowance,
            reads: self.reads,
            bound: self.bound.as_ref().map(Bound::value),
            bound_log2: self.bound.as_ref().map(Bound::log2).filter(|log2| log2.is_finite()),
            plus: self.terms.iter().map(Term::to_string).collect(),
        }
    }
}

/// The JSON object of a row.
#[derive(Serialize)]
struct BoundsRecord<'a> {
    algorithm: &'static str,
    tag_bits: usize,
    probability: f64,
    /// The value of `--keys`.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<u128>,
    /// See [`Row::search`].
    #[serde(skip_serializing_if = "Option::is_none")]
    key_search_log2: Option<f64>,
    /// The source of the nonces, if the algorithm needs any.
    #[serde(skip_serializing_if = "Option::is_none")]
    nonces: Option<&'static str>,
    #[serde(flatten)]
    allowance: &'a Allowance,
    /// See [`Row`].
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_log2: Option<f64>,
    /// The terms to add, for one guess after the messages of `--messages`, or after the
    /// maximum of messages.
    plus: Vec<String>,
}

fn text(args: &BoundsArgs, rows: &[Row]) -> String {
    let all = args.algorithms.is_empty();
    let bound = args.messages.map(|messages| format!("AFTER {}", show_count(messages)));
    let head = ["ALGORITHM", "LENGTH", "MESSAGES", "BYTES", "GUESSES"].map(String::from);
    let search = args.keys.map(|_| "KEY SEARCH".to_owned());
    let reads = args.leaves.then(|| "READS".to_owned());
    let mut cells = vec![Vec::from_iter(head.into_iter().chain(reads).chain(search).chain(bound))];
    let groups = rows.chunk_by(|a, b| all && table::same_family(a.algorithm, b.algorithm));
    cells.extend(groups.map(|group| line(args, &group[0], &group[group.len() - 1])));
    let mut plus: Vec<Vec<String>> = rows.iter().map(|row| row.plus(all)).collect();
    plus.dedup();
    let derived = match plus.iter().flatten().any(|cell| cell.contains("_KDF")) {
        true => {
            "\nF is the PRF of UMAC99, compared with a random function; KDF derives its keys, which are\n\
             compared with random bits.\n"
        }
        false => "",
    };
    let leaves = match args.leaves {
        true => "\nHMAC-SHA256, which makes leaf tags, is compared with a random function.\n",
        false => "",
    };
    let tags = args.tag_bits.map(|bits| format!(" with tags of {bits} bits")).unwrap_or_default();
    let under = if args.keys() == 1 { "" } else { " under any of them" };
    format!(
        "{}{tags} while a forgery{under} has a probability of at most {}:\n\n{}\n{}\
         Plus the advantage of the best attack on the cipher; Adv^prp_E(q) is that of telling the\n\
         cipher E from a random permutation with q queries. E1, E2 and E3 are E under the first,\n\
         second and third key of a MAC:\n\n{}{derived}{leaves}",
        args.who(),
        show_probability(args.probability()),
        table(&cells),
        notes(args, rows),
        table(&plus),
    )
}

/// Returns the notes below the table about nonces and keys.
fn notes(args: &BoundsArgs, rows: &[Row]) -> String {
    let nonces = match args.nonces() {
        _ if rows.iter().all(|row| row.nonces.is_none()) => "",
        Nonces::Random => {
            "Nonces are drawn at random, as 'tagmac tag' draws them; use '--nonces counter' for those of\n\
             a counter.\n\n"
        }
        Nonces::Counter => "Nonces come from a counter, which never repeats.\n\n",
    };
    let keys = match args.keys {
        None => "",
        Some(_) => {
            "KEY SEARCH is the number of keys that an attacker must try to find one of them.\n\n"
        }
    };
    format!("{nonces}{keys}")
}

/// Returns the cells for a group of rows, from its first to its last.
fn line(args: &BoundsArgs, first: &Row, last: &Row) -> Vec<String> {
    let both = |cell: fn(&Row) -> String| table::span(cell(first), cell(last));
    let cells = [
        table::name(first.algorithm, last.algorithm),
        both(|row| show_size(row.allowance.length.into(), f64::floor)),
        both(|row| show_count(row.allowance.messages)),
        both(|row| show_size(row.allowance.bytes, f64::floor)),
        both(|row| show_count(row.allowance.guesses)),
    ];
    let search = args.keys.map(|keys| {
        let trials = |row: &Row| format!("2^{}", (row.search(keys) * 100.0).floor() / 100.0);
        table::span(trials(first), trials(last))
    });
    let bound = first.bound.as_ref().map(show_bound);
    let reads = args.leaves.then(|| both(|row| row.reads.map_or_else(|| "-".into(), show_count)));
    cells.into_iter().chain(reads).chain(search).chain(bound).collect()
}

impl Row {
    /// Returns the name and the terms to add. With `kind`, returns the kind of algorithm and the
    /// terms without their numbers, which are the same for all algorithms of the kind.
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
