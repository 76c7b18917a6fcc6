//! Finds one object in a shard that comes in pieces, in the memory of a line.

use std::mem;

use tagmac_any::AnyStream;

use crate::error::Error;
use crate::objects::leaf_files::{LeafFile, LeafFileNames};
use crate::objects::manifest_key::{
    FormatVersion, ManifestFile, ManifestKey, NotSealed, SEAL_LINE, parse_seal,
};
use crate::objects::object::Object;
use crate::objects::record::ShardRecord;

pub const NUMBER: &str = "shard: ";
pub const ENTRIES: &str = "entries: ";
pub const BYTES: &str = "bytes: ";
/// Lines above the first entry.
pub const HEAD_LINES: usize = 5;
/// A longer line is not that of an object, whose names and stamps are short.
const MAX_LINE: usize = 16 << 10;

/// An object of a shard, and where its leaf tags are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// The object.
    pub object: Object,
    /// The file of its leaf tags and the number of the first one, if it has some.
    pub leaves: Option<(LeafFile, u64)>,
}

/// A shard that is being read. Nothing in it is used before all of it was verified.
pub(crate) struct ShardScan<'a> {
    key: &'a ManifestKey,
    version: FormatVersion,
    record: &'a ShardRecord,
    /// The name to find.
    name: &'a [u8],
    seal: AnyStream,
    /// The number of bytes so far.
    length: u64,
    /// The start of a line that is not complete.
    line: Vec<u8>,
    /// The last line.
    end: Vec<u8>,
    lines: usize,
    /// The first thing that is wrong, and its line. Later lines are not parsed.
    wrong: Option<String>,
    entries: u64,
    bytes: u64,
    last: Vec<u8>,
    /// True after the line with the number of entries.
    has_entries: bool,
    has_bytes: bool,
    names: Option<LeafFileNames>,
    found: Option<Object>,
    /// The number of the first leaf tag of the object found, until its file ends.
    first: Option<u64>,
    leaves: Option<(LeafFile, u64)>,
}

impl<'a> ShardScan<'a> {
    /// Starts the shard of a root of this version with leaves of `leaf` bytes.
    pub fn new(
        key: &'a ManifestKey,
        (version, leaf): (FormatVersion, Option<u64>),
        record: &'a ShardRecord,
        name: &'a [u8],
    ) -> ShardScan<'a> {
        ShardScan {
            key,
            version,
            record,
            name,
            seal: key.seal_stream(),
            length: 0,
            line: Vec::new(),
            end: Vec::new(),
            lines: 0,
            wrong: None,
            entries: 0,
            bytes: 0,
            last: Vec::new(),
            has_entries: false,
            has_bytes: false,
            names: leaf.map(LeafFileNames::new),
            found: None,
            first: None,
            leaves: None,
        }
    }

    /// Adds the next bytes of the shard.
    pub fn update(&mut self, piece: &[u8]) {
        let body = self.record.length.saturating_sub(SEAL_LINE as u64);
        let left = body.saturating_sub(self.length).min(piece.len() as u64) as usize;
        self.length = self.length.saturating_add(piece.len() as u64);
        let (text, end) = piece.split_at(left);
        // A longer file is not the shard, whatever follows.
        let room = SEAL_LINE.saturating_sub(self.end.len());
        self.end.extend_from_slice(&end[..end.len().min(room)]);
        self.seal.update(text);
        let mut text = text;
        while let (None, Some(at)) = (&self.wrong, text.iter().position(|&byte| byte == b'\n')) {
            let mut line = mem::take(&mut self.line);
            line.extend_from_slice(&text[..at]);
            text = &text[at + 1..];
            self.check(&line);
            line.clear();
            self.line = line;
        }
        if self.wrong.is_none() {
            self.line.extend_from_slice(text);
            if self.line.len() > MAX_LINE {
                self.wrong = Some(format!("line {}: the line is too long", self.lines + 1));
                self.line.clear();
            }
        }
    }

    fn check(&mut self, line: &[u8]) {
        let wrong = self.add(line).err();
        self.wrong = wrong.map(|why| format!("line {}: {why}", self.lines));
    }

    /// Adds a line.
    fn add(&mut self, line: &[u8]) -> Result<(), String> {
        let is = |expected: &str| match line == expected.as_bytes() {
            true => Ok(()),
            false => Err(format!("expected '{expected}'")),
        };
        self.lines += 1;
        if self.lines <= HEAD_LINES {
            let mut head = self.key.head(ManifestFile::Shard, self.version);
            head.push_str(&format!("{NUMBER}{}", self.record.number));
            return is(head.lines().nth(self.lines - 1).unwrap_or_default());
        }
        match (self.has_entries, self.has_bytes) {
            (false, _) if !line.starts_with(ENTRIES.as_bytes()) => {
                self.object(Object::parse(line, self.key, self.version)?)
            }
            (false, _) => {
                self.has_entries = true;
                is(&format!("{ENTRIES}{}", self.entries))
            }
            (true, false) => {
                self.has_bytes = true;
                is(&format!("{BYTES}{}", self.bytes))
            }
            (true, true) => Err("expected no more lines".into()),
        }
    }

    fn object(&mut self, object: Object) -> Result<(), String> {
        if self.last >= object.name {
            let same = if self.last == object.name { "the same as" } else { "before" };
            return Err(format!("the name is {same} the previous one"));
        }
        if self.entries == 0 && object.name != self.record.first {
            return Err("the first name is not that in the root".into());
        }
        self.entries += 1;
        let bytes = self.bytes.checked_add(object.size);
        self.bytes = bytes.ok_or("the objects have 2^64 bytes or more in all")?;
        self.last.clone_from(&object.name);
        if let Some(names) = &mut self.names {
            let before = names.add(&object);
            let has_tags = names.tags() > before;
            if object.name == self.name && has_tags {
                self.first = Some(before);
            }
            if names.is_full() {
                self.leaves = self.leaves.take().or(names.end().zip(self.first.take()));
            }
        }
        if object.name == self.name {
            self.found = Some(object);
        }
        Ok(())
    }

    /// Verifies the shard, and returns the object. `shown` is the shard's name in messages.
    pub fn finish(mut self, shown: &str) -> Result<Option<Located>, Error> {
        let (expected, found) = (self.record.length, self.length);
        if expected != found {
            return Err(Error::mismatch(format_args!(
                "{shown}: expected a shard of {expected} bytes, as in the root, found {found}"
            )));
        }
        let wrong = self.wrong.take().or_else(|| self.wrong_end());
        let seal = match parse_seal(&self.end) {
            Some(seal) if self.line.is_empty() => seal,
            _ => return Err(NotSealed::Cut.error(shown, wrong)),
        };
        if self.seal.verify(&seal).is_err() {
            return Err(NotSealed::Other.error(shown, wrong));
        }
        if seal != self.record.seal {
            return Err(Error::mismatch(format_args!(
                "{shown}: not the shard that the root names, but another one sealed under this key \
                 ({seal})"
            )));
        }
        if let Some(why) = wrong {
            return Err(Error::mismatch(format_args!("{shown}: {why}")));
        }
        let last = self.names.as_mut().and_then(LeafFileNames::end);
        let leaves = self.leaves.or(last.zip(self.first));
        Ok(self.found.map(|object| Located { object, leaves }))
    }

    /// Returns what is wrong with the end of the lines.
    fn wrong_end(&self) -> Option<String> {
        let why = match (self.has_entries, self.has_bytes) {
            (false, _) => format!("expected a line that begins with '{ENTRIES}'"),
            (true, false) => format!("expected a line that begins with '{BYTES}'"),
            (true, true) => {
                let totals = (self.entries, self.bytes, &self.last);
                let expected = (self.record.entries, self.record.bytes, &self.record.last);
                if totals == expected {
                    return None;
                }
                return Some(format!(
                    "line {}: the entries, bytes or last name are not those in the root",
                    self.lines + 1
                ));
            }
        };
        Some(format!("line {}: {why}", self.lines + 1))
    }
}
