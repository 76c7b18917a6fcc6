//! The second witness: the trace of a call is the same under all keys. A trace has each conditional jump and
//! whether it jumps, each load and store and its address, each call through a register and each number that is
//! divided, in their order.
//!
//! It sees every instruction that the CPU has, AVX-512 and VAES among them, of the code that ran. What
//! it cannot see: keys that it did not try, the C library's own functions, and whether an instruction other than
//! a division takes as long for all operands.

use std::cell::UnsafeCell;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tagmac::Tag;
use tagmac::isa::Level;

use crate::calls::{Call, Subject, Trial, Witness};
use crate::symbols::{self, Function};
use crate::tally::{Depth, Tally};
use crate::trap::{self, CALLS, KEPT, Shared, Stop, Trace};
use crate::{key, memcheck, message};

/// The argument of the process that traces a level.
pub const ARGUMENT: &str = "trace";

const QUICK: [usize; 3] = [0, 64, 2049];
const MANY: [usize; 6] = [0, 17, 64, 145, 529, 1025];
const FULL: [usize; 22] = [
    0, 1, 15, 16, 17, 31, 33, 64, 128, 129, 144, 145, 257, 432, 513, 527, 529, 1024, 1025, 2048,
    2049, 4097,
];
/// Functions that have no breakpoints: those that the handler runs.
const WITHOUT: [&str; 2] = ["ctime::trap", "ctime::operand"];

/// What comes before an address in the program's file. Names are for a process without breakpoints.
const PLACE: char = '@';

/// Keys that a call is traced under, of a subject that stands for others and at all lengths: the first ones
/// are all zero and all ones.
const KEYS: usize = 4;
/// The same at the lengths of a quick run, where this is the only witness.
const MANY_KEYS: usize = 64;

/// Whether memcheck does not know the level.
pub fn is_alone(level: &str) -> bool {
    !memcheck::LEVELS.contains(&level)
}

/// The levels that are traced, of those of this CPU: in a quick run those without another witness, if
/// there are any.
pub fn levels(
    levels: &[&'static str],
    depth: Depth,
) -> impl DoubleEndedIterator<Item = &'static str> {
    let all = depth == Depth::Full || !levels.iter().any(|level| is_alone(level));
    levels.iter().copied().filter(move |level| all || is_alone(level))
}

/// Subjects, lengths and numbers of keys.
type Round<'a> = (Vec<Subject>, &'a [usize], usize);

/// What is traced on a level. LightMAC is the same code with counters of all lengths, so one stands for
/// the others but in one round.
fn rounds(level: &str, depth: Depth, subjects: &[Subject]) -> Vec<Round<'static>> {
    // 16 MiB with a stop at every load take too long. Parts that are far behind stand in.
    let all = subjects.iter().copied().filter(|subject| !matches!(subject, Subject::Long));
    let stands = |subject: &Subject| {
        let name = subject.name();
        !(name.starts_with("LIGHTMAC") && name.contains("-S")) || name.ends_with("-S32")
    };
    let some: Vec<_> = all.clone().filter(stands).collect();
    match (depth, is_alone(level)) {
        (Depth::Quick, _) => vec![(some, &QUICK, KEYS)],
        (Depth::Full, false) => vec![(some, &QUICK, KEYS)],
        (Depth::Full, true) => vec![(all.collect(), &FULL, KEYS), (some, &MANY, MANY_KEYS)],
    }
}

/// Names the calls, and makes all that is made once in a process.
struct Names(Vec<Call>);

impl Witness for Names {
    fn secret(&mut self, _bytes: &mut [u8]) {}
    fn public<T>(&mut self, _value: &mut T) {}
    fn made(&mut self, _tag: &mut Tag) {}

    fn watch<R>(&mut self, call: Call, f: impl FnOnce() -> R) -> R {
        self.0.push(call);
        f()
    }
}

/// Traces each call.
struct Tracer;

impl Witness for Tracer {
    fn secret(&mut self, _bytes: &mut [u8]) {}
    fn public<T>(&mut self, _value: &mut T) {}
    fn made(&mut self, _tag: &mut Tag) {}

    fn watch<R>(&mut self, _call: Call, f: impl FnOnce() -> R) -> R {
        trap::begin();
        let result = f();
        trap::end();
        result
    }
}

/// Traces a subject's calls under a key, in a process of its own: each begins with the same memory.
///
/// # Errors
///
/// How it ended, if it did not end well.
fn trace(
    shared: &'static UnsafeCell<Shared>,
    subject: Subject,
    trial: Trial<'_>,
    keep: usize,
) -> Result<(), i32> {
    // SAFETY: this process has one thread, and the other one writes only until it was waited for.
    unsafe {
        (*shared.get()).calls = 0;
        (*shared.get()).keep = keep;
        (*shared.get()).kept = 0;
        match libc::fork() {
            0 => {
                let mut key = key(subject.key_bytes(), trial.number);
                subject.calls(&mut Tracer, &mut key, trial);
                libc::_exit(0)
            }
            child => {
                let mut status = -1;
                libc::waitpid(child, &mut status, 0);
                if status == 0 { Ok(()) } else { Err(status) }
            }
        }
    }
}

/// Writes down where instructions are, for processes that set breakpoints.
pub fn write_places(functions: &[Function], folder: &Path) {
    let mut places = String::new();
    for function in functions.iter().filter(|f| !WITHOUT.iter().any(|name| f.name.contains(name))) {
        for pair in function.code.windows(2) {
            places += &format!("{:x} {}\n", pair[0].at, pair[1].at - pair[0].at);
        }
    }
    fs::write(folder.join("places"), places).expect("a temporary file");
}

fn read_places(folder: &Path) -> Vec<(u64, usize)> {
    let places = fs::read_to_string(folder.join("places")).expect("a temporary file");
    let place = |line: &str| {
        let (at, bytes) = line.split_once(' ')?;
        Some((u64::from_str_radix(at, 16).ok()?, bytes.parse().ok()?))
    };
    places.lines().map(|line| place(line).expect("an address and a length")).collect()
}

/// What a process that traces does: every call on a level, under each key, and then it writes to a file
/// where traces stopped.
pub fn under_breakpoints(level: &str, depth: Depth, subjects: &[Subject], folder: &Path) {
    let level = Level::from_name(level).expect("a level of this CPU");
    let (shared, message) = (trap::share(), message());
    let rounds = rounds(level.name(), depth, subjects);
    let trial = |lengths, number| Trial { level, lengths, message: &message, number };
    let mut named: Vec<(Subject, &[usize], usize, Vec<Call>)> = Vec::new();
    for (subjects, lengths, keys) in rounds {
        for subject in subjects {
            let mut names = Names(Vec::new());
            subject.calls(&mut names, &mut key(subject.key_bytes(), 2), trial(lengths, 2));
            named.push((subject, lengths, keys, names.0));
        }
    }
    let most = named.iter().map(|(_, _, keys, _)| *keys).max().unwrap_or(0);
    let mut tally = Tally::default();
    // Room before the first fork, so that all have the same heap.
    let mut first = vec![Trace::default(); CALLS];
    let mut stops = 0;
    // SAFETY: objdump says where instructions are, those of the handler are left out, and this process
    // has one thread.
    unsafe { trap::set_breakpoints(shared, symbols::start(), &read_places(folder)) };
    for (subject, lengths, keys, names) in named {
        let trial = |number| trial(lengths, number);
        let place = || format!("traces, {level}, {}", subject.name());
        for number in 0..keys {
            if let Err(status) = trace(shared, subject, trial(number), usize::MAX) {
                let wrong = format!(
                    "{}: expected key {number} to end well, found status {status:#x}",
                    place()
                );
                tally.check(Some(wrong));
                break;
            }
            // SAFETY: the process that wrote it has ended.
            let traces = unsafe { &(&(*shared.get()).traces)[..(*shared.get()).calls] };
            if traces.len() != names.len() {
                tally.check(Some(format!(
                    "{}: expected {} calls, found {}",
                    place(),
                    names.len(),
                    traces.len()
                )));
                break;
            }
            stops += traces.iter().map(|trace| trace.stops).sum::<u64>();
            if number == 0 {
                first[..traces.len()].copy_from_slice(traces);
                continue;
            }
            tally.checked += names.len() as u64;
            if let Some(call) = (0..names.len()).find(|i| traces[*i].gathers > 0) {
                let what = names[call].what;
                tally
                    .failures
                    .push(format!("{}, {what}: expected no vector of addresses", place()));
            }
            if let Some(call) = (0..names.len()).find(|i| traces[*i] != first[*i]) {
                let Call { what, length, .. } = names[call];
                let at = first_difference(shared, subject, [trial(0), trial(number)], call);
                tally.failures.push(format!(
                    "{}, {what} of {length}: expected one trace, found another under key {number}: {at}",
                    place()
                ));
                break;
            }
        }
    }
    tally.note(format_args!(
        "traces, {level}: up to {most} keys, {stops} jumps, addresses and divisions"
    ));
    // SAFETY: all processes that wrote it have ended.
    fs::write(ran_file(folder, level.name()), unsafe { &(&(*shared.get()).ran)[..] })
        .expect("a temporary file");
    tally.report();
}

/// Where the traces of a call under two keys part.
fn first_difference(
    shared: &'static UnsafeCell<Shared>,
    subject: Subject,
    trials: [Trial<'_>; 2],
    call: usize,
) -> String {
    // Room before both, so that they have the same heap.
    let mut kept = trials.map(|_| Vec::with_capacity(KEPT));
    for (kept, trial) in kept.iter_mut().zip(trials) {
        // It ended well before.
        let _ = trace(shared, subject, trial, call);
        // SAFETY: the process that wrote it has ended.
        kept.extend_from_slice(unsafe { &(&(*shared.get()).stops)[..(*shared.get()).kept] });
    }
    let (start, [one, other]) = (symbols::start(), &kept);
    match one.iter().zip(other).position(|(a, b)| a != b) {
        None if one.len() == KEPT => format!("after more than {KEPT} stops"),
        None => format!("after {} or {} stops", one.len(), other.len()),
        Some(stop) => {
            let what =
                |stop: &Stop| format!("{PLACE}{:x} with {:#x}", stop.place - start, stop.value);
            format!("stop {stop} is {} and {}", what(&one[stop]), what(&other[stop]))
        }
    }
}

/// Where the process of a level writes what it reached.
pub fn ran_file(folder: &Path, level: &str) -> PathBuf {
    folder.join(format!("ran-{level}"))
}

/// Traces a level in a process of its own.
pub fn run(
    level: &str,
    depth: Depth,
    planted: Option<&str>,
    functions: &[Function],
    folder: &Path,
) -> Tally {
    let mut tally = Tally::default();
    let output = Command::new(env::current_exe().expect("the path of this program"))
        .args([ARGUMENT, level, depth.argument()])
        .arg(folder)
        .args(planted)
        .output();
    let output = output.expect("this program can be run");
    match Tally::read(&String::from_utf8_lossy(&output.stdout)) {
        Some(mut found) => {
            for failure in &mut found.failures {
                *failure = with_names(functions, failure);
            }
            tally.add(found);
        }
        None => {
            let log = String::from_utf8_lossy(&output.stderr);
            let last: Vec<_> = log.lines().rev().take(4).collect();
            tally.check(Some(format!(
                "traces, {level}: expected it to end, found {}, {last:?}",
                output.status
            )));
        }
    }
    tally
}

/// A failure with names in the place of addresses.
fn with_names(functions: &[Function], failure: &str) -> String {
    let mut pieces = failure.split(PLACE);
    let mut named = String::from(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (digits, rest) = piece.split_once(' ').unwrap_or((piece, ""));
        let place = u64::from_str_radix(digits, 16).unwrap_or(0);
        named += &format!("{} {rest}", symbols::name(functions, place));
    }
    named
}
