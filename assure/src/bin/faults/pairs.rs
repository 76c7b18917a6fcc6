//! The faults that a command's calls can have.

use assure::process::calls::{self, is_of_the_runtime};
use assure::process::trace::{Fault, Phase, Trace};

use super::case::Case;
use super::spread;

/// A fault in a case.
#[derive(Clone, Debug)]
pub struct Pair {
    pub case: usize,
    pub phase: Phase,
    pub number: usize,
    /// The system call at this place in a run without faults.
    pub nr: i64,
    pub fault: Fault,
}

/// Lists the pairs for a traced run of the case `index`.
pub fn pairs_of(index: usize, case: &Case, trace: &Trace) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for call in trace.counted() {
        // The loader does the same in each case.
        if call.phase == Phase::Startup && index > 1 {
            continue;
        }
        let number = call.number.expect("it is counted");
        let some = calls::count_argument(call.nr).is_some_and(|count| call.args[count] > 1);
        let (phase, nr) = (call.phase, call.nr);
        let faults = faults_of(nr, some).into_iter();
        pairs.extend(faults.map(|fault| Pair { case: index, phase, number, nr, fault }));
    }
    if case.name == "selftest" {
        // It takes a second, and its only calls on files are writes.
        pairs.retain(|pair| calls::writes(pair.nr));
        pairs = spread(pairs, 20);
    }
    if case.threads {
        // Their order is not fixed, and glibc ends a process that cannot start a thread.
        let starts = [libc::SYS_futex, libc::SYS_clone3, libc::SYS_clone];
        pairs.retain(|pair| !is_of_the_runtime(pair.nr) && !starts.contains(&pair.nr));
    }
    pairs
}

/// Lists the faults of a call; `some` if it moves at least a byte.
fn faults_of(nr: i64, some: bool) -> Vec<Fault> {
    let errors = [libc::EIO, libc::ENOSPC, libc::EINTR, libc::EACCES].map(Fault::Error);
    let mut faults = match nr {
        // `brk` reports no error number.
        libc::SYS_brk => vec![Fault::Error(libc::ENOMEM), Fault::Kill],
        _ => [&errors[..], &[Fault::Kill]].concat(),
    };
    if some {
        faults.push(Fault::Short);
        if calls::writes(nr) {
            faults.push(Fault::Tear);
        }
    }
    faults
}
