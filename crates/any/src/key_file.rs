//! Key files: six lines of text that hold a key, its algorithm and its id.
//!
//! ```text
//! tagmac-key-2
//! algorithm: PMAC-AES128
//! id: 8 bytes in hex
//! created: 2026-11-21T10:00:00Z
//! key: the key in hex
//! checksum: 8 bytes in hex
//! ```
//!
//! The checksum is the first 8 bytes of SHA-256 of all lines above it. It detects damage and not
//! attacks: anyone who can write the file can write another key. `docs/formats/key-file.md`
//! specifies the format byte by byte. This module only converts text, so that all bindings share
//! it; the caller reads and writes the files.

use core::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use tagmac::Error;
use tagmac::internals::with_stack_wiped;
use tagmac::save::Sealer;

use crate::key_id::KeyId;
use crate::registry::{Algorithm, UnknownAlgorithm};

/// The beginning of the first line in every version.
const MAGIC: &str = "tagmac-key-";
const VERSION: &str = "2";
const HEX: &str = "lower-case hex digits";

/// A key and its algorithm. The key is wiped on drop and hidden in `Debug`.
///
/// ```
/// use std::time::SystemTime;
/// use tagmac_any::{Algorithm, AnyMac, KeyFile};
/// let file = KeyFile::generate(Algorithm::default(), SystemTime::now())?;
/// let again = KeyFile::parse(file.to_text().as_bytes())?;
/// assert_eq!(file.id(), again.id());
/// let mac = AnyMac::new(again.algorithm(), again.key())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KeyFile {
    algorithm: Algorithm,
    created: String,
    key: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyFile({}, id {})", self.algorithm, self.id())
    }
}

/// An error in a key file. No variant contains anything that could be part of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The first line does not begin like that of a key file.
    NotAKeyFile,
    /// The key file has an unknown version.
    Version {
        /// The version.
        found: String,
    },
    /// A line is malformed.
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The required content.
        expected: &'static str,
        /// A description of the content found.
        found: &'static str,
    },
    /// The checksum does not match the lines above it.
    Checksum,
    /// The algorithm is not in the registry.
    Algorithm(UnknownAlgorithm),
    /// The algorithm has no keys of that length.
    KeyLength(Error),
    /// The id does not match the key.
    Id {
        /// The key's id.
        expected: KeyId,
        /// The id in the file.
        found: KeyId,
    },
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyFileError::NotAKeyFile => {
                write!(f, "line 1: expected '{MAGIC}{VERSION}', found something else")
            }
            KeyFileError::Version { found } => {
                write!(f, "line 1: expected '{MAGIC}{VERSION}', found version '{found}'")?;
                let old = if found == "1" {
                    ", which is no longer supported: make a new key"
                } else {
                    ""
                };
                f.write_str(old)
            }
            KeyFileError::Line { line, expected, found } => {
                write!(f, "line {line}: expected {expected}, found {found}")
            }
            KeyFileError::Checksum => {
                f.write_str("line 6: the checksum does not match: the file is damaged")
            }
            KeyFileError::Algorithm(unknown) => write!(f, "line 2: {unknown}"),
            KeyFileError::KeyLength(wrong) => write!(f, "line 5: {wrong}"),
            KeyFileError::Id { expected, found } => {
                write!(f, "line 3: expected the key's id {expected}, found {found}")
            }
        }
    }
}

impl std::error::Error for KeyFileError {}

impl KeyFile {
    /// Maximum length of a key file in bytes. A longer file cannot be one.
    pub const MAX_BYTES: usize = 64 << 10;

    /// Makes a key file for an existing key.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] if the algorithm has no keys of that length.
    pub fn new(algorithm: Algorithm, key: &[u8], created: SystemTime) -> Result<Self, Error> {
        algorithm.check_key(key.len())?;
        let key = Zeroizing::new(key.to_vec());
        Ok(KeyFile { algorithm, created: date(created), key })
    }

    /// Returns the sealer of states under this key.
    pub fn sealer(&self) -> Sealer {
        Sealer::new(self.algorithm.name(), &self.key)
    }

    /// Makes a key file with a new random key from the operating system.
    ///
    /// # Errors
    ///
    /// [`getrandom::Error`] if the operating system's random generator fails.
    pub fn generate(algorithm: Algorithm, now: SystemTime) -> Result<Self, getrandom::Error> {
        let mut key = Zeroizing::new(vec![0; algorithm.new_key_bytes()]);
        getrandom::fill(&mut key)?;
        Ok(KeyFile { algorithm, created: date(now), key })
    }

    /// The key's algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The key's public id.
    pub fn id(&self) -> KeyId {
        self.algorithm.key_id(&self.key)
    }

    /// The time when the key was made, such as `2026-11-21T10:00:00Z`.
    pub fn created(&self) -> &str {
        &self.created
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> Zeroizing<String> {
        with_stack_wiped(|| self.write())
    }

    fn write(&self) -> Zeroizing<String> {
        // Reserve the capacity at once: a growing string would leave copies of the key in freed
        // memory.
        let mut text = Zeroizing::new(String::with_capacity(256 + 2 * self.key.len()));
        let key = Zeroizing::new(hex(&self.key));
        for part in [MAGIC, VERSION, "\nalgorithm: ", self.algorithm.name(), "\nid: "] {
            text.push_str(part);
        }
        for part in [&*self.id().to_string(), "\ncreated: ", &self.created, "\nkey: ", &key, "\n"] {
            text.push_str(part);
        }
        let checksum = checksum(text.as_bytes());
        for part in ["checksum: ", &hex(&checksum), "\n"] {
            text.push_str(part);
        }
        text
    }

    /// Parses the text of a file. Accepts only what [`to_text`](KeyFile::to_text) writes.
    ///
    /// # Errors
    ///
    /// [`KeyFileError`] names the line and the reason.
    pub fn parse(text: &[u8]) -> Result<KeyFile, KeyFileError> {
        with_stack_wiped(|| KeyFile::read(text))
    }

    fn read(text: &[u8]) -> Result<KeyFile, KeyFileError> {
        let mut lines = Lines { rest: text, line: 0 };
        let version = lines.next("'tagmac-key-2'", MAGIC).map_err(|wrong| match wrong {
            // A file that ends within the first line may still be a key file.
            KeyFileError::Line { found: Lines::CUT, .. } if text.starts_with(MAGIC.as_bytes()) => {
                wrong
            }
            _ => KeyFileError::NotAKeyFile,
        })?;
        if version.ends_with('\r') {
            return Err(lines.wrong("a line that ends in a line feed alone", "a carriage return"));
        }
        if version != VERSION {
            let found = version.chars().filter(char::is_ascii_graphic).take(20).collect();
            return Err(KeyFileError::Version { found });
        }
        let name = lines.next("'algorithm: ' and a name", "algorithm: ")?;
        let id = lines.next("'id: ' and 16 hex digits", "id: ")?;
        let id = KeyId::from(lines.hex_8(id)?);
        let created = lines.next("'created: ' and a date", "created: ")?;
        if !is_date(created) {
            return Err(lines.wrong("a date such as 2026-11-21T10:00:00Z", "another text"));
        }
        let key = lines.next("'key: ' and the key in hex", "key: ")?;
        let key = lines.hex(key)?;
        let above = &text[..text.len() - lines.rest.len()];
        let found = lines.next("'checksum: ' and 16 hex digits", "checksum: ")?;
        let found = lines.hex_8(found)?;
        if !lines.rest.is_empty() {
            lines.line += 1;
            return Err(lines.wrong("the end of the file", "more text"));
        }
        if found != checksum(above) {
            return Err(KeyFileError::Checksum);
        }
        lines.line = 2;
        // The message about an unknown name quotes it, so check it first.
        if name.len() > 64 || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(lines.wrong("a name of letters, digits and dashes", "another text"));
        }
        let algorithm = Algorithm::from_name(name).map_err(KeyFileError::Algorithm)?;
        if algorithm.name() != name {
            return Err(lines.wrong("the name in full and in capitals", "another form of it"));
        }
        algorithm.check_key(key.len()).map_err(KeyFileError::KeyLength)?;
        let expected = algorithm.key_id(&key);
        if id != expected {
            return Err(KeyFileError::Id { expected, found: id });
        }
        Ok(KeyFile { algorithm, created: created.into(), key })
    }
}

/// The unread lines of a file.
struct Lines<'a> {
    rest: &'a [u8],
    /// The number of the last line read, from 1.
    line: usize,
}

impl<'a> Lines<'a> {
    const CUT: &'static str = "the end of the file";

    fn wrong(&self, expected: &'static str, found: &'static str) -> KeyFileError {
        KeyFileError::Line { line: self.line, expected, found }
    }

    /// Reads the next line, which must begin with `start`, and returns the rest of it.
    fn next(&mut self, expected: &'static str, start: &str) -> Result<&'a str, KeyFileError> {
        self.line += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or_else(|| self.wrong(expected, Lines::CUT))?;
        let (line, rest) = (&self.rest[..end], &self.rest[end + 1..]);
        let value = line.strip_prefix(start.as_bytes()).and_then(|v| str::from_utf8(v).ok());
        let value = value.ok_or_else(|| self.wrong(expected, "another line"))?;
        self.rest = rest;
        Ok(value)
    }

    fn hex(&self, digits: &str) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        let bytes = base16ct::lower::decode_vec(digits);
        bytes.map(Zeroizing::new).map_err(|_| self.wrong(HEX, "something else"))
    }

    fn hex_8(&self, digits: &str) -> Result<[u8; 8], KeyFileError> {
        let bytes = self.hex(digits)?;
        bytes.as_slice().try_into().map_err(|_| self.wrong("16 hex digits", "another number"))
    }
}

/// The first 8 bytes of SHA-256.
pub(crate) fn checksum(above: &[u8]) -> [u8; 8] {
    *Sha256::digest(above).first_chunk().expect("32 bytes")
}

/// Encodes in lower-case hex, without branches or table lookups that depend on the bytes.
fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// Formats a time as `2026-11-21T10:00:00Z`, by the 400-year cycle of the calendar.
fn date(time: SystemTime) -> String {
    // The year has four digits, so later times become the last second of year 9999.
    const LAST: u64 = 253_402_300_799;
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()).min(LAST);
    let (days, second) = (seconds / 86400, seconds % 86400);
    // Counted from March, years end with the leap day, so no month is a special case.
    let since_march_0 = days + 719_468;
    let (cycle, day) = (since_march_0 / 146_097, since_march_0 % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (400 * cycle + year + month / 10, (month + 2) % 12 + 1);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn is_date(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00Z";
    let alike = |(byte, &shape): (u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    };
    text.len() == SHAPE.len() && text.bytes().zip(SHAPE).all(alike)
}
