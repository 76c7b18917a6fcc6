//! What is in key files: `docs/formats/key-file.md` has the format, and `key_access.rs` who may have written one.

use std::fmt;
use std::io::{self, Read};

use tagmac_any::{Algorithm, KeyFile, KeyFileError};
use zeroize::Zeroizing;

use crate::byte_order::ByteOrder;

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

/// Why a text is no key.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// There is no text.
    Empty,
    /// The text begins with a mark of an encoding.
    Mark(ByteOrder),
    /// It is not the text of a key file.
    NotAKeyFile,
    /// It is the text of a key file that is damaged, or of a kind that is not known here.
    File(KeyFileError),
    /// The key is for another algorithm than the one asked for.
    OtherAlgorithm {
        /// The one asked for.
        expected: Algorithm,
        /// The one in the key file.
        found: Algorithm,
    },
    /// The format does not name the algorithm, and neither did the caller.
    NoAlgorithm,
    /// A key in hex or base64 begins with a mark of an encoding.
    EncodedMark {
        /// The format.
        format: Format,
        /// The mark.
        mark: ByteOrder,
    },
    /// A key in hex or base64 is in lines that are not of one length.
    Lines,
    /// It is no key in hex.
    Hex,
    /// It is no key in base64.
    Base64,
    /// The algorithm takes no key of this length.
    Length(tagmac::Error),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Empty => f.write_str("expected a key file, found nothing"),
            KeyError::Mark(mark) => write!(f, "expected a key file, found {mark}"),
            KeyError::NotAKeyFile => f.write_str("expected a key file, found something else"),
            KeyError::File(error) => error.fmt(f),
            KeyError::OtherAlgorithm { expected, found } => {
                write!(f, "expected a key for {expected}, found one for {found}")
            }
            KeyError::NoAlgorithm => f.write_str("expected the key's algorithm, found none"),
            KeyError::EncodedMark { format, mark } => {
                write!(f, "expected a key in {}, found {mark}", format.name())
            }
            KeyError::Lines => f.write_str("expected lines of one length, found others"),
            KeyError::Hex => {
                f.write_str("expected an even number of hex digits, found something else")
            }
            KeyError::Base64 => f.write_str("expected base64 with padding, found something else"),
            KeyError::Length(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for KeyError {}

/// The key in a key file, which is one for `asked` if that is given.
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

/// Reads up to one byte more than a key can have, into a buffer that never moves: a vector that
/// grows would leave copies of the key behind.
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
        assert_eq!(refused(b"", None), "expected a key file, found nothing");
        for (mark, said) in
            [(&b"\xef\xbb\xbf"[..], "found a byte order mark (BOM)"), (b"\xff\xfe", "UTF-16")]
        {
            let found = refused(&[mark, text.as_bytes()].concat(), None);
            assert!(found.contains(said), "{found}");
        }
        assert_eq!(refused(b"key", None), "expected a key file, found something else");
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
