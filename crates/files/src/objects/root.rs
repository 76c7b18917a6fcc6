//! The root: a line for each shard, and a seal over them.

use tagmac::Tag;

use crate::error::Error;
use crate::objects::line::Lines;
use crate::objects::manifest_key::{ManifestFile, ManifestKey};
use crate::objects::record::ShardRecord;
use crate::objects::{MAX_ROOT_BYTES, SHARD_ENTRIES};

const SHARDS: &str = "shards: ";
const ENTRIES: &str = "entries: ";
const BYTES: &str = "bytes: ";
/// Lines above the first record.
const HEAD_LINES: usize = 4;

/// Totals of the shards so far. Checks that each shard follows the previous ones.
#[derive(Default)]
struct Sum {
    shards: u64,
    entries: u64,
    bytes: u64,
    last: Vec<u8>,
}

impl Sum {
    fn add(&mut self, record: &ShardRecord) -> Result<(), String> {
        let (expected, found) = (self.shards, record.number);
        if expected != found {
            return Err(format!("expected shard {expected}, found shard {found}"));
        }
        if self.entries != self.shards * SHARD_ENTRIES as u64 {
            return Err(format!("expected {SHARD_ENTRIES} entries in every shard but the last"));
        }
        if self.last >= record.first {
            return Err("expected names after those of the previous shard".into());
        }
        self.shards += 1;
        self.entries += record.entries;
        let bytes = self.bytes.checked_add(record.bytes);
        self.bytes = bytes.ok_or("the objects have 2^64 bytes or more in all")?;
        self.last.clone_from(&record.last);
        Ok(())
    }
}

/// A root that is being built.
pub struct RootBuilder<'a> {
    key: &'a ManifestKey,
    text: Vec<u8>,
    sum: Sum,
}

impl<'a> RootBuilder<'a> {
    /// Creates a root without shards, which is that of an empty bucket.
    pub fn new(key: &'a ManifestKey) -> RootBuilder<'a> {
        RootBuilder { key, text: key.head(ManifestFile::Root).into_bytes(), sum: Sum::default() }
    }

    /// Adds the next shard.
    pub fn push(&mut self, record: &ShardRecord) -> Result<(), Error> {
        let wrong = |why: String| Error::usage(format_args!("shard {}: {why}", record.number));
        self.sum.add(record).map_err(wrong)?;
        self.text.extend_from_slice(&record.to_line());
        self.text.push(b'\n');
        // Leaves space for the lines at the end.
        if self.text.len() as u64 + 256 > MAX_ROOT_BYTES {
            return Err(wrong(format!("expected a root of at most {MAX_ROOT_BYTES} bytes")));
        }
        Ok(())
    }

    /// Returns the root's file.
    pub fn seal(self) -> Vec<u8> {
        let RootBuilder { key, mut text, sum: Sum { shards, entries, bytes, .. } } = self;
        let end = format!("{SHARDS}{shards}\n{ENTRIES}{entries}\n{BYTES}{bytes}\n");
        text.extend_from_slice(end.as_bytes());
        key.close(&mut text);
        text
    }
}

/// A root with a verified seal.
pub struct Root {
    /// The number of shards.
    pub shards: u64,
    /// The number of objects.
    pub entries: u64,
    /// The sum of all object sizes in bytes.
    pub bytes: u64,
    /// The seal, which covers the whole manifest.
    pub seal: Tag,
    text: Vec<u8>,
}

impl Root {
    /// Opens a root's file. `shown` is its name in messages.
    pub fn open(key: &ManifestKey, text: Vec<u8>, shown: &str) -> Result<Root, Error> {
        if text.len() as u64 > MAX_ROOT_BYTES {
            return Err(Error::mismatch(format_args!(
                "{shown}: expected a root of at most {MAX_ROOT_BYTES} bytes, found {}",
                text.len()
            )));
        }
        let bits = key.check_head(ManifestFile::Root, &text, shown)?;
        let (body, seal) = key.open(&text).map_err(|not| {
            let lines = &mut Lines::new(&text);
            let wrong = records(lines).err();
            not.error(shown, wrong.map(|why| format!("line {}: {why}", lines.number())))
        })?;
        // Checked after the seal: before, anyone could have chosen the number of bits.
        let expected = key.bits;
        if bits != expected {
            return Err(Error::usage(format_args!(
                "{shown}: expected tags of {expected} bits, found {bits}"
            )));
        }
        let lines = &mut Lines::new(&text[..body]);
        let checked = records(lines).and_then(|sum| end(lines, &sum).map(|()| sum));
        let Sum { shards, entries, bytes, .. } = checked.map_err(|why| {
            Error::mismatch(format_args!("{shown}: line {}: {why}", lines.number()))
        })?;
        Ok(Root { shards, entries, bytes, seal, text })
    }

    /// Returns the records of the shards, in order.
    pub fn records(&self) -> impl Iterator<Item = ShardRecord> + Send {
        let lines = Lines::new(&self.text).skip(HEAD_LINES).take(self.shards as usize);
        lines.map(|line| ShardRecord::parse(line).expect("all lines were parsed before"))
    }
}

fn records(lines: &mut Lines<'_>) -> Result<Sum, String> {
    let mut sum = Sum::default();
    lines.nth(HEAD_LINES - 1);
    while let Some(line) = lines.until(SHARDS) {
        sum.add(&ShardRecord::parse(line)?)?;
    }
    Ok(sum)
}

fn end(lines: &mut Lines<'_>, sum: &Sum) -> Result<(), String> {
    lines.total(SHARDS, sum.shards)?;
    lines.total(ENTRIES, sum.entries)?;
    lines.total(BYTES, sum.bytes)?;
    lines.end()
}
