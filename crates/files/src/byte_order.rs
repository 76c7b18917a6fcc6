//! Byte order marks, which some editors and shells put at the start of a text. They are invisible,
//! but become the first bytes of a list or a key.

use std::fmt;

/// The encoding that a text's first bytes mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// UTF-8.
    Utf8,
    /// UTF-16, in either byte order.
    Utf16,
}

impl ByteOrder {
    /// Returns the mark at the start of `text`, if any.
    pub fn of(text: &[u8]) -> Option<ByteOrder> {
        match text {
            [0xef, 0xbb, 0xbf, ..] => Some(ByteOrder::Utf8),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(ByteOrder::Utf16),
            _ => None,
        }
    }
}

impl fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ByteOrder::Utf8 => {
                "a byte order mark (BOM), which some editors put at the start: save as UTF-8 without one"
            }
            ByteOrder::Utf16 => "a text in UTF-16, as PowerShell writes it: save as UTF-8",
        })
    }
}
