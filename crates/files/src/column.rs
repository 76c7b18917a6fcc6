//! Numbers, times and bytes as columns of a manifest.
//!
//! `format!` would take a third of the time of `seal --since` on a million files.

/// Appends a number in decimal with at least `digits` digits.
pub fn push_number(mut number: u64, digits: usize, out: &mut Vec<u8>) {
    let mut text = [b'0'; 20];
    let mut start = text.len();
    while number > 0 {
        start -= 1;
        text[start] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&text[start.min(text.len() - digits)..]);
}

/// Appends a time.
pub fn push_time((seconds, nanoseconds): (i64, u32), out: &mut Vec<u8>) {
    if seconds < 0 {
        out.push(b'-');
    }
    push_number(seconds.unsigned_abs(), 1, out);
    out.push(b'.');
    push_number(nanoseconds.into(), 9, out);
}

/// Appends two hex digits for each byte.
pub fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + 2 * bytes.len(), 0);
    base16ct::lower::encode(bytes, &mut out[start..]).expect("there is room");
}

/// Parses a time.
pub fn parse_time(text: &[u8]) -> Option<(i64, u32)> {
    let (seconds, nanoseconds) = str::from_utf8(text).ok()?.split_once('.')?;
    let nanoseconds = nanoseconds.parse().ok().filter(|n| *n < 1_000_000_000)?;
    Some((seconds.parse().ok()?, nanoseconds))
}
