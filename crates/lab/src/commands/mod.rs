//! The subcommands, one file each.

pub mod attack;
pub mod figure;
pub mod list;
pub mod report;
mod speeds;
pub mod table;
pub mod tag;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The result of a subcommand. An error is one line, and exit status 2.
pub type Exit = Result<ExitCode, Box<dyn Error>>;

/// Replaces a file atomically.
pub fn write(file: &Path, text: &str) -> Result<(), String> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
    written.map_err(|error| {
        // Remove a half-written file, if there is one.
        let _ = fs::remove_file(&new);
        format!("{}: {error}", file.display())
    })
}
