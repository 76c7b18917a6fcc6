//! What `scripts/assure fuzz` runs: one function for each thing that parses or has state, from bytes.
//!
//! A target panics where an answer is wrong; so does whatever it calls. The bytes that reached the most
//! code are in `corpus/`, and the test of this crate runs all of them again.

mod arguments;
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
    /// Whether it parses, which is fast.
    pub parses: bool,
}

/// All of them.
pub const TARGETS: [Target; 15] = [
    target("keys", keys::run, keys::seeds, 600, true),
    target("lists", lists::run, lists::seeds, 2048, true),
    target("names", names::run, names::seeds, 300, true),
    target("manifests", manifests::run, manifests::seeds, 2048, true),
    target("objects", objects::run, objects::seeds, 2048, true),
    target("partials", partials::run, partials::seeds, 2048, true),
    target("sidecars", sidecars::run, sidecars::seeds, 2048, true),
    target("checkpoints", checkpoint::run, checkpoint::seeds, 2048, true),
    target("saved", saved::run, saved::seeds, 512, false),
    target("whole", whole::run, whole::seeds, 256, false),
    target("streams", streams::run, streams::seeds, 256, false),
    target("edits", edits::run, edits::seeds, 256, false),
    target("arguments", arguments::run, arguments::seeds, 256, false),
    target("calls", calls::run, calls::seeds, 256, false),
    target("kernels", kernels::run, kernels::seeds, 64, false),
];

const fn target(
    name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
    max_len: usize,
    parses: bool,
) -> Target {
    Target { name, run, seeds, max_len, parses }
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
