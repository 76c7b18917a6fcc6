//! Tables of a key that pay for themselves from the second long message on.

use core::sync::atomic::{AtomicUsize, Ordering};

use once_cell::race::OnceBox;

/// Tables that a key makes when messages need them. The first message does without: a key is often
/// made for one message, and an allocation and the tables would cost more than the message.
///
/// On the heap, so that a key for short messages is small. Not in a `OnceLock`, which keeps old
/// stack contents until it is filled.
#[derive(Clone)]
pub(crate) struct Tables<T> {
    made: OnceBox<T>,
    asked: Asked,
}

/// 1 once a message needed the tables. Two threads may both see that none did; then both do without.
///
/// As long as a pointer: a shorter one would be followed by padding, into which a move of the key
/// could copy secrets from the stack.
struct Asked(AtomicUsize);

impl Clone for Asked {
    fn clone(&self) -> Self {
        Asked(AtomicUsize::new(self.0.load(Ordering::Relaxed)))
    }
}

impl<T> Tables<T> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Tables { made: OnceBox::new(), asked: Asked(AtomicUsize::new(0)) }
    }

    /// Returns the tables if they were made.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&T> {
        self.made.get()
    }

    /// Returns whether this is the first message that needs the tables.
    #[inline(always)]
    pub(crate) fn is_first_use(&self) -> bool {
        let first = self.asked.0.load(Ordering::Relaxed) == 0;
        self.asked.0.store(1, Ordering::Relaxed);
        first
    }

    /// Returns the tables, made by `make` if nobody made them yet.
    #[inline(always)]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Box<T>) -> &T {
        self.made.get_or_init(make)
    }
}
