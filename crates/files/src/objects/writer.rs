//! Writes a manifest from all objects in order.

use std::collections::BTreeSet;
use std::mem;

use tagmac::Tag;

use crate::chain::Chain;
use crate::day::Day;
use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::filter::Patterns;
use crate::manifest::ManifestError;
use crate::objects::manifest_key::{ManifestFile, ManifestKey};
use crate::objects::object::Object;
use crate::objects::place::{Place, exists};
use crate::objects::root::{Root, RootBuilder, RootHeader};
use crate::objects::shard::ShardBuilder;
use crate::objects::{MAX_ROOT_BYTES, ROOT};

/// A manifest that is being written. The root is written last; until then the manifest that it
/// replaces stays intact.
pub struct Writer<'a> {
    key: &'a ManifestKey,
    place: &'a dyn Place,
    /// The root to replace, and the shards that it names.
    old_root: Option<Vec<u8>>,
    old: BTreeSet<String>,
    /// All shards written.
    files: Vec<String>,
    /// The shards that did not exist before.
    new: Vec<String>,
    shard: ShardBuilder<'a>,
    root: RootBuilder<'a>,
    last: Vec<u8>,
    totals: Totals,
}

/// The totals of a written manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of shards.
    pub shards: u64,
    /// The number of objects.
    pub entries: u64,
    /// The sum of all object sizes in bytes.
    pub bytes: u64,
}

/// The start of a manifest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'a> {
    /// Replaces a manifest that exists, instead of failing.
    pub replace: bool,
    /// Starts a new chain instead of continuing that of the manifest that is replaced.
    pub new_chain: bool,
    /// The place in the chain of an earlier manifest, and its seal. A manifest that replaces no
    /// other continues this chain.
    pub since: Option<(&'a Chain, Tag)>,
    /// True if the objects are those of a list.
    pub listed: bool,
    /// The patterns of the objects left out.
    pub filters: &'a [Vec<u8>],
}

impl<'a> Writer<'a> {
    /// Starts a manifest at `place`. Fails if one exists and may not be replaced, or if its chain
    /// cannot be continued.
    pub fn new(
        key: &'a ManifestKey,
        place: &'a dyn Place,
        start: Start<'_>,
    ) -> Result<Writer<'a>, Error> {
        let there = place.read(ROOT, MAX_ROOT_BYTES)?;
        let shown = place.shown_file(ROOT);
        match &there {
            Some(_) if !start.replace => return Err(exists(&shown)),
            // Fail before all objects are read rather than after.
            Some(text) if !text.starts_with(ManifestFile::Root.magic().as_bytes()) => {
                return Err(Error::io(format_args!(
                    "{shown}: the file exists and is not a manifest's root"
                )));
            }
            _ => {}
        }
        let opened = there.clone().map(|text| Root::open(key, text, &shown)).transpose();
        // If the root's seal does not match, its names are not trusted, and its shards stay.
        let old = opened.as_ref().ok().and_then(Option::as_ref).map(shards_of);
        let header = RootHeader {
            listed: start.listed,
            chain: chain(start, opened)?,
            filters: Patterns::from(start.filters),
        };
        let (shard, root) = (ShardBuilder::new(key, 0), RootBuilder::new(key, &header));
        let (old, totals) = (old.unwrap_or_default(), Totals::default());
        Ok(Writer {
            key,
            place,
            old_root: there,
            old,
            files: Vec::new(),
            new: Vec::new(),
            shard,
            root,
            last: Vec::new(),
            totals,
        })
    }

    /// Adds an object. Its name must come after all previous ones in byte order.
    pub fn push(&mut self, object: &Object) -> Result<(), Error> {
        if self.last >= object.name {
            let [last, name] = [&self.last, &object.name].map(|name| Escaped::bytes(name));
            return Err(Error::io(format_args!(
                "{name}: added after {last}; names must be in byte order"
            )));
        }
        self.shard.push(object)?;
        self.last.clone_from(&object.name);
        if self.shard.is_full() { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let totals = &mut self.totals;
        let next = ShardBuilder::new(self.key, totals.shards + 1);
        let (text, record) = mem::replace(&mut self.shard, next).seal()?;
        self.root.push(&record)?;
        let file = record.file_name();
        // Another root may name an existing shard, even if the root of this place cannot be read.
        let was_there = !matches!(self.place.read(&file, record.length), Ok(None));
        self.place.write_shard(&file, &text)?;
        if !self.old.remove(&file) && !was_there {
            self.new.push(file.clone());
        }
        self.files.push(file);
        totals.shards += 1;
        totals.entries += record.entries;
        totals.bytes += record.bytes;
        Ok(())
    }

    /// Writes the last shard and then the root, and removes the shards of the replaced manifest.
    pub fn finish(mut self) -> Result<Totals, Error> {
        if !self.shard.is_empty() {
            self.flush()?;
        }
        // Another run may have used one of these shards and removed it since.
        for file in &self.files {
            if !self.place.has(file)? {
                return Err(Error::io(format_args!(
                    "{}: the shard was removed: another seal ran meanwhile",
                    self.place.shown_file(file)
                )));
            }
        }
        let Writer { key, place, old_root, old, new, root, totals, .. } = self;
        if let Err(error) = place.write_root(&root.seal(), old_root.as_deref()) {
            abandon(key, place, &new);
            return Err(error);
        }
        // The manifest is complete and correct even if this fails.
        remove(place, old.iter());
        Ok(totals)
    }

    /// Keeps the existing manifest, and removes the shards that were written and that it does not
    /// name.
    pub fn abandon(self) {
        abandon(self.key, self.place, &self.new);
    }
}

/// Returns the place of the new manifest in a chain: after the manifest that it replaces, or else
/// after the one that it takes objects from.
fn chain(start: Start<'_>, old: Result<Option<Root>, Error>) -> Result<Chain, Error> {
    let today = Day::today();
    match old {
        _ if start.new_chain => Ok(Chain::start(today)),
        Ok(Some(old)) => Ok(old.header.chain.next(old.seal, today)),
        Ok(None) => Ok(match start.since {
            Some((chain, seal)) => chain.next(seal, today),
            None => Chain::start(today),
        }),
        Err(error) => {
            let (why, kind) = (error.to_string(), error.kind());
            Err(ManifestError::NoChain { why, kind }.into())
        }
    }
}

fn abandon(key: &ManifestKey, place: &dyn Place, new: &[String]) {
    let named = match place.read(ROOT, MAX_ROOT_BYTES) {
        Ok(None) => Some(BTreeSet::new()),
        Ok(Some(text)) => Root::open(key, text, ROOT).ok().as_ref().map(shards_of),
        Err(_) => None,
    };
    // An unreadable root may name any shard, so keep them all.
    if let Some(named) = named {
        remove(place, new.iter().filter(|file| !named.contains(*file)));
    }
}

/// Returns the shards that a root names.
fn shards_of(root: &Root) -> BTreeSet<String> {
    root.records().map(|record| record.file_name()).collect()
}

fn remove<'a>(place: &dyn Place, files: impl Iterator<Item = &'a String>) {
    for file in files {
        if let Err(error) = place.remove_shard(file) {
            diagnostic(format_args!("warning: {error}: not removed"));
        }
    }
}
