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
use crate::objects::leaf_files::{LeafFileBuilder, LeafLayout};
use crate::objects::manifest_key::{ManifestFile, ManifestKey};
use crate::objects::object::Object;
use crate::objects::place::{Place, exists};
use crate::objects::reader::open_shard;
use crate::objects::root::{Root, RootBuilder, RootHeader};
use crate::objects::shard::ShardBuilder;
use crate::objects::{MAX_ROOT_BYTES, ROOT};

/// A manifest that is being written. The root is written last; until then the manifest that it
/// replaces stays intact.
pub struct Writer<'a> {
    key: &'a ManifestKey,
    place: &'a dyn Place,
    /// The root to replace.
    old_root: Option<Vec<u8>>,
    /// The same one, if its seal matches.
    old: Option<Root>,
    /// All files written.
    files: Vec<String>,
    /// The files that did not exist before.
    new: Vec<String>,
    shard: ShardBuilder<'a>,
    leaves: Option<LeafFileBuilder>,
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
    /// The length of leaves in bytes, if the objects have leaf tags.
    pub leaves: Option<u64>,
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
        let header = RootHeader {
            listed: start.listed,
            chain: chain(start, opened.as_ref())?,
            filters: Patterns::from(start.filters),
            leaves: start.leaves,
        };
        // If the root's seal does not match, its names are not trusted, and its files stay.
        let old = opened.ok().flatten();
        let (shard, root) = (ShardBuilder::new(key, 0), RootBuilder::new(key, &header));
        let (leaves, totals) = (start.leaves.map(LeafFileBuilder::new), Totals::default());
        Ok(Writer {
            key,
            place,
            old_root: there,
            old,
            files: Vec::new(),
            new: Vec::new(),
            shard,
            leaves,
            root,
            last: Vec::new(),
            totals,
        })
    }

    /// Adds an object without leaf tags. Its name must come after all previous ones in byte order.
    pub fn push(&mut self, object: &Object) -> Result<(), Error> {
        self.push_with_leaves(object, &[])
    }

    /// Adds an object and its leaf tags. Its name must come after all previous ones in byte order.
    pub fn push_with_leaves(&mut self, object: &Object, tags: &[u8]) -> Result<(), Error> {
        if self.last >= object.name {
            let [last, name] = [&self.last, &object.name].map(|name| Escaped::bytes(name));
            return Err(Error::io(format_args!(
                "{name}: added after {last}; names must be in byte order"
            )));
        }
        self.shard.push(object)?;
        if let Some(leaves) = &mut self.leaves {
            let wrong = |why| Error::usage(format_args!("{}: {why}", Escaped::bytes(&object.name)));
            leaves.push(object, tags).map_err(wrong)?;
            self.flush_leaves(false)?;
        }
        self.last.clone_from(&object.name);
        if self.shard.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes the file of leaf tags if it is complete.
    fn flush_leaves(&mut self, is_shard_end: bool) -> Result<(), Error> {
        let ended = self.leaves.as_mut().and_then(|leaves| leaves.end(is_shard_end));
        let Some((file, bytes)) = ended else { return Ok(()) };
        self.write(file.name, &bytes)
    }

    fn write(&mut self, file: String, bytes: &[u8]) -> Result<(), Error> {
        // Another root may name an existing file, even if the root of this place cannot be read.
        let was_there = !matches!(self.place.has(&file), Ok(false));
        self.place.write_file(&file, bytes)?;
        if !was_there {
            self.new.push(file.clone());
        }
        self.files.push(file);
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), Error> {
        self.flush_leaves(true)?;
        let totals = &mut self.totals;
        let next = ShardBuilder::new(self.key, totals.shards + 1);
        let (text, record) = mem::replace(&mut self.shard, next).seal()?;
        self.root.push(&record)?;
        totals.shards += 1;
        totals.entries += record.entries;
        totals.bytes += record.bytes;
        self.write(record.file_name(), &text)
    }

    /// Writes the last shard and then the root, and removes the files of the replaced manifest.
    pub fn finish(mut self) -> Result<Totals, Error> {
        if !self.shard.is_empty() {
            self.flush()?;
        }
        // Another run may have used one of these shards and removed it since.
        for file in &self.files {
            if !self.place.has(file)? {
                return Err(Error::io(format_args!(
                    "{}: the file was removed: another seal ran meanwhile",
                    self.place.shown_file(file)
                )));
            }
        }
        let Writer { key, place, old_root, old, files, new, root, totals, .. } = self;
        if let Err(error) = place.write_root(&root.seal(), old_root.as_deref()) {
            abandon(key, place, &new);
            return Err(error);
        }
        // The manifest is complete and correct even if this fails.
        if let Some(old) = old {
            let files: BTreeSet<String> = files.into_iter().collect();
            // Without a shard, the names of its leaf tags are not known. They stay.
            let named = files_of(key, place, &old).filter_map(Result::ok);
            remove(place, named.filter(|file| !files.contains(file)).collect());
        }
        Ok(totals)
    }

    /// Keeps the existing manifest, and removes the files that were written and that it does not
    /// name.
    pub fn abandon(self) {
        abandon(self.key, self.place, &self.new);
    }
}

/// Returns the place of the new manifest in a chain: after the manifest that it replaces, or else
/// after the one that it takes objects from.
fn chain(start: Start<'_>, old: Result<&Option<Root>, &Error>) -> Result<Chain, Error> {
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
    if new.is_empty() {
        return;
    }
    let named: Result<BTreeSet<String>, Error> = match place.read(ROOT, MAX_ROOT_BYTES) {
        Ok(None) => Ok(BTreeSet::new()),
        Ok(Some(text)) => {
            Root::open(key, text, ROOT).and_then(|root| files_of(key, place, &root).collect())
        }
        Err(error) => Err(error),
    };
    // An unreadable root or shard may name any file, so keep them all.
    if let Ok(named) = named {
        remove(place, new.iter().filter(|file| !named.contains(*file)).cloned().collect());
    }
}

/// Returns the shards that a root names, and their files of leaf tags.
fn files_of<'a>(
    key: &'a ManifestKey,
    place: &'a dyn Place,
    root: &'a Root,
) -> impl Iterator<Item = Result<String, Error>> + 'a {
    root.records().flat_map(move |record| {
        let mut files = vec![Ok(record.file_name())];
        if let Some(leaf) = root.header.leaves {
            match open_shard(key, place, root, &record) {
                Ok(shard) => {
                    let leaf_files = LeafLayout::new(leaf, shard.into_objects()).into_files();
                    files.extend(leaf_files.into_iter().map(|file| Ok(file.name)));
                }
                Err(error) => files.push(Err(error)),
            }
        }
        files
    })
}

fn remove(place: &dyn Place, files: Vec<String>) {
    for file in &files {
        if let Err(error) = place.remove_file(file) {
            diagnostic(format_args!("warning: {error}: not removed"));
        }
    }
}
