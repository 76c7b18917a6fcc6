//! A model checker: threads are steps on a shared state, explored in every order. Memory is
//! sequentially consistent, so effects of weaker orderings are not seen.

use std::collections::HashSet;
use std::hash::Hash;

/// The result of a thread's turn.
#[derive(PartialEq, Eq)]
pub enum Step {
    /// It made a step.
    Ran,
    /// It waits for another thread.
    Waits,
    /// It has ended.
    Ended,
}

/// The state of all threads and of the data that they share.
pub trait Model: Clone + Eq + Hash {
    /// Number of threads.
    fn threads(&self) -> usize;
    /// Makes one step of a thread.
    fn step(&mut self, thread: usize) -> Step;
    /// Checks an invariant after each step.
    fn holds(&self) -> Result<(), String>;
    /// Checks the final state.
    fn ended(&self) -> Result<(), String>;
}

/// Explores every order. Returns the number of states and the first error.
pub fn explore<M: Model>(start: M) -> (u64, Result<(), String>) {
    let mut seen = HashSet::from([start.clone()]);
    let mut left = vec![start];
    while let Some(state) = left.pop() {
        let (mut running, mut waiting) = (false, false);
        for thread in 0..state.threads() {
            let mut next = state.clone();
            match next.step(thread) {
                Step::Ended => continue,
                Step::Waits => waiting = true,
                Step::Ran => {
                    running = true;
                    if let Err(wrong) = next.holds() {
                        return (seen.len() as u64, Err(wrong));
                    }
                    if seen.insert(next.clone()) {
                        left.push(next);
                    }
                }
            }
        }
        if !running {
            let end = if waiting { Err("all threads wait".into()) } else { state.ended() };
            if end.is_err() {
                return (seen.len() as u64, end);
            }
        }
    }
    (seen.len() as u64, Ok(()))
}
