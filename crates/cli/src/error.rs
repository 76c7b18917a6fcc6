//! What ends the command early: one line on standard error and an exit code.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use crate::progress::aside;

/// Exit codes other than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A tag does not match, a file is missing, a line is malformed, or nothing was verified.
    Mismatch = 1,
    /// The command line asks for what there is not.
    Usage = 2,
    /// The key cannot be used.
    Key = 3,
    /// Input or output failed, so there is no verdict.
    Io = 4,
}

/// Why the command ends.
#[derive(Debug)]
pub struct Error {
    exit: Exit,
    message: String,
}

impl Error {
    /// What is there is not what was vouched for.
    pub fn mismatch(message: impl fmt::Display) -> Error {
        Error { exit: Exit::Mismatch, message: message.to_string() }
    }

    /// The command line asks for what there is not.
    pub fn usage(message: impl fmt::Display) -> Error {
        Error { exit: Exit::Usage, message: message.to_string() }
    }

    /// The key cannot be used.
    pub fn key(message: impl fmt::Display) -> Error {
        Error { exit: Exit::Key, message: message.to_string() }
    }

    /// Input or output failed.
    pub fn io(message: impl fmt::Display) -> Error {
        Error { exit: Exit::Io, message: message.to_string() }
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Writes `tagmac: MESSAGE` to standard error. If that fails there is nowhere left to say so.
pub fn say(message: impl fmt::Display) {
    let line = format!("tagmac: {message}\n");
    let _ = aside(|| io::stderr().write_all(line.as_bytes()));
}

/// What the system says, without its number.
pub fn why(error: &io::Error) -> String {
    // A temporary file's error ends with the name that the file was to have.
    let text = error.to_string();
    let end = text.find(" (os error ").unwrap_or(text.len());
    text[..end].into()
}

/// A name for a line of text: no line break, no control character, no byte lost.
pub struct Shown<'a>(&'a [u8]);

impl<'a> Shown<'a> {
    /// A file's name.
    pub fn name(name: &'a (impl AsRef<OsStr> + ?Sized)) -> Shown<'a> {
        Shown(name.as_ref().as_bytes())
    }

    /// Any bytes.
    pub fn bytes(bytes: &'a [u8]) -> Shown<'a> {
        Shown(bytes)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c == '\\' || is_unseen(c) {
                    write!(f, "{}", c.escape_default())?;
                } else {
                    write!(f, "{c}")?;
                }
            }
            write!(f, "{}", chunk.invalid().escape_ascii())?;
        }
        Ok(())
    }
}

/// Whether the character does something to a line instead of standing in it: controls, line and
/// paragraph ends, marks that turn the direction of writing, the mark of byte order.
fn is_unseen(c: char) -> bool {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{feff}'].contains(&c)
        || ('\u{2028}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c);
    c.is_control() || turns
}

#[cfg(test)]
mod tests {
    use super::Shown;

    #[test]
    fn a_name_stays_on_its_line() {
        let shown = Shown::bytes("a\n\u{1b}[1mb\\é\u{ff}".as_bytes()).to_string();
        assert_eq!(shown, "a\\n\\u{1b}[1mb\\\\éÿ");
        assert_eq!(Shown::bytes(b"\xff\xfe").to_string(), "\\xff\\xfe");
        let turned = Shown::bytes("\u{feff}KO\u{202e}: ".as_bytes()).to_string();
        assert_eq!(turned, "\\u{feff}KO\\u{202e}: ");
    }
}
