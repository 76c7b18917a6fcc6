//! Checks constant time with three witnesses: [`memcheck`], [`trace`] with [`audit`], and
//! [`timing`]. Each also watches planted leaks, and must see them.
//!
//! ```text
//! ctime --quick | --full                 all witnesses
//! ctime --planted                        the names of the planted leaks
//! ctime --quick --planted NAME           the witness that must see it
//! ```
//!
//! Runs on x86-64 Linux, and needs valgrind and objdump.

mod audit;
mod calls;
mod leaks;
mod marked;
mod memcheck;
mod operand;
mod request;
mod symbols;
mod tally;
mod timing;
mod trace;
mod trap;

use std::collections::VecDeque;
use std::path::Path;
use std::process::exit;
use std::sync::Mutex;
use std::{env, thread};

use tagmac::isa::Level;
use tagmac_any::Algorithm;

use assure::Random;
use calls::Subject;
use leaks::Leak;
use tally::{Depth, Tally};

/// Length of the longest message: PMAC recomputes its offsets after 64 KiB.
const LONGEST: usize = 65_585;

/// A leak of each kind for each witness that must see it.
const PLANTED: [&str; 6] = [
    "memcheck-branch",
    "memcheck-lookup",
    "trace-branch",
    "trace-lookup",
    "audit-unseen",
    "timing-early-exit",
];

/// Returns the leak with a name of [`PLANTED`], for the first two witnesses.
fn leak(planted: &str) -> Option<Leak> {
    match planted.split_once('-')?.1 {
        "branch" => Some(Leak::Branch),
        "lookup" => Some(Leak::Lookup),
        _ => None,
    }
}

/// Returns everything to watch, or a planted leak and a MAC that has no leak.
fn subjects(planted: Option<&str>) -> Vec<Subject> {
    match planted.and_then(leak) {
        Some(leak) => vec![Subject::Registered(Algorithm::default()), Subject::Leak(leak)],
        None => Subject::all(),
    }
}

/// Returns a key: all zeros, all ones, or random.
fn key(bytes: usize, number: usize) -> Vec<u8> {
    let mut key = vec![0; bytes];
    match number {
        0 => {}
        1 => key.fill(0xff),
        number => Random::new(number as u64).fill(&mut key),
    }
    key
}

/// Returns a message; shorter ones are its prefixes.
fn message() -> Vec<u8> {
    let mut message = vec![0; LONGEST];
    Random::new(0x006d_6573_7361_6765).fill(&mut message);
    message
}

/// A witness on a level, run as a separate process.
type Task<'a> = Box<dyn FnOnce() -> Tally + Send + 'a>;

/// Runs tasks, one per core at a time, and adds up their results.
fn run(tasks: Vec<Task<'_>>) -> Tally {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let tally = Mutex::new(Tally::default());
    let tasks = Mutex::new(VecDeque::from(tasks));
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let task = tasks.lock().expect("tasks do not panic").pop_front();
                    let Some(task) = task else { break };
                    let found = task();
                    tally.lock().expect("adding does not panic").add(found);
                }
            });
        }
    });
    tally.into_inner().expect("adding does not panic")
}

/// Runs all witnesses, or the one that must see the planted leak.
fn witnesses(depth: Depth, planted: Option<&str>, folder: &Path) -> Tally {
    let levels: Vec<&'static str> = Level::all().map(Level::name).collect();
    let is_asked = |witness: &str| planted.is_none_or(|planted| planted.starts_with(witness));
    // The audit needs traces.
    let with_traces = is_asked("trace") || is_asked("audit");
    let all_functions = if with_traces { symbols::functions() } else { Vec::new() };
    let functions = &all_functions[..];
    trace::write_places(functions, folder);
    let mut tasks: Vec<Task<'_>> = Vec::new();
    // The levels without another witness take longest.
    for level in trace::levels(&levels, depth).rev().filter(|_| with_traces) {
        tasks.push(Box::new(move || trace::run(level, depth, planted, functions, folder)));
    }
    for level in memcheck::LEVELS.into_iter().filter(|_| is_asked("memcheck")) {
        tasks.push(Box::new(move || memcheck::run(level, depth, planted)));
    }
    let mut tally = run(tasks);
    tally.add(operand::check());
    tally.add(marked::check());
    if is_asked("audit") {
        let alone: Vec<_> = levels.iter().copied().filter(|level| trace::is_alone(level)).collect();
        tally.add(audit::run(functions, &alone, folder, planted.is_some()));
    }
    if is_asked("timing") {
        // Not in parallel with the others, to keep the clock quiet.
        tally.add(timing::run(depth, planted.is_some()));
    }
    for level in Level::NAMES.iter().filter(|name| !levels.contains(name)) {
        tally.note(format_args!("this CPU lacks {level}, so it was not traced"));
    }
    tally
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let depth = |argument| match argument {
        "--quick" => Depth::Quick,
        "--full" => Depth::Full,
        _ => usage(),
    };
    let (depth, planted) = match arguments[..] {
        ["--planted"] => return PLANTED.iter().for_each(|name| println!("{name}")),
        [memcheck::ARGUMENT, level, of, ref planted @ ..] => {
            let subjects = subjects(planted.first().copied());
            return memcheck::under_valgrind(level, depth(of), &subjects);
        }
        [trace::ARGUMENT, level, of, folder, ref planted @ ..] => {
            let subjects = subjects(planted.first().copied());
            return trace::under_breakpoints(level, depth(of), &subjects, Path::new(folder));
        }
        [of] => (depth(of), None),
        [of, "--planted", name] if PLANTED.contains(&name) => (depth(of), Some(name)),
        _ => usage(),
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tally = witnesses(depth, planted, folder.path());
    print!("{}", tally.lines());
    println!("ctime: {} checked, {} failed", tally.checked, tally.failures.len());
    exit(i32::from(!tally.failures.is_empty()));
}

fn usage() -> ! {
    eprintln!("usage: ctime --quick | --full [--planted NAME] | --planted");
    exit(2);
}
