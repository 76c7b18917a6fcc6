//! The targets of `scripts/assure fuzz`: one function for each parser and each stateful type,
//! driven by bytes.
//!
//! A target panics if a result is wrong, and so does the code that it calls. `corpus/` has the
//! inputs that reached the most code, and the test of this crate runs all of them.

mod arguments;
mod bare;
mod calls;
mod checkpoint;
pub mod corpus;
mod edits;
mod input;
mod kernels;
mod keys;
mod leaves;
mod ledgers;
mod lists;
mod manifests;
mod names;
mod objects;
mod partials;
mod plant;
mod saved;
mod sidecars;
mod streams;
mod subject;
mod whole;

pub use plant::{PLANTS, Plant};

/// A fuzz target.
pub struct Target {
    /// The name on the command line.
    pub name: &'static str,
    /// Runs it on these bytes.
    pub run: fn(&[u8]),
    /// Returns the initial inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Maximum length of an input in bytes.
    pub max_len: usize,
    /// Number of runs in a quick run, which take some seconds.
    pub runs: u32,
    /// True for parsers, which must be fast.
    pub parses: bool,
}

/// All targets.
pub const TARGETS: [Target; 18] = [
    parser("keys", keys::run, keys::seeds, 600, 250_000),
    target("bare", bare::run, bare::seeds, 600, 40_000),
    parser("lists", lists::run, lists::seeds, 2048, 250_000),
    target("names", names::run, names::seeds, 300, 60_000),
    parser("manifests", manifests::run, manifests::seeds, 2048, 300_000),
    parser("objects", objects::run, objects::seeds, 2048, 200_000),
    parser("ledgers", ledgers::run, ledgers::seeds, 2048, 300_000),
    parser("partials", partials::run, partials::seeds, 2048, 250_000),
    parser("sidecars", sidecars::run, sidecars::seeds, 2048, 350_000),
    parser("checkpoints", checkpoint::run, checkpoint::seeds, 2048, 350_000),
    target("saved", saved::run, saved::seeds, 512, 100_000),
    target("whole", whole::run, whole::seeds, 256, 40_000),
    target("streams", streams::run, streams::seeds, 256, 15_000),
    target("edits", edits::run, edits::seeds, 256, 40_000),
    target("leaves", leaves::run, leaves::seeds, 256, 3_000),
    target("arguments", arguments::run, arguments::seeds, 256, 25_000),
    target("calls", calls::run, calls::seeds, 256, 25_000),
    target("kernels", kernels::run, kernels::seeds, 64, 6_000),
];

const fn target(
    name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
    max_len: usize,
    runs: u32,
) -> Target {
    Target { name, run, seeds, max_len, runs, parses: false }
}

const fn parser(
    name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
    max_len: usize,
    runs: u32,
) -> Target {
    Target { parses: true, ..target(name, run, seeds, max_len, runs) }
}

/// Returns the target with this name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs all seeds and the whole corpus, so that no bug comes back.
    #[test]
    fn the_corpus_passes() {
        for target in &TARGETS {
            let inputs = corpus::read(target.name);
            assert!(!inputs.is_empty(), "{}: the corpus is empty", target.name);
            for input in (target.seeds)().iter().chain(&inputs) {
                (target.run)(input);
            }
        }
    }
}
