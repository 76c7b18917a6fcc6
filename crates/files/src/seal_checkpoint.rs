//! The checkpoint of a seal, which lets an interrupted run resume.
//! `docs/formats/seal-checkpoint.md` specifies the format.
//!
//! It holds a line for each file that was read, with its leaf tags if the manifest has some, and grows
//! at its end. Each seal covers all text above, so a kill loses at most the lines after the last seal.
//! A line is used as one of an earlier manifest is: only if the file still has its stamp.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Take, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use tagmac::Tag;
use tagmac_any::{AnyMac, AnyStream};

use crate::atomic::{self, AtomicFile};
use crate::chain::Chain;
use crate::day::Day;
use crate::diagnostic::diagnostic;
use crate::dir::{self, EntryKind};
use crate::error::{Error, io_reason};
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::faults;
use crate::identity::Identity;
use crate::leaf_size;
use crate::leaves::TAG_BYTES;
use crate::line_reader::Lines;
use crate::manifest::entry::Entry;
use crate::manifest::header::Header;
use crate::manifest::options::ManifestOptions;
use crate::manifest::{BUFFER, SEAL};
use crate::open;
use crate::open_key::OpenKey;
use crate::overwrite::Overwrite;
use crate::read_error::ReadError;

const MAGIC: &str = "tagmac-seal-checkpoint-1";
const KEY_ID: &[u8] = b"key id: ";
/// Leaf tags of the file above.
const LEAVES: &[u8] = b"leaves: ";
/// Bytes of leaf tags in a line.
const LEAVES_BYTES: usize = 1024 * TAG_BYTES;
/// The number of lines before the first seal.
const HEAD: usize = 5;
/// Time between two seals of the checkpoint.
const PAUSE: Duration = Duration::from_secs(5);
/// Saving may take at most 1/SHARE of the run time.
const SHARE: u32 = 20;

/// The checkpoint of one seal. The file is locked while this exists.
pub struct Checkpoint<'a> {
    path: &'a Path,
    file: File,
    /// The header that the form of the lines depends on. No metadata is sealed: a run that resumes
    /// reads all of it again.
    header: Header,
    mac: AnyMac,
    /// The MAC of all text that was written or is in the buffer.
    stream: AnyStream,
    buffer: Vec<u8>,
    /// The length of the file.
    length: u64,
    /// The length of the text that an earlier run sealed.
    earlier: u64,
    /// The path of the last line.
    last: Vec<u8>,
    every: Option<u64>,
    /// Bytes of files since the last seal.
    bytes: u64,
    due: Instant,
    /// Something was recorded since the last seal.
    pending: bool,
    /// Saving failed, so nothing more is saved.
    failed: bool,
}

impl<'a> Checkpoint<'a> {
    /// Opens the checkpoint of a seal of the directory `root`, or creates it. With `leaves`, it keeps
    /// leaf tags of leaves of that length. It is sealed every `every` bytes of files, or every 5
    /// seconds if that is `None`.
    pub fn open(
        path: &'a Path,
        key: &OpenKey,
        mac: &AnyMac,
        root: Identity,
        leaves: Option<u64>,
        every: Option<u64>,
    ) -> Result<Checkpoint<'a>, Error> {
        let options = ManifestOptions { leaves, ..ManifestOptions::default() };
        let chain = Chain::start(Day::today());
        let header = Header::new(key, options, chain, Vec::new());
        let head = head(&header, root);
        let io = |error: io::Error| Error::io(named(path, io_reason(&error)));
        let found = match open::alone(path) {
            Ok(file) => Some(file),
            Err(ReadError::Missing(error)) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(named(path, error))),
        };
        let is_new = found.is_none();
        let file = match found {
            Some(file) => file,
            None => create(path, &sealed_head(&head, mac)).map_err(io)?,
        };
        let stream = mac.stream(&[]).expect("HMAC takes no nonce");
        let mut checkpoint = Checkpoint {
            path,
            file,
            header,
            mac: mac.clone(),
            stream,
            buffer: Vec::new(),
            length: 0,
            earlier: 0,
            last: Vec::new(),
            every,
            bytes: 0,
            due: Instant::now() + PAUSE,
            pending: false,
            failed: false,
        };
        let files = checkpoint.verify(head.as_bytes())?;
        checkpoint.last = match checkpoint.entries()?.last() {
            Some(entry) => entry?.0.path,
            None => Vec::new(),
        };
        faults::set_len(&checkpoint.file, checkpoint.length).map_err(io)?;
        if !is_new {
            // This run may finish before anything else looks for them.
            atomic::sweep(path);
            let name = Escaped::name(path);
            diagnostic(format_args!("{name}: resumed: {files} files were read before"));
        }
        Ok(checkpoint)
    }

    /// Reads the text up to the last seal and checks every seal. Returns the number of files.
    fn verify(&mut self, head: &[u8]) -> Result<u64, Error> {
        let damaged = || self.damaged();
        let mut text =
            Text::new(&self.file, u64::MAX, &self.mac).map_err(|error| self.io(&error))?;
        let mut found = Vec::new();
        for number in 0..HEAD {
            // Anything may be here: only the first line tells that it is a checkpoint.
            let line = text.line().map_err(|error| self.io(&error))?;
            let line = line.unwrap_or_default();
            if number == 0 && line != MAGIC.as_bytes() {
                let what = "not a checkpoint of a seal; name another file";
                return Err(Error::mismatch(named(self.path, what)));
            }
            if let Some(id) = line.strip_prefix(KEY_ID)
                && id != self.header.key_id.to_string().as_bytes()
            {
                let (own, id) = (self.header.key_id, Escaped::text(&id[..id.len().min(100)]));
                let what = format_args!(
                    "the checkpoint is sealed under another key: expected key id {own}, found {id}"
                );
                return Err(Error::key(named(self.path, what)));
            }
            found.extend_from_slice(line);
            found.push(b'\n');
        }
        let (mut files, mut lines, mut sealed) = (0, 0, None);
        loop {
            let before = text.stream.fork();
            let Some(line) = text.line().map_err(|error| self.io(&error))? else { break };
            let Some(hex) = line.strip_prefix(SEAL) else {
                lines += u64::from(!line.starts_with(LEAVES));
                continue;
            };
            let seal = base16ct::lower::decode_vec(hex).ok();
            let seal = seal.and_then(|seal| Tag::try_from(&*seal).ok()).ok_or_else(damaged)?;
            before.verify(&seal).map_err(|_| damaged())?;
            files += std::mem::take(&mut lines);
            sealed = Some((text.stream.fork(), text.position));
        }
        let (stream, length) = sealed.ok_or_else(damaged)?;
        if found != head {
            let what = "the checkpoint is for another directory, or for tags or leaves of another length; \
                 remove it to start over";
            return Err(Error::mismatch(named(self.path, what)));
        }
        (self.stream, self.length, self.earlier) = (stream, length, length);
        Ok(files)
    }

    /// Returns the entries that the earlier run sealed, in order. Each seal is verified again, after
    /// the entries that it covers.
    pub fn entries(&self) -> Result<Entries, Error> {
        let text =
            Text::new(&self.file, self.earlier, &self.mac).map_err(|error| self.io(&error))?;
        let shown = Escaped::name(self.path).to_string();
        let header = self.header.clone();
        Ok(Entries { text: Some(text), shown, header, head: HEAD, last: Vec::new() })
    }

    /// Returns the exclusion of the checkpoint from a tree that contains it.
    pub fn exclusion(&self) -> io::Result<Exclusion> {
        Exclusion::of_file(self.path, &self.file)
    }

    /// Adds a file that was read, and its leaf tags. A file without a stamp could not be recognized
    /// later; one before the last line was changed after it was recorded.
    pub fn record(&mut self, entry: &Entry, leaf_tags: &[u8]) {
        let Some(content) = entry.content.as_ref().filter(|content| content.tag.is_some()) else {
            return;
        };
        let is_later = dir::order(&self.last, &entry.path).is_lt();
        if self.failed || entry.kind != EntryKind::File || entry.stamp.is_none() || !is_later {
            return;
        }
        if leaf_tags.len() as u64 != leaf_bytes(&self.header, entry) {
            return;
        }
        let start = self.buffer.len();
        entry.write(&self.header, &mut self.buffer);
        for tags in leaf_tags.chunks(LEAVES_BYTES) {
            self.buffer.extend_from_slice(LEAVES);
            self.buffer.extend_from_slice(base16ct::lower::encode_string(tags).as_bytes());
            self.buffer.push(b'\n');
        }
        self.stream.update(&self.buffer[start..]);
        self.last.clone_from(&entry.path);
        self.bytes = self.bytes.saturating_add(content.size);
        self.pending = true;
        if self.buffer.len() >= BUFFER {
            let put = self.put();
            self.check(put);
        }
    }

    /// Seals the checkpoint if that is due.
    pub fn save_if_due(&mut self) {
        let due = match self.every {
            Some(every) => self.bytes >= every,
            None => Instant::now() >= self.due,
        };
        if due {
            self.save();
        }
    }

    /// Seals what was recorded.
    pub fn save(&mut self) {
        if self.failed || !self.pending {
            return;
        }
        let started = Instant::now();
        let line = seal_line(&self.stream);
        self.stream.update(&line);
        self.buffer.extend_from_slice(&line);
        let put = self.put().and_then(|()| faults::sync_data(&self.file));
        self.check(put);
        (self.pending, self.bytes) = (false, 0);
        self.due = Instant::now() + PAUSE.max(SHARE * started.elapsed());
    }

    fn put(&mut self) -> io::Result<()> {
        faults::write_all_at(&self.file, &self.buffer, self.length)?;
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Stops saving after an error. Everything that was sealed stays usable.
    fn check(&mut self, saved: io::Result<()>) {
        if let Err(error) = saved {
            self.failed = true;
            let (name, what) = (Escaped::name(self.path), io_reason(&error));
            diagnostic(format_args!(
                "warning: {name}: {what}: the checkpoint is not saved; the run continues"
            ));
        }
    }

    /// Removes the checkpoint, once the manifest is in its place.
    pub fn done(self) {
        if let Err(error) = atomic::remove(self.path, &self.file) {
            let (name, what) = (Escaped::name(self.path), io_reason(&error));
            diagnostic(format_args!("warning: {name}: {what}: not removed"));
        }
    }

    fn io(&self, error: &io::Error) -> Error {
        match error.kind() {
            // A line that is too long.
            io::ErrorKind::InvalidData => self.damaged(),
            _ => Error::io(named(self.path, io_reason(error))),
        }
    }

    fn damaged(&self) -> Error {
        damaged(&Escaped::name(self.path).to_string())
    }
}

/// The entries of a checkpoint, each with its leaf tags.
pub struct Entries {
    /// `None` after the end or an error.
    text: Option<Text>,
    shown: String,
    header: Header,
    /// The number of lines of the head that were not read yet.
    head: usize,
    last: Vec<u8>,
}

impl Entries {
    fn read(&mut self) -> Result<Option<(Entry, Vec<u8>)>, Error> {
        let wrong = |_| damaged(&self.shown);
        let Some(text) = &mut self.text else { return Ok(None) };
        loop {
            let before = text.stream.fork();
            let Some(line) = text.line().map_err(wrong)? else { return Ok(None) };
            if self.head > 0 {
                self.head -= 1;
            } else if let Some(hex) = line.strip_prefix(SEAL) {
                let seal = base16ct::lower::decode_vec(hex).ok();
                let seal = seal.and_then(|seal| Tag::try_from(&*seal).ok());
                let fits = seal.is_some_and(|seal| before.verify(&seal).is_ok());
                if !fits {
                    return Err(damaged(&self.shown));
                }
            } else {
                let entry = Entry::parse(line, &self.header);
                let entry = entry.map_err(|_| damaged(&self.shown))?;
                if dir::order(&self.last, &entry.path).is_ge() {
                    return Err(damaged(&self.shown));
                }
                self.last.clone_from(&entry.path);
                let wanted = leaf_bytes(&self.header, &entry);
                let mut tags = Vec::new();
                while (tags.len() as u64) < wanted {
                    let line = text.line().map_err(wrong)?.unwrap_or_default();
                    let found = line.strip_prefix(LEAVES).filter(|hex| !hex.is_empty());
                    let found = found.and_then(|hex| base16ct::lower::decode_vec(hex).ok());
                    tags.extend_from_slice(&found.ok_or_else(|| damaged(&self.shown))?);
                }
                if tags.len() as u64 != wanted {
                    return Err(damaged(&self.shown));
                }
                return Ok(Some((entry, tags)));
            }
        }
    }
}

impl Iterator for Entries {
    type Item = Result<(Entry, Vec<u8>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.read();
        if !matches!(entry, Ok(Some(_))) {
            self.text = None;
        }
        entry.transpose()
    }
}

/// Reads complete lines and computes their MAC.
struct Text {
    lines: Lines<BufReader<Take<File>>>,
    length: u64,
    /// The length of the lines read.
    position: u64,
    stream: AnyStream,
}

impl Text {
    fn new(file: &File, most: u64, mac: &AnyMac) -> io::Result<Text> {
        let mut file = file.try_clone()?;
        let length = file.metadata()?.len().min(most);
        file.rewind()?;
        faults::before("read")?;
        let lines = Lines::new(BufReader::with_capacity(BUFFER, file.take(length)), b'\n');
        let stream = mac.stream(&[]).expect("HMAC takes no nonce");
        Ok(Text { lines, length, position: 0, stream })
    }

    /// Returns the next line, without its line feed. A line without one ends the file.
    fn line(&mut self) -> io::Result<Option<&[u8]>> {
        let Some(line) = self.lines.next_line()? else { return Ok(None) };
        let line = line.bytes.ok_or(io::ErrorKind::InvalidData)?;
        let end = self.position + line.len() as u64 + 1;
        if end > self.length {
            return Ok(None);
        }
        self.position = end;
        self.stream.update(line);
        self.stream.update(b"\n");
        Ok(Some(line))
    }
}

fn head(header: &Header, root: Identity) -> String {
    let Header { algorithm, bits, key_id, options, .. } = header;
    let Identity { device, inode } = root;
    let leaves = options.leaves.map(|leaf| format!(" leaves={leaf}")).unwrap_or_default();
    format!(
        "{MAGIC}\nalgorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n\
         root: {device} {inode}{leaves}\n"
    )
}

/// Returns the length of a file's leaf tags in bytes.
fn leaf_bytes(header: &Header, entry: &Entry) -> u64 {
    let count = header.options.leaves.map_or(0, |leaf| leaf_size::count(leaf, entry.size()));
    count * TAG_BYTES as u64
}

fn sealed_head(head: &str, mac: &AnyMac) -> Vec<u8> {
    let mut stream = mac.stream(&[]).expect("HMAC takes no nonce");
    stream.update(head.as_bytes());
    [head.as_bytes(), &seal_line(&stream)].concat()
}

fn seal_line(stream: &AnyStream) -> Vec<u8> {
    let seal = stream.fork().tag().expect("HMAC has no limit");
    [SEAL, format!("{seal}\n").as_bytes()].concat()
}

/// Creates a checkpoint, which is locked before it has a name.
fn create(path: &Path, text: &[u8]) -> io::Result<File> {
    let mut file = AtomicFile::new(path, 0o600, Overwrite::Nothing)?;
    file.write_all(text)?;
    file.finish_locked()
}

fn named(path: &Path, what: impl std::fmt::Display) -> String {
    format!("{}: {what}", Escaped::name(path))
}

fn damaged(shown: &str) -> Error {
    Error::mismatch(format_args!("{shown}: the checkpoint is damaged; remove it to start over"))
}

#[cfg(test)]
mod tests;
