//! Reads a list line by line in constant memory.

use std::io::{self, BufRead};

/// Longer lines are malformed: a name has at most 4096 bytes, and escaping at most doubles it.
pub const MAX_BYTES: usize = 64 << 10;

/// Give up on a line after this many bytes: it may be endless, as in /dev/zero.
const MAX_PASSED: usize = 1 << 20;

/// Give up after this many bytes without a usable line: the list may be endless.
const MAX_ASTRAY: usize = 1 << 20;

/// The lines of a list.
pub struct Lines<R> {
    input: R,
    end: u8,
    line: Vec<u8>,
    number: u64,
    /// Bytes since the last usable line; `None` if they are not counted.
    astray: Option<usize>,
}

/// A line without its end, and its number from 1.
pub struct NumberedLine<'a> {
    /// The number.
    pub number: u64,
    /// The bytes; `None` if the line is over the limit.
    pub bytes: Option<&'a [u8]>,
}

impl<R: BufRead> Lines<R> {
    /// Reads the lines of `input`, each ended by the byte `end`.
    pub fn new(input: R, end: u8) -> Lines<R> {
        Lines { input, end, line: Vec::new(), number: 0, astray: None }
    }

    /// Reads the lines of a list of tags. Fails if no line is [used](Lines::mark_used) for 1 MiB.
    pub fn with_tags(input: R, end: u8) -> Lines<R> {
        Lines { astray: Some(0), ..Lines::new(input, end) }
    }

    /// Marks the last line as usable.
    pub fn mark_used(&mut self) {
        self.astray = self.astray.map(|_| 0);
    }

    /// Returns the input.
    pub fn into_input(self) -> R {
        self.input
    }

    /// Returns the next line.
    pub fn next_line(&mut self) -> io::Result<Option<NumberedLine<'_>>> {
        self.line.clear();
        let (mut ended, mut any, mut passed) = (false, false, 0);
        while !ended {
            let ready = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                ready => ready?,
            };
            if ready.is_empty() {
                break;
            }
            any = true;
            let end = ready.iter().position(|&byte| byte == self.end);
            let bytes = &ready[..end.unwrap_or(ready.len())];
            // One byte over the limit is kept to mark a line that is too long.
            let room = MAX_BYTES + 1 - self.line.len();
            self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
            let used = bytes.len() + end.is_some() as usize;
            self.input.consume(used);
            passed += used;
            if passed > MAX_PASSED {
                let what = "a line is longer than 1 MiB";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            ended = end.is_some();
        }
        if !any {
            return Ok(None);
        }
        self.number += 1;
        if let Some(astray) = &mut self.astray {
            *astray += self.line.len().min(MAX_BYTES) + 1;
            if *astray > MAX_ASTRAY {
                let what = "1 MiB without the line of a tag: the rest was not read";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        }
        let bytes = (self.line.len() <= MAX_BYTES).then_some(&*self.line);
        Ok(Some(NumberedLine { number: self.number, bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8], buffer: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::new(io::BufReader::with_capacity(buffer, input), b'\n');
        let mut out = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            assert_eq!(line.number, out.len() as u64 + 1);
            out.push(line.bytes.map(<[u8]>::to_vec));
        }
        out
    }

    #[test]
    fn lines_come_whole_whatever_the_buffer() {
        for buffer in 1..8 {
            let lines = [Some(b"ab".to_vec()), Some(vec![]), Some(b"c".to_vec())];
            assert_eq!(all(b"ab\n\nc", buffer), lines);
            assert_eq!(all(b"ab\n\nc\n", buffer), lines);
            assert_eq!(all(b"", buffer), []);
        }
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over() {
        let mut input = vec![b'x'; MAX_BYTES];
        input.extend_from_slice(b"\n");
        input.extend_from_slice(&vec![b'x'; MAX_BYTES + 1]);
        input.extend_from_slice(b"\ny");
        let lines = all(&input, 4096);
        assert!(lines[0].is_some() && lines[1].is_none());
        assert_eq!(lines[2].as_deref(), Some(b"y".as_slice()));
    }

    #[test]
    fn a_list_without_tags_is_an_error() {
        let mut lines = Lines::with_tags(io::BufReader::new(io::repeat(b'\n')), b'\n');
        for used in [true, false] {
            for _ in 0..MAX_ASTRAY {
                assert!(lines.next_line().unwrap().is_some());
            }
            if used {
                lines.mark_used();
            }
        }
        assert_eq!(lines.next_line().err().unwrap().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let mut lines = Lines::new(io::BufReader::new(io::repeat(b'x')), b'\n');
        assert_eq!(lines.next_line().err().unwrap().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn limits_are_to_the_byte() {
        for (bytes, ends) in [(MAX_PASSED, false), (MAX_PASSED + 1, true)] {
            let mut input = vec![b'x'; bytes];
            input[bytes - 1] = b'\n';
            let mut lines = Lines::new(&input[..], b'\n');
            let line = lines.next_line();
            assert_eq!(line.is_err(), ends);
            assert!(line.is_ok_and(|line| line.unwrap().bytes.is_none()) != ends);
        }
    }

    #[test]
    fn other_lines_than_tags_are_passed_over_for_a_mebibyte() {
        let line = [vec![b'x'; 1023], vec![b'\n']].concat();
        let input = line.repeat(1025);
        let mut lines = Lines::with_tags(&input[..], b'\n');
        for _ in 0..1024 {
            assert!(lines.next_line().unwrap().is_some());
        }
        assert_eq!(lines.next_line().err().unwrap().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn of_a_line_that_is_too_long_little_is_kept() {
        let input = [vec![b'x'; 4 * MAX_BYTES], vec![b'\n']].concat();
        for buffer in [4096, MAX_BYTES, 8 * MAX_BYTES] {
            let mut lines = Lines::new(io::BufReader::with_capacity(buffer, &input[..]), b'\n');
            assert!(lines.next_line().unwrap().unwrap().bytes.is_none());
            assert_eq!(lines.line.len(), MAX_BYTES + 1);
        }
    }

    /// A reader whose first call fails.
    struct Fails(Option<io::ErrorKind>);

    impl io::Read for Fails {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            if let Some(kind) = self.0.take() {
                return Err(kind.into());
            }
            out[0] = b'\n';
            Ok(1)
        }
    }

    #[test]
    fn interrupted_calls_are_made_again_and_errors_are_given() {
        let read = |kind| {
            let mut lines = Lines::new(io::BufReader::new(Fails(Some(kind))), b'\n');
            lines.next_line().map(|line| line.is_some()).map_err(|error| error.kind())
        };
        assert_eq!(read(io::ErrorKind::Interrupted), Ok(true));
        assert_eq!(read(io::ErrorKind::TimedOut), Err(io::ErrorKind::TimedOut));
    }
}
