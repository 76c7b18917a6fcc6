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

/// What a subcommand ends with; an error is one line, and exit status 2.
pub type Exit = Result<ExitCode, Box<dyn Error>>;

/// Writes a file as a whole, or leaves what was there.
pub fn write(file: &Path, text: &str) -> Result<(), String> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
    written.map_err(|error| {
        // Nothing half-written stays; it may not even be there.
        let _ = fs::remove_file(&new);
        format!("{}: {error}", file.display())
    })
}
