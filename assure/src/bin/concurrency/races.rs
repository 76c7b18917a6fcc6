//! Planted races: two threads access one place without an order between them. Results are mostly
//! correct, so only ThreadSanitizer reports them.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number without a lock.
struct Unguarded(UnsafeCell<u64>);

// SAFETY: unsound on purpose; this is the bug.
unsafe impl Sync for Unguarded {}

impl Unguarded {
    const fn new() -> Unguarded {
        Unguarded(UnsafeCell::new(0))
    }

    fn add(&self) {
        // SAFETY: unsound on purpose; this is the bug.
        unsafe { *self.0.get() += 1 };
    }
}

/// Waits until a number is reached, without ordering the other thread's writes.
fn wait_for(number: &AtomicUsize, least: usize) {
    while number.load(Ordering::Relaxed) < least {
        std::thread::yield_now();
    }
}

/// Runs two threads that overlap until both are done: the sanitizer sometimes takes a thread that
/// begins after another has ended for the same one.
fn two(work: impl Fn(usize) + Sync) {
    let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (work, begun, done) = (&work, &begun, &done);
            scope.spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                wait_for(begun, 2);
                work(thread);
                done.fetch_add(1, Ordering::Relaxed);
                wait_for(done, 2);
            });
        }
    });
}

/// Counts a budget without an atomic operation.
pub fn on_a_count() {
    let used = Unguarded::new();
    two(|_| used.add());
}

/// Publishes a verdict before it is visible to others: `Relaxed` instead of `Release` and
/// `Acquire`.
pub fn on_first_use() {
    let (verdict, known) = (Unguarded::new(), AtomicUsize::new(0));
    two(|thread| {
        if thread == 1 {
            wait_for(&known, 1);
        }
        verdict.add();
        known.fetch_add(1, Ordering::Relaxed);
    });
}
