//! Manifests: a line for each entry of a tree, closed by one tag. `docs/manifest.md` has the format.

use std::fmt;
use std::fs::{File, Permissions};
use std::io::{self, BufRead, BufReader, Read, Seek, Take, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hkdf::Hkdf;
use sha2::Sha256;
use tagmac::Tag;
use tagmac::any::{Algorithm, AnyMac, AnyStream};
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::error::{Error, Shown, why};
use crate::key::Key;
use crate::lines::{self, Lines};
use crate::mac::Mac;
use crate::seal::args;
use crate::walk::{self, Kind, Spot};

/// What the first line of every version begins with.
const MARK: &str = "tagmac-manifest-";
const VERSION: &str = "1";
const SALT: &[u8] = b"tagmac seal key 1";
/// The last line: this, 64 hex digits, a line feed.
const SEAL: &[u8] = b"seal: ";
const SEAL_LINE: usize = 71;
/// Bytes that are read and written at a time.
const BUFFER: usize = 128 << 10;

/// HMAC-SHA256 under a key derived for seals: no tag of a file can be a seal, nor help to make one.
/// It has no nonce and no limit, whatever the files' MAC has.
pub fn seal_mac(key: &Key) -> AnyMac {
    let mut derived = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(SALT), &key.bytes)
        .expand(key.algorithm.name().as_bytes(), &mut *derived)
        .expect("32 bytes are not too many");
    let hmac = Algorithm::named("HMAC-SHA256").expect("it is in the registry");
    AnyMac::new(hmac, &*derived).expect("HMAC takes 32 bytes")
}

/// What is sealed beside names and contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Permissions of all but links.
    pub mode: bool,
    /// Times of all but directories.
    pub mtime: bool,
    /// Pipes, sockets and devices.
    pub special: bool,
    /// Other file systems are not entered.
    pub one_file_system: bool,
}

impl Options {
    /// As the command line says.
    pub fn of(args: &args::Seal) -> Options {
        let args::Seal { mode, mtime, special, one_file_system, .. } = *args;
        Options { mode, mtime, special, one_file_system }
    }

    fn words(&self) -> [(bool, &'static str); 4] {
        [
            (self.mode, "mode"),
            (self.mtime, "mtime"),
            (self.special, "special"),
            (self.one_file_system, "one-file-system"),
        ]
    }

    fn parse(text: &str) -> Option<Options> {
        let has = |word| text.split(' ').any(|found| found == word);
        let options = Options {
            mode: has("mode"),
            mtime: has("mtime"),
            special: has("special"),
            one_file_system: has("one-file-system"),
        };
        // Only what is written is read.
        (options.to_string() == text).then_some(options)
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> =
            self.words().into_iter().filter_map(|(is, word)| is.then_some(word)).collect();
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(" "))
    }
}

/// What stands above the entries.
#[derive(Clone, Debug)]
pub struct Header {
    /// The algorithm of the files' tags.
    pub algorithm: Algorithm,
    /// Their length.
    pub bits: usize,
    /// The key's public id.
    pub key_id: String,
    /// What is sealed.
    pub options: Options,
}

impl Header {
    /// The header of a manifest made with `mac`.
    pub fn new(mac: &Mac, options: Options) -> Header {
        let (algorithm, bits) = (mac.mac.algorithm(), mac.mac.tag_bits());
        Header { algorithm, bits, key_id: mac.key_id.clone(), options }
    }

    fn text(&self) -> String {
        let Header { algorithm, bits, key_id, options } = self;
        format!(
            "{MARK}{VERSION}\nalgorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n\
             options: {options}\n"
        )
    }

    /// Reads a header and compares it with the MAC in use. No word of it is trusted: what follows
    /// is a refusal, or the check of the seal.
    fn read(lines: &mut Lines<impl BufRead>, name: &str, mac: &Mac) -> Result<Header, Error> {
        let cut = || Error::mismatch(format_args!("{name}: expected a header, found its start"));
        let mut line = |before: &str| {
            let line = lines.next().map_err(|error| unreadable(name, &error))?.ok_or_else(cut)?;
            let text = line.bytes.and_then(|bytes| str::from_utf8(bytes).ok());
            text.and_then(|text| text.strip_prefix(before)).map(String::from).ok_or_else(|| {
                let number = line.number;
                Error::mismatch(match before {
                    MARK => format!(
                        "{name}: expected a manifest made by 'tagmac seal', found something else"
                    ),
                    _ => format!("{name}: line {number}: expected '{before}', found another line"),
                })
            })
        };
        let (own, bits) = (mac.mac.algorithm(), mac.mac.tag_bits());
        let shown = |text: &str| Shown::bytes(text.as_bytes()).to_string();
        let version = line(MARK)?;
        if version != VERSION {
            let found = shown(&version);
            let what = format_args!("{name}: expected {MARK}{VERSION}, found {MARK}{found}");
            return Err(Error::mismatch(what));
        }
        let found = line("algorithm: ")?;
        if found != own.name() {
            let found = shown(&found);
            let what = format_args!("{name}: expected a manifest of {own}, found one of {found}");
            return Err(Error::key(what));
        }
        let found = line("bits: ")?;
        if found != bits.to_string() {
            let found = shown(&found);
            let what = format_args!("{name}: expected tags of {bits} bits, found {found}; see -l");
            return Err(Error::usage(what));
        }
        let (found, own_id) = (line("key id: ")?, &mac.key_id);
        if found != *own_id {
            let found = shown(&found);
            let what = format_args!("{name}: expected the key with id {own_id}, found {found}");
            return Err(Error::key(what));
        }
        let found = line("options: ")?;
        let options = Options::parse(&found).ok_or_else(|| {
            Error::mismatch(format_args!("{name}: expected options, found '{}'", shown(&found)))
        })?;
        Ok(Header::new(mac, options))
    }
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Its path below the root.
    pub path: Vec<u8>,
    /// The permissions, if they are sealed.
    pub mode: Option<u32>,
    /// Seconds since 1970, rounded down, and nanoseconds, if they are sealed.
    pub mtime: Option<(i64, u32)>,
    /// The size and tag of a file.
    pub content: Option<Content>,
    /// Where a link leads.
    pub target: Option<Vec<u8>>,
}

/// What is known of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The size in bytes.
    pub size: u64,
    /// Empty for deterministic MACs.
    pub nonce: Vec<u8>,
    /// `None` if there was no need to read the file.
    pub tag: Option<Tag>,
}

const KINDS: [(Kind, &str); 7] = [
    (Kind::File, "file"),
    (Kind::Directory, "dir"),
    (Kind::Link, "link"),
    (Kind::Pipe, "pipe"),
    (Kind::Socket, "socket"),
    (Kind::CharDevice, "chardev"),
    (Kind::BlockDevice, "blockdev"),
];

/// The word for a kind.
pub fn word(kind: Kind) -> &'static str {
    KINDS.iter().find(|(one, _)| *one == kind).expect("every kind is listed").1
}

/// The mode as it is written.
pub fn mode_text(mode: u32) -> String {
    format!("{mode:04o}")
}

/// The time as it is written.
pub fn mtime_text((seconds, nanoseconds): (i64, u32)) -> String {
    format!("{seconds}.{nanoseconds:09}")
}

const NOTHING: &str = "-";
const ESCAPES: [(u8, u8); 4] = [(b'\\', b'\\'), (b'\t', b't'), (b'\n', b'n'), (b'\r', b'r')];

fn escape(name: &[u8], out: &mut Vec<u8>) {
    for &byte in name {
        match ESCAPES.iter().find(|(plain, _)| *plain == byte) {
            Some((_, letter)) => out.extend_from_slice(&[b'\\', *letter]),
            None => out.push(byte),
        }
    }
}

fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        name.push(match byte {
            b'\\' => {
                let letter = bytes.next()?;
                ESCAPES.iter().find(|(_, one)| one == letter)?.0
            }
            _ => byte,
        });
    }
    Some(name)
}

impl Entry {
    /// Adds the entry's line to `out`.
    pub fn write(&self, header: &Header, out: &mut Vec<u8>) {
        let Header { algorithm, options, .. } = header;
        out.extend_from_slice(word(self.kind).as_bytes());
        let mut field = |text: Option<String>| {
            out.push(b'\t');
            out.extend_from_slice(text.as_deref().unwrap_or(NOTHING).as_bytes());
        };
        if options.mode {
            field(self.mode.map(mode_text));
        }
        if options.mtime {
            field(self.mtime.map(mtime_text));
        }
        let content = self.content.as_ref();
        field(content.map(|content| content.size.to_string()));
        if *algorithm.nonce_bytes().end() > 0 {
            field(content.map(|content| base16ct::lower::encode_string(&content.nonce)));
        }
        field(content.and_then(|content| content.tag).map(|tag| tag.to_string()));
        for name in [Some(&self.path), self.target.as_ref()].into_iter().flatten() {
            out.push(b'\t');
            escape(name, out);
        }
        out.push(b'\n');
    }

    /// The entry of a line, given without its end. Only what [`write`](Entry::write) writes is
    /// taken.
    pub fn parse(line: &[u8], header: &Header) -> Result<Entry, &'static str> {
        let Header { algorithm, bits, options, .. } = header;
        let mut fields = line.split(|&byte| byte == b'\t');
        let mut field = || fields.next().ok_or("expected more columns");
        let first = field()?;
        let kind = KINDS.iter().find(|(_, word)| word.as_bytes() == first);
        let kind = kind.ok_or("expected a kind of entry")?.0;
        if kind.is_special() && !options.special {
            return Err("expected a file, directory or link without the option special");
        }
        let (file, link) = (kind == Kind::File, kind == Kind::Link);
        // A column that is there but says nothing, and one that is not there.
        let some = |text: &[u8], says: bool| match (says, text == NOTHING.as_bytes()) {
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            (true, true) => Err("expected no '-' in a column of this kind"),
            (false, false) => Err("expected '-' in a column that is for other kinds"),
        };
        let mode = match options.mode.then(&mut field).transpose()? {
            Some(text) if some(text, !link)? => {
                let text = str::from_utf8(text).unwrap_or_default();
                Some(u32::from_str_radix(text, 8).map_err(|_| "expected a mode in octal digits")?)
            }
            _ => None,
        };
        let mtime = match options.mtime.then(&mut field).transpose()? {
            Some(text) if some(text, kind != Kind::Directory)? => {
                Some(mtime(text).ok_or("expected a time as SECONDS.NANOSECONDS")?)
            }
            _ => None,
        };
        let (size, nonces) = (field()?, algorithm.nonce_bytes());
        let nonce = if *nonces.end() > 0 { Some(field()?) } else { None };
        let tag = field()?;
        for text in [Some(size), nonce, Some(tag)].into_iter().flatten() {
            some(text, file)?;
        }
        let content = if file {
            let size = str::from_utf8(size).ok().and_then(|size| size.parse().ok());
            let size = size.ok_or("expected a size in bytes")?;
            let nonce = nonce.map(|nonce| base16ct::lower::decode_vec(nonce).unwrap_or_default());
            let nonce = nonce.unwrap_or_default();
            if nonce.len() != *nonces.end() {
                return Err("expected a nonce of the longest length that the algorithm takes");
            }
            let tag = base16ct::lower::decode_vec(tag).ok();
            let tag = tag.and_then(|tag| Tag::new(&tag, *bits).ok());
            Some(Content { size, nonce, tag: Some(tag.ok_or("expected a tag in hex digits")?) })
        } else {
            None
        };
        let mut name =
            || unescape(field()?).ok_or("expected '\\\\', '\\t', '\\n' or '\\r' after \\");
        let path = name()?;
        let target = link.then(name).transpose()?;
        if fields.next().is_some() {
            return Err("expected fewer columns");
        }
        check_path(&path)?;
        if target.as_ref().is_some_and(|target| target.is_empty() || target.contains(&0)) {
            return Err("expected a link's target without zero bytes");
        }
        let entry = Entry { kind, path, mode, mtime, content, target };
        let mut same = Vec::with_capacity(line.len() + 1);
        entry.write(header, &mut same);
        if same.strip_suffix(b"\n") != Some(line) {
            return Err("expected numbers and names in their one form");
        }
        Ok(entry)
    }
}

fn mtime(text: &[u8]) -> Option<(i64, u32)> {
    let (seconds, nanoseconds) = str::from_utf8(text).ok()?.split_once('.')?;
    let nanoseconds = nanoseconds.parse().ok().filter(|n| *n < 1_000_000_000)?;
    Some((seconds.parse().ok()?, nanoseconds))
}

/// Refuses what is no path of an entry below the root.
fn check_path(path: &[u8]) -> Result<(), &'static str> {
    if path.starts_with(b"/") {
        return Err("expected a path below the directory, found an absolute one");
    }
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b".." => return Err("expected a path below the directory, found one with '..'"),
            b"" | b"." => return Err("expected a name between slashes, found none or '.'"),
            name if name.contains(&0) => return Err("expected a path without zero bytes"),
            _ => {}
        }
    }
    Ok(())
}

fn unreadable(name: &str, error: &io::Error) -> Error {
    Error::io(format_args!("{name}: {}", why(error)))
}

/// A manifest that is being written, beside the one that it will replace.
pub struct Writer {
    file: NamedTempFile,
    path: PathBuf,
    header: Header,
    stream: AnyStream,
    buffer: Vec<u8>,
    entries: u64,
    bytes: u64,
}

impl Writer {
    /// A manifest that will be at `path`. Nothing is there before it is whole.
    pub fn create(path: &Path, header: Header, seal: &AnyMac) -> Result<Writer, Error> {
        let name = Shown::name(path);
        if path.as_os_str() == "-" || path.file_name().is_none() {
            return Err(Error::usage(format_args!("-o: expected a file to write, found '{name}'")));
        }
        // What a manifest takes the place of should be one, not a device or a link to elsewhere.
        if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
            let what = "expected a file or none, found something else";
            return Err(Error::io(format_args!("{name}: {what}")));
        }
        let file = tempfile::Builder::new()
            .prefix(".tagmac-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(walk::folder(path))
            .map_err(|error| Error::io(format_args!("{name}: {}", why(&error))))?;
        let stream = seal.stream(&[]).expect("HMAC takes no nonce");
        let buffer = header.text().into_bytes();
        let path = path.to_path_buf();
        Ok(Writer { file, path, header, stream, buffer, entries: 0, bytes: 0 })
    }

    /// The manifest's place, and that of the file until then.
    pub fn spots(&self) -> Result<[Spot; 2], Error> {
        let spot = |path: &Path| Spot::of(path).map_err(|error| self.failed(&error));
        Ok([spot(&self.path)?, spot(self.file.path())?])
    }

    /// Adds an entry, which follows all others in order.
    pub fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let start = self.buffer.len();
        entry.write(&self.header, &mut self.buffer);
        let found = self.buffer.len() - start - 1;
        if found > lines::MOST {
            let (name, most) = (Shown::bytes(&entry.path).to_string(), lines::MOST);
            let what = format_args!("expected a line of at most {most} bytes, found {found}");
            return Err(Error::io(format_args!("{name}: {what}")));
        }
        self.entries += 1;
        self.bytes += entry.content.as_ref().map_or(0, |content| content.size);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Closes the manifest and puts it in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        let end = format!("entries: {}\nbytes: {}\n", self.entries, self.bytes);
        self.buffer.extend_from_slice(end.as_bytes());
        self.flush()?;
        let seal = self.stream.fork().tag().expect("HMAC has no limit");
        self.buffer.extend_from_slice(SEAL);
        self.buffer.extend_from_slice(format!("{seal}\n").as_bytes());
        self.flush()?;
        self.file.as_file().sync_all().map_err(|error| self.failed(&error))?;
        let name = Shown::name(&self.path).to_string();
        let failed = |error: &io::Error| unreadable(&name, error);
        self.file.persist(&self.path).map_err(|error| failed(&error.error))?;
        // Without this the new name could be lost if the machine stops.
        File::open(walk::folder(&self.path))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| failed(&error))
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.stream.update(&self.buffer);
        self.file.write_all(&self.buffer).map_err(|error| self.failed(&error))?;
        self.buffer.clear();
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> Error {
        unreadable(&Shown::name(&self.path).to_string(), error)
    }
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
        let name = Shown::name(path).to_string();
        let failed = |error: io::Error| unreadable(&name, &error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            // It is read twice.
            return Err(Error::io(format_args!("{name}: expected a file, found something else")));
        }
        let header = Header::read(&mut Lines::new(BufReader::new(&file), b'\n'), &name, mac)?;
        let mut end = [0; SEAL_LINE];
        let body = metadata.len().saturating_sub(SEAL_LINE as u64);
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
            "{}: expected a manifest that stays, found that it changed while it was read: nothing \
             said so far counts",
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
        if Header::read(&mut lines, &self.name, mac)?.options != self.header.options {
            return Err(self.changed());
        }
        let (last, folders) = (Vec::new(), Vec::new());
        Ok(Entries { manifest: self, lines: Some(lines), last, folders, entries: 0, bytes: 0 })
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
    /// The path of the last entry.
    last: Vec<u8>,
    /// The lengths of those of its beginnings that are directories.
    folders: Vec<usize>,
    entries: u64,
    bytes: u64,
}

impl Entries<'_> {
    fn read(&mut self) -> Result<Option<Entry>, Error> {
        let Some(lines) = &mut self.lines else { return Ok(None) };
        let name = &self.manifest.name;
        let wrong =
            |number: u64, why: &str| Error::mismatch(format_args!("{name}: line {number}: {why}"));
        let line = lines.next().map_err(|error| unreadable(name, &error))?;
        let Some(line) = line else {
            return Err(Error::mismatch(format_args!("{name}: expected an end, found none")));
        };
        let number = line.number;
        let bytes = line.bytes.ok_or_else(|| wrong(number, "expected a shorter line"))?;
        if bytes.starts_with(b"entries: ") {
            let expected = format!("entries: {}", self.entries);
            if bytes != expected.as_bytes() {
                return Err(wrong(number, &format!("expected '{expected}', found another number")));
            }
            return self.end(number + 1).map(|()| None);
        }
        let entry = Entry::parse(bytes, &self.manifest.header).map_err(|why| wrong(number, why))?;
        if self.entries > 0 && walk::order(&self.last, &entry.path).is_ge() {
            let same = if self.last == entry.path { "the same path" } else { "one that is before" };
            return Err(wrong(number, &format!("expected a path after the last, found {same}")));
        }
        let folder = walk::split(&entry.path).0;
        self.folders.retain(|&end| end <= folder.len());
        let inside = folder.is_empty()
            || self.last.starts_with(folder) && self.folders.last() == Some(&folder.len());
        if !inside {
            return Err(wrong(number, "expected the path's directory before it, found none"));
        }
        if entry.kind == Kind::Directory {
            self.folders.push(entry.path.len());
        }
        self.entries += 1;
        self.bytes += entry.content.as_ref().map_or(0, |content| content.size);
        self.last.clone_from(&entry.path);
        Ok(Some(entry))
    }

    fn end(&mut self, number: u64) -> Result<(), Error> {
        let Some(mut lines) = self.lines.take() else { return Ok(()) };
        let name = &self.manifest.name;
        let expected = format!("bytes: {}", self.bytes);
        let failed = |error| unreadable(name, &error);
        let last = lines.next().map_err(failed)?;
        let last = last.is_some_and(|line| line.bytes == Some(expected.as_bytes()));
        if !last || lines.next().map_err(failed)?.is_some() {
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
