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
            let no_key = if is_unkeyed(found) { ", which uses no key" } else { "" };
            let found = Escaped::text(found.as_bytes());
            Err(format!("expected algorithm {expected}, found {found}{no_key}"))
        }
    }
}

/// Returns whether a name in a list is that of a hash without a key, such as `SHA256`.
fn is_unkeyed(name: &str) -> bool {
    const FAMILIES: [&str; 7] = ["MD", "SHA", "BLAKE", "SM3", "RMD", "RIPEMD", "CRC"];
    let family = |family: &&str| {
        name.get(..family.len()).is_some_and(|start| start.eq_ignore_ascii_case(family))
    };
    FAMILIES.iter().any(family)
}

/// Returns the start of a message about a line `HEX  NAME` whose hex has another length than tags of
/// this MAC, and that of a hash without a key.
fn unkeyed_line(mac: &AnyMac, line: &Line<'_>) -> String {
    let found = line.tag.len();
    let tool = match found {
        _ if line.algorithm.is_some() || found == mac.tag_bits().div_ceil(8) => {
            return String::new();
        }
        16 => "md5sum",
        20 => "sha1sum",
        28 => "sha224sum",
        32 => "sha256sum",
        48 => "sha384sum",
        64 => "sha512sum or b2sum",
        _ => return String::new(),
    };
    format!("this looks like a line of {tool}, which uses no key: ")
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
            let unkeyed = unkeyed_line(mac, line);
            format!("{unkeyed}expected '{form}', with a nonce of {bytes} bytes")
        }
    })
}

/// Returns the tag of a line.
pub fn tag(mac: &AnyMac, line: &Line<'_>) -> Result<Tag, String> {
    let (bits, found) = (mac.tag_bits(), line.tag.len());
    let expected = bits.div_ceil(8);
    if found != expected {
        let unkeyed = unkeyed_line(mac, line);
        return Err(format!(
            "{unkeyed}expected a tag of {expected} bytes ({bits} bits), found {found}"
        ));
    }
    Tag::new(&line.tag, bits).map_err(|_| format!("the tag has bits set after its {bits} bits"))
}
