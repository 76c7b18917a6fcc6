//! Finds the objects of a listing in an earlier manifest.

use crate::error::{Error, ErrorKind};
use crate::leaves::TAG_BYTES;
use crate::leaves::file::MAGIC;
use crate::objects::leaf_files::{self, LeafFile, LeafLayout};
use crate::objects::object::Object;
use crate::objects::reader::ObjectManifest;
use crate::objects::record::ShardRecord;
use crate::objects::shard::Shard;

/// The objects of an earlier manifest, which follow a listing. Both are in byte order of the names,
/// so each shard is read once. It is verified before one of its objects is returned.
pub struct Earlier<'a> {
    manifest: &'a ObjectManifest<'a>,
    /// The length of leaves in bytes, if the objects need leaf tags.
    leaf: Option<u64>,
    records: Box<dyn Iterator<Item = ShardRecord> + Send + 'a>,
    shard: Option<OpenShard>,
    /// The last file of leaf tags, and its bytes if it is undamaged.
    tags: Option<(LeafFile, Option<Vec<u8>>)>,
}

/// A shard, and how far it was read.
struct OpenShard {
    shard: Shard,
    offsets: Vec<usize>,
    next: usize,
    /// `None` if the manifest has no leaf tags, or others than wanted.
    layout: Option<LeafLayout>,
}

/// An object of an earlier manifest.
pub struct OldObject {
    /// The object.
    pub object: Object,
    /// Its leaf tags, which may be none. `None` if the manifest lacks those that are wanted.
    pub leaf_tags: Option<Vec<u8>>,
}

impl<'a> Earlier<'a> {
    /// The objects of `manifest`. `leaf` is the length of leaves in bytes, if leaf tags are wanted.
    pub fn new(manifest: &'a ObjectManifest<'_>, leaf: Option<u64>) -> Earlier<'a> {
        let records = Box::new(manifest.root.records());
        Earlier { manifest, leaf, records, shard: None, tags: None }
    }

    /// Returns the object with this name, which must follow all previous ones.
    pub fn find(&mut self, name: &[u8]) -> Result<Option<OldObject>, Error> {
        loop {
            let Some(open) = &mut self.shard else {
                let Some(record) = self.records.next() else { return Ok(None) };
                if *record.last >= *name {
                    self.shard = Some(self.open(&record)?);
                }
                continue;
            };
            let Some(&at) = open.offsets.get(open.next) else {
                self.shard = None;
                continue;
            };
            let object = open.shard.object_at(at);
            if *object.name > *name {
                return Ok(None);
            }
            let number = open.next;
            open.next += 1;
            if object.name == name {
                let leaf_tags = self.leaf_tags(number, &object)?;
                return Ok(Some(OldObject { object, leaf_tags }));
            }
        }
    }

    fn open(&self, record: &ShardRecord) -> Result<OpenShard, Error> {
        let shard = self.manifest.shard(record)?;
        let same = self.leaf.filter(|_| self.manifest.root.header.leaves == self.leaf);
        let layout = same.map(|leaf| LeafLayout::new(leaf, shard.objects()));
        Ok(OpenShard { offsets: shard.offsets().collect(), shard, next: 0, layout })
    }

    /// Returns the leaf tags of an object of the open shard.
    fn leaf_tags(&mut self, number: usize, object: &Object) -> Result<Option<Vec<u8>>, Error> {
        let count = self.leaf.map_or(0, |leaf| leaf_files::count(leaf, object));
        if count == 0 {
            return Ok(Some(Vec::new()));
        }
        let layout = self.shard.as_ref().and_then(|open| open.layout.as_ref());
        let Some((file, first)) = layout.map(|layout| layout.find(number)) else {
            return Ok(None);
        };
        if self.tags.as_ref().is_none_or(|(open, _)| open != file) {
            let file = file.clone();
            self.tags = Some((file.clone(), self.load(&file)?));
        }
        let [start, end] = [first, first + count].map(|tag| (tag as usize + 1) * TAG_BYTES);
        let bytes = self.tags.as_ref().and_then(|(_, bytes)| bytes.as_ref());
        Ok(bytes.map(|bytes| bytes[start..end].to_vec()))
    }

    /// Reads a file of leaf tags; `None` if it is missing or damaged.
    fn load(&self, file: &LeafFile) -> Result<Option<Vec<u8>>, Error> {
        match self.manifest.place.read(&file.name, file.bytes()) {
            Ok(bytes) => Ok(bytes
                .filter(|bytes| bytes.len() as u64 == file.bytes() && bytes.starts_with(MAGIC))),
            Err(error) if error.kind() == ErrorKind::Mismatch => Ok(None),
            Err(error) => Err(error),
        }
    }
}
