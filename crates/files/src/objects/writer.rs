//! Writes a manifest from all objects in order.

use std::collections::BTreeSet;
use std::mem;

use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::objects::manifest_key::{ManifestFile, ManifestKey};
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
    /// The root that is to be replaced, and the shards that it names.
    old_root: Option<Vec<u8>>,
    old: BTreeSet<String>,
    /// All shards that were written.
    files: Vec<String>,
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
            Some(text) if !text.starts_with(ManifestFile::Root.magic().as_bytes()) => {
                return Err(Error::io(format_args!(
                    "{shown}: expected a manifest's root or no file, found something else"
                )));
            }
            _ => {}
        }
        // Of a root whose seal does not match no name is believed: its shards stay.
        let old = there.as_ref().and_then(|text| shards_of(key, text.clone()));
        let (shard, root) = (ShardBuilder::new(key, 0), RootBuilder::new(key));
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
            self.new.push(file.clone());
        }
        self.files.push(file);
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
        // Another run may have taken one for its own, and removed it.
        for file in &self.files {
            if !self.place.has(file)? {
                return Err(Error::io(format_args!(
                    "{}: expected the shard that was written, found none: another seal ran \
                     meanwhile",
                    self.place.shown_file(file)
                )));
            }
        }
        let root = mem::replace(&mut self.root, RootBuilder::new(self.key)).seal();
        if let Err(error) = self.place.write_root(&root, self.old_root.as_deref()) {
            self.abandon();
            return Err(error);
        }
        // The manifest is whole and right without this.
        remove(self.place, self.old.iter());
        Ok(self.totals)
    }

    /// Leaves the manifest that is there as it is, and removes the shards that were written and that
    /// it does not name.
    pub fn abandon(self) {
        let named = match self.place.read(ROOT, MAX_ROOT_BYTES) {
            Ok(None) => Some(BTreeSet::new()),
            Ok(Some(text)) => shards_of(self.key, text),
            Err(_) => None,
        };
        // Of a root that cannot be read nobody knows what it names.
        if let Some(named) = named {
            remove(self.place, self.new.iter().filter(|file| !named.contains(*file)));
        }
    }
}

/// The shards that a root names, if it is one under the key.
fn shards_of(key: &ManifestKey, text: Vec<u8>) -> Option<BTreeSet<String>> {
    let root = Root::open(key, text, ROOT).ok()?;
    Some(root.records().map(|record| record.file_name()).collect())
}

fn remove<'a>(place: &dyn Place, files: impl Iterator<Item = &'a String>) {
    for file in files {
        if let Err(error) = place.remove_shard(file) {
            diagnostic(format_args!("warning: {error}: not removed"));
        }
    }
}
