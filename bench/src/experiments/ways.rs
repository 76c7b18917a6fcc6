//! The same tag by every way of calling this library, so that each way's cost shows.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use tagmac::{PmacAes128, Tag};
use tagmac_any::AnyMac;
use tagmac_any::meter::{Metered, Usage};

use super::programs::{REPO, series, succeed};
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::{Effort, Job, time, turns};
use crate::record::{Point, Record, WAYS};
use crate::tagmac_engines::endless;

pub const ABOUT: &str = "one tag of PMAC-AES128 by Rust, C, OpenSSL's EVP_MAC and Python, and what \
                         each way adds to the bare call";

const XS: [usize; 3] = [16, 64, 1024];
const KEY: [u8; 16] = [1; 16];
const MAC: &str = "PMAC-AES128";
/// Nanoseconds of a sample: long, because another program starts each one with cold caches.
const SAMPLE: f64 = 1e6;

/// The calls of other programs: a name, the program, and its word for the call.
const OTHERS: [(&str, usize, &str); 5] = [
    ("C, tagmac_key_tag", 0, "tag"),
    ("C, tagmac_key_verify", 0, "verify"),
    ("OpenSSL, EVP_MAC_init, update and final", 0, "evp"),
    ("Python, Key.tag", 1, "tag"),
    ("Python, Key.verify", 1, "verify"),
];

/// Runs the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(WAYS, ABOUT, "bytes of a message", "core cycles of one call");
    record.missing.clear();
    let out = build()?;
    harness.begin(WAYS, XS.len(), budget);
    let mut programs = [
        Program::start(Command::new(out.join("ways")).arg(out.join("modules")))?,
        Program::start(
            Command::new(out.join("venv/bin/python"))
                .arg(Path::new(REPO).join("bench/ways/ways.py")),
        )?,
    ];
    for x in XS {
        let message = vec![0; x];
        let mut rust = in_rust(&message)?;
        let mut failure = None;
        let effort = Effort { sample_ns: SAMPLE, ..harness.effort() };
        let count = rust.len() + OTHERS.len();
        let figures = turns(effort, count, &mut |at, calls| match rust.get_mut(at) {
            Some((_, job)) => time(job, calls),
            None if failure.is_some() => SAMPLE,
            None => {
                let (_, program, call) = OTHERS[at - rust.len()];
                programs[program].time(call, x, calls).unwrap_or_else(|error| {
                    failure.get_or_insert(error);
                    SAMPLE
                })
            }
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        let names = rust.iter().map(|(name, _)| *name).chain(OTHERS.map(|(name, ..)| name));
        for (name, figure) in names.zip(figures) {
            let point = Point::new(x, figure);
            match record.series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.add(point),
                None => record.series.push(series(name, &record.machine.tagmac, MAC, point)),
            }
        }
        harness.step(&record)?;
    }
    Ok(record)
}

/// The calls from Rust. The bare one is first.
fn in_rust(message: &[u8]) -> Result<Vec<(&'static str, Job<'_>)>, Failure> {
    let pmac = PmacAes128::new(&KEY);
    let any = AnyMac::new(MAC.parse()?, &KEY)?;
    let budget = endless(MAC).ok_or("no budget")?;
    let mut metered = Metered::new(pmac.clone(), budget, Usage::default())?;
    let right = pmac.tag(message)?;
    let bytes = right.as_bytes().to_vec();
    let (checked, checked_any) = (pmac.clone(), any.clone());
    let of_bytes = bytes.clone();
    Ok(vec![
        ("Rust, PmacAes128::tag", repeated(move || pmac.tag(black_box(message)).is_ok())),
        ("Rust, Metered::tag_mut", repeated(move || metered.tag_mut(black_box(message)).is_ok())),
        ("Rust, AnyMac::tag", repeated(move || any.tag(&[], black_box(message)).is_ok())),
        (
            "Rust, Tag::new and PmacAes128::verify",
            repeated(move || {
                let tag = Tag::new(black_box(&bytes), 128);
                tag.is_ok_and(|tag| checked.verify(black_box(message), &tag).is_ok())
            }),
        ),
        (
            "Rust, Tag::new and AnyMac::verify",
            repeated(move || {
                let tag = Tag::new(black_box(&of_bytes), 128);
                tag.is_ok_and(|tag| checked_any.verify(&[], black_box(message), &tag).is_ok())
            }),
        ),
    ])
}

fn repeated<'a>(mut call: impl FnMut() -> bool + 'a) -> Job<'a> {
    Box::new(move |calls| {
        for _ in 0..calls {
            assert!(black_box(call()), "the call succeeds");
        }
    })
}

/// Builds the other programs and returns their folder.
fn build() -> Result<PathBuf, Failure> {
    succeed(&mut Command::new(Path::new(REPO).join("bench/ways/build")))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(Path::new(REPO).join(target).join("ways"))
}

/// Another program, which times calls.
struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(command: &mut Command) -> Result<Program, Failure> {
        let name = command.get_program().to_string_lossy().into_owned();
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = piped.map_err(|error| format!("{name}: {error}"))?;
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Ok(Program { child, input, output })
    }

    /// Returns the nanoseconds of some calls.
    fn time(&mut self, call: &str, bytes: usize, calls: usize) -> Result<f64, Failure> {
        writeln!(self.input, "{call} {bytes} {calls}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        line.trim().parse().map_err(|_| format!("{call}: expected a time, found '{line}'").into())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The exit status is not needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
