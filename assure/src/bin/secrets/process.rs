//! Reads and searches the memory of another process.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::known::{Hit, Known};

/// Opens the memory of a process, before the process forbids that.
pub fn open(pid: i32) -> io::Result<File> {
    File::open(format!("/proc/{pid}/mem"))
}

/// Searches all writable memory of a process: heaps, stacks and data.
pub fn search(pid: i32, memory: &File, known: &Known) -> io::Result<(u64, Vec<Hit>)> {
    let (mut hits, mut searched) = (Vec::new(), 0);
    for line in std::fs::read_to_string(format!("/proc/{pid}/maps"))?.lines() {
        let mut words = line.split_whitespace();
        let (range, access) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let place = words.last().unwrap_or("").to_string();
        if !access.starts_with("rw") || place == "[vvar]" {
            continue;
        }
        let (start, end) = range.split_once('-').unwrap_or(("0", "0"));
        let number = |hex| u64::from_str_radix(hex, 16).unwrap_or(0);
        let (start, end) = (number(start), number(end));
        let mut contents = vec![0; (end - start) as usize];
        // Unreadable memory was never touched, or belongs to a device.
        if memory.read_exact_at(&mut contents, start).is_err() {
            continue;
        }
        searched += end - start;
        for hit in known.hits(&contents) {
            let offset = hit.at;
            let what = format!("{} in {place} {start:x}+{offset:x}", hit.what);
            hits.push(Hit { at: start as usize + offset, what });
        }
    }
    Ok((searched, hits))
}
