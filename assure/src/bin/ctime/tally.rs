//! Results of a witness.

use std::fmt::Display;

/// The extent of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Quick,
    Full,
}

impl Depth {
    /// The command-line argument for it.
    pub fn argument(self) -> &'static str {
        match self {
            Depth::Quick => "--quick",
            Depth::Full => "--full",
        }
    }

    /// Returns one of two values.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Depth::Quick => quick,
            Depth::Full => full,
        }
    }
}

/// Checks, failures and notes.
#[derive(Default)]
pub struct Tally {
    pub checked: u64,
    pub failures: Vec<String>,
    pub notes: Vec<String>,
}

/// The line in which the separate process of a witness reports its number of checks.
const CHECKED: &str = "checked: ";
const FAILED: &str = "failed: ";
const NOTE: &str = "note: ";

impl Tally {
    /// Counts a check, and its failure if there was one.
    pub fn check(&mut self, failure: Option<impl Display>) {
        self.checked += 1;
        self.failures.extend(failure.map(|failure| failure.to_string()));
    }

    /// Adds a note.
    pub fn note(&mut self, note: impl Display) {
        self.notes.push(note.to_string());
    }

    /// Adds the results of another tally.
    pub fn add(&mut self, other: Tally) {
        self.checked += other.checked;
        self.failures.extend(other.failures);
        self.notes.extend(other.notes);
    }

    /// Formats notes and failures as lines.
    pub fn lines(&self) -> String {
        let notes = self.notes.iter().map(|note| format!("{NOTE}{note}\n"));
        let failures = self.failures.iter().map(|failure| format!("{FAILED}{failure}\n"));
        notes.chain(failures).collect()
    }

    /// Prints the results for the parent process.
    pub fn report(&self) {
        println!("{}{CHECKED}{}", self.lines(), self.checked);
    }

    /// Reads the results of such a process; `None` if it did not finish.
    pub fn read(printed: &str) -> Option<Tally> {
        let mut tally = Tally::default();
        for line in printed.lines() {
            if let Some(note) = line.strip_prefix(NOTE) {
                tally.note(note);
            } else if let Some(failure) = line.strip_prefix(FAILED) {
                tally.failures.push(failure.into());
            } else if let Some(checked) = line.strip_prefix(CHECKED) {
                tally.checked = checked.parse().ok()?;
                return Some(tally);
            }
        }
        None
    }
}
