//! Where keys come from, and in which formats: for the command's options and for Python's
//! `Key.from_file`, `from_env` and `from_command`. A key is wiped after use and is in no message.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

use base64ct::Encoding as _;
use tagmac::dynamic::{Algorithm, KeyFile};
use zeroize::Zeroizing;

use crate::error::io_reason;
use crate::key_file::{self, Terms};

/// What the source of a key gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A key file of `tagmac keygen`, nothing else.
    Auto,
    /// The bytes.
    Raw,
    /// The bytes in hex.
    Hex,
    /// The bytes in base64, with padding.
    Base64,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Auto, Format::Raw, Format::Hex, Format::Base64];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Raw => "raw",
            Format::Hex => "hex",
            Format::Base64 => "base64",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Why there is no key.
#[derive(Debug)]
pub enum KeySourceError {
    /// The system failed.
    Io(io::Error),
    /// What is there is refused.
    Refused(String),
}

impl fmt::Display for KeySourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySourceError::Io(error) => f.write_str(&io_reason(error)),
            KeySourceError::Refused(what) => f.write_str(what),
        }
    }
}

impl From<io::Error> for KeySourceError {
    fn from(error: io::Error) -> KeySourceError {
        KeySourceError::Io(error)
    }
}

fn refused(what: impl fmt::Display) -> KeySourceError {
    KeySourceError::Refused(what.to_string())
}

/// What a source gave.
pub struct KeyText {
    bytes: Zeroizing<Vec<u8>>,
    /// It is all that is in a file, whose last line has a line feed or was cut.
    from_file: bool,
}

impl KeyText {
    /// What a file has that is open, unless somebody else could have written it.
    pub fn from_file(
        path: &Path,
        file: &File,
        facts: &Metadata,
        terms: Terms,
    ) -> Result<KeyText, KeySourceError> {
        key_file::check_owner(path, facts, terms.anyway).map_err(KeySourceError::Refused)?;
        Ok(KeyText { from_file: true, ..KeyText::from_input(file)? })
    }

    /// The value of a variable of the environment.
    pub fn from_env(name: &OsStr) -> Result<KeyText, KeySourceError> {
        // Such a name would be a panic, or another variable's.
        let bytes = name.as_encoded_bytes();
        if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
            return Err(refused("expected a name without '=', found another"));
        }
        match std::env::var_os(name) {
            Some(value) => limited(Zeroizing::new(value.into_vec())),
            None => Err(refused("expected a variable that is set, found none")),
        }
    }

    /// What a command writes, which has no standard input. `spawn` starts it.
    pub fn from_command(
        command: &mut Command,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> Result<KeyText, KeySourceError> {
        let mut child = spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let text = child.stdout.take().map_or(limited(Zeroizing::default()), KeyText::from_input);
        // The pipe is closed by now, so a command that writes on and on ends too.
        let (status, text) = (child.wait()?, text?);
        if !status.success() {
            return Err(refused(format_args!("expected the command to succeed, found {status}")));
        }
        Ok(text)
    }

    /// What is read to the end.
    pub fn from_input(input: impl Read) -> Result<KeyText, KeySourceError> {
        limited(key_file::read(input)?)
    }

    /// The key, which is one for `asked` if that is given. Foreign formats do not name the algorithm.
    pub fn key_file(
        self,
        format: Format,
        asked: Option<Algorithm>,
        terms: Terms,
    ) -> Result<KeyFile, String> {
        let KeyText { mut bytes, from_file } = self;
        if format == Format::Auto && !from_file {
            end_line(&mut bytes);
        }
        match (format, asked) {
            (Format::Auto, asked) => key_file::parse(&bytes, asked, terms),
            (_, Some(asked)) => {
                let key = KeyFile::new(asked, &foreign(&bytes, format)?, SystemTime::now());
                key.map_err(|wrong| wrong.to_string())
            }
            (_, None) => {
                let Terms { algorithm, format, .. } = terms;
                Err(format!("{format}: expected {algorithm} with the key's algorithm, found none"))
            }
        }
    }
}

fn limited(bytes: Zeroizing<Vec<u8>>) -> Result<KeyText, KeySourceError> {
    if bytes.len() > KeyFile::MAX_BYTES {
        return Err(refused("expected at most 64 KiB, found more"));
    }
    Ok(KeyText { bytes, from_file: false })
}

/// Gives back the last line feed, which a shell's `$(...)` takes and much that keeps secrets too.
/// The line that it ends has its full length otherwise, so nothing else can be missing.
fn end_line(text: &mut Zeroizing<Vec<u8>>) {
    if text.is_empty() || text.ends_with(b"\n") {
        return;
    }
    // A vector that grows would leave a copy of the key behind.
    let mut ended = Zeroizing::new(Vec::with_capacity(text.len() + 1));
    ended.extend_from_slice(text);
    ended.push(b'\n');
    *text = ended;
}

/// A key that another program made.
fn foreign(text: &[u8], format: Format) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // What was decoded is wiped even where the rest cannot be.
    let mut key = Zeroizing::new(text.to_vec());
    let bytes = match format {
        Format::Hex => base16ct::mixed::decode(line, &mut key)
            .map_err(|_| "expected an even number of hex digits, found something else")?,
        Format::Base64 => base64ct::Base64::decode(line, &mut key)
            .map_err(|_| "expected one line of base64 with padding, found something else")?,
        Format::Raw | Format::Auto => text,
    };
    let length = bytes.len();
    key.truncate(length);
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms { algorithm: "A", format: "F", anyway: "X" };

    #[test]
    fn one_trailing_newline_is_lost() {
        for text in [b"00ff".as_slice(), b"00FF\n", b"00ff\r\n"] {
            assert_eq!(**foreign(text, Format::Hex).unwrap(), [0, 0xff]);
        }
        for text in [b"AP8=".as_slice(), b"AP8=\n"] {
            assert_eq!(**foreign(text, Format::Base64).unwrap(), [0, 0xff]);
        }
        assert!(foreign(b"00ff\n\n", Format::Hex).is_err());
        assert!(foreign(b"00f", Format::Hex).is_err());
        assert!(foreign(b"AP8", Format::Base64).is_err());
        assert_eq!(**foreign(b"00ff\n", Format::Raw).unwrap(), *b"00ff\n");
    }

    #[test]
    fn commands_and_variables() {
        let ran = |line: &str| {
            let mut shell = Command::new("sh");
            let text = KeyText::from_command(shell.args(["-c", line]), Command::spawn);
            let key = text.map_err(|error| error.to_string())?;
            let key = key.key_file(Format::Hex, Some(Algorithm::default()), TERMS)?;
            Ok::<_, String>(key.key().to_vec())
        };
        assert_eq!(ran("printf %032d 7").unwrap(), 7u128.to_be_bytes());
        assert!(ran("printf %032d 7; exit 3").unwrap_err().starts_with("expected the command to"));
        assert_eq!(ran("yes").unwrap_err(), "expected at most 64 KiB, found more");
        assert!(ran("cat").unwrap_err().starts_with("expected a key of 16 bytes, found 0"));
        for name in ["", "A=B", "A\0", "TAGMAC_NO_SUCH_VARIABLE"] {
            assert!(KeyText::from_env(OsStr::new(name)).is_err());
        }
    }
}
