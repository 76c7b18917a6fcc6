//! What a meter refuses.

use core::fmt;

use tagmac::Error;

/// A call that a meter refuses, or usage that it cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeterError {
    /// A key has no budget left for what is asked of it.
    BudgetExhausted {
        /// What is counted.
        count: &'static str,
        /// The most of them.
        budget: u64,
        /// Those there were.
        used: u64,
        /// Those asked for now.
        asked: u64,
    },
    /// Saved usage has the wrong number of bytes.
    UsageBytes {
        /// The bytes that it has.
        expected: usize,
        /// The bytes given.
        found: usize,
    },
    /// Saved usage does not begin with the magic bytes of this version.
    UsageMagic,
    /// Saved usage has fewer blocks than messages.
    UsageBlocks {
        /// The messages given.
        messages: u64,
        /// The blocks given.
        blocks: u64,
    },
    /// What the MAC refuses.
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
                "expected at most {budget} {count} under this key, found {used} and {asked} more: take a new key"
            ),
            MeterError::UsageBytes { expected, found } => {
                write!(f, "expected {expected} bytes of saved usage, found {found}")
            }
            MeterError::UsageMagic => f.write_str(
                "expected saved usage that begins with 'tagmacU3', found something else",
            ),
            MeterError::UsageBlocks { messages, blocks } => write!(
                f,
                "expected a block or more for each of {messages} messages, found {blocks}"
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
