//! Contents of key files. `docs/formats/key-file.md` specifies the format; `key_access.rs` checks
//! who may have written a file.

use std::fmt;
use std::io::{self, Read};

use tagmac_any::{Algorithm, KeyFile, KeyFileError};
use zeroize::Zeroizing;

use crate::byte_order::ByteOrder;

/// The format of a key's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A key file of `tagmac keygen`.
    Auto,
    /// Bytes.
    Raw,
    /// Hex digits.
    Hex,
    /// Base64 with padding.
    Base64,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Auto, Format::Raw, Format::Hex, Format::Base64];

    /// Returns the format's name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Raw => "raw",
            Format::Hex => "hex",
            Format::Base64 => "base64",
        }
    }

    /// Returns the format with this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// The reason why a text is not a key.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is empty.
    Empty,
    /// The text begins with a byte order mark.
    Mark(ByteOrder),
    /// The text is not a key file.
    NotAKeyFile,
    /// The key file is damaged or of an unknown kind.
    File(KeyFileError),
    /// The key is for another algorithm than the one requested.
    OtherAlgorithm {
        /// The algorithm requested.
        expected: Algorithm,
        /// The algorithm in the key file.
        found: Algorithm,
    },
    /// The format does not name an algorithm, and the caller gave none.
    NoAlgorithm,
    /// A key in hex or base64 begins with a byte order mark.
    EncodedMark {
        /// The format.
        format: Format,
        /// The mark.
        mark: ByteOrder,
    },
    /// The lines of a key in hex or base64 differ in length.
    Lines,
    /// The text is not hex.
    Hex,
    /// The text is not base64.
    Base64,
    /// The algorithm does not accept keys of this length.
    Length(tagmac::Error),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Empty => f.write_str("the key is empty"),
            KeyError::Mark(mark) => write!(f, "expected a key file, found {mark}"),
            KeyError::NotAKeyFile => f.write_str("not a key file"),
            KeyError::File(error) => error.fmt(f),
            KeyError::OtherAlgorithm { expected, found } => {
                write!(f, "expected a key for {expected}, found one for {found}")
            }
            KeyError::NoAlgorithm => {
                f.write_str("the format does not name the key's algorithm, and none was given")
            }
            KeyError::EncodedMark { format, mark } => {
                write!(f, "expected a key in {}, found {mark}", format.name())
            }
            KeyError::Lines => f.write_str("the lines of the key differ in length"),
            KeyError::Hex => f.write_str("not hex: expected an even number of hex digits"),
            KeyError::Base64 => f.write_str("not base64 with padding"),
            KeyError::Length(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for KeyError {}

/// Parses a key file. If `asked` is given, the key must be for that algorithm.
pub fn parse(text: &[u8], asked: Option<Algorithm>) -> Result<KeyFile, KeyError> {
    let file = KeyFile::parse(text).map_err(|error| match (error, ByteOrder::of(text)) {
        (KeyFileError::NotAKeyFile, _) if text.is_empty() => KeyError::Empty,
        (KeyFileError::NotAKeyFile, Some(mark)) => KeyError::Mark(mark),
        (KeyFileError::NotAKeyFile, None) => KeyError::NotAKeyFile,
        (error, _) => KeyError::File(error),
    })?;
    let found = file.algorithm();
    match asked.filter(|asked| *asked != found) {
        Some(expected) => Err(KeyError::OtherAlgorithm { expected, found }),
        None => Ok(file),
    }
}

/// Reads up to one byte more than a key file can have. The buffer never grows, as that would leave
/// copies of the key in memory.
pub fn read(input: impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(KeyFile::MAX_BYTES + 64));
    input.take(KeyFile::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
        }
        assert_eq!(Format::from_name("Raw"), None);
    }

    #[test]
    fn a_key_file_is_for_one_algorithm() {
        let [pmac, umac] =
            ["PMAC-AES128", "UMAC-64"].map(|name| Algorithm::from_name(name).unwrap());
        let text = KeyFile::generate(pmac, SystemTime::now()).unwrap().to_text();
        for asked in [None, Some(pmac)] {
            assert_eq!(parse(text.as_bytes(), asked).unwrap().algorithm(), pmac);
        }
        let refused = |text: &[u8], asked| parse(text, asked).err().unwrap().to_string();
        let found = refused(text.as_bytes(), Some(umac));
        assert_eq!(found, "expected a key for UMAC-64, found one for PMAC-AES128");
        assert_eq!(refused(b"", None), "the key is empty");
        for (mark, said) in
            [(&b"\xef\xbb\xbf"[..], "found a byte order mark (BOM)"), (b"\xff\xfe", "UTF-16")]
        {
            let found = refused(&[mark, text.as_bytes()].concat(), None);
            assert!(found.contains(said), "{found}");
        }
        assert_eq!(refused(b"key", None), "not a key file");
    }

    #[test]
    fn a_byte_more_than_a_key_can_have_is_read() {
        for (bytes, expected) in [(0, 0), (7, 7), (KeyFile::MAX_BYTES + 9, KeyFile::MAX_BYTES + 1)]
        {
            let text: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
            assert_eq!(read(&text[..]).unwrap()[..], text[..expected]);
        }
    }
}
