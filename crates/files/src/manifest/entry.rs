//! The entries of a manifest, and their form as lines.

use crate::day::Day;
use crate::dir::EntryKind;
use tagmac::Tag;

use crate::column::{parse_time, push_hex, push_number, push_time};
use crate::manifest::header::Header;
use crate::manifest::name::{escape, unescape};
use crate::manifest::stamp::Stamp;
use crate::plain;

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kind.
    pub kind: EntryKind,
    /// The path below the root.
    pub path: Vec<u8>,
    /// The permissions, if they are sealed.
    pub mode: Option<u32>,
    /// The modification time, if it is sealed: seconds since 1970, rounded down, and nanoseconds.
    pub mtime: Option<(i64, u32)>,
    /// The numeric owner and group, if they are sealed.
    pub owner: Option<(u32, u32)>,
    /// A tag of the extended attributes, if they are sealed.
    pub xattrs: Option<Tag>,
    /// For a file, its size and tag.
    pub content: Option<Content>,
    /// For a file, the day on which it was last read for a seal.
    pub read: Option<Day>,
    /// For a file that had not just changed when it was read, its times and place.
    pub stamp: Option<Stamp>,
    /// For a link, its target.
    pub target: Option<Vec<u8>>,
}

/// The content of a file, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The size in bytes.
    pub size: u64,
    /// Empty for deterministic MACs.
    pub nonce: Vec<u8>,
    /// `None` if the file was not read.
    pub tag: Option<Tag>,
}

const KINDS: [(EntryKind, &str); 7] = [
    (EntryKind::File, "file"),
    (EntryKind::Directory, "dir"),
    (EntryKind::Link, "link"),
    (EntryKind::Pipe, "pipe"),
    (EntryKind::Socket, "socket"),
    (EntryKind::CharDevice, "chardev"),
    (EntryKind::BlockDevice, "blockdev"),
];

/// Returns the word for a kind.
pub fn word(kind: EntryKind) -> &'static str {
    KINDS.iter().find(|(one, _)| *one == kind).expect("every kind is listed").1
}

/// Formats a mode as in a line.
pub fn mode_text(mode: u32) -> String {
    format!("{mode:04o}")
}

/// Formats a time as in a line.
pub fn mtime_text(time: (i64, u32)) -> String {
    let mut text = Vec::new();
    push_time(time, &mut text);
    String::from_utf8(text).expect("digits are text")
}

/// Formats an owner as in a line.
pub fn owner_text((user, group): (u32, u32)) -> String {
    format!("{user}:{group}")
}

fn owner(text: &[u8]) -> Option<(u32, u32)> {
    let (user, group) = str::from_utf8(text).ok()?.split_once(':')?;
    Some((user.parse().ok()?, group.parse().ok()?))
}

/// The length of a tag of extended attributes in bits.
pub const XATTR_BITS: usize = 128;
const NOTHING: &str = "-";

impl Entry {
    /// An entry of a kind. Nothing else is known yet, not even the path.
    pub fn new(kind: EntryKind) -> Entry {
        Entry {
            kind,
            path: Vec::new(),
            mode: None,
            mtime: None,
            owner: None,
            xattrs: None,
            content: None,
            read: None,
            stamp: None,
            target: None,
        }
    }

    /// Returns the size in bytes; 0 for an entry that is not a file.
    pub fn size(&self) -> u64 {
        self.content.as_ref().map_or(0, |content| content.size)
    }

    /// Appends the entry's line to `out`.
    pub fn write(&self, header: &Header, out: &mut Vec<u8>) {
        let Header { algorithm, options, .. } = header;
        out.extend_from_slice(word(self.kind).as_bytes());
        if options.mode {
            column(out, self.mode, |mode, out| out.extend_from_slice(mode_text(mode).as_bytes()));
        }
        if options.mtime {
            column(out, self.mtime, push_time);
        }
        if options.owner {
            column(out, self.owner, |owner, out| {
                out.extend_from_slice(owner_text(owner).as_bytes());
            });
        }
        if options.xattrs {
            column(out, self.xattrs, |tag, out| push_hex(tag.as_bytes(), out));
        }
        let content = self.content.as_ref();
        column(out, content, |content, out| push_number(content.size, 1, out));
        if algorithm.takes_nonce() {
            column(out, content, |content, out| push_hex(&content.nonce, out));
        }
        let tag = content.and_then(|content| content.tag);
        column(out, tag, |tag, out| push_hex(tag.as_bytes(), out));
        if !header.is_old() {
            column(out, self.read, |day, out| day.push(out));
            column(out, self.stamp, |stamp, out| stamp.push(out));
        }
        for name in [Some(&self.path), self.target.as_ref()].into_iter().flatten() {
            out.push(b'\t');
            escape(name, out);
        }
        out.push(b'\n');
    }

    /// Parses a line without its line feed. Accepts only what [`write`](Entry::write) produces.
    pub fn parse(line: &[u8], header: &Header) -> Result<Entry, &'static str> {
        let Header { algorithm, bits, options, .. } = header;
        let mut fields = line.split(|&byte| byte == b'\t');
        let mut field = || fields.next().ok_or("expected more columns");
        let first = field()?;
        let kind = KINDS.iter().find(|(_, word)| word.as_bytes() == first);
        let kind = kind.ok_or("expected a kind of entry")?.0;
        if kind.is_special() && !options.special {
            return Err("expected a file, directory or link: the options lack 'special'");
        }
        let (file, link) = (kind == EntryKind::File, kind == EntryKind::Link);
        // A column has '-' if and only if the kind does not use it.
        let some = |text: &[u8], says: bool| match (says, text == NOTHING.as_bytes()) {
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            (true, true) => Err("expected a value, found '-'"),
            (false, false) => Err("expected '-' in a column that this kind does not use"),
        };
        let mode = match options.mode.then(&mut field).transpose()? {
            Some(text) if some(text, !link)? => {
                let text = str::from_utf8(text).unwrap_or_default();
                Some(u32::from_str_radix(text, 8).map_err(|_| "expected a mode in octal digits")?)
            }
            _ => None,
        };
        let mtime = match options.mtime.then(&mut field).transpose()? {
            Some(text) if some(text, kind != EntryKind::Directory)? => {
                Some(parse_time(text).ok_or("expected a time as SECONDS.NANOSECONDS")?)
            }
            _ => None,
        };
        let owner = match options.owner.then(&mut field).transpose()? {
            Some(text) => Some(owner(text).ok_or("expected an owner and a group as UID:GID")?),
            None => None,
        };
        let xattrs = match options.xattrs.then(&mut field).transpose()? {
            Some(text) if some(text, file || kind == EntryKind::Directory)? => {
                let tag = base16ct::lower::decode_vec(text).ok();
                let tag = tag.and_then(|tag| Tag::new(&tag, XATTR_BITS).ok());
                Some(tag.ok_or("expected a tag of the attributes in hex digits")?)
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
                return Err("expected a nonce of the algorithm's maximum length");
            }
            let tag = base16ct::lower::decode_vec(tag).ok();
            let tag = tag.and_then(|tag| Tag::new(&tag, *bits).ok());
            Some(Content { size, nonce, tag: Some(tag.ok_or("expected a tag in hex digits")?) })
        } else {
            None
        };
        let (mut read, mut stamp) = (None, None);
        if !header.is_old() {
            let text = field()?;
            if some(text, file)? {
                read = Some(Day::parse(text).ok_or("expected a day as YYYY-MM-DD")?);
            }
            let text = field()?;
            if file && text != NOTHING.as_bytes() {
                stamp = Some(Stamp::parse(text).ok_or("expected MTIME,CTIME,INODE,DEVICE or '-'")?);
            } else {
                some(text, false)?;
            }
        }
        let mut name =
            || unescape(field()?).ok_or("expected '\\\\', '\\t', '\\n' or '\\r' after \\");
        let path = name()?;
        let target = link.then(name).transpose()?;
        if fields.next().is_some() {
            return Err("expected fewer columns");
        }
        plain::check(&path)?;
        if target.as_ref().is_some_and(|target| target.is_empty() || target.contains(&0)) {
            return Err("expected a link's target without zero bytes");
        }
        let entry = Entry { kind, path, mode, mtime, owner, xattrs, content, read, stamp, target };
        let mut same = Vec::with_capacity(line.len() + 1);
        entry.write(header, &mut same);
        if same.strip_suffix(b"\n") != Some(line) {
            return Err("expected numbers and names in canonical form");
        }
        Ok(entry)
    }
}

/// Appends a tab and a column, which is `-` without a value.
fn column<T>(out: &mut Vec<u8>, value: Option<T>, push: impl FnOnce(T, &mut Vec<u8>)) {
    out.push(b'\t');
    match value {
        Some(value) => push(value, out),
        None => out.extend_from_slice(NOTHING.as_bytes()),
    }
}
