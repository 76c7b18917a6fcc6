//! Writes a manifest from all objects in order.

use std::collections::BTreeSet;
use std::mem;

use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::objects::manifest_key::{Kind, ManifestKey};
use crate::objects::object::Object;
use crate::objects::place::{Place, exists};
use crate::objects::root::{Root, RootBuilder};
use crate::objects::shard::ShardBuilder;
use crate::objects::{MAX_ROOT_BYTES, ROOT};

/// A manifest that is being written. There is none before its root is written, last of all: until
/// then the one that it replaces is as it was.
pub struct Writer<'a> {
    key: &'a ManifestKey,
    place: &'a dyn Place,
    replace: bool,
    /// The shards that the root that is to be replaced names.
    old: BTreeSet<String>,
    /// Those that were written for this one, and were not there before.
    new: Vec<String>,
    shard: ShardBuilder<'a>,
    root: RootBuilder<'a>,
    last: Vec<u8>,
    totals: Totals,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Shards.
    pub shards: u64,
    /// Objects.
    pub entries: u64,
    /// The bytes of all objects.
    pub bytes: u64,
}

impl<'a> Writer<'a> {
    /// Begins a manifest at `place`. An error if there is one and it is not to be replaced.
    pub fn new(
        key: &'a ManifestKey,
        place: &'a dyn Place,
        replace: bool,
    ) -> Result<Writer<'a>, Error> {
        let there = place.read(ROOT, MAX_ROOT_BYTES)?;
        let shown = place.shown_file(ROOT);
        match &there {
            Some(_) if !replace => return Err(exists(&shown)),
            // Said before all objects are read, not after.
            Some(text) if !text.starts_with(Kind::Root.magic().as_bytes()) => {
                return Err(Error::io(format_args!(
                    "{shown}: expected a manifest's root or no file, found something else"
                )));
            }
            _ => {}
        }
        // Where there is none, one that comes meanwhile is another run's.
        let replace = there.is_some();
        // Of a root whose seal does not match no name is believed: its shards stay.
        let old = there.and_then(|text| Root::open(key, text, ROOT).ok());
        let old = old.map(|root| root.records().map(|record| record.file_name()).collect());
        let (shard, root) = (ShardBuilder::new(key, 0), RootBuilder::new(key));
        let (old, totals) = (old.unwrap_or_default(), Totals::default());
        Ok(Writer {
            key,
            place,
            replace,
            old,
            new: Vec::new(),
            shard,
            root,
            last: Vec::new(),
            totals,
        })
    }

    /// Adds an object, whose name follows all others in byte order.
    pub fn push(&mut self, object: &Object) -> Result<(), Error> {
        if self.last >= object.name {
            let [last, name] = [&self.last, &object.name].map(|name| Escaped::bytes(name));
            return Err(Error::io(format_args!(
                "{name}: expected names in byte order, found this one after {last}"
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
        // Another root may name one that is there, even if this one's place has none that can be read.
        let was_there = !matches!(self.place.read(&file, record.length), Ok(None));
        self.place.write_shard(&file, &text)?;
        if !self.old.remove(&file) && !was_there {
            self.new.push(file);
        }
        totals.shards += 1;
        totals.entries += record.entries;
        totals.bytes += record.bytes;
        Ok(())
    }

    /// Writes the last shard, then the root; then removes the shards of the manifest that was
    /// replaced.
    pub fn finish(mut self) -> Result<Totals, Error> {
        if !self.shard.is_empty() {
            self.flush()?;
        }
        self.place.write_root(&self.root.seal(), self.replace)?;
        // The manifest is whole and right without this.
        remove(self.place, self.old.iter());
        Ok(self.totals)
    }

    /// Leaves the manifest that was there as it was, and removes the shards that were written.
    pub fn abandon(self) {
        remove(self.place, self.new.iter());
    }
}

fn remove<'a>(place: &dyn Place, files: impl Iterator<Item = &'a String>) {
    for file in files {
        if let Err(error) = place.remove_shard(file) {
            diagnostic(format_args!("warning: {error}: not removed"));
        }
    }
}
