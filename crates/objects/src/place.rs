//! A manifest of objects that is kept in a store itself.

use bytes::Bytes;
use tagmac_files::escaped::Escaped;
use tagmac_files::objects::{Place, ROOT, exists, too_long};
use tagmac_files::{Error, ReadError};

use crate::failure::Failure;
use crate::object::Span;
use crate::objects::Bucket;
use crate::range::{self, persistently};

/// The objects below a prefix, as the files of a manifest.
pub struct Prefix {
    bucket: Bucket,
    folder: String,
}

impl Prefix {
    /// Those whose keys begin with `folder`, which ends with a slash or is empty.
    pub fn new(bucket: Bucket, folder: String) -> Prefix {
        Prefix { bucket, folder }
    }

    fn key(&self, file: &str) -> String {
        format!("{}{file}", self.folder)
    }

    fn failed(&self, file: &str, failure: Failure) -> Error {
        Error::io(format_args!("{}: {}", self.shown_file(file), ReadError::from(failure)))
    }

    fn put(&self, file: &str, bytes: &[u8], replace: bool) -> Result<(), Failure> {
        let Prefix { bucket, .. } = self;
        let (key, bytes) = (self.key(file), Bytes::copy_from_slice(bytes));
        let put = persistently(bucket, || bucket.store.put(&key, bytes.clone(), replace));
        bucket.objects.runtime().block_on(put)
    }
}

impl Place for Prefix {
    fn shown(&self) -> String {
        let url = self.bucket.url(self.folder.trim_end_matches('/')).to_string();
        Escaped::bytes(url.as_bytes()).to_string()
    }

    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error> {
        let (bucket, key) = (&self.bucket, self.key(file));
        let read = async {
            let facts = persistently(bucket, || bucket.store.facts(&key)).await?;
            if facts.size > max {
                return Ok(None);
            }
            let mut bytes = Vec::with_capacity(facts.size as usize);
            let take = |piece: &[u8]| {
                bytes.extend_from_slice(piece);
                Ok(())
            };
            let span = Span { start: 0, end: facts.size };
            range::read(bucket, &key, span, &facts, take).await?;
            Ok(Some(bytes))
        };
        match bucket.objects.runtime().block_on(read) {
            Err(Failure::Missing) => Ok(None),
            Err(failure) => Err(self.failed(file, failure)),
            Ok(None) => Err(too_long(&self.shown_file(file), max)),
            Ok(bytes) => Ok(bytes),
        }
    }

    fn write_shard(&self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        self.put(file, bytes, true).map_err(|failure| self.failed(file, failure))
    }

    fn write_root(&self, bytes: &[u8], replace: bool) -> Result<(), Error> {
        match self.put(ROOT, bytes, replace) {
            Ok(()) => Ok(()),
            // It may have arrived, and the answer not.
            Err(Failure::Exists) => match self.read(ROOT, bytes.len() as u64) {
                Ok(Some(there)) if there == bytes => Ok(()),
                _ => Err(exists(&self.shown_file(ROOT))),
            },
            Err(failure) => Err(self.failed(ROOT, failure)),
        }
    }

    fn remove_shard(&self, file: &str) -> Result<(), Error> {
        let (bucket, key) = (&self.bucket, self.key(file));
        let delete = persistently(bucket, || bucket.store.delete(&key));
        bucket.objects.runtime().block_on(delete).map_err(|failure| self.failed(file, failure))
    }
}
