//! The lines that `tag` writes and `check` reads: `PMAC-AES128 (name) = hex` and `hex  name`. The
//! forms `hex *name`, and `hex name` with one blank, are read too, because some tools write them.
//!
//! A nonce follows the algorithm: `UMAC-64.n=hex (name) = hex`. Names of algorithms contain no dot
//! or blank, so lines are unambiguous.
//!
//! Names are bytes. A name with a backslash, a line feed or a carriage return is escaped, and the
//! line then begins with a backslash, as in the lists of GNU's cksum and sha256sum. On a terminal,
//! other control characters and invisible ones are escaped too: names are untrusted, and could
//! otherwise hide or fake a verdict.

use std::borrow::Cow;
use std::fmt;

use crate::byte_order::ByteOrder;
use crate::escaped::Escaped;
use crate::hex;

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A line feed; names are escaped.
    Newline,
    /// A zero byte; names are not escaped.
    Zero,
}

impl End {
    /// Returns the end for the option `--zero`.
    pub fn new(zero: bool) -> End {
        if zero { End::Zero } else { End::Newline }
    }

    /// Returns the byte.
    pub fn byte(self) -> u8 {
        match self {
            End::Newline => b'\n',
            End::Zero => 0,
        }
    }
}

/// Separates an algorithm from a nonce.
pub const NONCE: &str = ".n=";

/// Minimum length in bytes of a tag that begins a line with one blank. Ordinary text may contain
/// words of fewer hex digits.
const MIN_BARE_BYTES: usize = 4;

/// A parsed line.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The algorithm's name; `None` in a line of the form `hex  name`.
    pub algorithm: Option<&'a str>,
    /// The nonce, if the line has one.
    pub nonce: Option<Vec<u8>>,
    /// The file's name, unescaped.
    pub name: Cow<'a, [u8]>,
    /// The tag.
    pub tag: Vec<u8>,
}

/// The reason why a line is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The line has none of the known forms.
    Form,
    /// The tag is not hex, or has an odd number of digits.
    Hex,
    /// The nonce is not hex, or has an odd number of digits.
    Nonce,
    /// A backslash precedes another character than a backslash, `n` or `r`.
    Escape,
    /// The name is empty.
    NoName,
    /// The name contains a zero byte.
    Name,
    /// The list begins with a byte order mark.
    Mark(ByteOrder),
    /// The line is over the limit.
    Long,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Mark(ByteOrder::Utf8) => {
                "expected no byte order mark (BOM) before the first line: save the list as UTF-8 \
                 without one"
            }
            Malformed::Mark(ByteOrder::Utf16) => {
                "expected a list in UTF-8, not in UTF-16 as PowerShell's '>' writes it"
            }
            Malformed::Form => "expected 'ALGORITHM (NAME) = HEX' or 'HEX  NAME'",
            Malformed::Hex => "expected two hex digits for each byte of the tag",
            Malformed::Nonce => "expected two hex digits for each byte of the nonce",
            Malformed::Escape => "expected '\\\\', '\\n' or '\\r' for each backslash in the name",
            Malformed::NoName => "expected a name that is not empty",
            Malformed::Name => "expected a name without zero bytes",
            Malformed::Long => "expected a line of at most 64 KiB",
        })
    }
}

/// Formats a line with its end, for a terminal or not. A line without an algorithm cannot have a
/// nonce.
pub fn write(line: &Line<'_>, end: End, terminal: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.name.len() + 160);
    let name = escaped(&line.name, end, terminal, &mut out);
    let tag = base16ct::lower::encode_string(&line.tag);
    let Some(algorithm) = line.algorithm else {
        out.extend_from_slice(&[tag.as_bytes(), b"  ", &name, &[end.byte()]].concat());
        return out;
    };
    out.extend_from_slice(algorithm.as_bytes());
    if let Some(nonce) = &line.nonce {
        out.extend_from_slice(NONCE.as_bytes());
        out.extend_from_slice(base16ct::lower::encode_string(nonce).as_bytes());
    }
    out.extend_from_slice(&[b" (", &*name, b") = ", tag.as_bytes(), &[end.byte()]].concat());
    out
}

/// Returns the name as written in a line, for a terminal or not. Appends the leading backslash to
/// `line` if the name had to be escaped.
pub fn escaped<'a>(name: &'a [u8], end: End, terminal: bool, line: &mut Vec<u8>) -> Cow<'a, [u8]> {
    if terminal {
        let shown = Escaped::line(name).to_string().into_bytes();
        if shown != name {
            line.push(b'\\');
        }
        return shown.into();
    }
    if end == End::Zero || !name.iter().any(|byte| b"\\\n\r".contains(byte)) {
        return name.into();
    }
    line.push(b'\\');
    let mut out = Vec::with_capacity(name.len() + 8);
    for &byte in name {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            _ => out.push(byte),
        }
    }
    out.into()
}

/// Parses a line, without its end.
pub fn parse(line: &[u8], end: End) -> Result<Line<'_>, Malformed> {
    if let Some(mark) = ByteOrder::of(line) {
        return Err(Malformed::Mark(mark));
    }
    let (line, escaped) = match line.strip_prefix(b"\\") {
        Some(line) if end == End::Newline => (line, true),
        _ => (line, false),
    };
    // The byte after the first blank determines the form: algorithms and hex contain no blanks.
    let blank = line.iter().position(|&byte| byte == b' ').ok_or(Malformed::Form)?;
    let (first, rest) = (&line[..blank], &line[blank + 1..]);
    let (word, name, tag) = match rest.split_first() {
        Some((b'(', rest)) => {
            let cut = rest.windows(4).rposition(|four| four == b") = ").ok_or(Malformed::Form)?;
            (Some(word(first)?), &rest[..cut], &rest[cut + 4..])
        }
        Some((b' ' | b'*', name)) => (None, name, first),
        // Any text has the form with one blank, so the line must begin with a tag.
        Some(_) if hex::decode(first).is_some_and(|tag| tag.len() >= MIN_BARE_BYTES) => {
            (None, rest, first)
        }
        _ => return Err(Malformed::Form),
    };
    let (algorithm, nonce) = match word.and_then(|word| word.split_once(NONCE)) {
        Some(("", _)) => return Err(Malformed::Form),
        Some((algorithm, nonce)) => {
            let nonce = hex::decode(nonce.as_bytes()).ok_or(Malformed::Nonce)?;
            (Some(algorithm), Some(nonce))
        }
        None => (word, None),
    };
    let tag = hex::decode(tag).ok_or(Malformed::Hex)?;
    let name = if escaped { unescape(name)?.into() } else { Cow::Borrowed(name) };
    if name.is_empty() {
        return Err(Malformed::NoName);
    }
    if name.contains(&0) {
        return Err(Malformed::Name);
    }
    Ok(Line { algorithm, nonce, name, tag })
}

/// Checks the name of an algorithm, known or not: one word of printable ASCII.
fn word(bytes: &[u8]) -> Result<&str, Malformed> {
    let graphic = !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_graphic() && *b != b'\\');
    str::from_utf8(bytes).ok().filter(|_| graphic).ok_or(Malformed::Form)
}

fn unescape(name: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next() {
                Some(b'\\') => b'\\',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                _ => return Err(Malformed::Escape),
            },
            _ => byte,
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(line: &[u8]) -> Result<(Option<&str>, String, Vec<u8>), Malformed> {
        let Line { algorithm, name, tag, .. } = parse(line, End::Newline)?;
        Ok((algorithm, String::from_utf8_lossy(&name).into(), tag))
    }

    #[test]
    fn lines_are_split_at_the_last_end_and_the_first_start() {
        let cases: [(&[u8], _, _); 8] = [
            (b"A (b) = 0aF1", Some("A"), "b"),
            (b"A (b) = c) = 0aF1", Some("A"), "b) = c"),
            (b"A (b (c) = 0aF1", Some("A"), "b (c"),
            (b"A ( ) = 0aF1", Some("A"), " "),
            (b"0aF1  b", None, "b"),
            (b"0aF1 *b", None, "b"),
            (b"0aF1  A (b) = 00", None, "A (b) = 00"),
            (b"\\A (b\\n\\r\\\\) = 0aF1", Some("A"), "b\n\r\\"),
        ];
        for (line, algorithm, name) in cases {
            assert_eq!(parsed(line), Ok((algorithm, name.into(), vec![0x0a, 0xf1])));
        }
    }

    #[test]
    fn lines_with_one_blank() {
        let cases: [(&[u8], _); 4] = [
            (b"0aF1bEef b", "b"),
            (b"0aF1bEef b c  d", "b c  d"),
            (b"\\0aF1bEef b\\n", "b\n"),
            (b"0aF1bEef A (b) = 00", "A (b) = 00"),
        ];
        for (line, name) in cases {
            assert_eq!(parsed(line), Ok((None, name.into(), vec![0x0a, 0xf1, 0xbe, 0xef])));
        }
        for line in [&b"0aF1be b"[..], b"0aF1bEe b", b"0aF1bEeg b", b"0aF1bEef ", b"0aF1bEef"] {
            assert_eq!(parsed(line).unwrap_err(), Malformed::Form, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn malformed_lines() {
        let cases: [(&[u8], _); 30] = [
            (b"bogus", Malformed::Form),
            (b" A (b) = 00", Malformed::Form),
            (b"A B (b) = 00", Malformed::Form),
            (b" (b) = 00", Malformed::Form),
            (b"A (b) =00", Malformed::Form),
            (b"A (b) = ", Malformed::Hex),
            (b"A (b) = 0", Malformed::Hex),
            (b"A (b) = 0g", Malformed::Hex),
            (b"A (b) = 00 ", Malformed::Hex),
            (b"A (b) = 00\r", Malformed::Hex),
            (b"A () = 00", Malformed::NoName),
            (b"\\A () = 00", Malformed::NoName),
            (b"00 *", Malformed::NoName),
            (b"00 ", Malformed::Form),
            (b"0 b", Malformed::Form),
            (b"0g b", Malformed::Form),
            (b"00 (b", Malformed::Form),
            (b"A (a\0b) = 00", Malformed::Name),
            (b"00  ", Malformed::NoName),
            (b"\xef\xbb\xbfA (b) = 00", Malformed::Mark(ByteOrder::Utf8)),
            (b"\xff\xfeA\0 \0(\0", Malformed::Mark(ByteOrder::Utf16)),
            (b"0  b", Malformed::Hex),
            (b"  b", Malformed::Hex),
            (b"A.n= (b) = 00", Malformed::Nonce),
            (b"A.n=0 (b) = 00", Malformed::Nonce),
            (b"A.n=0g (b) = 00", Malformed::Nonce),
            (b"A.n=00.n=00 (b) = 00", Malformed::Nonce),
            (b".n=00 (b) = 00", Malformed::Form),
            (b"\\A (b\\t) = 00", Malformed::Escape),
            (b"\\A (b\\) = 00", Malformed::Escape),
        ];
        for (line, expected) in cases {
            assert_eq!(parse(line, End::Newline).unwrap_err(), expected, "{}", line.escape_ascii());
        }
        assert_eq!(parse(b"\\A (b) = 00", End::Zero).unwrap_err(), Malformed::Form);
    }

    #[test]
    fn each_byte_that_ends_a_line_is_escaped() {
        for (name, expected) in [
            (&b"a\rb"[..], &b"\\A (a\\rb) = 07\n"[..]),
            (b"a\nb", b"\\A (a\\nb) = 07\n"),
            (b"a\\b", b"\\A (a\\\\b) = 07\n"),
            (b"a\tb", b"A (a\tb) = 07\n"),
        ] {
            let line = Line { algorithm: Some("A"), nonce: None, name: name.into(), tag: vec![7] };
            assert_eq!(write(&line, End::Newline, false), expected);
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        let all = [
            Malformed::Form,
            Malformed::Hex,
            Malformed::Nonce,
            Malformed::Escape,
            Malformed::NoName,
            Malformed::Name,
            Malformed::Mark(ByteOrder::Utf8),
            Malformed::Mark(ByteOrder::Utf16),
            Malformed::Long,
        ];
        let texts: std::collections::HashSet<String> =
            all.iter().map(Malformed::to_string).collect();
        assert_eq!(texts.len(), all.len());
        assert!(texts.iter().all(|text| text.starts_with("expected ")));
    }

    #[test]
    fn a_nonce_stands_behind_the_algorithm() {
        let nonce = |line: &'static [u8]| parse(line, End::Newline).unwrap().nonce;
        assert_eq!(nonce(b"A.n=0aF1 (b) = 00").as_deref(), Some([0x0a, 0xf1].as_slice()));
        // Names and tags cannot contain nonces.
        assert_eq!(nonce(b"A (.n=00) = 00"), None);
        assert_eq!(nonce(b"00  A.n=00"), None);
    }

    #[test]
    fn on_a_terminal_no_name_does_anything() {
        let line = Line {
            algorithm: Some("A"),
            nonce: None,
            name: b"\x1b[2J\xc2\x9b\xe2\x80\xae\x9b\\\n".into(),
            tag: vec![0],
        };
        let written = |end, terminal| write(&line, end, terminal);
        let raw = b"\\A (\x1b[2J\xc2\x9b\xe2\x80\xae\x9b\\\\\\n) = 00\n";
        assert_eq!(written(End::Newline, false), raw);
        let shown = "\\A (\\u{1b}[2J\\u{9b}\\u{202e}\\x9b\\\\\\n) = 00";
        assert_eq!(written(End::Newline, true), format!("{shown}\n").into_bytes());
        assert_eq!(written(End::Zero, true), format!("{shown}\0").into_bytes());
    }

    fn names() -> impl Strategy<Value = Vec<u8>> {
        // Makes bytes with a meaning in the grammar frequent.
        let byte = prop_oneof![proptest::sample::select(b"\\\n\r ()=*#A0.n".to_vec()), 1..=255u8,];
        prop::collection::vec(byte, 1..40)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            name in names(),
            tag in prop::collection::vec(any::<u8>(), 1..33),
            nonce in prop::option::of(prop::collection::vec(any::<u8>(), 1..17)),
            tagged: bool,
            zero: bool,
        ) {
            let end = End::new(zero);
            let algorithm = tagged.then_some("UMAC-128");
            let nonce = nonce.filter(|_| tagged);
            let line = Line { algorithm, nonce, name: name.into(), tag };
            let written = write(&line, end, false);
            let (last, written) = written.split_last().unwrap();
            prop_assert_eq!(*last, end.byte());
            prop_assert!(!written.contains(last));
            prop_assert_eq!(parse(written, end), Ok(line));
        }

        #[test]
        fn no_line_makes_the_reader_panic(line: Vec<u8>, zero: bool) {
            let _ = parse(&line, End::new(zero));
        }

        #[test]
        fn no_likely_line_makes_the_reader_panic(line in names()) {
            let _ = parse(&line, End::Newline);
        }
    }
}
