//! Every system call fails once.
//!
//! Each command runs on a small example under `ptrace`, which records its system calls. The faults
//! are EIO, ENOSPC, EINTR, EACCES, a short read or write, a kill, and a kill during a write. The
//! command runs again for each call and each fault. It is the command that users have: the faults
//! come from the kernel's side.
//!
//! - It exits with 0 only if its whole result is correct, and stays so if the power is cut at that
//!   moment. The result is checked in the worst state that a cut may leave, according to `disk`.
//! - Otherwise it exits with 4, or with 3 if the key cannot be read, and reports the reason in
//!   lines that begin with `tagmac: `. The file to replace is unchanged, or complete and new.
//!   Nothing else has changed, and only a kill may leave a temporary file. The same command then
//!   succeeds, and removes what a kill left.
//! - A call interrupted by a signal, and a short read or write, have no effect at all.
//! - If the correct answer is "does not match" (exit status 1), no fault turns it into 0.
//!
//! Before `main`, in the loader and the runtime, only two rules apply: never exit with 0 and a
//! wrong result, and never change a file.
//!
//! Not covered: two faults in one run, calls that the examples do not make, and a kernel that
//! reports success for lost data.

mod case;
mod examples;
mod law;
mod pairs;
mod planted;
mod right;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use assure::Job;
use assure::process::place;
use assure::process::trace::{self, Fault, Phase};

use examples::Bench;
use pairs::pairs_of;
use planted::{PLANTED, concerns};
use right::Baseline;

/// Pairs in the quick run.
const QUICK: usize = 320;
/// Number of workers. Each has its own folder.
const WORKERS: usize = 2;

fn main() -> ExitCode {
    let job = match Job::from_args("faults", &PLANTED) {
        Ok(job) => job,
        Err(code) => return code,
    };
    if let Err(error) = run(&job) {
        job.check(false, || error);
    }
    job.finish()
}

fn run(job: &Job) -> Result<(), String> {
    let command = place::command()?;
    if !trace::works(Path::new("/")) {
        return Err("programs cannot be traced on this system".into());
    }
    let planted = PLANTED.into_iter().find(|name| job.planted(name));
    let first = Bench::new(&command, job.full())?;
    let (mut pairs, mut calls) = (Vec::new(), 0);
    for (index, case) in first.cases.iter().enumerate() {
        let baseline = first.baseline(case)?;
        calls += baseline.trace.counted().count();
        pairs.extend(pairs_of(index, case, &baseline.trace));
    }
    let (all, examples) = (pairs.len(), first.cases.len());
    if let Some(planted) = planted {
        pairs.retain(|pair| {
            let case = &first.cases[pair.case];
            pair.phase == Phase::Main && !case.threads && concerns(planted, pair, case.expect)
        });
    }
    if trace::counters().is_some() {
        // For coverage, all but kills: a branch that began and reached neither end counts as both.
        pairs.retain(|pair| !matches!(pair.fault, Fault::Kill | Fault::Tear));
    } else if !job.full() {
        pairs = spread(pairs, QUICK);
    }
    job.note(&format!(
        "{examples} examples make {calls} system calls that can fail, in {all} pairs of a call and a fault"
    ));
    let (failures, drifted) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |worker: usize, bench: Bench| -> Result<(), String> {
        let mut last: Option<(usize, Baseline)> = None;
        for (done, pair) in pairs.iter().enumerate().skip(worker).step_by(WORKERS) {
            // Finding a planted bug once is enough.
            if planted.is_some() && failures.load(Ordering::Relaxed) > 4 {
                break;
            }
            if done % 1000 < WORKERS {
                eprintln!("faults: {done} of {} pairs", pairs.len());
            }
            let case = &bench.cases[pair.case];
            // Pairs of a case are adjacent.
            if last.as_ref().is_none_or(|(of, _)| *of != pair.case) {
                last = Some((pair.case, bench.baseline(case)?));
            }
            let (_, baseline) = last.as_ref().expect("it was just made");
            let (result, drift) = bench.pair(case, baseline, pair, planted);
            drifted.fetch_add(drift.into(), Ordering::Relaxed);
            failures.fetch_add(result.is_err().into(), Ordering::Relaxed);
            let wrong = result.err().map(|what| what.replace('\n', " | "));
            if let Some(what) = &wrong {
                eprintln!("faults: {what}");
            }
            job.check(wrong.is_none(), || wrong.unwrap_or_default());
        }
        Ok(())
    };
    let (command, full, work) = (&command, job.full(), &work);
    thread::scope(|scope| {
        let other = scope.spawn(move || work(1, Bench::new(command, full)?));
        let own = work(0, first);
        other.join().expect("the worker does not panic").and(own)
    })?;
    let drifted = drifted.into_inner();
    if drifted > 0 {
        job.note(&format!("{drifted} faults did not occur: threads make calls in any order"));
    }
    Ok(())
}

/// Chooses `count` of them, evenly spread and always the same.
fn spread<T>(all: Vec<T>, count: usize) -> Vec<T> {
    let total = all.len().max(1);
    let mut last = usize::MAX;
    let keep = |(index, item): (usize, T)| {
        let place = index * count / total;
        let first = place != last;
        last = place;
        first.then_some(item)
    };
    all.into_iter().enumerate().filter_map(keep).collect()
}
