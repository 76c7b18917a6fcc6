//! Ranges that are fetched side by side and taken in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};

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

    /// The next range in order, as soon as it is there; none after the last one, or after a failure.
    pub fn take(&self) -> Option<Fetched> {
        let state = self.state.lock().expect("no thread panics");
        let waits = |state: &mut State| {
            !state.over && state.take < self.count && !state.there.contains_key(&state.take)
        };
        let mut state = self.moved.wait_while(state, waits).expect("no thread panics");
        let index = state.take;
        let fetched = state.there.remove(&index)?;
        state.take += 1;
        state.over = fetched.is_err();
        drop(state);
        self.moved.notify_all();
        Some(fetched)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

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
                assert_eq!(queue.take(), Some(Ok(vec![index])));
                assert!(queue.state.lock().unwrap().there.len() <= 4);
            }
            assert_eq!(queue.take(), None);
        });
    }

    #[test]
    fn nothing_is_fetched_after_a_failure() {
        let queue = Queue::new(100, 4);
        assert_eq!(queue.next(), Some(0));
        queue.put(0, Err(Failure::Missing));
        assert_eq!(queue.take(), Some(Err(Failure::Missing)));
        assert_eq!((queue.take(), queue.next()), (None, None));
    }
}
