//! Standard output. Each line is written at once and whole; a failure is an error, not a panic.

use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

use crate::error::{Error, why};
use crate::progress;

/// Whether a bar could be where the output goes.
static TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());

/// Writes bytes to standard output.
pub fn write(bytes: &[u8]) -> Result<(), Error> {
    let put = || {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush())
    };
    let done = if *TERMINAL { progress::aside(put) } else { put() };
    done.map_err(|error| Error::io(format_args!("standard output: {}", why(&error))))
}

/// Writes a JSON object and a line feed.
pub fn json(object: &impl serde::Serialize) -> Result<(), Error> {
    let mut line = serde_json::to_vec(object).expect("strings and numbers only");
    line.push(b'\n');
    write(&line)
}
