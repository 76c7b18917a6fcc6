//! Escaping of untrusted names and texts, for lines that a terminal may show.

use crate::sys::OsStrExt;
use std::ffi::OsStr;
use std::fmt;

/// Untrusted bytes for a line of text. The output has no line breaks or control characters and
/// loses no byte.
pub struct Escaped<'a>(&'a [u8], Style);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Unchanged, or as `$'...'` if that would be invisible or ambiguous. Shells accept both.
    Name,
    /// With escapes, for display only.
    Text,
    /// With escapes, and backslashes doubled, so that no two names look the same.
    Line,
}

impl<'a> Escaped<'a> {
    /// A file's name.
    pub fn name(name: &'a (impl AsRef<OsStr> + ?Sized)) -> Escaped<'a> {
        Escaped::bytes(name.as_ref().as_bytes())
    }

    /// A name, as bytes.
    pub fn bytes(name: &'a [u8]) -> Escaped<'a> {
        Escaped(name, Style::Name)
    }

    /// A text that is not a name, such as a message or a line of a list.
    pub fn text(text: &'a [u8]) -> Escaped<'a> {
        Escaped(text, Style::Text)
    }

    /// A name in a line that begins with a backslash if anything is escaped.
    pub fn line(name: &'a [u8]) -> Escaped<'a> {
        Escaped(name, Style::Line)
    }

    /// Returns whether a name must be quoted.
    fn is_quoted(&self) -> bool {
        let unseen = match str::from_utf8(self.0) {
            Ok(name) => name.contains(is_unseen),
            Err(_) => true,
        };
        self.1 == Style::Name && (unseen || self.0.is_empty() || self.0.starts_with(b"$'"))
    }
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_quoted() {
            return quoted(self.0, f);
        }
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if is_unseen(c) || c == '\\' && self.1 == Style::Line {
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

/// Writes `$'...'` as shells read it. Bytes are in octal, which ends after three digits in every
/// shell.
fn quoted(name: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let octal = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
        bytes.iter().try_for_each(|byte| write!(f, "\\{byte:03o}"))
    };
    f.write_str("$'")?;
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\'' => write!(f, "\\{c}")?,
                '\n' | '\r' | '\t' => write!(f, "{}", c.escape_default())?,
                c if is_unseen(c) => octal(f, c.encode_utf8(&mut [0; 4]).as_bytes())?,
                c => write!(f, "{c}")?,
            }
        }
        octal(f, chunk.invalid())?;
    }
    f.write_str("'")
}

/// Returns whether a character is invisible or alters the line: controls, line and paragraph
/// separators, bidirectional marks, zero-width characters, tags and fillers.
pub fn is_unseen(c: char) -> bool {
    let unseen = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    c.is_control() || unseen
}

#[cfg(test)]
mod tests {
    use super::Escaped;

    #[test]
    fn a_name_stays_on_its_line() {
        let name = "a\n\u{1b}[1mb\\'é\u{ff}".as_bytes();
        assert_eq!(Escaped::bytes(name).to_string(), "$'a\\n\\033[1mb\\\\\\'éÿ'");
        assert_eq!(Escaped::text(name).to_string(), "a\\n\\u{1b}[1mb\\'éÿ");
        assert_eq!(Escaped::line(name).to_string(), "a\\n\\u{1b}[1mb\\\\'éÿ");
        assert_eq!(Escaped::bytes(b"\xff\xfe").to_string(), "$'\\377\\376'");
        assert_eq!(Escaped::text(b"\xff\xfe").to_string(), "\\xff\\xfe");
        let turned = "\u{feff}KO\u{202e}\u{9b}: ".as_bytes();
        assert_eq!(
            Escaped::bytes(turned).to_string(),
            "$'\\357\\273\\277KO\\342\\200\\256\\302\\233: '"
        );
        assert_eq!(Escaped::text(turned).to_string(), "\\u{feff}KO\\u{202e}\\u{9b}: ");
    }

    #[test]
    fn a_name_that_is_seen_stands_as_it_is() {
        for name in ["a\\b", "a b", "it's", "é", "a$'b'"] {
            assert_eq!(Escaped::bytes(name.as_bytes()).to_string(), name);
        }
        // The quoted form of another name, and the empty name.
        assert_eq!(Escaped::bytes(b"$'a'").to_string(), "$'$\\'a\\''");
        assert_eq!(Escaped::bytes(b"").to_string(), "$''");
    }
}
