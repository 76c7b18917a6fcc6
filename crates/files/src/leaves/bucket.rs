//! The objects of a bucket's manifest. Each shard is read when one of its objects is.
//!
//! The first time that one object of a shard is looked up, the shard is read in pieces and not kept:
//! a program that reads one object needs little memory. The next time it is read again, and kept.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::dir::EntryKind;
use crate::error::Error;
use crate::leaves::Leaves;
use crate::manifest::entry::Entry;
use crate::objects::{
    LeafLayout, Located, MAX_ROOT_BYTES, ManifestKey, Object, Place, ROOT, Root, Shard,
    ShardRecord, ShardScan, leaf_count, missing_shard, open_shard,
};

/// The bytes of the shards that are kept, besides the newest one.
const KEPT: usize = 64 << 20;

/// A manifest of objects, and where its files are.
pub struct SealedBucket {
    key: ManifestKey,
    place: Box<dyn Place + Send + Sync>,
    root: Root,
    records: Vec<ShardRecord>,
    shards: Mutex<VecDeque<(usize, Arc<OpenShard>)>>,
    scanned: Mutex<Scanned>,
    /// Locked while a shard is read, so that no other thread reads the same one.
    reading: Mutex<()>,
}

/// The shards that were read in pieces.
#[derive(Default)]
struct Scanned {
    shards: BTreeSet<usize>,
    /// The last name that was looked up in one, and what was found.
    last: Option<(Vec<u8>, Option<Located>)>,
}

/// A shard with a verified seal.
struct OpenShard {
    shard: Shard,
    /// The offset of each object's line.
    offsets: Vec<usize>,
    /// The length of leaves, and where the leaf tags are, if there are some.
    layout: Option<(u64, LeafLayout)>,
}

impl OpenShard {
    fn object(&self, number: usize) -> Object {
        self.shard.object_at(self.offsets[number])
    }

    fn locate(&self, name: &[u8]) -> Option<Located> {
        let number = self.from(name);
        let object = (number < self.offsets.len()).then(|| self.object(number))?;
        let has_name = object.name == name;
        let layout = self.layout.as_ref().filter(|(leaf, _)| leaf_count(*leaf, &object) > 0);
        let leaves = layout.map(|(_, layout)| layout.find(number));
        let leaves = leaves.map(|(file, first)| (file.clone(), first));
        has_name.then_some(Located { object, leaves })
    }

    /// Returns the number of the first object whose name is not before `name`.
    fn from(&self, name: &[u8]) -> usize {
        self.offsets.partition_point(|&at| *self.shard.object_at(at).name < *name)
    }

    fn bytes(&self) -> usize {
        self.shard.bytes() + 32 * self.offsets.len()
    }
}

impl SealedBucket {
    /// Opens a manifest and verifies the seal of its root.
    pub fn open(
        key: ManifestKey,
        place: Box<dyn Place + Send + Sync>,
    ) -> Result<SealedBucket, Error> {
        let shown = place.shown_file(ROOT);
        let text = place.read(ROOT, MAX_ROOT_BYTES)?;
        let missing = || Error::io(format_args!("{shown}: the manifest has no root"));
        let root = Root::open(&key, text.ok_or_else(missing)?, &shown)?;
        let records = root.records().collect();
        let (shards, scanned, reading) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(SealedBucket { key, place, root, records, shards, scanned, reading })
    }

    /// Returns the root.
    pub fn root(&self) -> &Root {
        &self.root
    }

    fn shards(&self) -> MutexGuard<'_, VecDeque<(usize, Arc<OpenShard>)>> {
        self.shards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scanned(&self) -> MutexGuard<'_, Scanned> {
        self.scanned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self, number: usize) -> Option<Arc<OpenShard>> {
        let mut shards = self.shards();
        let at = shards.iter().position(|(kept, _)| *kept == number)?;
        let kept = shards.remove(at)?;
        let shard = kept.1.clone();
        shards.push_back(kept);
        Some(shard)
    }

    fn shard(&self, number: usize) -> Result<Arc<OpenShard>, Error> {
        if let Some(shard) = self.kept(number) {
            return Ok(shard);
        }
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shard) = self.kept(number) {
            return Ok(shard);
        }
        let shard = open_shard(&self.key, &*self.place, &self.root, &self.records[number])?;
        let leaf = self.root.header.leaves;
        let layout = leaf.map(|leaf| (leaf, LeafLayout::new(leaf, shard.objects())));
        let shard = Arc::new(OpenShard { offsets: shard.offsets().collect(), shard, layout });
        let mut shards = self.shards();
        shards.push_back((number, shard.clone()));
        while shards.len() > 1 && shards.iter().map(|(_, kept)| kept.bytes()).sum::<usize>() > KEPT
        {
            shards.pop_front();
        }
        Ok(shard)
    }

    /// Returns the shard that has the first object whose name is not before `name`, and the object's
    /// number in it.
    fn place_from(&self, name: &[u8]) -> Result<Option<(usize, Arc<OpenShard>, usize)>, Error> {
        let number = self.records.partition_point(|record| *record.last < *name);
        if number == self.records.len() {
            return Ok(None);
        }
        let shard = self.shard(number)?;
        let first = shard.from(name);
        Ok(Some((number, shard, first)))
    }

    /// Returns the objects whose names are not before `name`, in byte order. Ends after an error.
    pub fn objects_from<'a>(
        &'a self,
        name: &[u8],
    ) -> impl Iterator<Item = Result<Object, Error>> + use<'a> {
        let (mut place, mut error) = match self.place_from(name) {
            Ok(place) => (place, None),
            Err(error) => (None, Some(error)),
        };
        std::iter::from_fn(move || {
            loop {
                if let Some(error) = error.take() {
                    return Some(Err(error));
                }
                let (number, shard, next) = place.as_mut()?;
                if *next < shard.offsets.len() {
                    *next += 1;
                    return Some(Ok(shard.object(*next - 1)));
                }
                let following = *number + 1;
                place = None;
                if following < self.records.len() {
                    match self.shard(following) {
                        Ok(shard) => place = Some((following, shard, 0)),
                        Err(failed) => error = Some(failed),
                    }
                }
            }
        })
    }

    /// Returns the object with a name, and where its leaf tags are.
    fn locate(&self, name: &[u8]) -> Result<Option<Located>, Error> {
        let number = self.records.partition_point(|record| *record.last < *name);
        let Some(record) = self.records.get(number).filter(|record| *record.first <= *name) else {
            return Ok(None);
        };
        if let Some(shard) = self.kept(number) {
            return Ok(shard.locate(name));
        }
        let is_first = {
            let mut scanned = self.scanned();
            if let Some((_, found)) = scanned.last.as_ref().filter(|(last, _)| last == name) {
                return Ok(found.clone());
            }
            // Marked before it is read: other threads read it once in all, and keep it.
            scanned.shards.insert(number)
        };
        if !is_first {
            return Ok(self.shard(number)?.locate(name));
        }
        let (file, of) = (record.file_name(), (self.root.version, self.root.header.leaves));
        let shown = self.place.shown_file(&file);
        let mut scan = ShardScan::new(&self.key, of, record, name);
        let mut take = |piece: &[u8]| scan.update(piece);
        if !self.place.read_pieces(&file, record.length, &mut take)? {
            return Err(missing_shard(&shown));
        }
        let found = scan.finish(&shown)?;
        self.scanned().last = Some((name.to_vec(), found.clone()));
        Ok(found)
    }

    /// Returns the object with a name.
    pub fn object(&self, name: &[u8]) -> Result<Option<Object>, Error> {
        Ok(self.locate(name)?.map(|located| located.object))
    }

    /// Returns the object with a name, or a directory if there are objects below it.
    pub fn entry(&self, path: &[u8]) -> Result<Option<Entry>, Error> {
        if let Some(object) = self.object(path)? {
            return Ok(Some(object.into()));
        }
        let prefix = below(path);
        let first = self.objects_from(&prefix).next().transpose()?;
        Ok(first.filter(|object| object.name.starts_with(&prefix)).map(|_| directory(path)))
    }

    /// Returns the objects at and below a path, in order, without those before `start`. Leaves out empty
    /// ones that only mark a folder.
    pub fn entries_from<'a>(
        &'a self,
        path: &[u8],
        start: &[u8],
    ) -> impl Iterator<Item = Result<Entry, Error>> + use<'a> {
        let itself = if start <= path && !path.is_empty() { self.object(path) } else { Ok(None) };
        let prefix = if path.is_empty() { Vec::new() } else { below(path) };
        let objects = self.objects_from(start.max(&prefix));
        let is_in = move |object: &Object| object.name.starts_with(&prefix);
        let objects = objects.take_while(move |object| object.as_ref().map_or(true, &is_in));
        let objects = itself.transpose().into_iter().chain(objects);
        let is_marker = |object: &Object| object.size == 0 && object.name.ends_with(b"/");
        objects
            .filter(move |object| !object.as_ref().is_ok_and(is_marker))
            .map(|object| object.map(Entry::from))
    }

    /// Returns the objects in a directory and its directories. Leaves out names with empty segments.
    pub fn children(&self, path: &[u8]) -> Result<Vec<Entry>, Error> {
        let prefix = if path.is_empty() { Vec::new() } else { below(path) };
        let (mut children, mut start) = (Vec::new(), prefix.clone());
        'seek: loop {
            for object in self.objects_from(&start) {
                let object = object?;
                let Some(rest) = object.name.strip_prefix(&*prefix) else { return Ok(children) };
                match rest.iter().position(|&byte| byte == b'/') {
                    None if rest.is_empty() => {}
                    None => children.push(object.into()),
                    Some(end) => {
                        let above = &object.name[..prefix.len() + end];
                        if end > 0 {
                            children.push(directory(above));
                        }
                        start = after(above);
                        continue 'seek;
                    }
                }
            }
            return Ok(children);
        }
    }

    /// Reads the leaf tags of the object with a name.
    pub fn leaf_tags(&self, name: &[u8], leaves: &Leaves) -> Result<Option<Vec<u8>>, Error> {
        let Some(Located { object, leaves: Some((file, first)) }) = self.locate(name)? else {
            return Ok(None);
        };
        file.read(&*self.place, first, leaves.count_for(object.size)).map(Some)
    }
}

/// Returns the start of all names below a directory.
fn below(directory: &[u8]) -> Vec<u8> {
    [directory, b"/"].concat()
}

/// Returns a name that sorts after all names below a directory, and not after the next one.
pub fn after(directory: &[u8]) -> Vec<u8> {
    [directory, &[b'/' + 1]].concat()
}

fn directory(path: &[u8]) -> Entry {
    Entry { path: path.to_vec(), ..Entry::new(EntryKind::Directory) }
}
