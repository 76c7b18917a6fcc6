//! Looks for cliffs: lengths at which one byte more costs far more, and batches that take far longer
//! than single calls.
//!
//! A table of medians hides them. Each engine is called at every length up to [`EVERY`], and around
//! [`BEYOND`]. Disturbances only add time, so each length counts with its quickest sample of some
//! rounds. A step that looks like a cliff is measured again, both lengths in turns, as a figure of a
//! record is. Batches count by the message.
//!
//! Some steps are the algorithm's, and are counted separately. One byte more can begin a block: then
//! the next block costs as much. Or it can need a cipher call that waits for another one: a step above
//! such a call of AES-256 is marked.

use std::hint::black_box;
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};

use tagmac::Tag;
use tagmac::isa::Level;

use crate::clock::cycles_per_ns;
use crate::engine::{Engine, Role};
use crate::experiments::batch::{Ours, macs, messages};
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
/// Messages of the batches whose length grows.
const BATCH: usize = 64;
/// Bytes of the messages of batches of up to [`BATCH`] messages.
const SIZES: [usize; 5] = [16, 64, 256, 512, 1024];
/// One byte more is a cliff if it costs this many times as much, and also this many cycles more.
const TIMES: f64 = 1.2;
const CYCLES: f64 = 20.0;
/// The blocks of all MACs fit into this many bytes.
const BLOCK: usize = 16;
/// If each block costs a step, the next [`BLOCK`] bytes cost at least this part of it.
const REPEATED: f64 = 0.7;
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

/// The way that calls tagmac's MACs on many messages.
const IN_ONE_CALL: &str = "batch";

/// Returns the subcommand.
pub fn command() -> Command {
    let way = Arg::new("way").long("way").value_name("WAY");
    let names = WAYS.iter().map(|(name, ..)| *name).chain([IN_ONE_CALL]);
    let way = way.value_parser(PossibleValuesParser::new(names));
    let below = Arg::new("below").long("below").value_name("BYTES");
    let below = below.value_parser(value_parser!(usize));
    let names = Arg::new("names").value_name("LEVEL|NAME").num_args(0..);
    Command::new(NAME)
        .about(
            "Look for lengths at which one byte more costs over 1.2 times and 20 cycles more, and \
             batches that take so much longer than single calls",
        )
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
    let wants = |way: &str| only.is_none_or(|only| only == way);
    let mut found = Vec::new();
    for (name, role, way) in WAYS.into_iter().filter(|(name, ..)| wants(name)) {
        let mut engines = harness.peers(role)?;
        for level in harness.levels() {
            engines.extend(harness.on(level, role));
        }
        for engine in &mut engines {
            // Filling a cache of a megabyte for one message has no lengths to compare.
            let fills = name.ends_with("new key") && engine.key_table > 0;
            if !fills {
                found.extend(engine_cliffs(&harness, engine, (name, way), &xs));
            }
        }
    }
    if wants(IN_ONE_CALL) {
        xs.retain(|x| *x <= EVERY);
        for level in harness.levels() {
            for (name, mac) in macs(level)?.iter().filter(|(name, _)| harness.wants(name)) {
                found.extend(batch_cliffs(&harness, (name, &**mac), level, &xs));
            }
        }
    }
    let [blocks, above] =
        [Kind::Block, Kind::Above].map(|kind| found.iter().filter(|found| **found == kind).count());
    println!(
        "{} cliffs, {above} of them above a call of AES-256; {blocks} blocks that cost the same again",
        found.len() - blocks
    );
    Ok(())
}

/// The kinds of steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A block that the next one repeats.
    Block,
    /// More than a call of AES-256.
    Above,
    /// At most a call of AES-256.
    Below,
}

/// Prints the cliffs of an engine in a way. Returns their kinds.
fn engine_cliffs(
    harness: &Harness,
    engine: &mut Engine,
    (name, way): (&str, Way),
    xs: &[usize],
) -> Vec<Kind> {
    let xs: Vec<usize> = xs.iter().copied().filter(|x| *x <= engine.longest).collect();
    let found = steps(&xs, 1, &mut |x, calls| {
        let message = harness.message(0, x);
        let tag = engine.timed.tag(message);
        nanoseconds(|| way(engine, (message, &tag), calls))
    });
    let level = engine.level.map(|level| format!(" on {level}")).unwrap_or_default();
    let what = format!("{}{level}, {name}", engine.name);
    let aes256 = call(harness, engine.level);
    let print = |step: Step| {
        let [before, after] = step.lengths.map(|x| format!("{x} bytes"));
        print(&what, [&before, &after], step.cycles, step.kind(aes256))
    };
    found.into_iter().map(print).collect()
}

/// Prints the cliffs of batches of a MAC of tagmac, in cycles per message. Lengths are cliffs if one
/// byte more costs far more. Of each mix of lengths, the number of messages for which one call is
/// slowest is compared with single calls. Returns the cliffs' kinds.
fn batch_cliffs(
    harness: &Harness,
    (name, mac): (&str, &dyn Ours),
    level: Level,
    lengths: &[usize],
) -> Vec<Kind> {
    let mut tags = [Tag::default(); BATCH];
    let mut batch = |messages: &[&[u8]], times| {
        nanoseconds(|| {
            for _ in 0..times {
                mac.tag_many(black_box(messages), &mut tags[..messages.len()]);
                black_box(&tags);
            }
        })
    };
    let (aes256, what) = (call(harness, Some(level)), format!("{name} on {level}, in one call"));
    let found =
        steps(lengths, BATCH, &mut |x, calls| batch(&messages(harness, x, false)[..BATCH], calls));
    let of_length = |step: Step| {
        let [before, after] = step.lengths.map(|x| format!("{BATCH} messages of {x} bytes"));
        print(&what, [&before, &after], step.cycles, step.kind(aes256))
    };
    let mut kinds: Vec<Kind> = found.into_iter().map(of_length).collect();
    for (size, mixed) in SIZES.into_iter().flat_map(|size| [(size, false), (size, true)]) {
        let messages = messages(harness, size, mixed);
        let worst = slowest(&mut |n, which, calls| match which {
            0 => one_by_one(mac, &messages[..n], calls),
            _ => batch(&messages[..n], calls),
        });
        if let Some((n, cycles)) = worst {
            let sizes = if mixed { format!("0 to {}", 2 * size) } else { size.to_string() };
            let each = format!("{n} messages of {sizes} bytes one by one");
            kinds.push(print(&what, [&each, "in one call"], cycles, kind(cycles, aes256)));
        }
    }
    kinds
}

/// Tags messages with single calls, `times` times. Returns the nanoseconds.
fn one_by_one(mac: &dyn Ours, messages: &[&[u8]], times: usize) -> f64 {
    nanoseconds(|| {
        for _ in 0..times {
            for (at, message) in messages.iter().enumerate() {
                black_box(mac.tag(at, black_box(message)));
            }
        }
    })
}

/// Returns the number of messages for which one call is slowest compared with single calls, and the
/// cycles per message of both. `None` if no number is a cliff that is seen twice. `time` takes a
/// number of messages, 0 for single calls or 1 for one call, and how often to repeat, and returns the
/// nanoseconds.
fn slowest(time: &mut dyn FnMut(usize, usize, usize) -> f64) -> Option<(usize, [f64; 2])> {
    let mut seen = Vec::new();
    for n in 1..=BATCH {
        let clock = cycles_per_ns();
        let mut best = [f64::MAX; 2];
        for _ in 0..ROUNDS {
            for (which, best) in best.iter_mut().enumerate() {
                *best = best.min(sample(&mut |calls| time(n, which, calls)));
            }
        }
        let [each, together] = best.map(|nanoseconds| clock * nanoseconds / n as f64);
        if is_cliff(each, together) {
            seen.push((together / each, n));
        }
    }
    seen.sort_by(|one, other| other.0.total_cmp(&one.0));
    seen.into_iter().find_map(|(_, n)| {
        let figures = turns(AGAIN, 2, &mut |which, calls| time(n, which, calls));
        let [each, together] = [0, 1].map(|which| figures[which].median / n as f64);
        is_cliff(each, together).then_some((n, [each, together]))
    })
}

/// A step from a length to the next one.
#[derive(Debug, PartialEq)]
struct Step {
    lengths: [usize; 2],
    cycles: [f64; 2],
    /// See [`Kind::Block`].
    is_block: bool,
}

impl Step {
    fn kind(&self, aes256: f64) -> Kind {
        if self.is_block { Kind::Block } else { kind(self.cycles, aes256) }
    }
}

/// Returns the kind of a step that does not begin a block.
fn kind([low, high]: [f64; 2], aes256: f64) -> Kind {
    if high - low > aes256 { Kind::Above } else { Kind::Below }
}

/// Returns the cycles of a call of AES-256. Other libraries are compared with the highest level.
fn call(harness: &Harness, level: Option<Level>) -> f64 {
    let mut costs = harness.costs().iter().rev();
    let costs = costs.find(|(known, _)| level.is_none_or(|own| own == *known));
    CALL * costs.expect("the costs of each level").1.aes_chained
}

/// Prints a cliff. Returns its kind.
fn print(what: &str, [before, after]: [&str; 2], [low, high]: [f64; 2], kind: Kind) -> Kind {
    let mark = match kind {
        Kind::Block => ", as the next block",
        Kind::Above => ", above a call",
        Kind::Below => "",
    };
    println!("{what}: {before} {low:.0} cycles, {after} {high:.0}, {:.2} times{mark}", high / low);
    kind
}

/// Returns the cliffs at `xs`. `time` takes one of them and a number of calls, each of `messages`
/// messages, and returns their nanoseconds.
fn steps(xs: &[usize], messages: usize, time: &mut dyn FnMut(usize, usize) -> f64) -> Vec<Step> {
    let of_one = 1.0 / messages as f64;
    let mut best = vec![f64::MAX; xs.len()];
    for _ in 0..ROUNDS {
        let clock = cycles_per_ns();
        for (best, &x) in best.iter_mut().zip(xs) {
            *best = best.min(clock * of_one * sample(&mut |calls| time(x, calls)));
        }
    }
    cliffs(xs, &best, |pair| {
        let figures = turns(AGAIN, 2, &mut |which, calls| time(pair[which], calls));
        [0, 1].map(|which| of_one * figures[which].median)
    })
}

fn nanoseconds(calls: impl FnOnce()) -> f64 {
    let start = Instant::now();
    calls();
    start.elapsed().as_secs_f64() * 1e9
}

/// Returns the cliffs, each with what was measured and its cycles. `best` has the least cycles at each
/// of `xs`; `again` measures two lengths in turns.
fn cliffs(xs: &[usize], best: &[f64], mut again: impl FnMut([usize; 2]) -> [f64; 2]) -> Vec<Step> {
    let mut found = Vec::new();
    for (at, pair) in xs.windows(2).enumerate() {
        let lengths = [pair[0], pair[1]];
        if lengths[1] == lengths[0] + 1 && is_cliff(best[at], best[at + 1]) {
            let cycles = again(lengths);
            if is_cliff(cycles[0], cycles[1]) {
                let next = xs.iter().position(|x| *x == lengths[1] + BLOCK);
                let grows = next.map_or(0.0, |next| best[next] - best[at + 1]);
                let is_block = grows >= REPEATED * (cycles[1] - cycles[0]);
                found.push(Step { lengths, cycles, is_block });
            }
        }
    }
    found
}

fn is_cliff(before: f64, after: f64) -> bool {
    after > TIMES * before && after > before + CYCLES
}

/// Returns the nanoseconds of a call, from one sample. `time` returns those of a number of calls.
fn sample(time: &mut dyn FnMut(usize) -> f64) -> f64 {
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
        let step = Step { lengths: [23, 24], cycles: [305.0, 905.0], is_block: false };
        assert_eq!(found, [step]);
        assert_eq!(measured_again, [[23, 24], [25, 26]]);
    }

    #[test]
    fn a_block_costs_as_much_as_the_next_one() {
        let xs: Vec<usize> = (0..64).collect();
        // 100 cycles for each block of 16 bytes, and once 300 from 40 bytes on.
        let time = |x: usize| 100.0 * (1 + x / 16) as f64 + if x < 40 { 0.0 } else { 300.0 };
        let best: Vec<f64> = xs.iter().map(|x| time(*x)).collect();
        let found = cliffs(&xs, &best, |pair| pair.map(time));
        let found: Vec<_> = found.iter().map(|step| (step.lengths[1], step.is_block)).collect();
        assert_eq!(found, [(16, true), (32, true), (40, false)]);
        let kinds = [50.0, 60.0].map(|aes256| kind([100.0, 155.0], aes256) == Kind::Above);
        assert_eq!(kinds, [true, false]);
    }

    #[test]
    fn the_slowest_batch_is_found_beside_single_calls() {
        // Single calls take a microsecond each. In one call, 8 to 20 messages take twice as long, and
        // 10 three times.
        let batch = |n: usize| match n {
            10 => 3.0,
            8..=20 => 2.0,
            _ => 1.0,
        };
        let mut time = |n: usize, which: usize, calls: usize| {
            let each = if which == 0 { 1.0 } else { batch(n) };
            1e3 * each * (n * calls) as f64
        };
        let (n, [each, together]) = slowest(&mut time).expect("a cliff");
        assert_eq!((n, (together / each).round()), (10, 3.0));
        assert!(slowest(&mut |n, _, calls| 1e3 * (n * calls) as f64).is_none());
    }
}
