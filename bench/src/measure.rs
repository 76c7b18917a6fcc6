//! Samples of contenders in turns, their median and spread.
//!
//! The machine may be shared and its clock may drift. So contenders take turns within each round,
//! a round measures the clock beside them, and figures are medians of rounds, in core cycles, with
//! quartiles. A sample during which another program had the core is taken again. Where the quartiles
//! lie far apart the figure is flagged and shown all the same.

use std::time::Instant;

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
}

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
    let plans: Vec<Plan> = jobs.iter_mut().map(|job| Plan::of(effort, job)).collect();
    let mut samples = vec![Vec::new(); jobs.len()];
    let rounds = plans.iter().map(|plan| plan.rounds).max().unwrap_or(0);
    for round in 0..rounds {
        let clock = cycles_per_ns();
        for turn in 0..jobs.len() {
            // Another begins in each round, so that nobody always follows the same.
            let at = (turn + round) % jobs.len();
            if round < plans[at].rounds {
                let ns = time(&mut jobs[at], plans[at].calls);
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
    const MOST: f64 = 3e6;
    let (mut best, mut spent) = (f64::MAX, 0.0);
    while spent < MOST {
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
    /// Doubles the calls until they fill a sample; that also warms up. What takes very long is
    /// sampled less often.
    fn of(effort: Effort, job: &mut Job) -> Plan {
        let mut calls = 1;
        let mut ns = time(job, calls);
        while ns < effort.sample_ns && calls < 1 << 24 {
            calls *= 2;
            ns = time(job, calls);
        }
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

    #[test]
    fn the_slower_job_is_slower() {
        let work = |times: u64| {
            move |calls: usize| {
                for i in 0..calls as u64 * times {
                    std::hint::black_box(i);
                }
            }
        };
        let mut jobs: [Job; 2] = [Box::new(work(100)), Box::new(work(10_000))];
        let effort = Effort { rounds: 5, sample_ns: 1e4 };
        let figures = in_turns(effort, &mut jobs);
        assert!(figures[1].median > 10.0 * figures[0].median, "{figures:?}");
    }
}
