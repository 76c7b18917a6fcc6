//! Standard output. Each line is written at once; a failure is an error, not a panic.

use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::line::{self, End, Line};
use tagmac_files::line_reader;

use crate::diagnostic::suspend_bar;
use crate::json;
use crate::stdio::{self, Stdout};

/// Read once, because every line depends on it.
static TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());

/// Returns whether standard output is a terminal.
pub fn is_terminal() -> bool {
    *TERMINAL
}

/// Writes bytes to standard output.
pub fn write(bytes: &[u8]) -> Result<(), Error> {
    let put = || Stdout.write_all(bytes);
    let done = if is_terminal() { suspend_bar(put) } else { put() };
    done.map_err(failed)
}

/// Reports whether anything that was written is lost, see [`stdio::settle`].
pub fn settle() -> Result<(), Error> {
    stdio::settle().map_err(failed)
}

fn failed(error: io::Error) -> Error {
    Error::io(format_args!("standard output: {}", io_reason(&error)))
}

/// Writes a JSON object and a line feed.
pub fn json(object: &impl serde::Serialize) -> Result<(), Error> {
    write(&json::line(object))
}

/// Prints a line. Rejects a line that is too long for `check`.
pub fn line(line: &Line<'_>, end: End) -> Result<(), Error> {
    let (found, most) = (line::write(line, end, false).len() - 1, line_reader::MAX_BYTES);
    if found > most {
        return Err(Error::usage(format_args!(
            "name too long: its line would have {found} bytes, and 'tagmac check' reads at most \
             {most}; use --name or --json"
        )));
    }
    write(&line::write(line, end, is_terminal()))
}

/// Prints `name: verdict`.
pub fn verdict(name: &[u8], verdict: &str) -> Result<(), Error> {
    write(&write_verdict(name, verdict, is_terminal()))
}

fn write_verdict(name: &[u8], verdict: &str, terminal: bool) -> Vec<u8> {
    let mut line = Vec::with_capacity(name.len() + verdict.len() + 4);
    let name = line::escaped(name, End::Newline, terminal, &mut line);
    line.extend_from_slice(&[&name, b": ".as_slice(), verdict.as_bytes(), b"\n"].concat());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_escaped_as_lines_are() {
        for terminal in [false, true] {
            assert_eq!(write_verdict(b"a", "OK", terminal), b"a: OK\n");
            assert_eq!(write_verdict(b"a\n\\", "OK", terminal), b"\\a\\n\\\\: OK\n");
        }
        let name = b"a: OK\x1b[8m";
        assert_eq!(write_verdict(name, "FAILED", false), b"a: OK\x1b[8m: FAILED\n");
        assert_eq!(write_verdict(name, "FAILED", true), b"\\a: OK\\u{1b}[8m: FAILED\n");
    }
}
