//! Marks of an encoding, which some editors and shells put before a text: the first line of a list, or
//! a key, then begins with bytes that nobody sees.

use std::fmt;

/// A mark at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The mark in UTF-8.
    Utf8,
    /// The mark of a text in UTF-16, of either order.
    Utf16,
}

impl ByteOrder {
    /// The mark that a text begins with, if any.
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
