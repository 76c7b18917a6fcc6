//! The second witness: the trace of a call must be the same under all keys. A trace lists, in
//! order, each conditional jump and whether it was taken, the address of each load and store, each
//! call through a register, and each dividend.
//!
//! It sees every instruction of the CPU, including AVX-512 and VAES, in the code that ran. It
//! cannot see keys that it did not try or the C library's own functions. It also cannot tell
//! whether the time of an instruction other than a division depends on its operands.

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
/// Functions without breakpoints, because the handler runs them.
const WITHOUT: [&str; 2] = ["ctime::trap", "ctime::operand"];

/// Precedes an address in the program's file, which a process without breakpoints turns into a
/// name.
const PLACE: char = '@';

/// Number of keys for representative subjects and for all lengths. The first two are all zeros and
/// all ones.
const KEYS: usize = 4;
/// Number of keys for the lengths of a quick run, if this is the only witness.
const MANY_KEYS: usize = 64;

/// Returns whether memcheck does not support the level.
pub fn is_alone(level: &str) -> bool {
    !memcheck::LEVELS.contains(&level)
}

/// Returns the levels to trace, from those of this CPU: in a quick run only those without another
/// witness, if there are any.
pub fn levels(
    levels: &[&'static str],
    depth: Depth,
) -> impl DoubleEndedIterator<Item = &'static str> {
    let all = depth == Depth::Full || !levels.iter().any(|level| is_alone(level));
    levels.iter().copied().filter(move |level| all || is_alone(level))
}

/// Subjects, lengths and numbers of keys.
type Round<'a> = (Vec<Subject>, &'a [usize], usize);

/// Returns what to trace on a level. LightMAC runs the same code with counters of all lengths, so
/// in all rounds but one a single counter length represents the others.
fn rounds(level: &str, depth: Depth, subjects: &[Subject]) -> Vec<Round<'static>> {
    // 16 MiB with a stop at every load take too long, so distant parts replace the long message.
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

/// Names the calls, and initialises everything that a process initialises once.
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

/// Traces a subject's calls under a key, in a separate process, so that each begins with the same
/// memory.
///
/// # Errors
///
/// The status of the process if it failed.
fn trace(
    shared: &'static UnsafeCell<Shared>,
    subject: Subject,
    trial: Trial<'_>,
    keep: usize,
) -> Result<(), i32> {
    // SAFETY: this process has one thread, and the child writes only until it has been waited for.
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

/// Writes the addresses of instructions to a file, for processes that set breakpoints.
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

/// The main function of a tracing process: makes every call on a level under each key, and then
/// writes the places of all stops to a file.
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
    // Allocates before the first fork, so that all children have the same heap.
    let mut first = vec![Trace::default(); CALLS];
    let mut stops = 0;
    // SAFETY: the addresses come from objdump, the handler's instructions are left out, and this
    // process has one thread.
    unsafe { trap::set_breakpoints(shared, symbols::start(), &read_places(folder)) };
    for (subject, lengths, keys, names) in named {
        let trial = |number| trial(lengths, number);
        let place = || format!("traces, {level}, {}", subject.name());
        for number in 0..keys {
            if let Err(status) = trace(shared, subject, trial(number), usize::MAX) {
                let wrong = format!("{}: key {number} failed with status {status:#x}", place());
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
                tally.failures.push(format!("{}, {what}: a vector of addresses was used", place()));
            }
            if let Some(call) = (0..names.len()).find(|i| traces[*i] != first[*i]) {
                let Call { what, length, .. } = names[call];
                let at = first_difference(shared, subject, [trial(0), trial(number)], call);
                tally.failures.push(format!(
                    "{}, {what} of {length}: the trace differs under key {number}: {at}",
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

/// Returns where the traces of a call under two keys diverge.
fn first_difference(
    shared: &'static UnsafeCell<Shared>,
    subject: Subject,
    trials: [Trial<'_>; 2],
    call: usize,
) -> String {
    // Allocates before both, so that they have the same heap.
    let mut kept = trials.map(|_| Vec::with_capacity(KEPT));
    for (kept, trial) in kept.iter_mut().zip(trials) {
        // It succeeded before.
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

/// Returns the file for the places that a level's process reached.
pub fn ran_file(folder: &Path, level: &str) -> PathBuf {
    folder.join(format!("ran-{level}"))
}

/// Traces a level in a separate process.
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
                "traces, {level}: it did not finish: {}, {last:?}",
                output.status
            )));
        }
    }
    tally
}

/// Replaces addresses in a failure by names.
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
