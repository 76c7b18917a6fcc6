//! The subcommands, one file each.

pub mod attack;
pub mod list;
pub mod tag;

use std::error::Error;
use std::process::ExitCode;

/// What a subcommand ends with; an error is one line, and exit status 2.
pub type Exit = Result<ExitCode, Box<dyn Error>>;
