//! The root's record of a shard.

use std::io::Write;

use tagmac::Tag;

use crate::manifest::name::escape;
use crate::objects::SHARD_ENTRIES;
use crate::objects::line::Columns;

/// File names have eight digits for a shard's number.
const MAX_NUMBER: u64 = 99_999_999;

/// A shard as its root records it: enough to find the shard, to verify that it is the one that was
/// sealed, and to know its range of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardRecord {
    /// The shard's number, from 0.
    pub number: u64,
    /// The length of its file in bytes.
    pub length: u64,
    /// The number of its entries.
    pub entries: u64,
    /// The sum of its objects' sizes in bytes.
    pub bytes: u64,
    /// Its seal.
    pub seal: Tag,
    /// Its first name.
    pub first: Vec<u8>,
    /// Its last name.
    pub last: Vec<u8>,
}

impl ShardRecord {
    /// Returns the name of the shard's file. It includes a prefix of the seal, so that shards with
    /// other content never replace it: those of the manifest that is being replaced, or of a task
    /// that ran twice.
    pub fn file_name(&self) -> String {
        let start = base16ct::lower::encode_string(&self.seal.as_bytes()[..8]);
        format!("shard-{:08}-{start}", self.number)
    }

    /// Returns the root's line, without its line feed.
    pub fn to_line(&self) -> Vec<u8> {
        let ShardRecord { number, length, entries, bytes, seal, first, last } = self;
        let mut line = Vec::with_capacity(160 + first.len() + last.len());
        write!(line, "{number}\t{length}\t{entries}\t{bytes}\t{seal}\t").expect("memory takes it");
        escape(first, &mut line);
        line.push(b'\t');
        escape(last, &mut line);
        line
    }

    /// Parses a line without its line feed. Accepts only what [`to_line`](ShardRecord::to_line)
    /// produces.
    pub fn parse(line: &[u8]) -> Result<ShardRecord, &'static str> {
        let columns = &mut Columns::new(line);
        let (number, length) = (columns.number()?, columns.number()?);
        let (entries, bytes) = (columns.number()?, columns.number()?);
        let seal = base16ct::lower::decode_vec(columns.bytes()?).ok();
        let seal = seal.filter(|seal| seal.len() == 32).and_then(|seal| Tag::try_from(&*seal).ok());
        let seal = seal.ok_or("expected a seal of 64 hex digits")?;
        let (first, last) = (columns.name()?, columns.name()?);
        columns.end()?;
        let record = ShardRecord { number, length, entries, bytes, seal, first, last };
        if record.to_line() != line {
            return Err("expected numbers and names in canonical form");
        }
        record.check().map(|()| record)
    }

    /// Checks the number, the number of entries and the order of the names.
    pub fn check(&self) -> Result<(), &'static str> {
        let ShardRecord { number, entries, first, last, .. } = self;
        if *number > MAX_NUMBER {
            return Err("expected a shard's number of at most 8 digits");
        }
        if !(1..=SHARD_ENTRIES as u64).contains(entries) {
            return Err("expected 1 to 65536 entries in a shard");
        }
        if first > last || (first == last) != (*entries == 1) {
            return Err("expected a shard's first name before its last one");
        }
        Ok(())
    }
}
