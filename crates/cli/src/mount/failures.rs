//! The messages on failed reads, whose number is bounded.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use tagmac_files::Error;

use crate::diagnostic::diagnostic;
use crate::say;

/// Lines, each on another leaf or file. A program may repeat a failed read without end.
const MAX_LINES: usize = 1000;

/// The failed reads so far.
#[derive(Default)]
pub struct Failures {
    said: Mutex<Said>,
}

#[derive(Default)]
struct Said {
    lines: HashSet<String>,
    /// Failed reads without a line.
    more: u64,
}

impl Said {
    /// Counts a line. Returns whether it is new and within the limit.
    fn add(&mut self, line: &str) -> bool {
        let is_new = self.lines.len() < MAX_LINES && self.lines.insert(line.into());
        self.more += u64::from(!is_new);
        is_new
    }
}

impl Failures {
    /// Reports an error, once.
    pub fn report(&self, error: &Error) {
        let line = say::line(error);
        if self.said.lock().unwrap_or_else(PoisonError::into_inner).add(&line) {
            diagnostic(line);
        }
    }

    /// Reports the number of failed reads without a line.
    pub fn summarize(&self) {
        let more = self.said.lock().unwrap_or_else(PoisonError::into_inner).more;
        if more > 0 {
            let reads = if more == 1 { "read" } else { "reads" };
            diagnostic(format_args!("{more} more {reads} failed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_said_once_and_their_number_is_bounded() {
        let mut said = Said::default();
        assert!(said.add("a") && !said.add("a") && said.add("b"));
        assert_eq!(said.more, 1);
        let new = (0..2 * MAX_LINES).filter(|number| said.add(&number.to_string())).count();
        assert_eq!((new, said.more), (MAX_LINES - 2, 3 + MAX_LINES as u64));
        assert!(!said.add("b") && !said.add("c"));
    }
}
