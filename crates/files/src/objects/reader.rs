//! Reads a manifest, one shard in memory at a time.

use crate::error::Error;
use crate::objects::manifest_key::ManifestKey;
use crate::objects::object::Object;
use crate::objects::place::Place;
use crate::objects::record::ShardRecord;
use crate::objects::root::Root;
use crate::objects::shard::{Shard, ShardObjects};
use crate::objects::{MAX_ROOT_BYTES, ROOT};

/// A manifest with a verified root.
pub struct ObjectManifest<'a> {
    /// The root.
    pub root: Root,
    key: &'a ManifestKey,
    pub(crate) place: &'a dyn Place,
}

impl<'a> ObjectManifest<'a> {
    /// Opens a manifest and verifies its root. Each shard is opened when it is reached.
    pub fn open(key: &'a ManifestKey, place: &'a dyn Place) -> Result<ObjectManifest<'a>, Error> {
        let shown = place.shown_file(ROOT);
        let text = place
            .read(ROOT, MAX_ROOT_BYTES)?
            .ok_or_else(|| Error::io(format_args!("{shown}: the manifest has no root")))?;
        Ok(ObjectManifest { root: Root::open(key, text, &shown)?, key, place })
    }

    /// Returns whether the tags are made under nonces.
    pub fn takes_nonce(&self) -> bool {
        self.key.algorithm.takes_nonce()
    }

    /// Opens and verifies a shard of this manifest.
    pub fn shard(&self, record: &ShardRecord) -> Result<Shard, Error> {
        open_shard(self.key, self.place, &self.root, record)
    }

    /// Returns all objects, in order. They come from verified shards only. Ends after an error.
    pub fn objects(&self) -> Objects<'_> {
        Objects { manifest: self, records: Box::new(self.root.records()), shard: None }
    }

    /// Returns the objects of all shards that may have names at or below one of `paths`, in order.
    pub(crate) fn objects_near<'p>(&'p self, paths: &'p [Vec<u8>]) -> Objects<'p> {
        let is_near = |record: &ShardRecord| {
            paths.is_empty() || paths.iter().any(|path| may_have(record, path))
        };
        let records = Box::new(self.root.records().filter(is_near));
        Objects { manifest: self, records, shard: None }
    }
}

/// Opens and verifies a shard that a root describes.
pub fn open_shard(
    key: &ManifestKey,
    place: &dyn Place,
    root: &Root,
    record: &ShardRecord,
) -> Result<Shard, Error> {
    let file = record.file_name();
    let shown = place.shown_file(&file);
    let text = place.read(&file, record.length)?.ok_or_else(|| missing_shard(&shown))?;
    Shard::open(key, root.version, record, text, &shown)
}

/// The error for a shard that does not exist.
pub fn missing_shard(shown: &str) -> Error {
    Error::mismatch(format_args!("{shown}: the shard is missing"))
}

/// Returns whether a shard may have a name at or below `path`. All such names are between the path
/// and the path with a byte that follows the slash.
fn may_have(record: &ShardRecord, path: &[u8]) -> bool {
    record.last[..] >= *path && record.first < [path, &[b'/' + 1]].concat()
}

/// The objects of a manifest, in order.
pub struct Objects<'a> {
    manifest: &'a ObjectManifest<'a>,
    records: Box<dyn Iterator<Item = ShardRecord> + Send + 'a>,
    shard: Option<ShardObjects>,
}

impl Iterator for Objects<'_> {
    type Item = Result<Object, Error>;

    fn next(&mut self) -> Option<Result<Object, Error>> {
        loop {
            if let Some(object) = self.shard.as_mut().and_then(Iterator::next) {
                return Some(Ok(object));
            }
            self.shard = None;
            let record = self.records.next()?;
            match self.manifest.shard(&record) {
                Ok(shard) => self.shard = Some(shard.into_objects()),
                Err(error) => {
                    self.records = Box::new([].into_iter());
                    return Some(Err(error));
                }
            }
        }
    }
}
