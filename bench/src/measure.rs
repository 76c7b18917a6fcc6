//! Samples contenders in turns and computes medians and quartiles.
//!
//! The machine may be shared and its clock may drift. Contenders therefore take turns within each
//! round, and each round also measures the clock. Figures are medians of rounds in core cycles,
//! with quartiles. A sample during which another program had the core is repeated. A figure whose
//! quartiles are far apart is shown with a flag.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use crate::clock::cycles_per_ns;

/// The distance of the quartiles, as a share of the median, above which a figure is noisy.
const QUIET: f64 = 0.06;

/// The effort of a measurement.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Samples of each contender.
    pub rounds: usize,
    /// The minimum duration of a sample in nanoseconds.
    pub sample_ns: f64,
    /// Rounds stop at this time, once there are [`MIN_ROUNDS`].
    pub limit: Duration,
}

/// The minimum of rounds for a figure, however long they take.
pub const MIN_ROUNDS: usize = 5;

/// A figure: core cycles of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    pub median: f64,
    /// The first and the third quartile.
    pub low: f64,
    pub high: f64,
}

impl Figure {
    /// Returns the median and the quartiles of some samples.
    pub fn of(mut samples: Vec<f64>) -> Figure {
        samples.sort_by(f64::total_cmp);
        let at = |share: f64| samples[((samples.len() - 1) as f64 * share).round() as usize];
        Figure { median: at(0.5), low: at(0.25), high: at(0.75) }
    }

    /// Returns true if the quartiles are far apart.
    pub fn is_noisy(&self) -> bool {
        self.high - self.low > QUIET * self.median
    }
}

/// A contender: a function that makes the given number of calls.
pub type Job<'a> = Box<dyn FnMut(usize) + 'a>;

/// Measures jobs in turns.
pub fn in_turns(effort: Effort, jobs: &mut [Job]) -> Vec<Figure> {
    turns(effort, jobs.len(), &mut |at, calls| time(&mut jobs[at], calls))
}

/// Returns the figures of `jobs` jobs. `time` takes a job's index and a number of calls, and
/// returns their nanoseconds.
pub fn turns(
    effort: Effort,
    jobs: usize,
    time: &mut dyn FnMut(usize, usize) -> f64,
) -> Vec<Figure> {
    let start = Instant::now();
    let plans: Vec<Plan> = (0..jobs).map(|at| Plan::new(effort, |calls| time(at, calls))).collect();
    let mut samples = vec![Vec::new(); jobs];
    let rounds = plans.iter().map(|plan| plan.rounds).max().unwrap_or(0);
    for round in 0..rounds {
        if round >= MIN_ROUNDS && start.elapsed() >= effort.limit {
            break;
        }
        let clock = cycles_per_ns();
        for turn in 0..jobs {
            // Rotate the order, so that no job always follows the same one.
            let at = (turn + round) % jobs;
            if round < plans[at].rounds {
                let ns = time(at, plans[at].calls);
                samples[at].push(clock * ns / plans[at].calls as f64);
            }
        }
    }
    samples.into_iter().map(Figure::of).collect()
}

/// Returns the nanoseconds of `calls` calls, uninterrupted if possible.
pub fn time(job: &mut Job, calls: usize) -> f64 {
    /// The tolerated difference of the two clocks: a share of the time, and nanoseconds.
    const SHARE: f64 = 0.05;
    const SLACK: f64 = 3000.0;
    /// Retries stop at this many nanoseconds. A job longer than this is never uninterrupted.
    const MAX_SPENT: f64 = 3e6;
    let (mut best, mut spent) = (f64::MAX, 0.0);
    while spent < MAX_SPENT {
        let (cpu, start) = (ThreadTime::now(), Instant::now());
        job(calls);
        let wall = start.elapsed().as_secs_f64() * 1e9;
        let cpu = cpu.elapsed().as_secs_f64() * 1e9;
        best = best.min(wall);
        spent += wall;
        // Less CPU time than wall time means that something else ran.
        if wall - cpu < SLACK + SHARE * wall {
            return wall;
        }
    }
    best
}

/// The plan for sampling a job.
struct Plan {
    /// Calls in a sample.
    calls: usize,
    rounds: usize,
}

impl Plan {
    /// Increases the number of calls until they fill a sample, which also warms up. A very slow job
    /// gets fewer samples.
    fn new(effort: Effort, mut time: impl FnMut(usize) -> f64) -> Plan {
        /// A call of this many samples' time is slow in itself: fetching code and tables does not
        /// take so long.
        const LONG: f64 = 20.0;
        let mut calls = 1;
        let ns = loop {
            let mut ns = time(calls);
            // The first call may be slow because of cold caches, so time it again.
            if effort.sample_ns <= ns && ns < LONG * effort.sample_ns {
                ns = time(calls);
            }
            if ns >= effort.sample_ns || calls >= 1 << 24 {
                break ns;
            }
            let more = effort.sample_ns / ns.max(1.0);
            calls = (calls as f64 * more.clamp(2.0, 8.0)).ceil() as usize;
        };
        let long = ns / (100.0 * effort.sample_ns);
        let rounds = (effort.rounds as f64 / long.max(1.0)) as usize;
        Plan { calls, rounds: rounds.max(3).min(effort.rounds) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quartiles() {
        let figure = Figure::of(vec![5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!(figure, Figure { median: 3.0, low: 2.0, high: 4.0 });
        assert!(figure.is_noisy());
        assert!(!Figure::of(vec![100.0, 101.0, 99.0, 100.0]).is_noisy());
    }

    const EFFORT: Effort = Effort { rounds: 21, sample_ns: 1e5, limit: Duration::MAX };

    #[test]
    fn figures_are_in_the_order_of_the_jobs() {
        let figures = turns(EFFORT, 3, &mut |at, calls| [5.0, 700.0, 30.0][at] * calls as f64);
        let ratio = |a: usize, b: usize| figures[a].median / figures[b].median;
        // The clock is measured again in each round, and may drift.
        assert!(ratio(1, 2) > 2.0 && ratio(2, 0) > 2.0, "{figures:?}");
    }

    #[test]
    fn no_time_gives_the_fewest_rounds() {
        let rounds = |limit| {
            let mut turns_of = Vec::new();
            turns(Effort { limit, ..EFFORT }, 3, &mut |at, calls| {
                turns_of.push(at);
                1e3 * calls as f64
            });
            // Planning comes first, job by job. Then each round gives one turn to each job, and
            // begins with another job than the last one of the previous round.
            turns_of.dedup();
            turns_of.len() / 3 - 1
        };
        assert_eq!(rounds(Duration::MAX), EFFORT.rounds);
        assert_eq!(rounds(Duration::ZERO), MIN_ROUNDS);
    }

    #[test]
    fn a_first_call_that_fills_caches_is_no_measure() {
        let mut first = true;
        let plan = Plan::new(EFFORT, |calls| {
            // The first call lasts a whole sample, each later one a thousandth.
            if std::mem::take(&mut first) { 1e5 } else { 1e2 * calls as f64 }
        });
        assert!(plan.calls >= 1000, "{}", plan.calls);
        // A very slow job is called once per sample, and sampled less often.
        let plan = Plan::new(EFFORT, |calls| 1e9 * calls as f64);
        assert_eq!((plan.calls, plan.rounds), (1, 3));
    }
}
