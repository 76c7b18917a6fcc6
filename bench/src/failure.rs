//! The error of a run.

use std::error::Error;

/// Any error; the most important is a wrong tag.
pub type Failure = Box<dyn Error>;
