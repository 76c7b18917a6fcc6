//! The experiments. Each returns one record.

pub mod batch;
pub mod calls;
pub mod ceilings;
pub mod cold;
pub mod command;
#[cfg(feature = "java")]
mod java;
#[cfg(feature = "lab")]
mod lab;
#[cfg(any(feature = "java", feature = "ways"))]
mod programs;
#[cfg(feature = "reads")]
pub mod reads;
pub mod threads;
pub mod tree;
#[cfg(feature = "ways")]
mod ways;

use std::time::Duration;

use crate::failure::Failure;
use crate::harness::Harness;
use crate::record::{self, Record};

/// Runs an experiment in about the given time.
pub type Run = Box<dyn Fn(&mut Harness, Duration) -> Result<Record, Failure>>;

/// An experiment and its name.
pub struct Experiment {
    pub name: &'static str,
    pub about: &'static str,
    /// Its time in seconds if `bench all` takes [`MINUTES`].
    pub seconds: u64,
    pub run: Run,
}

impl Experiment {
    /// Returns true if `bench all` runs it.
    pub fn is_in_all(&self) -> bool {
        self.name != record::LAB && !record::NEEDS_BUILD.contains(&self.name)
    }
}

/// The time in minutes of `bench all`.
pub const MINUTES: u64 = 30;

/// Returns all experiments in the order of the report.
pub fn all() -> Vec<Experiment> {
    type Own = fn(&mut Harness, Duration) -> Result<Record, Failure>;
    let own =
        |name, about, seconds, run: Own| Experiment { name, about, seconds, run: Box::new(run) };
    let mut all: Vec<Experiment> = calls::ALL
        .iter()
        .map(|calls| Experiment {
            name: calls.name,
            about: calls.about,
            seconds: calls.seconds,
            run: Box::new(|harness, budget| calls.run(harness, budget)),
        })
        .collect();
    all.push(own(batch::NAME, batch::ABOUT, 90, batch::run));
    all.push(own(cold::NAME, cold::ABOUT, 90, cold::run));
    all.push(own(threads::NAME, threads::ABOUT, 40, threads::run));
    all.push(own(ceilings::NAME, ceilings::ABOUT, 10, ceilings::run));
    all.push(own(command::NAME, command::ABOUT, 60, command::run));
    #[cfg(feature = "reads")]
    all.push(own(reads::NAME, reads::ABOUT, 20, reads::run));
    all.push(own(tree::NAME, tree::ABOUT, 50, tree::run));
    #[cfg(feature = "ways")]
    all.push(own(record::WAYS, ways::ABOUT, 60, ways::run));
    #[cfg(feature = "java")]
    {
        all.push(own(record::JAVA, java::ABOUT, 300, java::run));
        all.push(own(record::SPARK, java::spark::ABOUT, 800, java::spark::run));
        all.push(own(record::SOAK, java::soak::ABOUT, 60 * MINUTES, java::soak::run));
    }
    #[cfg(feature = "lab")]
    all.push(own(record::LAB, lab::ABOUT, 420, lab::run));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "reads")]
    fn the_time_is_shared_out() {
        let seconds: u64 = all().iter().filter(|one| one.is_in_all()).map(|one| one.seconds).sum();
        assert_eq!(seconds, 60 * MINUTES);
    }
}
