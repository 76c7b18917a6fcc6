//! Manifests: a line for each entry of a tree, and a seal over all lines.
//! `docs/formats/manifest.md` specifies the format.

pub mod entry;
pub(crate) mod error;
pub mod header;
pub(crate) mod listed;
pub(crate) mod name;
pub mod options;
pub mod stamp;
#[cfg(test)]
mod tests;
mod unreadable;
pub(crate) mod writer;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Take};
use std::path::Path;

use crate::dir::{self, EntryKind};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::line_reader::Lines;
use crate::open;
use crate::open_key::OpenKey;
use crate::read_error::ReadError;
use crate::sys::FileExt;
use tagmac::Tag;
use tagmac::isa::Level;
use tagmac::save::{Purpose, derive};
use tagmac_any::{Algorithm, AnyMac, AnyStream};

use crate::manifest::entry::Entry;
pub use crate::manifest::error::ManifestError;
use crate::manifest::header::Header;
use crate::manifest::unreadable::unreadable;
use crate::raw_key::RawKey;

/// The last line: this, 64 hex digits and a line feed.
pub const SEAL: &[u8] = b"seal: ";
const SEAL_LINE: usize = 71;
/// Bytes read or written at a time.
pub const BUFFER: usize = 128 << 10;

/// Returns the MAC of seals: HMAC-SHA256 under a separate derived key, so that no tag of a file is a
/// seal or helps to forge one. It needs no nonce and has no limit, unlike some MACs of files.
pub fn seal_mac(key: &RawKey) -> AnyMac {
    derived_hmac(Purpose::Manifest, 256, key)
}

/// Returns HMAC-SHA256 with tags of `bits` bits, under a key that is derived for a purpose.
pub(crate) fn derived_hmac(purpose: Purpose, bits: usize, key: &RawKey) -> AnyMac {
    let derived = derive(purpose, key.algorithm.name(), &key.bytes);
    let hmac = Algorithm::from_name("HMAC-SHA256").expect("it is in the registry");
    AnyMac::with_options(hmac, &*derived, bits, Level::best()).expect("HMAC takes 32 bytes")
}

/// A manifest with a verified seal.
pub struct Manifest {
    /// The header.
    pub header: Header,
    /// The number of entries.
    pub entries: u64,
    /// The sum of all file sizes in bytes.
    pub bytes: u64,
    /// The seal.
    pub seal: Tag,
    file: File,
    name: String,
    /// The length of the sealed text.
    body: u64,
    mac: AnyMac,
}

impl Manifest {
    /// Opens a manifest and verifies its seal.
    pub fn open(path: &Path, key: &OpenKey, seal_mac: AnyMac) -> Result<Manifest, Error> {
        let manifest = Manifest::verified(path, key, seal_mac)?;
        // Checked after the seal: before, anyone could have chosen the number of bits.
        let (expected, found) = (key.mac.tag_bits(), manifest.header.bits);
        if expected != found {
            let manifest = manifest.name;
            return Err(ManifestError::TagBits { manifest, expected, found }.into());
        }
        Ok(manifest)
    }

    /// Opens a manifest with tags of any length and verifies its seal.
    pub(crate) fn verified(
        path: &Path,
        key: &OpenKey,
        seal_mac: AnyMac,
    ) -> Result<Manifest, Error> {
        let name = Escaped::name(path).to_string();
        let failed = |error: io::Error| unreadable(&name, &error);
        // The manifest is read twice, so it must be a regular file.
        let opened = open::regular(path);
        let (file, facts) = opened.map_err(|error| match error {
            ReadError::Directory => ManifestError::Directory { manifest: name.clone() }.into(),
            _ => Error::file(path, error),
        })?;
        let header = Header::read(&mut Lines::new(BufReader::new(&file), b'\n'), &name, key)?;
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
                "{name}: the last line is not 'seal: ' and 64 hex digits: the manifest was cut off \
                 or changed"
            ))
        })?;
        let mut manifest =
            Manifest { header, entries: 0, bytes: 0, seal, file, name, body, mac: seal_mac };
        let mut all = manifest.read().map_err(|error| unreadable(&manifest.name, &error))?;
        io::copy(&mut all, &mut io::sink()).map_err(|error| unreadable(&manifest.name, &error))?;
        if all.stream.verify(&seal).is_err() {
            return Err(Error::mismatch(format_args!(
                "{}: the seal does not match: the manifest has changed since it was sealed",
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
            let what = "expected 'entries: ' and 'bytes: ' before the seal";
            Error::mismatch(format_args!("{}: {what}", self.name))
        })?;
        Ok(())
    }

    /// Returns the exclusion of this manifest from a tree that contains it. `path` must be free of
    /// links.
    pub fn exclusion(&self, path: &Path) -> io::Result<Exclusion> {
        Exclusion::of_file(path, &self.file)
    }

    /// Reads bytes of the sealed text, which may have changed since the seal was verified.
    pub(crate) fn text_at(&self, text: &mut [u8], at: u64) -> Result<(), Error> {
        self.file.read_exact_at(text, at).map_err(|error| unreadable(&self.name, &error))
    }

    pub(crate) fn changed(&self) -> Error {
        Error::io(format_args!(
            "{}: the manifest changed while it was read: nothing reported so far is valid",
            self.name
        ))
    }

    /// Reads the sealed text from the start.
    fn read(&self) -> io::Result<Sealed<'_>> {
        (&self.file).rewind()?;
        let input = BufReader::with_capacity(BUFFER, (&self.file).take(self.body));
        Ok(Sealed { input, stream: self.mac.stream(&[]).expect("HMAC takes no nonce") })
    }

    /// Returns the entries in a second reading. The seal is verified again after the last one: if
    /// the file changed in between, everything read is invalid.
    pub fn entries(&self, key: &OpenKey) -> Result<Entries<'_>, Error> {
        let sealed = self.read().map_err(|error| unreadable(&self.name, &error))?;
        let mut lines = Lines::new(sealed, b'\n');
        let header = Header::read(&mut lines, &self.name, key)?;
        if header != self.header {
            return Err(self.changed());
        }
        Ok(Entries { manifest: self, lines: Some(lines), sequence: Sequence::default() })
    }
}

/// Reads a manifest and computes its seal.
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
    /// `None` after the end or an error.
    lines: Option<Lines<Sealed<'a>>>,
    sequence: Sequence,
}

/// Parses lines of entries and checks that each follows the previous ones.
#[derive(Default)]
pub(crate) struct Sequence {
    /// The path of the last entry.
    last: Vec<u8>,
    /// The lengths of its prefixes that are directories.
    folders: Vec<usize>,
    entries: u64,
    bytes: u64,
}

impl Sequence {
    /// Parses the next line, without its line feed.
    pub(crate) fn entry(&mut self, line: &[u8], header: &Header) -> Result<Entry, String> {
        let entry = Entry::parse(line, header)?;
        // Every path is after the empty one, which is the initial value.
        if dir::order(&self.last, &entry.path).is_ge() {
            let same = if self.last == entry.path { "the same as" } else { "before" };
            return Err(format!("the path is {same} that of the previous entry"));
        }
        let folder = dir::split(&entry.path).0;
        self.folders.retain(|&end| end <= folder.len());
        let inside = folder.is_empty()
            || self.last.starts_with(folder) && self.folders.last() == Some(&folder.len());
        if !inside {
            return Err("the path's directory is not listed before it".into());
        }
        if entry.kind == EntryKind::Directory {
            self.folders.push(entry.path.len());
        }
        self.entries += 1;
        let bytes = self.bytes.checked_add(entry.size());
        self.bytes = bytes.ok_or("the files have 2^64 bytes or more in all")?;
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
            return Err(Error::mismatch(format_args!("{name}: the line 'entries: ' is missing")));
        };
        let number = line.number;
        let bytes = line.bytes.ok_or_else(|| wrong(number, "the line is too long"))?;
        if bytes.starts_with(b"entries: ") {
            let expected = format!("entries: {}", self.sequence.entries);
            if bytes != expected.as_bytes() {
                return Err(wrong(number, &format!("expected '{expected}'")));
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
            let what = format_args!("expected '{expected}' and then the end");
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
