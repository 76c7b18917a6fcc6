//! Standard output. Each line is written at once and whole; a failure is an error, not a panic.

use std::io::{self, Write};

use crate::error::{Error, why};

/// Writes bytes to standard output.
pub fn write(bytes: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| Error::io(format_args!("standard output: {}", why(&error))))
}

/// Writes a JSON object and a line feed.
pub fn json(object: &impl serde::Serialize) -> Result<(), Error> {
    let mut line = serde_json::to_vec(object).expect("strings and numbers only");
    line.push(b'\n');
    write(&line)
}
