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
//! The checksum is the first 8 bytes of SHA-256 of all lines above it. It finds damage, not
//! attacks: anyone who can write the file can write a key of their own. `docs/formats/key-file.md` has the
//! format to the byte. This module reads and writes text only, so that every binding shares it;
//! opening files is the caller's part.

use core::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use tagmac::Error;
use tagmac::internals::with_stack_wiped;
use tagmac::save::Sealer;

use crate::key_id::KeyId;
use crate::registry::{Algorithm, UnknownAlgorithm};

/// What the first line of every version begins with.
const MAGIC: &str = "tagmac-key-";
const VERSION: &str = "2";
const HEX: &str = "lower-case hex digits";

/// A key with its algorithm. The key is wiped on drop and silent in `Debug`.
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

/// What is wrong with a key file. No variant holds anything that could be of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The first line is not that of a key file.
    NotAKeyFile,
    /// A key file of a version that is not known here.
    Version {
        /// The version.
        found: String,
    },
    /// A line is not what it has to be.
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What has to be there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// The checksum is not that of the lines above it.
    Checksum,
    /// The algorithm is not in the registry.
    Algorithm(UnknownAlgorithm),
    /// The algorithm takes no key of that length.
    KeyLength(Error),
    /// The id is not that of the key.
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
                let old =
                    if found == "1" { ", which is no longer read: make a new key" } else { "" };
                f.write_str(old)
            }
            KeyFileError::Line { line, expected, found } => {
                write!(f, "line {line}: expected {expected}, found {found}")
            }
            KeyFileError::Checksum => f.write_str(
                "line 6: expected the checksum of the lines above, found another: \
                 the file is damaged",
            ),
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
    /// A longer file is no key file: there is no need to read more of it.
    pub const MAX_BYTES: usize = 64 << 10;

    /// A file for a key that exists.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] if the algorithm takes no key of that length.
    pub fn new(algorithm: Algorithm, key: &[u8], created: SystemTime) -> Result<Self, Error> {
        algorithm.check_key(key.len())?;
        let key = Zeroizing::new(key.to_vec());
        Ok(KeyFile { algorithm, created: date(created), key })
    }

    /// What seals sums that belong to the key.
    pub fn sealer(&self) -> Sealer {
        Sealer::new(self.algorithm.name(), &self.key)
    }

    /// A file with a new key from the operating system.
    ///
    /// # Errors
    ///
    /// If the operating system has no random bytes to give.
    pub fn generate(algorithm: Algorithm, now: SystemTime) -> Result<Self, getrandom::Error> {
        let mut key = Zeroizing::new(vec![0; algorithm.new_key_bytes()]);
        getrandom::fill(&mut key)?;
        Ok(KeyFile { algorithm, created: date(now), key })
    }

    /// The algorithm that the key is for.
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

    /// When the key was made, as `2026-11-21T10:00:00Z`.
    pub fn created(&self) -> &str {
        &self.created
    }

    /// The text of the file.
    pub fn to_text(&self) -> Zeroizing<String> {
        with_stack_wiped(|| self.write())
    }

    fn write(&self) -> Zeroizing<String> {
        // Room for all at once: a string that grows leaves copies of the key behind.
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

    /// Reads the text of a file. Only what [`to_text`](KeyFile::to_text) writes is taken.
    ///
    /// # Errors
    ///
    /// [`KeyFileError`] says what is wrong on which line.
    pub fn parse(text: &[u8]) -> Result<KeyFile, KeyFileError> {
        with_stack_wiped(|| KeyFile::read(text))
    }

    fn read(text: &[u8]) -> Result<KeyFile, KeyFileError> {
        let mut lines = Lines { rest: text, line: 0 };
        let version = lines.next("'tagmac-key-2'", MAGIC).map_err(|wrong| match wrong {
            // A file that stops within the first line may still be one of ours.
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
        // The message about an unknown name repeats it, so it has to be fit for a message.
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

/// The lines of a file that are not read yet.
struct Lines<'a> {
    rest: &'a [u8],
    /// The number of the line read last, from 1.
    line: usize,
}

impl<'a> Lines<'a> {
    const CUT: &'static str = "the end of the file";

    fn wrong(&self, expected: &'static str, found: &'static str) -> KeyFileError {
        KeyFileError::Line { line: self.line, expected, found }
    }

    /// What follows `start` on the next line.
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

/// Lower-case hex, without a branch or a table lookup that depends on the bytes.
fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// `2026-11-21T10:00:00Z`, from the days since 1970 by the calendar's 400-year cycle.
fn date(time: SystemTime) -> String {
    // The format has four digits for the year: a clock that is out of them stops at the last.
    const LAST: u64 = 253_402_300_799;
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()).min(LAST);
    let (days, second) = (seconds / 86400, seconds % 86400);
    // Years that begin in March end with the leap day, so no month needs a case of its own.
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
