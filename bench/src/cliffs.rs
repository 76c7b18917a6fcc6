//! Looks for cliffs: lengths at which one byte more costs far more.
//!
//! A table of medians hides them. Each engine is called at every length up to [`EVERY`], and around
//! [`BEYOND`]. Disturbances only add time, so each length counts with its quickest sample of some
//! rounds. A step that looks like a cliff is measured again, both lengths in turns, as a figure of a
//! record is.
//!
//! Some steps are the algorithm's: one byte more can need a cipher call that waits for another one.
//! A step above such a call of AES-256 is marked, and counted separately.

use std::hint::black_box;
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, Command, value_parser};

use crate::clock::cycles_per_ns;
use crate::engine::{Engine, Role};
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::{Effort, turns};

pub const NAME: &str = "cliffs";

/// All lengths up to this one are measured.
const EVERY: usize = 2048;
/// Beyond it, the lengths around these: where engines change their way, or a power of two.
const BEYOND: [usize; 10] = [3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 65536, 131072];
/// Bytes before and after each of them.
const AROUND: usize = 2;
/// One byte more is a cliff if it costs this many times as much, and also this many cycles more.
const TIMES: f64 = 1.2;
const CYCLES: f64 = 20.0;
/// The rounds of AES-256.
const CALL: f64 = 14.0;
/// Samples of each length.
const ROUNDS: usize = 5;
/// Nanoseconds of a sample.
const SAMPLE: f64 = 2e4;
/// For both lengths of a step that looks like a cliff.
const AGAIN: Effort = Effort { rounds: 21, sample_ns: SAMPLE, limit: Duration::MAX };

/// A way to call an engine on one message and its tag, a given number of times.
type Way = fn(&mut Engine, (&[u8], &[u8]), usize);

/// The ways to call, each with the role of its engines.
const WAYS: [(&str, Role, Way); 5] = [
    ("key ready", Role::Any, |engine, (message, _), calls| engine.timed.repeat(message, calls)),
    ("new key", Role::Any, |engine, (message, _), calls| engine.timed.rekey(message, calls)),
    ("session", Role::Sender, |engine, (message, _), calls| engine.timed.repeat(message, calls)),
    ("verify", Role::Any, |engine, (message, tag), calls| {
        black_box(engine.timed.verify(message, tag, calls));
    }),
    ("verify, new key", Role::Any, |engine, (message, tag), calls| {
        black_box(engine.timed.verify_raw(message, tag, calls));
    }),
];

/// Returns the subcommand.
pub fn command() -> Command {
    let way = Arg::new("way").long("way").value_name("WAY");
    let way = way.value_parser(WAYS.map(|(name, ..)| name));
    let below = Arg::new("below").long("below").value_name("BYTES");
    let below = below.value_parser(value_parser!(usize));
    let names = Arg::new("names").value_name("LEVEL|NAME").num_args(0..);
    Command::new(NAME)
        .about("Look for lengths at which one byte more costs over 1.2 times and 20 cycles more")
        .arg(way.help("Only this way of calling"))
        .arg(below.help("Only lengths below this one"))
        .arg(names.help("Only these levels, and only engines whose names begin with NAME"))
}

/// Prints each cliff of each engine in each way, on each level.
pub fn run(args: &ArgMatches) -> Result<(), Failure> {
    let names: Vec<String> = args.get_many("names").unwrap_or_default().cloned().collect();
    let only: Option<&String> = args.get_one("way");
    let below = args.get_one("below").copied().unwrap_or(usize::MAX);
    let harness = Harness::new(true, &names)?;
    println!("{}", harness.machine.line());
    let mut xs: Vec<usize> = (0..=EVERY).collect();
    xs.extend(BEYOND.iter().flat_map(|x| x - AROUND..=x + AROUND));
    xs.retain(|x| *x < below);
    let (mut cliffs, mut high) = (0, 0);
    for (name, role, way) in WAYS {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let mut engines = harness.peers(role)?;
        for level in harness.levels() {
            engines.extend(harness.on(level, role));
        }
        for engine in &mut engines {
            // Filling a cache of a megabyte for one message has no lengths to compare.
            let fills = name.ends_with("new key") && engine.key_table > 0;
            if !fills {
                let steps = engine_cliffs(&harness, engine, (name, way), &xs);
                cliffs += steps.len();
                high += steps.into_iter().filter(|high| *high).count();
            }
        }
    }
    println!("{cliffs} cliffs, {high} of them above a call of AES-256");
    Ok(())
}

/// Prints the cliffs of an engine in a way. Returns for each whether it is above a call of AES-256.
fn engine_cliffs(
    harness: &Harness,
    engine: &mut Engine,
    (name, way): (&str, Way),
    xs: &[usize],
) -> Vec<bool> {
    let xs: Vec<usize> = xs.iter().copied().filter(|x| *x <= engine.longest).collect();
    let mut best = vec![f64::MAX; xs.len()];
    for _ in 0..ROUNDS {
        let clock = cycles_per_ns();
        for (best, &x) in best.iter_mut().zip(&xs) {
            *best = best.min(clock * sample(engine, way, harness.message(0, x)));
        }
    }
    let found = cliffs(&xs, &best, |pair| {
        let messages = pair.map(|x| harness.message(0, x));
        let tags = messages.map(|message| engine.timed.tag(message));
        let figures = turns(AGAIN, 2, &mut |which, calls| {
            let start = Instant::now();
            way(engine, (messages[which], &tags[which]), calls);
            start.elapsed().as_secs_f64() * 1e9
        });
        [figures[0].median, figures[1].median]
    });
    // Other libraries are compared with the highest level.
    let mut costs = harness.costs().iter().rev();
    let costs = costs.find(|(level, _)| engine.level.is_none_or(|own| own == *level));
    let call = CALL * costs.expect("the costs of each level").1.aes_chained;
    let level = engine.level.map(|level| format!(" on {level}")).unwrap_or_default();
    let print = |([before, after], [low, high]): ([usize; 2], [f64; 2])| {
        let engine = &engine.name;
        let is_high = high - low > call;
        let mark = if is_high { ", above a call" } else { "" };
        println!(
            "{engine}{level}, {name}: {before} bytes {low:.0} cycles, {after} bytes {high:.0}, \
             {:.2} times{mark}",
            high / low
        );
        is_high
    };
    found.into_iter().map(print).collect()
}

/// Returns the cliffs, each with its lengths and their cycles. `best` has the least cycles at each
/// of `xs`; `again` measures two lengths in turns.
fn cliffs(
    xs: &[usize],
    best: &[f64],
    mut again: impl FnMut([usize; 2]) -> [f64; 2],
) -> Vec<([usize; 2], [f64; 2])> {
    let mut found = Vec::new();
    for (xs, best) in xs.windows(2).zip(best.windows(2)) {
        if xs[1] == xs[0] + 1 && is_cliff(best[0], best[1]) {
            let lengths = [xs[0], xs[1]];
            let [before, after] = again(lengths);
            if is_cliff(before, after) {
                found.push((lengths, [before, after]));
            }
        }
    }
    found
}

fn is_cliff(before: f64, after: f64) -> bool {
    after > TIMES * before && after > before + CYCLES
}

/// Returns the nanoseconds of a call, from one sample.
fn sample(engine: &mut Engine, way: Way, message: &[u8]) -> f64 {
    let tag = engine.timed.tag(message);
    let mut time = |calls| {
        let start = Instant::now();
        way(engine, (message, &tag), calls);
        start.elapsed().as_secs_f64() * 1e9
    };
    // The first calls fill caches and tell how many fit.
    time(2);
    let once = time(4) / 4.0;
    let calls = (SAMPLE / once.max(1.0)).clamp(4.0, 1e5) as usize;
    time(calls) / calls as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_is_a_step_of_a_fifth_and_twenty_cycles() {
        assert!(is_cliff(100.0, 121.0));
        assert!(!is_cliff(100.0, 120.0));
        assert!(!is_cliff(50.0, 69.0));
    }

    #[test]
    fn a_cliff_is_one_byte_more_and_is_seen_twice() {
        let xs = [22, 23, 24, 25, 26, 1000, 1001];
        // A cliff at 24, a disturbed sample at 26, and a step between lengths far apart.
        let best = [300.0, 310.0, 900.0, 910.0, 1500.0, 4000.0, 4010.0];
        let quiet = |x: usize| if x < 24 { 305.0 } else { 905.0 };
        let mut measured_again = Vec::new();
        let found = cliffs(&xs, &best, |pair| {
            measured_again.push(pair);
            pair.map(quiet)
        });
        assert_eq!(found, [([23, 24], [305.0, 905.0])]);
        assert_eq!(measured_again, [[23, 24], [25, 26]]);
    }
}
