//! Threads that wait for work: started by the first call that has some for them, and kept.
//!
//! They look for work some microseconds longer and then sleep: to wake one takes as long as a MAC on a
//! quarter of a megabyte, and to start one as long as on a whole one.

use std::hint::spin_loop;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use super::cpu::{Cpu, Cpus};

/// More threads than this are more than memory feeds.
const MAX_HELPERS: usize = 31;
/// How long a caller looks for the end of its helpers before it gives up its CPU to them.
const LOOK: Duration = Duration::from_micros(3);
/// How long it does that before it sleeps. A helper may be waiting for this very CPU; who sleeps is woken on
/// that of the helper, and then the two would share it in the next call too.
const YIELD: Duration = Duration::from_millis(1);
/// How long a helper looks for the next call's work. It gives up its CPU to others meanwhile.
const AWAKE: Duration = Duration::from_micros(50);
/// Helpers may make calls longer by one part in this many.
const LOSS: u32 = 16;

/// Threads that help callers.
pub(super) struct Pool {
    threads: ThreadPool,
    /// Helpers without work. Callers share no helper, so that none waits for another's message.
    idle: AtomicUsize,
    /// After a fork the child has none of the threads.
    process: u32,
    /// Nanoseconds that callers work alone before they ask for helpers again. A helper that other
    /// programs keep from a CPU must be waited for, which can take longer than the whole message.
    alone: AtomicU64,
    /// Calls that had work for helpers.
    calls: Arc<AtomicUsize>,
    cpus: Cpus,
    /// Whether a helper was on its caller's CPU in the last call.
    moved: AtomicBool,
}

impl Pool {
    /// A pool of `helpers` threads, unless that is 0 or the system refuses one.
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

    /// The pool of this process, with a helper for each core but one.
    pub(super) fn get() -> Option<&'static Pool> {
        static POOL: OnceLock<Option<Pool>> = OnceLock::new();
        static STARTING: AtomicBool = AtomicBool::new(false);
        // Nobody waits for the start: in a forked child it may never end.
        if POOL.get().is_none() && !STARTING.swap(true, Ordering::Relaxed) {
            let cores = thread::available_parallelism().map_or(1, |n| n.get());
            let _ = POOL.set(Pool::new((cores - 1).min(MAX_HELPERS)));
        }
        POOL.get()?.as_ref().filter(|pool| pool.is_of_this_process())
    }

    fn is_of_this_process(&self) -> bool {
        self.process == process::id()
    }

    /// Takes up to `helpers` idle helpers for work that takes `time` without them.
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

/// Helpers that a caller has for itself.
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
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Runs `work` here and on each helper at the same time. It takes what there is to do piece by
    /// piece, and returns how much it did.
    pub(super) fn run(self, work: impl Fn() -> usize + Sync) {
        let (busy, helped) = (AtomicUsize::new(self.count), AtomicUsize::new(0));
        let moved = AtomicBool::new(false);
        let here = Cpu::current();
        // The first call waits for the threads to start, which no later one does.
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
        // What it took over what this thread would have taken for all of it.
        let all = mine + helped.into_inner();
        let without = worked.mul_f64(all as f64 / mine.max(1) as f64);
        // A helper that was on this CPU is not any more, so the next call is another matter; unless it
        // was there the last time as well.
        let moved = moved.into_inner();
        let excused = is_first || moved && !self.pool.moved.load(Ordering::Relaxed);
        self.pool.moved.store(moved, Ordering::Relaxed);
        if let Some(lost) = start.elapsed().checked_sub(without).filter(|_| !excused) {
            let alone = lost.saturating_mul(LOSS).as_nanos().try_into().unwrap_or(u64::MAX);
            self.pool.alone.store(alone, Ordering::Relaxed);
        }
    }
}

/// Has this helper, after its work, look for that of the next call after the `seen` ones. As a job of the
/// pool, which ends at once when there is work: the helper is awake then.
fn stay_awake(calls: Arc<AtomicUsize>, seen: usize) {
    rayon_core::spawn(move || {
        let start = Instant::now();
        while calls.load(Ordering::Relaxed) == seen && start.elapsed() < AWAKE {
            thread::yield_now();
        }
    });
}

/// The end of a helper's work, even by a panic.
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
