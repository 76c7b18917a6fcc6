//! Work in forked processes. A child records its current case in memory shared with its parent,
//! which reads it if the child dies.

use std::cell::UnsafeCell;
use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use assure::Job;

use crate::rooms::{SANITIZED, Side, shared_pages};

/// Length of the longest text of a failure in bytes.
const TEXT: usize = 300;

/// A child's report to its parent.
struct Board {
    checked: AtomicU64,
    failed: AtomicU64,
    /// The current case. Its name has the same address in both processes.
    name: AtomicUsize,
    name_bytes: AtomicUsize,
    length: AtomicUsize,
    side: AtomicUsize,
    text_bytes: AtomicUsize,
    text: UnsafeCell<[u8; TEXT]>,
}

/// The cases of one child.
pub struct Cases {
    board: &'static Board,
}

impl Cases {
    fn new() -> Cases {
        let board = shared_pages(size_of::<Board>()).cast::<Board>();
        // SAFETY: newly mapped zeroed pages, which are never unmapped; zeros are a valid `Board`.
        Cases { board: unsafe { &*board } }
    }

    /// Records the next case.
    pub fn at(&self, name: &'static str, length: usize, side: Side) {
        self.board.name.store(name.as_ptr() as usize, Relaxed);
        self.board.name_bytes.store(name.len(), Relaxed);
        self.board.length.store(length, Relaxed);
        self.board.side.store(side as usize, Relaxed);
    }

    /// Counts a check of the current case.
    pub fn check(&self, right: bool) {
        self.board.checked.fetch_add(1, Relaxed);
        if !right && self.board.failed.fetch_add(1, Relaxed) == 0 {
            self.keep(format!(
                "{}: the result differs from portable's in plain memory",
                self.case()
            ));
        }
    }

    /// Keeps the text of the first failure.
    fn keep(&self, text: String) {
        let bytes = text.len().min(TEXT);
        // SAFETY: only the child writes, and the parent reads after the child has ended.
        unsafe {
            (&mut *self.board.text.get())[..bytes].copy_from_slice(&text.as_bytes()[..bytes])
        };
        self.board.text_bytes.store(bytes, Relaxed);
    }

    fn text(&self) -> String {
        // SAFETY: the child has ended, and nothing else writes.
        let text = unsafe { &(&*self.board.text.get())[..self.board.text_bytes.load(Relaxed)] };
        String::from_utf8_lossy(text).into_owned()
    }

    fn case(&self) -> String {
        let (at, bytes) = (self.board.name.load(Relaxed), self.board.name_bytes.load(Relaxed));
        if at == 0 {
            return "before the first case".into();
        }
        // SAFETY: `at` stored it from a `&'static str`, in this process or in one forked from it.
        let name = unsafe { std::slice::from_raw_parts(at as *const u8, bytes) };
        let length = self.board.length.load(Relaxed);
        let side =
            if self.board.side.load(Relaxed) == Side::Start as usize { "start" } else { "end" };
        let place = if SANITIZED { String::new() } else { format!(", guarded at the {side}") };
        format!("{}, {length} bytes{place}", String::from_utf8_lossy(name))
    }
}

/// Runs `work` on each item in a separate process, one per core at a time.
pub fn fork_each<T>(
    job: &Job,
    items: &[T],
    name: impl Fn(&T) -> String,
    work: impl Fn(&Cases, &T),
) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::io::stdout().flush().expect("standard output");
    let mut running: Vec<(libc::pid_t, &T, Cases)> = Vec::new();
    let mut rest = items.iter();
    loop {
        while running.len() < cores
            && let Some(item) = rest.next()
        {
            let cases = Cases::new();
            // SAFETY: this process has no other threads.
            match unsafe { libc::fork() } {
                0 => {
                    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        work(&cases, item);
                    }));
                    std::process::exit(if done.is_ok() { 0 } else { 101 });
                }
                child => {
                    assert!(child > 0, "a process more");
                    running.push((child, item, cases));
                }
            }
        }
        if running.is_empty() {
            return;
        }
        let mut status = 0;
        // SAFETY: `status` can be written.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        let place = running.iter().position(|&(child, ..)| child == ended);
        let (_, item, cases) = running.swap_remove(place.expect("a child of this process"));
        count(job, &name(item), &cases, status);
    }
}

/// Counts the results of an ended child.
fn count(job: &Job, name: &str, cases: &Cases, status: libc::c_int) {
    let (checked, failed) = (cases.board.checked.load(Relaxed), cases.board.failed.load(Relaxed));
    job.checks(checked - failed);
    for _ in 0..failed {
        job.check(false, || format!("{name}: {}", cases.text()));
    }
    if status != 0 {
        let how = match (libc::WIFSIGNALED(status), libc::WTERMSIG(status)) {
            (true, libc::SIGSEGV) => "touched memory outside the buffer (SIGSEGV)".into(),
            (true, libc::SIGBUS) => "touched memory outside the buffer (SIGBUS)".into(),
            (true, signal) => format!("died of signal {signal}"),
            _ if libc::WEXITSTATUS(status) == 101 => "panicked".into(),
            _ => format!("was ended with {} by the sanitizer", libc::WEXITSTATUS(status)),
        };
        job.check(false, || format!("{name}: {how} at: {}", cases.case()));
    }
}
