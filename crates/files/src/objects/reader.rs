//! Reads a manifest, one shard in memory at a time.

use crate::error::Error;
use crate::objects::manifest_key::ManifestKey;
use crate::objects::object::Object;
use crate::objects::place::Place;
use crate::objects::record::ShardRecord;
use crate::objects::root::Root;
use crate::objects::shard::{Shard, ShardObjects};
use crate::objects::{MAX_ROOT_BYTES, ROOT};

/// A manifest whose root was checked.
pub struct ObjectManifest<'a> {
    /// The root.
    pub root: Root,
    key: &'a ManifestKey,
    place: &'a dyn Place,
}

impl<'a> ObjectManifest<'a> {
    /// Opens a manifest: its root. Each shard is opened when its turn comes.
    pub fn open(key: &'a ManifestKey, place: &'a dyn Place) -> Result<ObjectManifest<'a>, Error> {
        let shown = place.shown_file(ROOT);
        let text = place.read(ROOT, MAX_ROOT_BYTES)?.ok_or_else(|| {
            Error::io(format_args!("{shown}: expected a manifest's root, found no file"))
        })?;
        Ok(ObjectManifest { root: Root::open(key, text, &shown)?, key, place })
    }

    /// Whether its tags are made under nonces.
    pub fn takes_nonce(&self) -> bool {
        self.key.algorithm.takes_nonce()
    }

    /// A shard of this manifest.
    pub fn shard(&self, record: &ShardRecord) -> Result<Shard<'a>, Error> {
        let file = record.file_name();
        let shown = self.place.shown_file(&file);
        let text = self.place.read(&file, record.length)?.ok_or_else(|| {
            Error::mismatch(format_args!("{shown}: expected a shard, found no file"))
        })?;
        Shard::open(self.key, record, text, &shown)
    }

    /// All objects, in order. None comes from a shard that is not the one that was sealed; after an
    /// error nothing comes.
    pub fn objects(&self) -> Objects<'_> {
        Objects { manifest: self, records: Box::new(self.root.records()), shard: None }
    }
}

/// The objects of a manifest, in order.
pub struct Objects<'a> {
    manifest: &'a ObjectManifest<'a>,
    records: Box<dyn Iterator<Item = ShardRecord> + Send + 'a>,
    shard: Option<ShardObjects<'a>>,
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
