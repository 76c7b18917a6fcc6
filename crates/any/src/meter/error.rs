//! Errors of meters.

use core::fmt;

use tagmac::Error;

/// A call that a meter refuses, or saved usage that it cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeterError {
    /// The key's budget does not suffice for the call.
    BudgetExhausted {
        /// The name of the count that is exceeded.
        count: &'static str,
        /// The budget for this count.
        budget: u64,
        /// The amount used already.
        used: u64,
        /// The amount that the call needs.
        asked: u64,
    },
    /// Saved usage has the wrong length.
    UsageBytes {
        /// The required length in bytes.
        expected: usize,
        /// The length found in bytes.
        found: usize,
    },
    /// Saved usage does not begin with the magic bytes of this version.
    UsageMagic,
    /// Saved usage has fewer blocks than messages.
    UsageBlocks {
        /// The messages found.
        messages: u64,
        /// The blocks found.
        blocks: u64,
    },
    /// The MAC's error.
    Mac(Error),
}

impl fmt::Display for MeterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            MeterError::BudgetExhausted { count, budget, used: 0, asked } => {
                write!(f, "expected at most {budget} {count} under this key, found {asked}")
            }
            MeterError::BudgetExhausted { count, budget, used, asked } => write!(
                f,
                "expected at most {budget} {count} under this key, found {used} and {asked} more: \
                 use a new key"
            ),
            MeterError::UsageBytes { expected, found } => {
                write!(f, "expected {expected} bytes of saved usage, found {found}")
            }
            MeterError::UsageMagic => {
                f.write_str("saved usage does not begin with 'tagmacU3': it is not this version's")
            }
            MeterError::UsageBlocks { messages, blocks } => write!(
                f,
                "saved usage has {messages} messages and only {blocks} blocks: it is damaged"
            ),
            MeterError::Mac(ref error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MeterError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            MeterError::Mac(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for MeterError {
    fn from(error: Error) -> MeterError {
        MeterError::Mac(error)
    }
}
