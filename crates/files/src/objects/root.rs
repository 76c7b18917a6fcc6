//! The root: the place in the chain, the filters, a line for each shard, and a seal over them.

use tagmac::Tag;

use crate::chain::Chain;
use crate::error::Error;
use crate::filter::{Patterns, read_filters, write_filters};
use crate::manifest::options::ManifestOptions;
use crate::objects::line::Lines;
use crate::objects::manifest_key::{FormatVersion, ManifestFile, ManifestKey};
use crate::objects::record::ShardRecord;
use crate::objects::{MAX_ROOT_BYTES, SHARD_ENTRIES};

const SHARDS: &str = "shards: ";
const ENTRIES: &str = "entries: ";
const BYTES: &str = "bytes: ";
const OPTIONS: &str = "options: ";
/// Lines that a root has in common with a shard.
const HEAD_LINES: usize = 4;

/// The chain and the rules of a manifest, which its root contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootHeader {
    /// True if the objects are those of a list, so that others are not new.
    pub listed: bool,
    /// The place in the chain of manifests.
    pub chain: Chain,
    /// The patterns of the objects left out.
    pub filters: Patterns,
    /// The length of leaves in bytes, if the objects have leaf tags.
    pub leaves: Option<u64>,
}

impl RootHeader {
    fn write(&self) -> Vec<u8> {
        let mut text = format!("{OPTIONS}{}\n", options(self.listed, self.leaves));
        self.chain.write(&mut text);
        write_filters(&self.filters, text.into_bytes())
    }

    /// Parses the header in the next lines, which follow those of the key.
    fn parse(lines: &mut Lines<'_>) -> Result<RootHeader, String> {
        let text = lines.rest();
        let line = |lines: &mut Lines<'_>, label| lines.labelled(label).map(<[u8]>::to_vec);
        let found = String::from_utf8(line(lines, OPTIONS)?).unwrap_or_default();
        let found = ManifestOptions::parse(&found)
            .filter(|found| *found == options(found.listed, found.leaves));
        let ManifestOptions { listed, leaves, .. } =
            found.ok_or("expected the options 'none', 'listed' or 'leaves=' and a number")?;
        let chain = Chain::parse(|label| line(lines, label), String::from)?;
        let filters = read_filters(|label| line(lines, label), String::from)?;
        let header = RootHeader { listed, chain, filters, leaves };
        let length = text.len() - lines.rest().len();
        if header.write() != text[..length] {
            return Err("expected a chain and filters in canonical form".into());
        }
        Ok(header)
    }
}

fn options(listed: bool, leaves: Option<u64>) -> ManifestOptions {
    ManifestOptions { listed, leaves, ..ManifestOptions::default() }
}

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
    /// Creates a root without shards, which is that of an empty bucket. The chain must have a
    /// sequence number.
    pub fn new(key: &'a ManifestKey, header: &RootHeader) -> RootBuilder<'a> {
        let mut text = key.head(ManifestFile::Root, FormatVersion::V2).into_bytes();
        text.extend(header.write());
        RootBuilder { key, text, sum: Sum::default() }
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
    /// The version of the root and of all shards.
    pub version: FormatVersion,
    /// The chain and the filters. Empty in version 1, with the sequence number 0.
    pub header: RootHeader,
    text: Vec<u8>,
    /// The start of the records in the text.
    records: usize,
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
        let (version, bits) = key.check_head(ManifestFile::Root, &text, shown)?;
        let (body, seal) = key.open(&text).map_err(|not| {
            let lines = &mut Lines::new(&text);
            let wrong = header(lines, version).and_then(|_| records(lines)).err();
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
        let mut checked = || {
            let header = header(lines, version)?;
            let start = body - lines.rest().len();
            let sum = records(lines)?;
            end(lines, &sum).map(|()| (header, start, sum))
        };
        let (header, records, Sum { shards, entries, bytes, .. }) = checked().map_err(|why| {
            Error::mismatch(format_args!("{shown}: line {}: {why}", lines.number()))
        })?;
        Ok(Root { shards, entries, bytes, seal, version, header, text, records })
    }

    /// Returns the records of the shards, in order.
    pub fn records(&self) -> impl Iterator<Item = ShardRecord> + Send {
        let lines = Lines::new(&self.text[self.records..]).take(self.shards as usize);
        lines.map(|line| ShardRecord::parse(line).expect("all lines were parsed before"))
    }
}

/// Reads the lines above the records.
fn header(lines: &mut Lines<'_>, version: FormatVersion) -> Result<RootHeader, String> {
    lines.nth(HEAD_LINES - 1);
    match version {
        FormatVersion::V1 => Ok(RootHeader::default()),
        FormatVersion::V2 => RootHeader::parse(lines),
    }
}

fn records(lines: &mut Lines<'_>) -> Result<Sum, String> {
    let mut sum = Sum::default();
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
