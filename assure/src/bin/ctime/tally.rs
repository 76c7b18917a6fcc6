//! What a witness found.

use std::fmt::Display;

/// How much a run checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Quick,
    Full,
}

impl Depth {
    /// The argument that asks for it.
    pub fn argument(self) -> &'static str {
        match self {
            Depth::Quick => "--quick",
            Depth::Full => "--full",
        }
    }

    /// One of two values.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Depth::Quick => quick,
            Depth::Full => full,
        }
    }
}

/// Checks, failures and remarks.
#[derive(Default)]
pub struct Tally {
    pub checked: u64,
    pub failures: Vec<String>,
    pub notes: Vec<String>,
}

/// How a witness that is a process of its own says what it checked.
const CHECKED: &str = "checked: ";
const FAILED: &str = "failed: ";
const NOTE: &str = "note: ";

impl Tally {
    /// Counts a check, and what is wrong if something is.
    pub fn check(&mut self, failure: Option<impl Display>) {
        self.checked += 1;
        self.failures.extend(failure.map(|failure| failure.to_string()));
    }

    /// A remark.
    pub fn note(&mut self, note: impl Display) {
        self.notes.push(note.to_string());
    }

    /// Adds what another found.
    pub fn add(&mut self, other: Tally) {
        self.checked += other.checked;
        self.failures.extend(other.failures);
        self.notes.extend(other.notes);
    }

    /// The lines of notes and failures.
    pub fn lines(&self) -> String {
        let notes = self.notes.iter().map(|note| format!("{NOTE}{note}\n"));
        let failures = self.failures.iter().map(|failure| format!("{FAILED}{failure}\n"));
        notes.chain(failures).collect()
    }

    /// Prints what a process found for the one that started it.
    pub fn report(&self) {
        println!("{}{CHECKED}{}", self.lines(), self.checked);
    }

    /// What such a process found; nothing if it did not come to its end.
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
