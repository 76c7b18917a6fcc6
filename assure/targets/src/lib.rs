//! What `scripts/assure fuzz` runs: one function for each thing that parses or has state, from bytes.
//!
//! A target panics where an answer is wrong; so does whatever it calls. The bytes that reached the most
//! code are in `corpus/`, and the test of this crate runs all of them again.

mod arguments;
mod bare;
mod calls;
mod checkpoint;
pub mod corpus;
mod edits;
mod input;
mod kernels;
mod keys;
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

/// Something to try.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Tries it with these bytes.
    pub run: fn(&[u8]),
    /// Bytes to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// The most bytes that are tried.
    pub max_len: usize,
    /// Runs of a quick run: some seconds.
    pub runs: u32,
    /// Whether it parses, which is fast.
    pub parses: bool,
}

/// All of them.
pub const TARGETS: [Target; 16] = [
    parser("keys", keys::run, keys::seeds, 600, 250_000),
    target("bare", bare::run, bare::seeds, 600, 40_000),
    parser("lists", lists::run, lists::seeds, 2048, 250_000),
    target("names", names::run, names::seeds, 300, 60_000),
    parser("manifests", manifests::run, manifests::seeds, 2048, 300_000),
    parser("objects", objects::run, objects::seeds, 2048, 200_000),
    parser("partials", partials::run, partials::seeds, 2048, 250_000),
    parser("sidecars", sidecars::run, sidecars::seeds, 2048, 350_000),
    parser("checkpoints", checkpoint::run, checkpoint::seeds, 2048, 350_000),
    target("saved", saved::run, saved::seeds, 512, 100_000),
    target("whole", whole::run, whole::seeds, 256, 40_000),
    target("streams", streams::run, streams::seeds, 256, 15_000),
    target("edits", edits::run, edits::seeds, 256, 40_000),
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

/// The target of this name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was found once is found for good: all seeds and all of the corpus.
    #[test]
    fn the_corpus_passes() {
        for target in &TARGETS {
            let inputs = corpus::read(target.name);
            assert!(!inputs.is_empty(), "{}: expected a corpus, found none", target.name);
            for input in (target.seeds)().iter().chain(&inputs) {
                (target.run)(input);
            }
        }
    }
}
