//! Lists of tags: the first byte chooses line ends and the size of reads.

use std::io::BufReader;

use tagmac_files::line::{self, End, Line};
use tagmac_files::line_reader::{Lines, MAX_BYTES};

use crate::plant::Plant;

pub fn run(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let end = End::new(first & 1 == 1);
    let input = BufReader::with_capacity(1 + usize::from(first >> 1), data);
    let mut lines = Lines::with_tags(input, end.byte());
    let (mut seen, mut number) = (0, 0);
    while let Some(found) = lines.next_line().expect("memory") {
        number += 1;
        assert_eq!(found.number, number);
        let text = found.bytes.expect("a short one");
        assert!(text.len() <= MAX_BYTES && !text.contains(&end.byte()));
        assert_eq!(&data[seen..seen + text.len()], text, "must be the bytes of line {number}");
        seen += text.len() + 1;
        if let Ok(parsed) = parse(text, end) {
            let escaped = end == End::Newline && text.starts_with(b"\\");
            let ends = match parsed.algorithm {
                Some(_) => text.last().is_some_and(u8::is_ascii_hexdigit),
                None => escaped || text.ends_with(&parsed.name),
            };
            assert!(ends, "a line must end in its tag or its name");
            round_trip(&parsed, end);
            lines.mark_used();
        }
    }
    let all = seen == data.len() || seen == data.len() + 1;
    assert!(all, "expected {} bytes in lines, found {seen}", data.len());
}

fn parse(text: &[u8], end: End) -> Result<Line<'_>, line::Malformed> {
    let planted = text.strip_suffix(b"\r").filter(|_| Plant::LineEnd.is_set());
    line::parse(planted.unwrap_or(text), end)
}

/// Checks that a written line reads back as the same.
fn round_trip(parsed: &Line<'_>, end: End) {
    let written = line::write(parsed, end, false);
    let (last, text) = written.split_last().expect("an end");
    assert_eq!(*last, end.byte());
    assert_eq!(line::parse(text, end).as_ref(), Ok(parsed), "must read the line that was written");
    let shown = line::write(parsed, end, true);
    let shown = shown.strip_suffix(&[end.byte()]).expect("an end");
    let shown = str::from_utf8(shown).expect("text for a terminal");
    assert!(!shown.contains(tagmac_files::escaped::is_unseen), "all characters must be visible");
}

pub fn seeds() -> Vec<Vec<u8>> {
    [
        &b"\xfePMAC-AES128 (a) = 0aF1\n0af1  b\n\\UMAC-64.n=00ff (b\\n\\r\\\\) = 0aF1\n"[..],
        b"\x01PMAC-AES128 (a\nb) = 00\0A ( ) = 00\0",
        b"\x10A (b) = c) = 00\r\n00 *d\n#\n\\A (b\\) = 00",
    ]
    .map(<[u8]>::to_vec)
    .to_vec()
}
