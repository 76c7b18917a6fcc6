//! A model checker: threads as steps on a shared state, in every order. Memory is sequentially consistent
//! here: what weaker orders allow is not seen.

use std::collections::HashSet;
use std::hash::Hash;

/// What a thread does when it is its turn.
#[derive(PartialEq, Eq)]
pub enum Step {
    /// It did a step.
    Ran,
    /// It waits for another one.
    Waits,
    /// It has ended.
    Ended,
}

/// A state of all threads and of what they share.
pub trait Model: Clone + Eq + Hash {
    /// How many threads there are.
    fn threads(&self) -> usize;
    /// One step of a thread.
    fn step(&mut self, thread: usize) -> Step;
    /// What must hold after each step.
    fn holds(&self) -> Result<(), String>;
    /// What must hold when all have ended.
    fn ended(&self) -> Result<(), String>;
}

/// Tries every order. Gives how many states there are, and what is wrong in the first that is.
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
