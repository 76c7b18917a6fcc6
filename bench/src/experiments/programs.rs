//! Shared by the experiments that run programs in other languages.

use std::process::{Command, ExitStatus};

use crate::failure::Failure;
use crate::record::{Point, Series};

pub const REPO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A series with its first point.
pub fn series(name: &str, library: &str, case: &str, point: Point) -> Series {
    Series {
        name: name.into(),
        library: library.into(),
        level: None,
        case: Some(case.into()),
        ceiling: None,
        function: String::new(),
        call: String::new(),
        points: vec![point],
    }
}

/// Runs a program to its end.
pub fn succeed(command: &mut Command) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    ended(&name, command.status().map_err(|error| format!("{name}: {error}"))?)
}

/// Fails if a program did.
pub fn ended(name: &str, status: ExitStatus) -> Result<(), Failure> {
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}").into()) }
}
