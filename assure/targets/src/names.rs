//! Names and their escapes: every written name reads back as the same, and shown names never
//! control a terminal.

use tagmac_files::escaped::{Escaped, is_unseen};
use tagmac_files::fuzzing::{escape, unescape};
use tagmac_files::line::{self, End, Line};
use tagmac_files::partial::{split_version, versioned};
use tagmac_files::url::{Url, is_url};

use crate::plant::Plant;

pub fn run(name: &[u8]) {
    let mut column = escape(name);
    if Plant::EscapeLost.is_set() {
        column.dedup_by(|next, last| *next == b'\\' && *last == b'\\');
    }
    assert!(!column.iter().any(|byte| b"\t\n\r".contains(byte)), "must stay in one column");
    assert_eq!(unescape(&column).as_deref(), Some(name), "must read the name of a column");
    // As a column: each name has one form, and the decoded name is encodable.
    if let Some(other) = unescape(name) {
        assert_eq!(unescape(&escape(&other)), Some(other));
    }
    if !name.is_empty() && !name.contains(&0) {
        for (end, algorithm) in
            [(End::Newline, Some("A")), (End::Newline, None), (End::Zero, Some("A"))]
        {
            let line = Line { algorithm, nonce: None, name: name.into(), tag: vec![7] };
            let written = line::write(&line, end, false);
            assert_eq!(written.last(), Some(&end.byte()));
            let text = &written[..written.len() - 1];
            assert!(!text.contains(&end.byte()), "must stay on one line");
            assert_eq!(line::parse(text, end), Ok(line), "must read the name of a line");
        }
    }
    shown(name);
    let (object, version) = split_version(name);
    if let Some(version) = version {
        let whole = versioned(object, version).expect("a name and a version");
        assert_eq!(whole, name, "must join to the name that was split");
    }
    if let Ok(url) = Url::parse(name) {
        assert!(is_url(name));
        assert_eq!(url.to_string().trim_end_matches('/').as_bytes(), trimmed(name));
        assert!(url.contains(&url) && url.contains(&url.with_key(&(url.folder() + "x"))));
    }
}

fn trimmed(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|&byte| byte != b'/').map_or(0, |at| at + 1);
    &name[..end]
}

/// Checks the three forms for a terminal.
fn shown(name: &[u8]) {
    let shown = Escaped::bytes(name).to_string();
    match shown.strip_prefix("$'").and_then(|quoted| quoted.strip_suffix('\'')) {
        Some(quoted) => assert_eq!(from_shell(quoted), name, "a shell must read the same name"),
        None => assert_eq!(shown.as_bytes(), name, "must be the unchanged name"),
    }
    let line = Escaped::line(name).to_string();
    assert_eq!(from_line(&line), name, "each shown line must stand for one name");
    for text in [shown, line, Escaped::text(name).to_string()] {
        assert!(!text.contains(is_unseen), "all characters must be visible: {text:?}");
    }
}

/// Decodes text between `$'` and `'` like a shell.
fn from_shell(quoted: &str) -> Vec<u8> {
    let (mut out, mut bytes) = (Vec::new(), quoted.bytes().peekable());
    while let Some(byte) = bytes.next() {
        assert_ne!(byte, b'\'', "no quote may end the name early");
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next().expect("an escaped byte") {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            byte @ (b'\\' | b'\'') => out.push(byte),
            first => {
                let mut number = u32::from(first - b'0');
                for _ in 0..2 {
                    number = 8 * number + u32::from(bytes.next().expect("three digits") - b'0');
                }
                out.push(number.try_into().expect("a byte"));
            }
        }
    }
    out
}

/// Decodes the name in a shown line.
fn from_line(shown: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), shown);
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let escape = &rest[at + 1..];
        let (bytes, length) = match escape.as_bytes()[0] {
            b'n' => (vec![b'\n'], 1),
            b'r' => (vec![b'\r'], 1),
            b't' => (vec![b'\t'], 1),
            b'\\' => (vec![b'\\'], 1),
            b'x' => (vec![u8::from_str_radix(&escape[1..3], 16).expect("hex digits")], 3),
            _ => {
                let digits = escape.strip_prefix("u{").expect("an escape");
                let end = digits.find('}').expect("an end");
                let number = u32::from_str_radix(&digits[..end], 16).expect("hex digits");
                let c = char::from_u32(number).expect("a character");
                (c.encode_utf8(&mut [0; 4]).as_bytes().to_vec(), end + 3)
            }
        };
        out.extend_from_slice(&bytes);
        rest = &escape[length..];
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

pub fn seeds() -> Vec<Vec<u8>> {
    let texts =
        ["a\n\u{1b}[1mb\\'\u{e9}\t\r", "$'a'", "a@b@c", "s3://bucket/key/", "\u{202e}\u{9b}"];
    let mut seeds: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    seeds.push(b"\xff\xfe\\ \x80".to_vec());
    seeds
}
