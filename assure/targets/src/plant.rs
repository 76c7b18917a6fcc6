//! Planted bugs: mistakes that the job has to find.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A planted bug.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    /// A reader of checkpoints takes memory for as many bytes as a length says.
    LengthTrusted = 1,
    /// A reader of sidecars reads a number beyond the end.
    TruncatedField,
    /// A writer of manifests leaves backslashes as they are.
    EscapeLost,
    /// A reader of lists takes a carriage return before the end of a line for part of it.
    LineEnd,
    /// A stream that was restored has lost a byte, if it held a whole block but one.
    RestoredForgets,
    /// A tree misses an edit that goes from one leaf to the next.
    EditMissed,
    /// A C caller's stream takes data after its tag was made.
    UpdateAfterFinal,
    /// Partials of a whole are taken if the last one is missing.
    LastMissing,
    /// The best level loses the last byte of messages of 70 to 99 bytes.
    TailLost,
}

/// Each with its name, and the target that has to find it.
pub const PLANTS: [(Plant, &str, &str); 9] = [
    (Plant::LengthTrusted, "length-trusted", "checkpoints"),
    (Plant::TruncatedField, "truncated-field", "sidecars"),
    (Plant::EscapeLost, "escape-lost", "names"),
    (Plant::LineEnd, "line-end", "lists"),
    (Plant::RestoredForgets, "restored-forgets", "streams"),
    (Plant::EditMissed, "edit-missed", "edits"),
    (Plant::UpdateAfterFinal, "update-after-final", "calls"),
    (Plant::LastMissing, "last-missing", "whole"),
    (Plant::TailLost, "tail-lost", "kernels"),
];

static PLANTED: AtomicUsize = AtomicUsize::new(0);

impl Plant {
    /// Plants it, for as long as the process lives.
    pub fn set(self) {
        PLANTED.store(self as usize, Ordering::Relaxed);
    }

    /// Whether it is planted.
    pub fn is_set(self) -> bool {
        PLANTED.load(Ordering::Relaxed) == self as usize
    }
}
