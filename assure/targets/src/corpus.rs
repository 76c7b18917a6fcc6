//! The corpus in the tree: a file for each target, with one input per line, escaped as in Rust.

use std::path::{Path, PathBuf};

/// Returns the path of a target's corpus.
pub fn path(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// Returns the inputs of a target.
pub fn read(target: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(path(target)).unwrap_or_default();
    text.lines().map(parse).collect()
}

/// Returns an input as a line of the corpus.
pub fn line(input: &[u8]) -> String {
    format!("{}\n", input.escape_ascii())
}

fn parse(line: &str) -> Vec<u8> {
    let (mut out, mut bytes) = (Vec::with_capacity(line.len()), line.bytes());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next() {
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'n') => b'\n',
                Some(b'x') => {
                    let digits = [bytes.next(), bytes.next()].map(Option::unwrap_or_default);
                    let digits = str::from_utf8(&digits).expect("hex digits");
                    u8::from_str_radix(digits, 16).expect("hex digits")
                }
                Some(byte) => byte,
                None => panic!("the line ends within an escape"),
            },
            byte => byte,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{line, parse};

    #[test]
    fn lines_come_back() {
        let input: Vec<u8> = (0..=255).collect();
        assert_eq!(parse(line(&input).trim_end_matches('\n')), input);
    }
}
