//! Progress of an experiment, and the time left for each step.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The time between two lines if standard error is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The steps of an experiment and the time that they share.
pub struct Progress {
    name: String,
    steps: usize,
    done: usize,
    start: Instant,
    budget: Duration,
    bar: ProgressBar,
    last_line: Instant,
}

impl Progress {
    /// Begins an experiment.
    pub fn new(name: &str, steps: usize, budget: Duration) -> Progress {
        let style = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len} {eta}");
        let bar = ProgressBar::new(steps as u64).with_message(name.to_string());
        let now = Instant::now();
        Progress {
            name: name.into(),
            steps,
            done: 0,
            start: now,
            budget,
            bar: bar.with_style(style.expect("a template")),
            last_line: now,
        }
    }

    /// Returns the time for the next step. The remaining steps share the time that earlier ones did
    /// not use.
    pub fn step_budget(&self) -> Duration {
        let left = self.budget.saturating_sub(self.start.elapsed());
        left / u32::try_from(self.steps.saturating_sub(self.done).max(1)).unwrap_or(u32::MAX)
    }

    /// Returns true if all the time is used.
    pub fn is_over(&self) -> bool {
        self.start.elapsed() >= self.budget
    }

    /// Ends a step.
    pub fn step(&mut self) {
        self.done += 1;
        self.bar.inc(1);
        if self.bar.is_hidden() && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let used = self.start.elapsed().as_secs();
            let (name, done, steps) = (&self.name, self.done, self.steps);
            let budget = self.budget.as_secs();
            eprintln!("{name}: {done} of {steps} steps, {used} of at most about {budget} seconds");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_shared() {
        let mut progress = Progress::new("test", 4, Duration::from_secs(4_000_000));
        let first = progress.step_budget();
        assert!(first <= Duration::from_secs(1_000_000));
        progress.step();
        assert!(progress.step_budget() > first, "the first step took less than its share");
        assert!(!progress.is_over());
        assert!(Progress::new("test", 4, Duration::ZERO).is_over());
    }
}
