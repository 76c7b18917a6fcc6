//! Undefined behaviour: no call may touch memory that is not its own, on any level, with any MAC.
//!
//! Three builds of this program do the same work. The release build puts each input and each result
//! next to an inaccessible page, so that a stray access ends the process. The others have debug
//! assertions, overflow checks, heap buffers of the exact size, and a sanitizer: for addresses, or
//! for uninitialised bytes. `memory.py` builds and runs all. All results are compared with those of
//! the portable level in plain memory.
//!
//! Runs on Linux. Only AddressSanitizer sees a stray read that stays within the page of its buffer,
//! away from the guarded end. Only the guard pages see one that hits another allocation.

mod c_calls;
mod calls;
mod child;
mod edits;
mod formats;
mod library;
mod plants;
mod rooms;

use std::process::ExitCode;

use assure::Job;
use tagmac::isa::Level;
use tagmac_any::Algorithm;

use calls::Subject;
use rooms::{SANITIZED, SANITIZER};

/// The work of one process.
enum Work {
    Mac(Algorithm, Level),
    Edits(Level),
    Plant,
}

fn main() -> ExitCode {
    let job = match Job::from_args("memory", &plants::names()) {
        Ok(job) => job,
        Err(code) => return code,
    };
    let all = job.full() || !SANITIZED;
    let mut work: Vec<Work> = Vec::new();
    if plants::names().into_iter().any(|name| job.planted(name)) {
        work.push(Work::Plant);
    } else {
        for level in Level::all() {
            work.extend(Algorithm::all().map(|algorithm| Work::Mac(algorithm, level)));
            work.push(Work::Edits(level));
        }
        let levels: Vec<&str> = Level::all().map(Level::name).collect();
        let lengths = if all { "0 to 1024" } else { "0 to 272" };
        let memory = match SANITIZER {
            None => "guard pages",
            Some("address") => "AddressSanitizer",
            Some(_) => "MemorySanitizer",
        };
        job.note(&format!("{memory}: every length from {lengths}, on {}", levels.join(", ")));
    }
    let name = |work: &Work| match work {
        Work::Mac(algorithm, level) => format!("{algorithm} on {level}"),
        Work::Edits(level) => format!("edits on {level}"),
        Work::Plant => "planted".into(),
    };
    child::fork_each(&job, &work, name, |cases, work| match *work {
        Work::Mac(algorithm, level) => {
            let subject = Subject::new(algorithm, level, all);
            calls::walk(cases, &subject);
            c_calls::walk(cases, &subject, 0);
            formats::walk(cases, &subject);
        }
        Work::Edits(level) => edits::walk(cases, level),
        Work::Plant => plants::run(cases, &job),
    });
    job.finish()
}
