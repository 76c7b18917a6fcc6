//! Callbacks and signals during long work, so that progress is visible and Ctrl-C works.
//!
//! All threads count their work. Only the thread that Python called checks for signals and calls
//! back, at intervals. An exception from either stops the work and is passed on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tagmac_files::progress::{Phases, Progress, Total};

/// The minimum time between two calls.
const REST: Duration = Duration::from_millis(50);

/// A callback and the counts for it: the bytes done and in total, if the total is known. For a
/// tree, the entries are counted too.
pub struct Watch {
    call: Option<Py<PyAny>>,
    /// True if the callback gets the entries too.
    entries: bool,
    caller: ThreadId,
    totals: Mutex<[Option<u64>; 2]>,
    bytes: AtomicU64,
    files: AtomicU64,
    stopped: AtomicBool,
    state: Mutex<State>,
}

struct State {
    last: Instant,
    error: Option<PyErr>,
}

impl Watch {
    /// Watches work that this thread asked for.
    pub fn new(call: Option<Py<PyAny>>, entries: bool) -> Watch {
        Watch {
            call,
            entries,
            caller: thread::current().id(),
            totals: Mutex::default(),
            bytes: AtomicU64::new(0),
            files: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            state: Mutex::new(State { last: Instant::now(), error: None }),
        }
    }

    /// True if there is a callback, so that it is worth counting the total first.
    pub fn is_heard(&self) -> bool {
        self.call.is_some()
    }

    /// Sets the totals.
    pub fn set_total(&self, bytes: Option<u64>, files: Option<u64>) {
        *self.totals.lock().expect("no holder panics") = [bytes, files];
    }

    /// Adds to the bytes done.
    pub fn count(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Checks for signals and calls back.
    pub fn tell(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        let Some(call) = &self.call else { return Ok(()) };
        let [bytes, files] = [&self.bytes, &self.files].map(|done| done.load(Ordering::Relaxed));
        let [all_bytes, all_files] = *self.totals.lock().expect("no holder panics");
        match self.entries {
            true => call.call1(py, (bytes, all_bytes, files, all_files))?,
            false => call.call1(py, (bytes, all_bytes))?,
        };
        Ok(())
    }

    /// Checks for signals, and calls back if enough time has passed.
    pub fn now_and_then(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        if self.is_due() { self.tell(py) } else { Ok(()) }
    }

    /// The exception that stopped the work, or else the one that `other` makes.
    pub fn failed(&self, other: impl FnOnce() -> PyErr) -> PyErr {
        let error = self.state.lock().expect("no holder panics").error.take();
        error.unwrap_or_else(other)
    }

    fn is_due(&self) -> bool {
        let mut state = self.state.lock().expect("no holder panics");
        let due = state.last.elapsed() >= REST;
        if due {
            state.last = Instant::now();
        }
        due
    }

    /// Checks for signals and calls back from the calling thread, which is detached between pieces
    /// of work.
    fn poll(&self) {
        if thread::current().id() != self.caller || self.stopped.load(Ordering::Relaxed) {
            return;
        }
        if self.is_due()
            && let Err(error) = Python::attach(|py| self.tell(py))
        {
            self.state.lock().expect("no holder panics").error = Some(error);
            self.stopped.store(true, Ordering::Relaxed);
        }
    }
}

impl Progress for Watch {
    fn add(&self, bytes: usize) {
        self.count(bytes as u64);
    }

    fn skip(&self, bytes: u64) {
        self.count(bytes);
    }

    fn file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.poll();
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Watches work in phases, each with its total.
pub struct Watched(pub Arc<Watch>);

impl Phases for Watched {
    fn start(&self, _: &'static str, total: Total) -> Box<dyn Progress> {
        self.0.set_total(total.bytes, total.files);
        Box::new(Watched(self.0.clone()))
    }
}

impl Progress for Watched {
    fn add(&self, bytes: usize) {
        self.0.add(bytes);
    }

    fn skip(&self, bytes: u64) {
        self.0.skip(bytes);
    }

    fn file(&self) {
        self.0.file();
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}
