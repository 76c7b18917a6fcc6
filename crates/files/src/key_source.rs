//! Sources and formats of keys, for the command's options and for Python's `Key.from_file`,
//! `from_env` and `from_command`. Keys are wiped after use and appear in no message.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::SystemTime;

use base64ct::Encoding as _;
use tagmac_any::{Algorithm, KeyFile};
use zeroize::Zeroizing;

use crate::byte_order::ByteOrder;
use crate::error_kind::io_reason;
use crate::key_access::{AccessError, check_owner};
pub use crate::key_file::Format;
use crate::key_file::{self, KeyError};
use crate::read_error::ReadError;
use crate::sys::Metadata;
use crate::sys::OsStringExt;

/// The reason why a source gave no key.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeySourceError {
    /// A system call failed.
    Io(io::Error),
    /// The file cannot be opened.
    Closed(ReadError),
    /// Another user could have written the file.
    Access(AccessError),
    /// The name is not valid for an environment variable.
    VariableName,
    /// The environment variable is not set.
    VariableUnset,
    /// The command failed.
    Command(ExitStatus),
    /// The source has more bytes than a key file can have.
    TooLong,
}

impl fmt::Display for KeySourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySourceError::Io(error) => f.write_str(&io_reason(error)),
            KeySourceError::Closed(error) => error.fmt(f),
            KeySourceError::Access(error) => error.fmt(f),
            KeySourceError::VariableName => {
                f.write_str("the variable's name is empty or contains '=' or a zero byte")
            }
            KeySourceError::VariableUnset => f.write_str("the variable is not set"),
            KeySourceError::Command(status) => write!(f, "the command failed: {status}"),
            KeySourceError::TooLong => f.write_str("longer than 64 KiB"),
        }
    }
}

impl std::error::Error for KeySourceError {}

impl From<io::Error> for KeySourceError {
    fn from(error: io::Error) -> KeySourceError {
        KeySourceError::Io(error)
    }
}

/// The text from a source.
pub struct KeyText {
    bytes: Zeroizing<Vec<u8>>,
    /// True if the text is a whole file. Its last line ends in a line feed unless the file was cut
    /// off.
    from_file: bool,
}

impl KeyText {
    /// Reads an open file, unless another user could have written it.
    pub fn from_file(
        path: &Path,
        file: &File,
        facts: &Metadata,
    ) -> Result<KeyText, KeySourceError> {
        check_owner(path, facts).map_err(KeySourceError::Access)?;
        Ok(KeyText { from_file: true, ..KeyText::from_input(file)? })
    }

    /// Reads an environment variable.
    pub fn from_env(name: &OsStr) -> Result<KeyText, KeySourceError> {
        // Such a name would panic or denote another variable.
        let bytes = name.as_encoded_bytes();
        if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
            return Err(KeySourceError::VariableName);
        }
        match std::env::var_os(name) {
            Some(value) => limited(Zeroizing::new(value.into_vec())),
            None => Err(KeySourceError::VariableUnset),
        }
    }

    /// Reads the output of a command, which runs without standard input. `spawn` starts it.
    pub fn from_command(
        command: &mut Command,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> Result<KeyText, KeySourceError> {
        let mut child = spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let text = child.stdout.take().map_or(limited(Zeroizing::default()), KeyText::from_input);
        // The pipe is closed here, so a command that never stops writing ends too.
        let (status, text) = (child.wait()?, text?);
        if !status.success() {
            return Err(KeySourceError::Command(status));
        }
        Ok(text)
    }

    /// Reads an input to its end.
    pub fn from_input(input: impl Read) -> Result<KeyText, KeySourceError> {
        limited(key_file::read(input)?)
    }

    /// Returns a warning if a key of this format is valid but suspicious. Its last byte may be a
    /// line feed, but at the end of a text that most likely comes from an editor or `echo`.
    pub fn warning(&self, format: Format) -> Option<&'static str> {
        // Examines every byte in any case, so that the time does not depend on their values.
        let printed = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n');
        let is_text = self.bytes.iter().fold(true, |text, &byte| text & printed(byte));
        (format == Format::Raw && is_text && self.bytes.ends_with(b"\n")).then_some(
            "the key is a text and its newline is part of the key; \
             if that is not meant, write it with 'printf %s'",
        )
    }

    /// Decodes the key. If `asked` is given, the key must be for that algorithm. Foreign formats do
    /// not name an algorithm and need it.
    pub fn key_file(self, format: Format, asked: Option<Algorithm>) -> Result<KeyFile, KeyError> {
        let KeyText { mut bytes, from_file } = self;
        if format == Format::Auto && !from_file {
            end_line(&mut bytes);
        }
        match (format, asked) {
            (Format::Auto, asked) => key_file::parse(&bytes, asked),
            (_, Some(asked)) => {
                let key = KeyFile::new(asked, &foreign(&bytes, format)?, SystemTime::now());
                key.map_err(KeyError::Length)
            }
            (_, None) => Err(KeyError::NoAlgorithm),
        }
    }
}

fn limited(bytes: Zeroizing<Vec<u8>>) -> Result<KeyText, KeySourceError> {
    if bytes.len() > KeyFile::MAX_BYTES {
        return Err(KeySourceError::TooLong);
    }
    Ok(KeyText { bytes, from_file: false })
}

/// Restores the last line feed, which a shell's `$(...)` and many secret stores remove. Parsing
/// checks that the last line has its full length, so nothing else can be missing.
fn end_line(text: &mut Zeroizing<Vec<u8>>) {
    if text.is_empty() || text.ends_with(b"\n") {
        return;
    }
    // A growing vector would leave a copy of the key in memory.
    let mut ended = Zeroizing::new(Vec::with_capacity(text.len() + 1));
    ended.extend_from_slice(text);
    ended.push(b'\n');
    *text = ended;
}

/// Joins the lines of a wrapped key and drops the line feed at the end. Tools wrap long keys into
/// lines of equal length, 64 or 76 digits in base64 and 60 in hex; only the last may be shorter.
/// Returns `None` for a blank line or one longer than the first, as the text is then not a single
/// key.
fn unwrapped(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    // A growing vector would leave a copy of the key in memory.
    let mut all = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut lines = text.split(|&byte| byte == b'\n').peekable();
    let mut width = None;
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        let line = if is_last { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
        let first = *width.get_or_insert(line.len());
        let fits = if is_last { line.len() <= first } else { line.len() == first };
        let is_only = is_last && all.is_empty();
        if !fits || line.is_empty() && !is_only {
            return None;
        }
        all.extend_from_slice(line);
    }
    Some(all)
}

/// Decodes a key that another program made.
fn foreign(text: &[u8], format: Format) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if matches!(format, Format::Raw | Format::Auto) {
        return Ok(Zeroizing::new(text.to_vec()));
    }
    if let Some(mark) = ByteOrder::of(text) {
        return Err(KeyError::EncodedMark { format, mark });
    }
    let line = unwrapped(text).ok_or(KeyError::Lines)?;
    // Wipes the decoded bytes even if the rest is invalid.
    let mut key = Zeroizing::new(line.to_vec());
    let bytes = match format {
        Format::Hex => base16ct::mixed::decode(&*line, &mut key).map_err(|_| KeyError::Hex)?,
        _ => base64ct::Base64::decode(&*line, &mut key).map_err(|_| KeyError::Base64)?,
    };
    let length = bytes.len();
    key.truncate(length);
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trailing_newline_is_lost() {
        for text in [b"00ff".as_slice(), b"00FF\n", b"00ff\r\n"] {
            assert_eq!(**foreign(text, Format::Hex).unwrap(), [0, 0xff]);
        }
        for text in [b"AP8=".as_slice(), b"AP8=\n"] {
            assert_eq!(**foreign(text, Format::Base64).unwrap(), [0, 0xff]);
        }
        for text in
            [&b"00ff\n\n"[..], b"\n00ff", b"\n\n", b"00\n\nff", b"00\nff00", b"00\nff\n\r\n"]
        {
            assert!(foreign(text, Format::Hex).is_err(), "{}", text.escape_ascii());
        }
        assert!(foreign(b"00f", Format::Hex).is_err());
        assert!(foreign(b"AP8", Format::Base64).is_err());
        assert_eq!(**foreign(b"00ff\n", Format::Raw).unwrap(), *b"00ff\n");
    }

    #[test]
    fn wrapped_keys_are_one_key() {
        let key: Vec<u8> = (0..100).collect();
        let hex = base16ct::lower::encode_string(&key);
        let base64 = base64ct::Base64::encode_string(&key);
        for (text, format) in [(hex, Format::Hex), (base64, Format::Base64)] {
            for width in [4, 60, 64, 76, 100, 200] {
                for end in ["\n", "\r\n"] {
                    let lines: Vec<_> = text
                        .as_bytes()
                        .chunks(width)
                        .map(|line| [line, end.as_bytes()].concat())
                        .collect();
                    let all = lines.concat();
                    assert_eq!(**foreign(&all, format).unwrap(), key, "{width}");
                    assert_eq!(**foreign(all.trim_ascii_end(), format).unwrap(), key, "{width}");
                }
            }
        }
    }

    #[test]
    fn a_mark_before_a_key_is_named() {
        for format in [Format::Hex, Format::Base64] {
            let found = foreign(b"\xef\xbb\xbf00ff", format).unwrap_err().to_string();
            assert!(found.contains("found a byte order mark (BOM)"), "{found}");
        }
        assert_eq!(**foreign(b"\xef\xbb\xbf0", Format::Raw).unwrap(), *b"\xef\xbb\xbf0");
    }

    #[test]
    fn a_newline_after_a_text_is_remarked_on() {
        for (text, format, warned) in [
            (&b"password\n"[..], Format::Raw, true),
            (b"pass\tword\r\n", Format::Raw, true),
            (b"\n", Format::Raw, true),
            (b"password", Format::Raw, false),
            (b"pass\x00word\n", Format::Raw, false),
            (b"pass\x7f\n", Format::Raw, false),
            (b"\xffpassword\n", Format::Raw, false),
            (b"00ff\n", Format::Hex, false),
            (b"AP8=\n", Format::Base64, false),
            (b"", Format::Raw, false),
        ] {
            let text = KeyText::from_input(text).unwrap();
            assert_eq!(text.warning(format).is_some(), warned, "{format:?}");
        }
    }

    #[test]
    fn commands_and_variables() {
        let ran = |line: &str| {
            let mut shell = Command::new("sh");
            let text = KeyText::from_command(shell.args(["-c", line]), Command::spawn);
            let key = text.map_err(|error| error.to_string())?;
            let key = key.key_file(Format::Hex, Some(Algorithm::default()));
            key.map(|key| key.key().to_vec()).map_err(|error| error.to_string())
        };
        assert_eq!(ran("printf %032d 7").unwrap(), 7u128.to_be_bytes());
        assert!(
            ran("printf %032d 7; exit 3")
                .unwrap_err()
                .starts_with("the command failed: exit status: 3")
        );
        assert_eq!(ran("yes").unwrap_err(), "longer than 64 KiB");
        assert!(ran("cat").unwrap_err().starts_with("expected a key of 16 bytes, found 0"));
        for name in ["", "A=B", "A\0", "TAGMAC_NO_SUCH_VARIABLE"] {
            assert!(KeyText::from_env(OsStr::new(name)).is_err());
        }
    }
}
