//! Manifests: a line for each entry of a tree, closed by one tag. `docs/manifest.md` has the format.

pub mod entry;
mod error;
pub mod header;
pub(crate) mod listed;
pub(crate) mod name;
pub(crate) mod writer;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Take};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::dir::{self, Kind};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::line_reader::Lines;
use crate::mac::Mac;
use crate::open;
use crate::read_error::ReadError;
use tagmac::Tag;
use tagmac::dynamic::{Algorithm, AnyMac, AnyStream};
use tagmac::save::{Purpose, derive};

use crate::key::Key;
use crate::manifest::entry::Entry;
use crate::manifest::error::unreadable;
use crate::manifest::header::Header;

/// The last line: this, 64 hex digits, a line feed.
pub const SEAL: &[u8] = b"seal: ";
const SEAL_LINE: usize = 71;
/// Bytes that are read and written at a time.
pub const BUFFER: usize = 128 << 10;

/// HMAC-SHA256 under a key derived for seals: no tag of a file can be a seal, nor help to make one.
/// It has no nonce and no limit, whatever the files' MAC has.
pub fn seal_mac(key: &Key) -> AnyMac {
    let derived = derive(Purpose::Manifest, key.algorithm.name(), &key.bytes);
    let hmac = Algorithm::from_name("HMAC-SHA256").expect("it is in the registry");
    AnyMac::new(hmac, &*derived).expect("HMAC takes 32 bytes")
}

/// A manifest whose seal was checked.
pub struct Manifest {
    /// The header.
    pub header: Header,
    /// The number of entries.
    pub entries: u64,
    /// The bytes of all files.
    pub bytes: u64,
    /// The tag that closes it.
    pub seal: Tag,
    file: File,
    name: String,
    /// The length of what the seal is of.
    body: u64,
    mac: AnyMac,
}

impl Manifest {
    /// Opens a manifest and checks its seal.
    pub fn open(path: &Path, mac: &Mac, seal_mac: AnyMac) -> Result<Manifest, Error> {
        let name = Escaped::name(path).to_string();
        let failed = |error: io::Error| unreadable(&name, &error);
        // It is read twice.
        let opened = open::regular(path);
        let (file, facts) = opened.map_err(|error| match error {
            ReadError::Directory => Error::io(format_args!(
                "{name}: expected a manifest, found a directory; usage: audit MANIFEST DIR"
            )),
            _ => Error::io(format_args!("{name}: {error}")),
        })?;
        let header = Header::read(&mut Lines::new(BufReader::new(&file), b'\n'), &name, mac)?;
        let mut end = [0; SEAL_LINE];
        let body = facts.len().saturating_sub(SEAL_LINE as u64);
        file.read_exact_at(&mut end, body).map_err(failed)?;
        let seal = end
            .strip_prefix(SEAL)
            .and_then(|end| end.strip_suffix(b"\n"))
            .and_then(|hex| base16ct::lower::decode_vec(hex).ok())
            .and_then(|seal| Tag::try_from(&*seal).ok());
        let seal = seal.ok_or_else(|| {
            Error::mismatch(format_args!(
                "{name}: expected 'seal: ' and 64 hex digits on the last line, found something \
                 else: the manifest was cut off or changed"
            ))
        })?;
        let mut manifest =
            Manifest { header, entries: 0, bytes: 0, seal, file, name, body, mac: seal_mac };
        let mut all = manifest.read().map_err(|error| unreadable(&manifest.name, &error))?;
        io::copy(&mut all, &mut io::sink()).map_err(|error| unreadable(&manifest.name, &error))?;
        if all.stream.verify(&seal).is_err() {
            return Err(Error::mismatch(format_args!(
                "{}: the seal does not match: the manifest is not as it was sealed",
                manifest.name
            )));
        }
        // Said of what was sealed: where it was not, the number of bits is nobody's choice.
        let (expected, found) = (mac.mac.tag_bits(), manifest.header.bits);
        if expected != found {
            return Err(Error::usage(format_args!(
                "{}: expected tags of {expected} bits, found {found}; see --tag-bits",
                manifest.name
            )));
        }
        manifest.count()?;
        Ok(manifest)
    }

    /// Reads the two lines before the seal.
    fn count(&mut self) -> Result<(), Error> {
        let mut end = vec![0; self.body.min(64) as usize];
        let start = self.body - end.len() as u64;
        let read = self.file.read_exact_at(&mut end, start);
        read.map_err(|error| unreadable(&self.name, &error))?;
        let text = String::from_utf8_lossy(&end);
        let mut lines = text.strip_suffix('\n').unwrap_or_default().rsplit('\n');
        let mut number = |before| lines.next()?.strip_prefix(before)?.parse().ok();
        let (bytes, entries) = (number("bytes: "), number("entries: "));
        (self.bytes, self.entries) = bytes.zip(entries).ok_or_else(|| {
            let what = "expected 'entries: ' and 'bytes: ' before the seal, found something else";
            Error::mismatch(format_args!("{}: {what}", self.name))
        })?;
        Ok(())
    }

    fn changed(&self) -> Error {
        Error::io(format_args!(
            "{}: the manifest changed while it was read: nothing reported so far is valid",
            self.name
        ))
    }

    /// What the seal is of, from the start.
    fn read(&self) -> io::Result<Sealed<'_>> {
        (&self.file).rewind()?;
        let input = BufReader::with_capacity(BUFFER, (&self.file).take(self.body));
        Ok(Sealed { input, stream: self.mac.stream(&[]).expect("HMAC takes no nonce") })
    }

    /// The entries, from a second reading. After the last one the seal is checked again: the file
    /// could have been changed meanwhile, and then what was read is worth nothing.
    pub fn entries(&self, mac: &Mac) -> Result<Entries<'_>, Error> {
        let sealed = self.read().map_err(|error| unreadable(&self.name, &error))?;
        let mut lines = Lines::new(sealed, b'\n');
        let header = Header::read(&mut lines, &self.name, mac)?;
        if (header.options, header.bits) != (self.header.options, self.header.bits) {
            return Err(self.changed());
        }
        Ok(Entries { manifest: self, lines: Some(lines), sequence: Sequence::default() })
    }
}

/// Reads a manifest and makes its seal.
struct Sealed<'a> {
    input: BufReader<Take<&'a File>>,
    stream: AnyStream,
}

impl Read for Sealed<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.stream.update(&out[..read]);
        Ok(read)
    }
}

impl BufRead for Sealed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.stream.update(&self.input.buffer()[..bytes]);
        self.input.consume(bytes);
    }
}

/// The entries of a manifest, in order.
pub struct Entries<'a> {
    manifest: &'a Manifest,
    /// `None` after the end, or after an error.
    lines: Option<Lines<Sealed<'a>>>,
    sequence: Sequence,
}

/// The lines of entries, each of which has to follow those before it.
#[derive(Default)]
pub(crate) struct Sequence {
    /// The path of the last entry.
    last: Vec<u8>,
    /// The lengths of those of its beginnings that are directories.
    folders: Vec<usize>,
    entries: u64,
    bytes: u64,
}

impl Sequence {
    /// The entry of the next line, given without its end.
    pub(crate) fn entry(&mut self, line: &[u8], header: &Header) -> Result<Entry, String> {
        let entry = Entry::parse(line, header)?;
        if self.entries > 0 && dir::order(&self.last, &entry.path).is_ge() {
            let same = if self.last == entry.path { "the same path" } else { "one that is before" };
            return Err(format!("expected a path after the last, found {same}"));
        }
        let folder = dir::split(&entry.path).0;
        self.folders.retain(|&end| end <= folder.len());
        let inside = folder.is_empty()
            || self.last.starts_with(folder) && self.folders.last() == Some(&folder.len());
        if !inside {
            return Err("expected the path's directory before it, found none".into());
        }
        if entry.kind == Kind::Directory {
            self.folders.push(entry.path.len());
        }
        self.entries += 1;
        let size = entry.content.as_ref().map_or(0, |content| content.size);
        let bytes = self.bytes.checked_add(size);
        self.bytes = bytes.ok_or("expected less than 2^64 bytes in all")?;
        self.last.clone_from(&entry.path);
        Ok(entry)
    }
}

impl Entries<'_> {
    fn read(&mut self) -> Result<Option<Entry>, Error> {
        let Some(lines) = &mut self.lines else { return Ok(None) };
        let name = &self.manifest.name;
        let wrong =
            |number: u64, why: &str| Error::mismatch(format_args!("{name}: line {number}: {why}"));
        let line = lines.next_line().map_err(|error| unreadable(name, &error))?;
        let Some(line) = line else {
            return Err(Error::mismatch(format_args!("{name}: expected an end, found none")));
        };
        let number = line.number;
        let bytes = line.bytes.ok_or_else(|| wrong(number, "expected a shorter line"))?;
        if bytes.starts_with(b"entries: ") {
            let expected = format!("entries: {}", self.sequence.entries);
            if bytes != expected.as_bytes() {
                return Err(wrong(number, &format!("expected '{expected}', found another number")));
            }
            return self.end(number + 1).map(|()| None);
        }
        let entry = self.sequence.entry(bytes, &self.manifest.header);
        entry.map(Some).map_err(|why| wrong(number, &why))
    }

    fn end(&mut self, number: u64) -> Result<(), Error> {
        let Some(mut lines) = self.lines.take() else { return Ok(()) };
        let name = &self.manifest.name;
        let expected = format!("bytes: {}", self.sequence.bytes);
        let failed = |error| unreadable(name, &error);
        let last = lines.next_line().map_err(failed)?;
        let last = last.is_some_and(|line| line.bytes == Some(expected.as_bytes()));
        if !last || lines.next_line().map_err(failed)?.is_some() {
            let what = format_args!("expected '{expected}' and the end, found something else");
            return Err(Error::mismatch(format_args!("{name}: line {number}: {what}")));
        }
        if lines.into_input().stream.verify(&self.manifest.seal).is_err() {
            return Err(self.manifest.changed());
        }
        Ok(())
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Result<Entry, Error>> {
        let entry = self.read();
        if entry.is_err() {
            self.lines = None;
        }
        entry.transpose()
    }
}

#[cfg(test)]
mod tests {
    use tagmac::dynamic::KeyId;

    use super::*;
    use crate::manifest::header::Options;

    /// Found while the fuzz target `manifests` was written: the sum went round, and any total passed.
    #[test]
    fn sizes_that_come_to_2_64_bytes_are_refused() {
        let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
        let (key_id, options) = (KeyId::from([7; 8]), Options::default());
        let header = Header { algorithm, bits: 128, key_id, options };
        for (last, fits) in [(u64::MAX - 700, true), (u64::MAX - 699, false)] {
            let mut sequence = Sequence::default();
            let mut line = |size: u64, name: &str| {
                let line = format!("file\t{size}\t{:032x}\t{name}", 7);
                sequence.entry(line.as_bytes(), &header)
            };
            assert!(line(700, "a").is_ok());
            let found = line(last, "b").map(|_| ());
            let expected = "expected less than 2^64 bytes in all".to_string();
            assert_eq!(found, if fits { Ok(()) } else { Err(expected) });
        }
    }

    #[test]
    fn sizes_that_come_to_2_64_bytes_are_not_written() {
        let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
        let (key_id, options) = (KeyId::from([7; 8]), Options::default());
        let header = Header { algorithm, bits: 128, key_id, options };
        let seal = AnyMac::new(algorithm, &[7; 16]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        let mut writer = writer::Writer::create(&path, header.clone(), &seal).unwrap();
        for (size, name, fits) in [(700, "a", true), (u64::MAX - 699, "b", false)] {
            let line = format!("file\t{size}\t{:032x}\t{name}", 7);
            let written = writer.entry(&Entry::parse(line.as_bytes(), &header).unwrap());
            let expected = "b: expected less than 2^64 bytes in all, found more";
            assert_eq!(written.map_err(|error| error.to_string()).is_ok(), fits, "{expected}");
        }
        drop(writer);
        assert!(!path.exists());
    }

    /// A header with all options, for a MAC with nonces or without.
    fn header(algorithm: &str, bits: usize, all: bool) -> Header {
        let algorithm = Algorithm::from_name(algorithm).unwrap();
        let options = Options { mode: all, mtime: all, special: all, one_file_system: all };
        Header { algorithm, bits, key_id: KeyId::from([7; 8]), options }
    }

    /// What a sequence makes of lines: `None`, or what is wrong with the last one.
    fn sequence(lines: &[&str]) -> Option<String> {
        let (mut sequence, header) = (Sequence::default(), header("PMAC-AES128", 128, false));
        let (last, first) = lines.split_last().unwrap();
        for line in first {
            sequence.entry(line.as_bytes(), &header).unwrap();
        }
        let found = sequence.entry(last.as_bytes(), &header).err();
        let bytes: u64 = lines[..first.len() + usize::from(found.is_none())]
            .iter()
            .filter_map(|line| line.split('\t').nth(1)?.parse::<u64>().ok())
            .sum();
        let entries = first.len() as u64 + u64::from(found.is_none());
        assert_eq!((sequence.entries, sequence.bytes), (entries, bytes));
        found
    }

    #[test]
    fn entries_are_in_order_and_within_their_directories() {
        let tag = "00112233445566778899aabbccddeeff";
        let file = |path: &str| format!("file\t5\t{tag}\t{path}");
        let dir = |path: &str| format!("dir\t-\t-\t{path}");
        let (a, b, d) = (file("a"), file("b"), dir("d"));
        let (da, dd, dda, e, ea) = (file("d/a"), dir("d/d"), file("d/d/a"), dir("e"), file("e/a"));
        let order = Some("expected a path after the last, found one that is before".to_string());
        let same = Some("expected a path after the last, found the same path".to_string());
        let lost = Some("expected the path's directory before it, found none".to_string());
        let cases: [(&[&String], _); 14] = [
            (&[&a], None),
            (&[&a, &b], None),
            (&[&b, &a], order.clone()),
            (&[&a, &a], same),
            (&[&da], lost.clone()),
            (&[&d, &da], None),
            (&[&d, &da, &dd, &dda], None),
            (&[&d, &da, &dda], lost.clone()),
            (&[&d, &dd, &dda, &e, &ea], None),
            (&[&d, &dd, &dda, &ea], lost.clone()),
            // A file is no directory.
            (&[&file("d"), &da], lost.clone()),
            // Out of a directory and in again.
            (&[&d, &da, &e, &da], order),
            (&[&d, &da, &e, &file("d/b")], Some("".into())),
            (&[&dir("d"), &file("d/d"), &dda], lost),
        ];
        for (lines, expected) in cases {
            let lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
            let found = sequence(&lines);
            match expected.as_deref() {
                Some("") => assert!(found.is_some(), "{lines:?}"),
                _ => assert_eq!(found, expected, "{lines:?}"),
            }
        }
    }

    #[test]
    fn what_a_line_says_is_checked_column_by_column() {
        let (plain, full) = (header("PMAC-AES128", 32, false), header("UMAC-32", 32, true));
        let (nonce, long) = ("00".repeat(16), "n/".repeat(2047) + "na");
        let (more, kind) = ("expected more columns", "expected a kind of entry");
        let (other, none) = (
            "expected '-' in a column that is for other kinds",
            "expected no '-' in a column of this kind",
        );
        let (below, between) = (
            "expected a path below the directory, found an absolute one",
            "expected a name between slashes, found none or '.'",
        );
        let one_form = Some("expected numbers and names in their one form");
        let target = Some("expected a link's target without zero bytes");
        let cases = [
            ("file\t5\t0a0b0c0d\ta", None),
            ("file\t5\t0a0b0c0d", Some(more)),
            ("file", Some(more)),
            ("", Some(kind)),
            ("fil\t5\t0a0b0c0d\ta", Some(kind)),
            (
                "pipe\t-\t-\ta",
                Some("expected a file, directory or link without the option special"),
            ),
            ("dir\t-\t-\ta", None),
            ("dir\t5\t-\ta", Some(other)),
            ("dir\t-\t0a0b0c0d\ta", Some(other)),
            ("file\t-\t0a0b0c0d\ta", Some(none)),
            ("file\t5\t-\ta", Some(none)),
            ("link\t-\t-\ta\tb", None),
            ("link\t-\t-\ta", Some(more)),
            ("link\t-\t-\ta\t", target),
            ("link\t-\t-\ta\tb\0", target),
            ("file\t5\t0a0b0c0d\ta\tb", Some("expected fewer columns")),
            ("file\t5x\t0a0b0c0d\ta", Some("expected a size in bytes")),
            ("file\t05\t0a0b0c0d\ta", one_form),
            ("file\t5\t0a0b0c\ta", Some("expected a tag in hex digits")),
            ("file\t5\t0a0b0c0d0e\ta", Some("expected a tag in hex digits")),
            ("file\t5\t0A0B0C0D\ta", Some("expected a tag in hex digits")),
            ("file\t5\t0a0b0c0d\t/a", Some(below)),
            (
                "file\t5\t0a0b0c0d\ta/../b",
                Some("expected a path below the directory, found one with '..'"),
            ),
            ("file\t5\t0a0b0c0d\ta/./b", Some(between)),
            ("file\t5\t0a0b0c0d\ta//b", Some(between)),
            ("file\t5\t0a0b0c0d\t", Some(between)),
            ("file\t5\t0a0b0c0d\ta\0", Some("expected a path without zero bytes")),
            ("file\t5\t0a0b0c0d\ta\\q", Some("expected '\\\\', '\\t', '\\n' or '\\r' after \\")),
            ("file\t5\t0a0b0c0d\ta\\n", None),
        ];
        for (line, expected) in cases {
            assert_eq!(Entry::parse(line.as_bytes(), &plain).err(), expected, "{line:?}");
        }
        let lengths =
            [(&long[..4095], None), (&long[..], None), (&format!("{long}a")[..], Some(()))];
        for (path, expected) in lengths {
            let found = Entry::parse(format!("file\t5\t0a0b0c0d\t{path}").as_bytes(), &plain);
            assert_eq!(
                found.err().map(|why| assert!(why.contains("at most 4096 bytes"))),
                expected
            );
        }
        let (octal, time) =
            ("expected a mode in octal digits", "expected a time as SECONDS.NANOSECONDS");
        let nonces = "expected a nonce of the longest length that the algorithm takes";
        let cases = [
            ("file\t0644\t-7.000000000\t5\tNONCE\t0a0b0c0d\ta", None),
            ("file\t0644\t7.999999999\t5\tNONCE\t0a0b0c0d\ta", None),
            ("file\t0644\t7.1000000000\t5\tNONCE\t0a0b0c0d\ta", Some(time)),
            ("file\t0644\t7\t5\tNONCE\t0a0b0c0d\ta", Some(time)),
            ("file\t0644\tx.000000000\t5\tNONCE\t0a0b0c0d\ta", Some(time)),
            ("file\t0648\t7.000000000\t5\tNONCE\t0a0b0c0d\ta", Some(octal)),
            ("file\t644\t7.000000000\t5\tNONCE\t0a0b0c0d\ta", one_form),
            ("file\t-\t7.000000000\t5\tNONCE\t0a0b0c0d\ta", Some(none)),
            ("file\t0644\t-\t5\tNONCE\t0a0b0c0d\ta", Some(none)),
            ("file\t0644\t7.000000000\t5\t-\t0a0b0c0d\ta", Some(none)),
            ("file\t0644\t7.000000000\t5\t00\t0a0b0c0d\ta", Some(nonces)),
            ("dir\t0755\t-\t-\t-\t-\ta", None),
            ("dir\t-\t-\t-\t-\t-\ta", Some(none)),
            ("dir\t0755\t7.000000000\t-\t-\t-\ta", Some(other)),
            ("dir\t0755\t-\t-\tNONCE\t-\ta", Some(other)),
            ("link\t-\t7.000000000\t-\t-\t-\ta\tb", None),
            ("link\t0777\t7.000000000\t-\t-\t-\ta\tb", Some(other)),
            ("pipe\t0644\t7.000000000\t-\t-\t-\ta", None),
        ];
        for (line, expected) in cases {
            let line = line.replace("NONCE", &nonce);
            assert_eq!(Entry::parse(line.as_bytes(), &full).err(), expected, "{line:?}");
        }
    }

    #[test]
    fn names_have_one_form_in_their_column() {
        for (name, column) in [
            (&b"a"[..], &b"a"[..]),
            (b"", b""),
            (b"\\", b"\\\\"),
            (b"a\tb\nc\rd", b"a\\tb\\nc\\rd"),
            (b"\n\nn\\n", b"\\n\\nn\\\\n"),
        ] {
            let mut out = b"x".to_vec();
            name::escape(name, &mut out);
            assert_eq!(out[1..], *column);
            assert_eq!(name::unescape(column).as_deref(), Some(name));
        }
        for column in [&b"\\"[..], b"a\\", b"\\x", b"a\\\\\\"] {
            assert_eq!(name::unescape(column), None);
        }
    }
}
