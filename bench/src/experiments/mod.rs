//! The experiments: each gives one record.

pub mod batch;
pub mod calls;
pub mod ceilings;
pub mod cold;
pub mod command;
pub mod threads;

use crate::lab::{Failure, Lab};
use crate::record::Record;

/// Makes an experiment.
pub type Run = Box<dyn Fn(&mut Lab) -> Result<Record, Failure>>;

/// An experiment by its name.
pub struct Experiment {
    pub name: &'static str,
    pub about: &'static str,
    pub run: Run,
}

/// All of them, in the order of the report.
pub fn all() -> Vec<Experiment> {
    let own = |name, about, run: fn(&mut Lab) -> Result<Record, Failure>| Experiment {
        name,
        about,
        run: Box::new(run),
    };
    let mut all: Vec<Experiment> = calls::ALL
        .iter()
        .map(|calls| Experiment {
            name: calls.name,
            about: calls.about,
            run: Box::new(|lab| calls.run(lab)),
        })
        .collect();
    all.push(own(batch::NAME, batch::ABOUT, batch::run));
    all.push(own(cold::NAME, cold::ABOUT, cold::run));
    all.push(own(threads::NAME, threads::ABOUT, threads::run));
    all.push(own(ceilings::NAME, ceilings::ABOUT, ceilings::run));
    all.push(own(command::NAME, command::ABOUT, command::run));
    all
}
