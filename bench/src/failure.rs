//! What ends a run.

use std::error::Error;

/// What can go wrong: a wrong tag above all.
pub type Failure = Box<dyn Error>;
