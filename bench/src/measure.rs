//! Samples contenders in turns and computes medians and quartiles.
//!
//! The machine may be shared and its clock may drift. Contenders therefore take turns within each
//! round, and each round also measures the clock. Figures are medians of rounds in core cycles,
//! with quartiles. A sample during which another program had the core is repeated. So is one next to
//! which fixed work took longer than it does on an undisturbed core. A figure whose quartiles are
//! far apart is shown with a flag.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use crate::clock::{Core, ThisCore};

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
/// On an undisturbed core fixed work takes at most this many times its usual time.
const UNDISTURBED: f64 = 1.1;
/// Rounds for disturbed samples: at most this many times those of an undisturbed core.
const AGAIN: usize = 4;

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
    turns_on(&mut ThisCore, effort, jobs, time)
}

fn turns_on(
    core: &mut dyn Core,
    effort: Effort,
    jobs: usize,
    time: &mut dyn FnMut(usize, usize) -> f64,
) -> Vec<Figure> {
    let start = Instant::now();
    let plans: Vec<Plan> = (0..jobs).map(|at| Plan::new(effort, |calls| time(at, calls))).collect();
    let mut samples = vec![Samples::default(); jobs];
    let rounds = plans.iter().map(|plan| plan.rounds).max().unwrap_or(0);
    for round in 0..AGAIN * rounds {
        if round >= MIN_ROUNDS && start.elapsed() >= effort.limit {
            break;
        }
        let clock = core.clock();
        let mut before = core.work();
        for turn in 0..jobs {
            // Rotate the order, so that no job always follows the same one.
            let at = (turn + round) % jobs;
            if samples[at].undisturbed() < plans[at].rounds {
                let ns = time(at, plans[at].calls);
                let after = core.work();
                let work = before.max(after);
                samples[at].all.push((clock * ns / plans[at].calls as f64, work));
                samples[at].usual = core.undisturbed(work);
                before = after;
            }
        }
        let is_done = |(samples, plan): (&Samples, &Plan)| samples.undisturbed() >= plan.rounds;
        if samples.iter().zip(&plans).all(is_done) {
            break;
        }
    }
    samples.into_iter().map(Samples::figure).collect()
}

/// The samples of a job.
#[derive(Clone, Default)]
struct Samples {
    /// The cycles of a call, and the time of the fixed work next to it.
    all: Vec<(f64, f64)>,
    /// The usual time of the fixed work on an undisturbed core.
    usual: f64,
}

impl Samples {
    /// Returns the number of samples that nothing disturbed.
    fn undisturbed(&self) -> usize {
        self.all.iter().filter(|(_, work)| *work <= UNDISTURBED * self.usual).count()
    }

    /// Returns the figure of the undisturbed samples, or of the least disturbed ones if there are
    /// too few. Only the fixed work decides which samples count, the same for all jobs.
    fn figure(mut self) -> Figure {
        let count = self.undisturbed().max(MIN_ROUNDS).min(self.all.len());
        self.all.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        self.all.truncate(count);
        let mut figure = Figure::of(self.all.iter().map(|(cycles, _)| *cycles).collect());
        let slow_down = self.all[count / 2].1 / self.usual;
        if slow_down > UNDISTURBED {
            // Without the disturbance a call might take this long.
            figure.low = figure.low.min(figure.median / slow_down);
        }
        figure
    }
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

    /// A core that a neighbour leaves alone in one of `every` rounds.
    struct Shared {
        every: usize,
        round: usize,
    }

    impl Core for Shared {
        fn clock(&mut self) -> f64 {
            self.round += 1;
            1.0
        }

        fn work(&mut self) -> f64 {
            if self.round.is_multiple_of(self.every) { 1.0 } else { 1.5 }
        }

        fn undisturbed(&mut self, _work: f64) -> f64 {
            1.0
        }
    }

    const ALONE: Shared = Shared { every: 1, round: 0 };

    #[test]
    fn figures_are_in_the_order_of_the_jobs() {
        let mut time = |at, calls| [5.0, 700.0, 30.0][at] * calls as f64;
        let figures = turns_on(&mut { ALONE }, EFFORT, 3, &mut time);
        let medians: Vec<f64> = figures.iter().map(|figure| figure.median).collect();
        assert_eq!(medians, [5.0, 700.0, 30.0]);
    }

    /// Returns the rounds that are made on a core.
    fn rounds(mut core: Shared, limit: Duration) -> usize {
        let mut turns_of = Vec::new();
        turns_on(&mut core, Effort { limit, ..EFFORT }, 3, &mut |at, calls| {
            turns_of.push(at);
            1e3 * calls as f64
        });
        // Planning comes first, job by job. Then each round gives one turn to each job, and begins
        // with another job than the last one of the previous round.
        turns_of.dedup();
        turns_of.len() / 3 - 1
    }

    #[test]
    fn no_time_gives_the_fewest_rounds() {
        assert_eq!(rounds(ALONE, Duration::MAX), EFFORT.rounds);
        assert_eq!(rounds(ALONE, Duration::ZERO), MIN_ROUNDS);
    }

    #[test]
    fn disturbed_rounds_are_repeated() {
        let shared = |every| Shared { every, round: 0 };
        assert_eq!(rounds(shared(3), Duration::MAX), 3 * EFFORT.rounds);
        assert_eq!(rounds(shared(10), Duration::MAX), AGAIN * EFFORT.rounds);
        assert_eq!(rounds(shared(10), Duration::ZERO), MIN_ROUNDS);
    }

    #[test]
    fn disturbed_samples_do_not_count() {
        let mut samples = Samples { all: vec![(10.0, 105.0); 6], usual: 100.0 };
        samples.all.extend([(17.0, 150.0); 20]);
        assert_eq!(samples.clone().figure().high, 10.0);
        // The five least disturbed ones.
        samples.all.drain(..4);
        samples.all.push((13.0, 125.0));
        assert_eq!(samples.figure(), Figure { median: 13.0, low: 10.0, high: 17.0 });
        let samples = Samples { all: vec![(15.0, 150.0); 9], usual: 100.0 };
        assert_eq!(samples.figure(), Figure { median: 15.0, low: 10.0, high: 15.0 });
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
