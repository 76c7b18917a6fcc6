//! JSON on one line, safe to show on a terminal.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter};
use tagmac_files::escaped::is_unseen;

/// Serializes an object and adds a line feed. Characters that affect a terminal are escaped even if
/// the output is a file; a parser returns the same string.
pub fn line(object: &impl Serialize) -> Vec<u8> {
    let mut line = Vec::with_capacity(256);
    let serialized = object.serialize(&mut Serializer::with_formatter(&mut line, Seen));
    serialized.expect("strings and numbers only");
    line.push(b'\n');
    line
}

/// Returns a name as text. If it is not UTF-8, also returns its bytes in hex.
pub fn name(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    let text = String::from_utf8_lossy(bytes);
    let hex = matches!(text, Cow::Owned(_)).then(|| base16ct::lower::encode_string(bytes));
    (text, hex)
}

/// A compact formatter that escapes invisible characters.
struct Seen;

impl Formatter for Seen {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unseen) {
            let (seen, from) = rest.split_at(at);
            CompactFormatter.write_string_fragment(out, seen)?;
            let c = from.chars().next().expect("found just now");
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &from[c.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(out, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_comes_back() {
        let text = "a\u{1b}[1m\u{7f}\u{9b}é\"\\\n\u{61c}\u{202e}\u{2066}\u{feff}\u{1f600}";
        let line = String::from_utf8(line(&text)).unwrap();
        let escaped =
            "\"a\\u001b[1m\\u007f\\u009bé\\\"\\\\\\n\\u061c\\u202e\\u2066\\ufeff\u{1f600}\"\n";
        assert_eq!(line, escaped);
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }
}
