//! The first witness: memcheck follows each bit that depends on a key, and reports where one
//! decides a jump or is part of an address.
//!
//! It follows data and does not compare runs, so one key is enough. It cannot see instructions that
//! it does not know (AVX-512 and VAES), or whether an instruction's time depends on its operands.

use std::collections::BTreeMap;
use std::env;
use std::process::{Command, Output};

use tagmac::Tag;
use tagmac::isa::Level;

use crate::calls::{Call, Subject, Trial, Witness};
use crate::request;
use crate::tally::{Depth, Tally};
use crate::{LONGEST, key, message};

/// The levels whose instructions valgrind knows.
pub const LEVELS: [&str; 3] = ["portable", "aesni", "avx2"];
/// The argument of the process that runs under valgrind.
pub const ARGUMENT: &str = "under-memcheck";

/// Lengths around the edges of blocks, of vectors, of loops and of UMAC's chunks.
const QUICK: [usize; 14] = [0, 1, 15, 16, 17, 33, 128, 145, 257, 529, 1025, 2048, 2049, 4097];
/// Full runs also try each length up to this one.
const EACH: usize = 288;
const FULL: [usize; 34] = [
    303, 320, 383, 384, 399, 400, 431, 432, 433, 495, 511, 512, 513, 527, 528, 529, 767, 1007,
    1008, 1009, 1023, 1024, 1025, 1040, 1041, 2047, 2048, 2049, 4095, 4096, 4097, 8192, 12289,
    LONGEST,
];
/// Valgrind's text about an address or an index.
const ADDRESS: &str = "Use of uninitialised value";
const JUMP: &str = "Conditional jump or move depends on uninitialised value";

/// Results of memcheck for the process that it runs.
struct Memcheck {
    tally: Tally,
    place: String,
}

impl Witness for Memcheck {
    fn secret(&mut self, bytes: &mut [u8]) {
        request::make_undefined(bytes);
    }

    fn public<T>(&mut self, value: &mut T) {
        request::make_defined(value);
    }

    fn made(&mut self, tag: &mut Tag) {
        let is_made_of_secrets = request::has_undefined(tag.as_bytes());
        let lost = (!is_made_of_secrets).then(|| {
            format!(
                "{}: the tag should depend on the key, but memcheck reports that it does not",
                self.place
            )
        });
        self.tally.check(lost);
        request::make_defined(tag);
    }

    fn watch<R>(&mut self, call: Call, f: impl FnOnce() -> R) -> R {
        let before = request::errors();
        let result = f();
        let found = request::errors() - before;
        let failure = (found > call.verdicts).then(|| {
            let Call { what, length, verdicts } = call;
            let failure = format!(
                "{}, {what} of {length}: expected {verdicts} jumps on secrets, found {found}",
                self.place
            );
            // Printed next to memcheck's report.
            eprintln!("{failure}");
            failure
        });
        self.tally.check(failure);
        result
    }
}

/// Makes every call on a level. Runs under valgrind.
pub fn under_valgrind(level: &str, depth: Depth, subjects: &[Subject]) {
    assert!(request::is_under_valgrind(), "not running under valgrind");
    let level = Level::from_name(level).expect("a level that valgrind knows");
    let lengths = depth.pick(QUICK.to_vec(), (0..EACH).chain(FULL).collect());
    let message = message();
    let mut tally = Tally::default();
    for &subject in subjects {
        let place = format!("memcheck, {level}, {}", subject.name());
        let mut witness = Memcheck { tally, place };
        let trial = Trial { level, lengths: &lengths, message: &message, number: 0 };
        let mut key = key(subject.key_bytes(), 2);
        subject.calls(&mut witness, &mut key, trial);
        tally = witness.tally;
    }
    tally.report();
}

/// Runs a level under valgrind.
pub fn run(level: &str, depth: Depth, planted: Option<&str>) -> Tally {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=memcheck", "--error-limit=no", "--leak-check=no", "--num-callers=20"])
        .arg(env::current_exe().expect("the path of this program"))
        .args([ARGUMENT, level, depth.argument()])
        .args(planted);
    let mut tally = Tally::default();
    match command.output() {
        Ok(output) => read(level, &output, &mut tally),
        Err(error) => tally.check(Some(format!("memcheck, {level}: cannot run valgrind: {error}"))),
    }
    tally
}

/// Reads the output of the process and of memcheck.
fn read(level: &str, output: &Output, tally: &mut Tally) {
    let log = String::from_utf8_lossy(&output.stderr);
    let contexts = contexts(&log);
    match Tally::read(&String::from_utf8_lossy(&output.stdout)) {
        Some(found) => tally.add(found),
        None => {
            let last: Vec<_> = log.lines().rev().take(4).collect();
            tally.check(Some(format!(
                "memcheck, {level}: it did not finish, its last line is {last:?}"
            )));
        }
    }
    let is_clean = tally.failures.is_empty();
    for ((kind, place), count) in contexts {
        // Jumps were counted for each call; an address is always a failure.
        if kind == JUMP {
            let what = if is_clean { "a verdict decides" } else { "verdicts or secrets decide" };
            tally.note(format_args!("memcheck, {level}: {what} {count} jumps in {place}"));
        } else {
            tally.check(Some(format!("memcheck, {level}: {kind} in {place}, {count} times")));
        }
    }
}

/// Returns memcheck's complaints with their functions, and how often each occurred.
fn contexts(log: &str) -> BTreeMap<(String, String), u32> {
    let mut contexts = BTreeMap::new();
    // "==123== Conditional jump ...", followed by lines of the stack.
    let mut lines = log.lines().filter_map(|line| line.strip_prefix("==")?.split_once("== "));
    while let Some((_, line)) = lines.next() {
        let kinds = [ADDRESS, JUMP, "Invalid", "Syscall param", "Jump to"];
        let Some(kind) = kinds.into_iter().find(|kind| line.trim_start().starts_with(kind)) else {
            continue;
        };
        let top = lines.next().map_or("", |(_, top)| top);
        let function = top.split_once(": ").map_or(top, |(_, function)| function);
        // Without the file's name.
        let function = function.split(" (in ").next().unwrap_or(function);
        *contexts.entry((kind.to_string(), function.to_string())).or_default() += 1;
    }
    contexts
}
