//! Planted bugs that the job must find.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A planted bug.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    /// A reader of checkpoints allocates as many bytes as a length field claims.
    LengthTrusted = 1,
    /// A reader of sidecars reads a number past the end.
    TruncatedField,
    /// A writer of manifests does not escape backslashes.
    EscapeLost,
    /// A reader of lists treats a carriage return before the end of a line as part of the end.
    LineEnd,
    /// A restored stream has lost a byte, if it held a block minus one byte.
    RestoredForgets,
    /// A tree misses an edit that crosses the border of two leaves.
    EditMissed,
    /// A C stream accepts data after its tag was made.
    UpdateAfterFinal,
    /// Partials are accepted as complete if the last one is missing.
    LastMissing,
    /// A merge of ledgers loses the exceptions of one.
    ExceptionsLost,
    /// A reader of leaves verifies only the first leaf of a range.
    LeafUnverified,
    /// A reader of leaves verifies a leaf, and reads its bytes again to return them.
    ReadAgain,
    /// The best level loses the last byte of messages of 70 to 99 bytes.
    TailLost,
}

/// The planted bugs, each with its name and the target that must find it.
pub const PLANTS: [(Plant, &str, &str); 12] = [
    (Plant::LengthTrusted, "length-trusted", "checkpoints"),
    (Plant::TruncatedField, "truncated-field", "sidecars"),
    (Plant::EscapeLost, "escape-lost", "names"),
    (Plant::LineEnd, "line-end", "lists"),
    (Plant::RestoredForgets, "restored-forgets", "streams"),
    (Plant::EditMissed, "edit-missed", "edits"),
    (Plant::UpdateAfterFinal, "update-after-final", "calls"),
    (Plant::LastMissing, "last-missing", "whole"),
    (Plant::ExceptionsLost, "exceptions-lost", "ledgers"),
    (Plant::LeafUnverified, "leaf-unverified", "leaves"),
    (Plant::ReadAgain, "read-again", "leaves"),
    (Plant::TailLost, "tail-lost", "kernels"),
];

static PLANTED: AtomicUsize = AtomicUsize::new(0);

impl Plant {
    /// Plants it for the rest of the process.
    pub fn set(self) {
        PLANTED.store(self as usize, Ordering::Relaxed);
    }

    /// Returns whether it is planted.
    pub fn is_set(self) -> bool {
        PLANTED.load(Ordering::Relaxed) == self as usize
    }
}
