//! Ranges that are fetched concurrently and taken in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use crate::failure::Failure;

type Fetched = Result<Vec<u8>, Failure>;

/// A queue of ranges. At most `window` of them are in memory.
pub struct Queue {
    count: u64,
    window: u64,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// The index of the next range to fetch.
    fetch: u64,
    /// The index of the next range to take.
    take: u64,
    there: BTreeMap<u64, Fetched>,
    over: bool,
}

impl Queue {
    /// A queue of `count` ranges, with at most `window` fetched ahead.
    pub fn new(count: u64, window: u64) -> Queue {
        Queue { count, window, state: Mutex::default(), moved: Condvar::new() }
    }

    /// Returns the next range to fetch, once there is room for it; `None` after the last one.
    pub fn next(&self) -> Option<u64> {
        let state = self.state.lock().expect("no thread panics");
        let full = |state: &mut State| {
            !state.over && state.fetch < self.count && state.fetch >= state.take + self.window
        };
        let mut state = self.moved.wait_while(state, full).expect("no thread panics");
        if state.over || state.fetch >= self.count {
            return None;
        }
        state.fetch += 1;
        Some(state.fetch - 1)
    }

    /// Adds a range, or the failure to fetch it.
    pub fn put(&self, index: u64, fetched: Fetched) {
        self.state.lock().expect("no thread panics").there.insert(index, fetched);
        self.moved.notify_all();
    }

    /// Waits for the next range in order and returns it. Fails after the last range, and after an
    /// earlier failure.
    pub fn take(&self) -> Fetched {
        let state = self.state.lock().expect("no thread panics");
        let waits = |state: &mut State| {
            !state.over && state.take < self.count && !state.there.contains_key(&state.take)
        };
        let mut state = self.moved.wait_while(state, waits).expect("no thread panics");
        let index = state.take;
        let ended = || Err(Failure::Final("internal error: a range is missing".into()));
        let fetched = state.there.remove(&index).unwrap_or_else(ended);
        state.take += 1;
        state.over |= fetched.is_err();
        drop(state);
        self.moved.notify_all();
        fetched
    }

    /// Returns a guard that ends the queue if the thread panics.
    pub fn closed_on_panic(&self) -> ClosedOnPanic<'_> {
        ClosedOnPanic(self)
    }
}

/// The guard of [`Queue::closed_on_panic`].
pub struct ClosedOnPanic<'a>(&'a Queue);

impl Drop for ClosedOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let Queue { state, moved, .. } = self.0;
            state.lock().unwrap_or_else(PoisonError::into_inner).over = true;
            moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_in_any_order_is_taken_in_order() {
        let queue = Queue::new(100, 4);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(index) = queue.next() {
                        queue.put(index, Ok(vec![index as u8]));
                    }
                });
            }
            for index in 0..100 {
                assert_eq!(queue.take(), Ok(vec![index]));
                assert!(queue.state.lock().unwrap().there.len() <= 4);
            }
            assert!(queue.take().is_err());
        });
    }

    #[test]
    fn nothing_is_fetched_after_a_failure() {
        let queue = Queue::new(100, 4);
        assert_eq!(queue.next(), Some(0));
        queue.put(0, Err(Failure::Missing));
        assert_eq!(queue.take(), Err(Failure::Missing));
        assert!(queue.take().is_err() && queue.next().is_none());
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let queue = Queue::new(100, 4);
        let ended = thread::scope(|scope| {
            let fill = || {
                let _closed = queue.closed_on_panic();
                let index = queue.next().unwrap();
                assert_ne!(index, 0, "the intended panic");
            };
            let thread = scope.spawn(fill);
            (queue.take(), queue.next(), thread.join().is_err())
        });
        assert!(matches!(ended, (Err(Failure::Final(_)), None, true)));
    }
}
