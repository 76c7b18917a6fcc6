//! The common parts of the jobs of `scripts/assure`: the command line, the counters and the random
//! numbers.

pub mod c_library;
#[cfg(feature = "witnesses")]
pub mod plain;
// System calls are read from the registers of this kernel and CPU.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod process;
mod random;
pub mod transcript;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub use random::Random;

/// Number of failures to print; the others are only counted.
const SHOWN: usize = 10;

/// A job: its request, and its results so far. Threads share it.
pub struct Job {
    name: &'static str,
    full: bool,
    planted: Option<String>,
    checked: AtomicU64,
    failed: AtomicU64,
    shown: Mutex<Vec<String>>,
}

impl Job {
    /// Reads the command line. `--planted` alone prints the names of the planted bugs.
    ///
    /// # Errors
    ///
    /// The exit code if there is nothing to run.
    pub fn from_args(name: &'static str, plants: &[&str]) -> Result<Job, ExitCode> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (full, planted) = match arguments[..] {
            ["--planted"] => {
                plants.iter().for_each(|plant| println!("{plant}"));
                return Err(ExitCode::SUCCESS);
            }
            ["--quick"] => (false, None),
            ["--full"] => (true, None),
            ["--quick", "--planted", plant] if plants.contains(&plant) => {
                (false, Some(plant.into()))
            }
            _ => {
                eprintln!("usage: {name} --quick [--planted NAME] | --full | --planted");
                return Err(ExitCode::from(2));
            }
        };
        Ok(Job {
            name,
            full,
            planted,
            checked: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            shown: Mutex::new(Vec::new()),
        })
    }

    /// Returns whether this is a full run.
    pub fn full(&self) -> bool {
        self.full
    }

    /// Returns `full` in a full run, and `quick` otherwise.
    pub fn either<T>(&self, quick: T, full: T) -> T {
        if self.full { full } else { quick }
    }

    /// Returns whether this bug is planted.
    pub fn planted(&self, plant: &str) -> bool {
        self.planted.as_deref() == Some(plant)
    }

    /// Counts a check; `found` describes the failure.
    #[inline]
    pub fn check(&self, right: bool, found: impl FnOnce() -> String) {
        self.checks(1);
        if !right {
            self.fail(found());
        }
    }

    /// Counts successful checks, for loops that keep their own count.
    pub fn checks(&self, count: u64) {
        self.checked.fetch_add(count, Ordering::Relaxed);
    }

    #[cold]
    fn fail(&self, found: String) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut shown = self.shown.lock().expect("no thread panicked");
        if shown.len() < SHOWN {
            shown.push(found);
        }
    }

    /// Prints a figure or a caveat for the page.
    pub fn note(&self, text: &str) {
        println!("note: {text}");
    }

    /// Prints the last line. Returns the exit code.
    pub fn finish(self) -> ExitCode {
        for failure in self.shown.into_inner().expect("no thread panicked") {
            println!("failed: {failure}");
        }
        let failed = self.failed.into_inner();
        println!("{}: {} checked, {failed} failed", self.name, self.checked.into_inner());
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Runs `work` on each item, on all cores.
pub fn on_all_cores<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicU64::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    work(item);
                }
            });
        }
    });
}
