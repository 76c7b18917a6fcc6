//! Threads and processes that share a key, a budget, a session, the pool and the C library: tags
//! must be correct, nonces must never repeat, budgets must hold, and no thread may wait forever.
//!
//! Small state machines are explored in every order (`models.rs`). The library itself runs with up
//! to 64 threads (`shared.rs`), in forked children (`fork.rs`) and as a C library that is loaded
//! and unloaded (`library.rs`). `concurrency.py` also runs a build with ThreadSanitizer, which must
//! report the planted bugs of `races.rs`.

#[cfg(target_os = "linux")]
mod fork;
#[cfg(target_os = "linux")]
mod library;
mod model;
mod models;
mod races;
mod shared;

use std::process::ExitCode;

use assure::Job;
use tagmac_any::Algorithm;

/// Bugs in models, shared state, children and the C library, and races.
const PLANTS: [&str; 16] = [
    "budget-read-then-written",
    "helpers-taken-without-exchange",
    "verdict-before-the-test",
    "reader-while-written",
    "readers-one-by-one",
    "pool-waited-for-after-fork",
    "another-key",
    "two-counts",
    "two-sessions",
    "lost-piece",
    "pool-of-the-parent",
    "wrong-in-the-child",
    "tag-before-the-last-unload",
    "nonce-of-two-packets",
    "race-on-a-count",
    "race-on-first-use",
];

fn main() -> ExitCode {
    let job = match Job::from_args("concurrency", &PLANTS) {
        Ok(job) => job,
        Err(code) => return code,
    };
    let planted = PLANTS.into_iter().find(|plant| job.planted(plant)).unwrap_or("");
    // Only ThreadSanitizer detects these, and nothing else needs to run.
    let race: Option<fn()> = match planted {
        "race-on-a-count" => Some(races::on_a_count),
        "race-on-first-use" => Some(races::on_first_use),
        _ => None,
    };
    if let Some(race) = race {
        race();
        return job.finish();
    }
    // Runs first, so that its threads are the first users of the library in this process.
    let check = |right: bool, told: &str| job.check(right, || told.into());
    for threads in job.either([64, 1, 2, 7], [64, 1, 3, 16]) {
        let names = ["PMAC-AES128", "PMAC-PRESENT128", "ELIMAC-AES128", "POLY1305-AES", "UMAC-64"];
        let some = names.map(|name| Algorithm::from_name(name).expect("a name in the registry"));
        let algorithms =
            if job.full() || threads == 64 { Algorithm::all().collect() } else { some.to_vec() };
        let rounds = job.either(if threads == 64 { 1 } else { 5 }, 20);
        shared::run(&shared::Plan { threads, rounds, algorithms, planted }, &check);
    }
    models::run(&job);
    fork::run(&job);
    library::run(&job);
    job.finish()
}
