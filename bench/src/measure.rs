//! Samples of contenders in turns, their median and spread.
//!
//! The machine may be shared and its clock may drift. So contenders take turns within each round,
//! a round measures the clock beside them, and figures are medians of rounds, in core cycles, with
//! quartiles. A sample during which another program had the core is taken again. Where the quartiles
//! lie far apart the figure is flagged and shown all the same.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use crate::clock::cycles_per_ns;

/// How far apart quartiles may lie, as a share of the median, before a figure is called noisy.
const QUIET: f64 = 0.06;

/// How long to measure.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Samples of each contender.
    pub rounds: usize,
    /// Nanoseconds of a sample, at least.
    pub sample_ns: f64,
    /// After so long there are no more rounds than [`MIN_ROUNDS`].
    pub limit: Duration,
}

/// Rounds without which there is no figure, however long they take.
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
    /// The median and quartiles of some samples.
    pub fn of(mut samples: Vec<f64>) -> Figure {
        samples.sort_by(f64::total_cmp);
        let at = |share: f64| samples[((samples.len() - 1) as f64 * share).round() as usize];
        Figure { median: at(0.5), low: at(0.25), high: at(0.75) }
    }

    /// Whether the quartiles lie far apart.
    pub fn is_noisy(&self) -> bool {
        self.high - self.low > QUIET * self.median
    }
}

/// A contender: makes that many calls.
pub type Job<'a> = Box<dyn FnMut(usize) + 'a>;

/// Measures the jobs in turns.
pub fn in_turns(effort: Effort, jobs: &mut [Job]) -> Vec<Figure> {
    turns(effort, jobs.len(), &mut |at, calls| time(&mut jobs[at], calls))
}

/// The figures of `jobs` jobs, where `time` gives the nanoseconds of calls of one of them.
fn turns(effort: Effort, jobs: usize, time: &mut dyn FnMut(usize, usize) -> f64) -> Vec<Figure> {
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
            // Another begins in each round, so that nobody always follows the same.
            let at = (turn + round) % jobs;
            if round < plans[at].rounds {
                let ns = time(at, plans[at].calls);
                samples[at].push(clock * ns / plans[at].calls as f64);
            }
        }
    }
    samples.into_iter().map(Figure::of).collect()
}

/// Nanoseconds of that many calls, in one piece if that can be had.
fn time(job: &mut Job, calls: usize) -> f64 {
    /// A share of the time, and nanoseconds, by which clocks may differ.
    const SHARE: f64 = 0.05;
    const SLACK: f64 = 3000.0;
    /// Nanoseconds after which it is given up. What takes longer by itself is never in one piece.
    const MAX_SPENT: f64 = 3e6;
    let (mut best, mut spent) = (f64::MAX, 0.0);
    while spent < MAX_SPENT {
        let (cpu, start) = (ThreadTime::now(), Instant::now());
        job(calls);
        let wall = start.elapsed().as_secs_f64() * 1e9;
        let cpu = cpu.elapsed().as_secs_f64() * 1e9;
        best = best.min(wall);
        spent += wall;
        // Less time on the core than on the wall: something else ran.
        if wall - cpu < SLACK + SHARE * wall {
            return wall;
        }
    }
    best
}

/// How a job is sampled.
struct Plan {
    /// Calls in a sample.
    calls: usize,
    rounds: usize,
}

impl Plan {
    /// Makes more calls until they fill a sample; that also warms up. What takes very long is
    /// sampled less often.
    fn new(effort: Effort, mut time: impl FnMut(usize) -> f64) -> Plan {
        /// So many samples long is no call that merely fetched its code and tables first.
        const LONG: f64 = 20.0;
        let mut calls = 1;
        let ns = loop {
            let mut ns = time(calls);
            // The first time may be long because nothing was in a cache: the second one counts.
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
        // The clock is measured anew in each round, and may drift.
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
            // The plans come first, job by job; then each round has one turn of each, and begins
            // with another than the one before ended with.
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
            // The first call takes as long as a sample, the others a thousandth.
            if std::mem::take(&mut first) { 1e5 } else { 1e2 * calls as f64 }
        });
        assert!(plan.calls >= 1000, "{}", plan.calls);
        // What takes very long is called once, and less often.
        let plan = Plan::new(EFFORT, |calls| 1e9 * calls as f64);
        assert_eq!((plan.calls, plan.rounds), (1, 3));
    }
}
