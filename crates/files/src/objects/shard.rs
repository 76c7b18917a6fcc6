//! A shard: the lines of up to 65,536 objects in the order of their names, and a seal over them.

use crate::error::Error;
use crate::escaped::Escaped;
use crate::objects::SHARD_ENTRIES;
use crate::objects::line::Lines;
use crate::objects::manifest_key::{FormatVersion, ManifestFile, ManifestKey};
use crate::objects::object::Object;
use crate::objects::record::ShardRecord;
use crate::objects::shard_scan::{BYTES, ENTRIES, HEAD_LINES, NUMBER, ShardScan};

/// A shard that is being built.
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
    /// Creates the shard with this number, from 0.
    pub fn new(key: &'a ManifestKey, number: u64) -> ShardBuilder<'a> {
        let text =
            format!("{}{NUMBER}{number}\n", key.head(ManifestFile::Shard, FormatVersion::V2));
        let (first, last) = (Vec::new(), Vec::new());
        ShardBuilder { key, number, text: text.into(), entries: 0, bytes: 0, first, last }
    }

    /// Returns whether it has the maximum number of objects.
    pub fn is_full(&self) -> bool {
        self.entries == SHARD_ENTRIES
    }

    /// Returns whether it has no objects.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Adds an object. Its name must come after all previous ones in byte order.
    pub fn push(&mut self, object: &Object) -> Result<(), Error> {
        let wrong =
            |why: String| Error::usage(format_args!("{}: {why}", Escaped::bytes(&object.name)));
        object.check(self.key).map_err(wrong)?;
        if self.is_full() {
            return Err(wrong(format!("the shard is full: it has {SHARD_ENTRIES} entries")));
        }
        if self.last >= object.name {
            let last = Escaped::bytes(&self.last);
            return Err(wrong(format!("added after {last}; names must be in byte order")));
        }
        let bytes = self.bytes.checked_add(object.size);
        self.bytes =
            bytes.ok_or_else(|| wrong("the objects have 2^64 bytes or more in all".into()))?;
        object.write(FormatVersion::V2, &mut self.text);
        self.entries += 1;
        self.last.clone_from(&object.name);
        if self.entries == 1 {
            self.first.clone_from(&object.name);
        }
        Ok(())
    }

    /// Returns the shard's file and its record for the root. Fails if it has no objects.
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

/// A shard with a verified seal.
pub struct Shard {
    key: ManifestKey,
    version: FormatVersion,
    text: Vec<u8>,
    entries: u64,
}

impl Shard {
    /// Opens the shard's file that a root of this version describes by `record`. `shown` is its name
    /// in messages. Nothing in it is used unless it is exactly the file that the root names.
    pub fn open(
        key: &ManifestKey,
        version: FormatVersion,
        record: &ShardRecord,
        text: Vec<u8>,
        shown: &str,
    ) -> Result<Shard, Error> {
        // No object has the empty name.
        let mut scan = ShardScan::new(key, (version, None), record, b"");
        scan.update(&text);
        scan.finish(shown)?;
        Ok(Shard { key: key.clone(), version, text, entries: record.entries })
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the offsets of the objects' lines, in order.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = usize> {
        let mut lines = Lines::new(&self.text);
        lines.nth(HEAD_LINES - 1);
        let bytes = self.text.len();
        (0..self.entries).map(move |_| {
            let at = bytes - lines.rest().len();
            lines.next();
            at
        })
    }

    /// Returns the object whose line is at an offset.
    pub(crate) fn object_at(&self, at: usize) -> Object {
        let line = Lines::new(&self.text[at..]).next().expect("all lines were read before");
        Object::parse(line, &self.key, self.version).expect("all lines were parsed before")
    }

    /// Returns the objects, in order.
    pub fn objects(&self) -> impl Iterator<Item = Object> {
        self.offsets().map(|at| self.object_at(at))
    }

    /// Returns the objects, in order.
    pub fn into_objects(self) -> ShardObjects {
        let at = self.offsets().next().unwrap_or_default();
        let left = self.entries;
        ShardObjects { shard: self, at, left }
    }
}

/// The objects of a shard, in order. Each is parsed when it is reached.
pub struct ShardObjects {
    shard: Shard,
    at: usize,
    left: u64,
}

impl Iterator for ShardObjects {
    type Item = Object;

    fn next(&mut self) -> Option<Object> {
        self.left = self.left.checked_sub(1)?;
        let object = self.shard.object_at(self.at);
        let line = Lines::new(&self.shard.text[self.at..]).next().unwrap_or_default();
        self.at += line.len() + 1;
        Some(object)
    }
}
