//! A pool of waiting threads. The first call with work for them starts them, and they are kept.
//!
//! They spin for some microseconds and then sleep. Waking a thread takes as long as a MAC of a
//! quarter of a megabyte, and starting one as long as a MAC of a whole megabyte.

use std::hint::spin_loop;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use super::cpu::{Cpu, Cpus};

/// More threads would exceed the memory bandwidth.
const MAX_HELPERS: usize = 31;
/// The time that a caller spins for its helpers to end before it yields its CPU to them.
const LOOK: Duration = Duration::from_micros(3);
/// The time that a caller yields before it sleeps. A helper may be waiting for this CPU. A caller
/// that sleeps is woken on the helper's CPU, and the two would share that CPU in the next call too.
const YIELD: Duration = Duration::from_millis(1);
/// The time that a helper waits awake for the next call's work. It yields its CPU to others
/// meanwhile.
const AWAKE: Duration = Duration::from_micros(50);
/// Helpers may lengthen calls by at most 1/LOSS.
const LOSS: u32 = 16;

/// Threads that help callers.
pub(super) struct Pool {
    threads: ThreadPool,
    /// Helpers without work. Callers do not share helpers, so that none waits for another's
    /// message.
    idle: AtomicUsize,
    /// The process that started the threads. A forked child does not have them.
    process: u32,
    /// Nanoseconds that callers run alone before they use helpers again. If other programs keep a
    /// helper from a CPU, waiting for it can take longer than the whole message.
    alone: AtomicU64,
    /// The number of calls that had work for helpers.
    calls: Arc<AtomicUsize>,
    cpus: Cpus,
    /// A helper was on its caller's CPU in the last call.
    moved: AtomicBool,
}

impl Pool {
    /// Returns a pool of `helpers` threads, unless that is 0 or the system refuses to start one.
    pub(super) fn new(helpers: usize) -> Option<Pool> {
        let name = |i| format!("tagmac-{i}");
        let builder = ThreadPoolBuilder::new().num_threads(helpers).thread_name(name);
        let threads = if helpers > 0 { builder.build().ok()? } else { return None };
        Some(Pool {
            threads,
            idle: AtomicUsize::new(helpers),
            process: process::id(),
            alone: AtomicU64::new(0),
            calls: Arc::new(AtomicUsize::new(0)),
            cpus: Cpus::of_this_thread(),
            moved: AtomicBool::new(false),
        })
    }

    /// The pool of this process, with one helper fewer than cores.
    pub(super) fn get() -> Option<&'static Pool> {
        static POOL: OnceLock<Option<Pool>> = OnceLock::new();
        static STARTING: AtomicBool = AtomicBool::new(false);
        // Do not wait for the start: in a forked child it may never end.
        if POOL.get().is_none() && !STARTING.swap(true, Ordering::Relaxed) {
            let cores = thread::available_parallelism().map_or(1, |n| n.get());
            let _ = POOL.set(Pool::new((cores - 1).min(MAX_HELPERS)));
        }
        POOL.get()?.as_ref().filter(|pool| pool.is_of_this_process())
    }

    fn is_of_this_process(&self) -> bool {
        self.process == process::id()
    }

    /// Reserves up to `helpers` idle helpers for work that takes `time` without them.
    pub(super) fn take(&self, helpers: usize, time: Duration) -> Option<Helpers<'_>> {
        let alone = self.alone.load(Ordering::Relaxed);
        if alone > 0 {
            let time = time.as_nanos().try_into().unwrap_or(u64::MAX);
            self.alone.store(alone.saturating_sub(time), Ordering::Relaxed);
            return None;
        }
        let less = |idle: usize| Some(idle - idle.min(helpers));
        let idle = self.idle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        let count = idle.unwrap_or_default().min(helpers);
        (count > 0).then_some(Helpers { pool: self, count })
    }
}

/// Helpers that are reserved for one caller.
pub(super) struct Helpers<'a> {
    pool: &'a Pool,
    count: usize,
}

impl Drop for Helpers<'_> {
    fn drop(&mut self) {
        self.pool.idle.fetch_add(self.count, Ordering::Relaxed);
    }
}

impl Helpers<'_> {
    /// The number of helpers.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Runs `work` on this thread and on each helper at the same time. `work` fetches pieces until
    /// none is left and returns how much it did.
    pub(super) fn run(self, work: impl Fn() -> usize + Sync) {
        let (busy, helped) = (AtomicUsize::new(self.count), AtomicUsize::new(0));
        let moved = AtomicBool::new(false);
        let here = Cpu::current();
        // The first call also waits for the threads to start; later calls do not.
        let is_first = self.pool.calls.fetch_add(1, Ordering::Relaxed) == 0;
        let start = Instant::now();
        let (mine, worked) = self.pool.threads.in_place_scope(|scope| {
            for _ in 0..self.count {
                scope.spawn(|_| {
                    let _end = End(&busy);
                    if self.pool.cpus.keep_from(here) {
                        moved.store(true, Ordering::Relaxed);
                    }
                    let calls = &self.pool.calls;
                    stay_awake(Arc::clone(calls), calls.load(Ordering::Relaxed));
                    helped.fetch_add(work(), Ordering::Relaxed);
                });
            }
            let (mine, worked) = (work(), start.elapsed());
            loop {
                let waited = start.elapsed() - worked;
                if busy.load(Ordering::Acquire) == 0 || waited > YIELD {
                    break;
                } else if waited < LOOK {
                    spin_loop();
                } else {
                    thread::yield_now();
                }
            }
            (mine, worked)
        });
        // The time that the call took, compared with the time that this thread alone would have
        // needed.
        let all = mine + helped.into_inner();
        let without = worked.mul_f64(all as f64 / mine.max(1) as f64);
        // A helper that was on this CPU has moved, so the measurement says little about the next
        // call, unless the same happened last time.
        let moved = moved.into_inner();
        let excused = is_first || moved && !self.pool.moved.load(Ordering::Relaxed);
        self.pool.moved.store(moved, Ordering::Relaxed);
        if let Some(lost) = start.elapsed().checked_sub(without).filter(|_| !excused) {
            let alone = lost.saturating_mul(LOSS).as_nanos().try_into().unwrap_or(u64::MAX);
            self.pool.alone.store(alone, Ordering::Relaxed);
        }
    }
}

/// Lets this helper, after its work, wait for the call after the first `seen`. It runs as a job of
/// the pool, which ends as soon as there is work: the helper is then awake.
fn stay_awake(calls: Arc<AtomicUsize>, seen: usize) {
    rayon_core::spawn(move || {
        let start = Instant::now();
        while calls.load(Ordering::Relaxed) == seen && start.elapsed() < AWAKE {
            thread::yield_now();
        }
    });
}

/// Marks the end of a helper's work, even after a panic.
struct End<'a>(&'a AtomicUsize);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    const NO_TIME: Duration = Duration::ZERO;

    #[test]
    fn no_caller_has_another_s_helper() {
        let pool = Pool::new(3).expect("threads");
        let two = pool.take(2, NO_TIME).expect("idle helpers");
        let one = pool.take(2, NO_TIME).expect("an idle helper");
        assert_eq!((two.count(), one.count()), (2, 1));
        assert!(pool.take(1, NO_TIME).is_none());
        drop(two);
        assert_eq!(pool.take(8, NO_TIME).map(|helpers| helpers.count()), Some(2));
        one.run(|| 1);
        pool.alone.store(0, Ordering::Relaxed);
        assert_eq!(pool.take(8, NO_TIME).map(|helpers| helpers.count()), Some(3));
    }

    #[test]
    fn a_pause_ends_with_the_work_that_is_done_alone() {
        let pool = Pool::new(1).expect("a thread");
        pool.alone.store(2_000_000, Ordering::Relaxed);
        for helps in [false, false, true] {
            assert_eq!(pool.take(1, Duration::from_millis(1)).is_some(), helps);
        }
    }

    #[test]
    fn a_panic_is_passed_on_and_gives_the_helpers_back() {
        let pool = Pool::new(2).expect("threads");
        let mine = thread::current().id();
        for here in [false, true] {
            let helpers = pool.take(2, NO_TIME).expect("idle helpers");
            let work = || if (thread::current().id() == mine) == here { panic!("work") } else { 1 };
            let run = AssertUnwindSafe(|| helpers.run(work));
            assert!(catch_unwind(run).is_err());
            assert_eq!(pool.idle.load(Ordering::Relaxed), 2);
        }
    }

    #[test]
    fn a_forked_child_has_no_threads() {
        let mine = Pool::new(1).expect("a thread");
        let parents = Pool { process: mine.process.wrapping_add(1), ..mine };
        assert!(!parents.is_of_this_process());
    }
}
