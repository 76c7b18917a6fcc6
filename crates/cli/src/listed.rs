//! The lines of a list under the key in use, for `check` and `rekey`.
//!
//! The algorithm and the tag length come from the key and the options. A line with others could be
//! an attempt to have the file checked by a weaker MAC.

use tagmac::Tag;
use tagmac_any::{Algorithm, AnyMac};
use tagmac_files::escaped::Escaped;
use tagmac_files::line::{self, End, Line, Malformed};

/// The message about a list without a line.
pub const NO_LINES: &str = "no properly formatted checksum lines found";

/// Returns a line without the carriage return of an editor on Windows. One in a name would be
/// escaped.
pub fn without_return(bytes: &[u8], end: End) -> &[u8] {
    match end {
        End::Newline => bytes.strip_suffix(b"\r").unwrap_or(bytes),
        End::Zero => bytes,
    }
}

/// Returns whether a line is empty or a comment.
pub fn is_comment(bytes: &[u8]) -> bool {
    bytes.is_empty() || bytes.starts_with(b"#")
}

/// Parses a line; `None` is one over the limit.
pub fn parse(bytes: Option<&[u8]>, end: End) -> Result<Line<'_>, String> {
    let line = bytes.ok_or(Malformed::Long).and_then(|bytes| line::parse(bytes, end));
    line.map_err(|why| why.to_string())
}

/// Returns the message about a malformed line, with its start.
pub fn malformed(why: &str, bytes: Option<&[u8]>) -> String {
    format!("{why}, found {}", bytes.map_or("a longer one".into(), excerpt))
}

/// Quotes a line, or its first 60 bytes and "...".
fn excerpt(line: &[u8]) -> String {
    let start = &line[..line.len().min(60)];
    let more = if start.len() < line.len() { "..." } else { "" };
    format!("'{}'{more}", Escaped::text(start))
}

/// Rejects a line of another algorithm.
pub fn check_algorithm(mac: &AnyMac, line: &Line<'_>) -> Result<(), String> {
    let expected = mac.algorithm();
    match line.algorithm.filter(|found| Algorithm::from_name(found) != Ok(expected)) {
        None => Ok(()),
        Some(found) => {
            let found = Escaped::text(found.as_bytes());
            Err(format!("expected algorithm {expected}, found {found}"))
        }
    }
}

/// Rejects a line with a nonce of the wrong length. The error names the expected form.
pub fn check_nonce(mac: &AnyMac, line: &Line<'_>) -> Result<(), String> {
    let algorithm = mac.algorithm();
    if algorithm.check_nonce(line.nonce.as_deref().unwrap_or_default().len()).is_ok() {
        return Ok(());
    }
    Err(match algorithm.nonce_bytes().into_inner() {
        (_, 0) => format!("expected '{algorithm} (NAME) = HEX', without a nonce"),
        (min, max) => {
            let bytes = if min == max { max.to_string() } else { format!("{min} to {max}") };
            let form = format_args!("{algorithm}{}NONCE (NAME) = HEX", line::NONCE);
            format!("expected '{form}', with a nonce of {bytes} bytes")
        }
    })
}

/// Returns the tag of a line.
pub fn tag(mac: &AnyMac, line: &Line<'_>) -> Result<Tag, String> {
    let (bits, found) = (mac.tag_bits(), line.tag.len());
    let expected = bits.div_ceil(8);
    if found != expected {
        return Err(format!("expected a tag of {expected} bytes ({bits} bits), found {found}"));
    }
    Tag::new(&line.tag, bits).map_err(|_| format!("the tag has bits set after its {bits} bits"))
}
