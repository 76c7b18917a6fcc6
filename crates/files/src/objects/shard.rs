//! A shard: the lines of up to 65,536 objects in the order of their names, and the tag over them.

use tagmac::Tag;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::objects::SHARD_ENTRIES;
use crate::objects::line::Lines;
use crate::objects::manifest_key::{ManifestFile, ManifestKey};
use crate::objects::object::Object;
use crate::objects::record::ShardRecord;

const NUMBER: &str = "shard: ";
const ENTRIES: &str = "entries: ";
const BYTES: &str = "bytes: ";
/// Lines above the first entry.
const HEAD_LINES: usize = 5;

/// A shard in the making.
pub struct ShardBuilder<'a> {
    key: &'a ManifestKey,
    number: u64,
    text: Vec<u8>,
    entries: usize,
    bytes: u64,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl<'a> ShardBuilder<'a> {
    /// The shard with this number, from 0.
    pub fn new(key: &'a ManifestKey, number: u64) -> ShardBuilder<'a> {
        let text = format!("{}{NUMBER}{number}\n", key.head(ManifestFile::Shard)).into_bytes();
        let (first, last) = (Vec::new(), Vec::new());
        ShardBuilder { key, number, text, entries: 0, bytes: 0, first, last }
    }

    /// Whether it takes no more objects.
    pub fn is_full(&self) -> bool {
        self.entries == SHARD_ENTRIES
    }

    /// Whether it has no objects.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Adds an object, whose name follows all others in byte order.
    pub fn push(&mut self, object: &Object) -> Result<(), Error> {
        let wrong =
            |why: String| Error::usage(format_args!("{}: {why}", Escaped::bytes(&object.name)));
        object.check(self.key).map_err(wrong)?;
        if self.is_full() {
            return Err(wrong(format!(
                "expected a shard with room, found {SHARD_ENTRIES} entries"
            )));
        }
        if self.last >= object.name {
            let last = Escaped::bytes(&self.last);
            return Err(wrong(format!(
                "expected names in byte order, found this one after {last}"
            )));
        }
        let bytes = self.bytes.checked_add(object.size);
        self.bytes = bytes.ok_or_else(|| wrong("expected less than 2^64 bytes in all".into()))?;
        object.write(&mut self.text);
        self.entries += 1;
        self.last.clone_from(&object.name);
        if self.entries == 1 {
            self.first.clone_from(&object.name);
        }
        Ok(())
    }

    /// The shard's file, and what the root says of it. An error if it has no objects.
    pub fn seal(self) -> Result<(Vec<u8>, ShardRecord), Error> {
        let ShardBuilder { key, number, mut text, entries, bytes, first, last } = self;
        let entries = entries as u64;
        text.extend_from_slice(format!("{ENTRIES}{entries}\n{BYTES}{bytes}\n").as_bytes());
        let seal = key.close(&mut text);
        let record =
            ShardRecord { number, length: text.len() as u64, entries, bytes, seal, first, last };
        record.check().map_err(|why| Error::usage(format_args!("shard {number}: {why}")))?;
        Ok((text, record))
    }
}

/// A shard whose seal was checked.
pub struct Shard<'a> {
    key: &'a ManifestKey,
    text: Vec<u8>,
    entries: u64,
}

impl<'a> Shard<'a> {
    /// Opens a shard's file, of which a root says `record`. `shown` is its name in messages. Nothing
    /// in it is used unless it is the very file that the root is of.
    pub fn open(
        key: &'a ManifestKey,
        record: &ShardRecord,
        text: Vec<u8>,
        shown: &str,
    ) -> Result<Shard<'a>, Error> {
        let (expected, found) = (record.length, text.len() as u64);
        if expected != found {
            return Err(Error::mismatch(format_args!(
                "{shown}: expected a shard of {expected} bytes, as the root says, found {found}"
            )));
        }
        let wrong = |body: &[u8]| {
            let mut lines = Lines::new(body);
            let checked = check(key, &mut lines, record);
            checked.err().map(|why| format!("line {}: {why}", lines.number()))
        };
        let (body, seal) =
            key.open(&text).map_err(|not| not.error(shown, wrong(before_seal(&text))))?;
        if seal != record.seal {
            return Err(another(shown, &seal));
        }
        if let Some(why) = wrong(&text[..body]) {
            return Err(Error::mismatch(format_args!("{shown}: {why}")));
        }
        Ok(Shard { key, text, entries: record.entries })
    }

    /// The objects, in order.
    pub fn into_objects(self) -> ShardObjects<'a> {
        let Shard { key, text, entries } = self;
        let mut head = Lines::new(&text);
        head.nth(HEAD_LINES - 1);
        let at = text.len() - head.rest().len();
        ShardObjects { key, text, at, left: entries }
    }
}

/// The objects of a shard, in order. They are made of its text as they come.
pub struct ShardObjects<'a> {
    key: &'a ManifestKey,
    text: Vec<u8>,
    at: usize,
    left: u64,
}

impl Iterator for ShardObjects<'_> {
    type Item = Object;

    fn next(&mut self) -> Option<Object> {
        self.left = self.left.checked_sub(1)?;
        let line = Lines::new(&self.text[self.at..]).next().expect("all lines were read before");
        self.at += line.len() + 1;
        Some(Object::parse(line, self.key).expect("all lines were parsed before"))
    }
}

fn another(shown: &str, seal: &Tag) -> Error {
    Error::mismatch(format_args!(
        "{shown}: expected the shard that the root names, found another one sealed under this key \
         ({seal})"
    ))
}

/// A text without its last line.
fn before_seal(text: &[u8]) -> &[u8] {
    let end = text.strip_suffix(b"\n").unwrap_or(text);
    &text[..end.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)]
}

/// Refuses all but what a shard with this record has above its seal.
fn check(key: &ManifestKey, lines: &mut Lines<'_>, record: &ShardRecord) -> Result<(), String> {
    for expected in key.head(ManifestFile::Shard).lines() {
        if lines.next() != Some(expected.as_bytes()) {
            return Err(format!("expected '{expected}', found another line"));
        }
    }
    lines.total(NUMBER, record.number)?;
    let (mut entries, mut bytes) = (0, 0u64);
    let mut last = Vec::new();
    while let Some(line) = lines.until(ENTRIES) {
        let object = Object::parse(line, key)?;
        if last >= object.name {
            let same = if last == object.name { "the same one" } else { "one that is before" };
            return Err(format!("expected a name after the last, found {same}"));
        }
        if entries == 0 && object.name != record.first {
            return Err("expected the first name that the root says, found another".into());
        }
        entries += 1;
        bytes = bytes.checked_add(object.size).ok_or("expected less than 2^64 bytes in all")?;
        last = object.name;
    }
    lines.total(ENTRIES, entries)?;
    lines.total(BYTES, bytes)?;
    lines.end()?;
    if (entries, bytes, &last) != (record.entries, record.bytes, &record.last) {
        return Err("expected the entries, bytes and last name that the root says".into());
    }
    Ok(())
}
