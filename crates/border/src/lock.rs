//! A lock without waiting: use by two threads at the same time becomes an error.

use std::sync::atomic::{AtomicUsize, Ordering};

const ALONE: usize = usize::MAX;

/// The lock of a value: one thread may change it, or several may read it. Zero bytes are an open
/// lock.
#[derive(Default)]
#[repr(transparent)]
pub struct Lock(
    /// 0: open; `ALONE`: one thread changes the value; otherwise the number of readers.
    AtomicUsize,
);

/// A lock that is held until this is dropped.
pub struct Locked<'a> {
    lock: &'a AtomicUsize,
    alone: bool,
}

impl Lock {
    /// Locks the value to read it; `None` if a thread changes it.
    #[inline]
    pub fn shared(&self) -> Option<Locked<'_>> {
        self.take(false, |now| (now < ALONE - 1).then(|| now + 1))
    }

    /// Locks the value to change it; `None` if it is locked.
    #[inline]
    pub fn alone(&self) -> Option<Locked<'_>> {
        self.take(true, |now| (now == 0).then_some(ALONE))
    }

    #[inline]
    fn take(&self, alone: bool, next: impl Fn(usize) -> Option<usize>) -> Option<Locked<'_>> {
        let Lock(lock) = self;
        let taken = lock.fetch_update(Ordering::Acquire, Ordering::Relaxed, next);
        taken.ok().map(|_| Locked { lock, alone })
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        match self.alone {
            // Nothing else writes to the lock now, and a store is cheaper.
            true => self.lock.store(0, Ordering::Release),
            false => _ = self.lock.fetch_sub(1, Ordering::Release),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_one_writes() {
        let lock = Lock::default();
        let readers = (lock.shared(), lock.shared());
        assert!(readers.0.is_some() && readers.1.is_some() && lock.alone().is_none());
        drop(readers);
        let alone = lock.alone();
        assert!(alone.is_some() && lock.shared().is_none() && lock.alone().is_none());
        drop(alone);
        assert!(lock.alone().is_some() && lock.shared().is_some());
    }
}
