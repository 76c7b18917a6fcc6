//! Wipes the stacks of threads that work with a key.

use std::hint::black_box;

/// Maximum stack used by any MAC; see [`tagmac::wipe_stack`].
const BYTES: usize = 64 << 10;

/// Runs a thread's work with a key, and wipes the stack that it used.
pub(crate) fn wiped<R>(work: impl FnOnce() -> R) -> R {
    let made = deeper(work);
    tagmac::wipe_stack::<BYTES>();
    made
}

/// Starts the work a few words below the wiped area, whose first words may be saved registers.
#[inline(never)]
fn deeper<R>(work: impl FnOnce() -> R) -> R {
    let gap = [0u64; 16];
    black_box(&gap);
    let made = work();
    black_box(&gap);
    made
}
