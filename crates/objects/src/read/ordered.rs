//! Ranges that are fetched side by side and taken in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use crate::failure::Failure;

type Fetched = Result<Vec<u8>, Failure>;

/// Ranges on their way. No more than a window of them is in memory.
pub struct Queue {
    count: u64,
    window: u64,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// The next to fetch, and the next to take.
    fetch: u64,
    take: u64,
    there: BTreeMap<u64, Fetched>,
    over: bool,
}

impl Queue {
    /// `count` ranges, of which `window` may be ahead.
    pub fn new(count: u64, window: u64) -> Queue {
        Queue { count, window, state: Mutex::default(), moved: Condvar::new() }
    }

    /// The next range to fetch, once there is room for it; none when there are no more.
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

    /// A range that was fetched, or why it was not.
    pub fn put(&self, index: u64, fetched: Fetched) {
        self.state.lock().expect("no thread panics").there.insert(index, fetched);
        self.moved.notify_all();
    }

    /// The next range in order, as soon as it is there; a failure after the last one, or after another
    /// failure.
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

    /// Ends the queue if the thread panics while it has this.
    pub fn closed_on_panic(&self) -> ClosedOnPanic<'_> {
        ClosedOnPanic(self)
    }
}

/// See [`Queue::closed_on_panic`].
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
                assert_ne!(index, 0, "a panic that this test is about");
            };
            let thread = scope.spawn(fill);
            (queue.take(), queue.next(), thread.join().is_err())
        });
        assert!(matches!(ended, (Err(Failure::Final(_)), None, true)));
    }
}
