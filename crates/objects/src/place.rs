//! A manifest of objects that is kept in a store.

use std::ops::Range;

use bytes::Bytes;
use tagmac_files::escaped::Escaped;
use tagmac_files::objects::{MAX_ROOT_BYTES, Place, ROOT, exists, replaced, too_long, wrong_size};
use tagmac_files::{Error, ReadError};

use crate::failure::{CHANGED, Failure};
use crate::object::{ObjectVersion, Over, Span};
use crate::objects::Bucket;
use crate::range::{self, persistently};

/// The files of a manifest, as objects below a prefix.
pub struct Prefix {
    bucket: Bucket,
    folder: String,
}

impl Prefix {
    /// Uses the keys that begin with `folder`, which ends with a slash or is empty.
    pub fn new(bucket: Bucket, folder: String) -> Prefix {
        Prefix { bucket, folder }
    }

    fn key(&self, file: &str) -> String {
        format!("{}{file}", self.folder)
    }

    fn failed(&self, file: &str, failure: Failure) -> Error {
        Error::io(format_args!("{}: {}", self.shown_file(file), ReadError::from(failure)))
    }

    fn put(&self, file: &str, bytes: &[u8], over: Over<'_>) -> Result<(), Failure> {
        let Prefix { bucket, .. } = self;
        let (key, bytes) = (self.key(file), Bytes::copy_from_slice(bytes));
        let put = persistently(bucket, || bucket.store.put(&key, bytes.clone(), over));
        bucket.objects.runtime().block_on(put)
    }

    /// Returns the content of a file and its properties; `None` if it does not exist.
    fn content(&self, file: &str, max: u64) -> Result<Option<(ObjectVersion, Vec<u8>)>, Error> {
        let (bucket, key) = (&self.bucket, self.key(file));
        let read = async {
            let facts = persistently(bucket, || bucket.store.facts(&key)).await?;
            if facts.size > max {
                return Ok(None);
            }
            let mut bytes = range::buffer(facts.size)?;
            let take = |piece: &[u8]| {
                bytes.extend_from_slice(piece);
                Ok(())
            };
            let span = Span { start: 0, end: facts.size };
            range::read(bucket, &key, span, &facts, take).await?;
            Ok(Some((facts, bytes)))
        };
        match bucket.objects.runtime().block_on(read) {
            Err(Failure::Missing) => Ok(None),
            Err(failure) => Err(self.failed(file, failure)),
            Ok(None) => Err(too_long(&self.shown_file(file), max)),
            Ok(found) => Ok(found),
        }
    }
}

impl Place for Prefix {
    fn shown(&self) -> String {
        let url = self.bucket.url(self.folder.trim_end_matches('/')).to_string();
        Escaped::bytes(url.as_bytes()).to_string()
    }

    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.content(file, max)?.map(|(_, bytes)| bytes))
    }

    fn read_pieces(
        &self,
        file: &str,
        size: u64,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, Error> {
        let (bucket, key) = (&self.bucket, self.key(file));
        let read = async {
            let facts = persistently(bucket, || bucket.store.facts(&key)).await?;
            if facts.size > size {
                return Ok(false);
            }
            let take = |piece: &[u8]| {
                take(piece);
                Ok(())
            };
            let span = Span { start: 0, end: facts.size };
            range::read(bucket, &key, span, &facts, take).await?;
            Ok(true)
        };
        match bucket.objects.runtime().block_on(read) {
            Err(Failure::Missing) => Ok(false),
            Err(failure) => Err(self.failed(file, failure)),
            Ok(false) => Err(too_long(&self.shown_file(file), size)),
            Ok(true) => Ok(true),
        }
    }

    fn read_range(
        &self,
        file: &str,
        size: u64,
        Range { start, end }: Range<u64>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let (bucket, key) = (&self.bucket, self.key(file));
        let read = async {
            let facts = persistently(bucket, || bucket.store.facts(&key)).await?;
            if facts.size != size {
                return Ok(Err(facts.size));
            }
            let mut bytes = range::buffer(end - start)?;
            let take = |piece: &[u8]| {
                bytes.extend_from_slice(piece);
                Ok(())
            };
            range::read(bucket, &key, Span { start, end }, &facts, take).await?;
            Ok(Ok(bytes))
        };
        match bucket.objects.runtime().block_on(read) {
            Err(Failure::Missing) => Ok(None),
            Err(failure) => Err(self.failed(file, failure)),
            Ok(Err(found)) => Err(wrong_size(&self.shown_file(file), size, found)),
            Ok(Ok(bytes)) => Ok(Some(bytes)),
        }
    }

    fn has(&self, file: &str) -> Result<bool, Error> {
        let (bucket, key) = (&self.bucket, self.key(file));
        let facts = persistently(bucket, || bucket.store.facts(&key));
        match bucket.objects.runtime().block_on(facts) {
            Ok(_) => Ok(true),
            Err(Failure::Missing) => Ok(false),
            Err(failure) => Err(self.failed(file, failure)),
        }
    }

    fn write_file(&self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        self.put(file, bytes, Over::Anything).map_err(|failure| self.failed(file, failure))
    }

    fn write_root(&self, bytes: &[u8], old: Option<&[u8]>) -> Result<(), Error> {
        let shown = self.shown_file(ROOT);
        let there = match old {
            None => None,
            Some(old) => match self.content(ROOT, MAX_ROOT_BYTES)? {
                Some((facts, found)) if found == old => Some(facts),
                _ => return Err(replaced(&shown)),
            },
        };
        match self.put(ROOT, bytes, there.as_ref().map_or(Over::Nothing, Over::This)) {
            Ok(()) => Ok(()),
            // An earlier try may have succeeded although its response was lost.
            Err(failure @ (Failure::Exists | CHANGED)) => match self.read(ROOT, MAX_ROOT_BYTES) {
                Ok(Some(there)) if there == bytes => Ok(()),
                _ if failure == CHANGED => Err(replaced(&shown)),
                _ => Err(exists(&shown)),
            },
            Err(failure) => Err(self.failed(ROOT, failure)),
        }
    }

    fn remove_file(&self, file: &str) -> Result<(), Error> {
        let (bucket, key) = (&self.bucket, self.key(file));
        let delete = persistently(bucket, || bucket.store.delete(&key));
        bucket.objects.runtime().block_on(delete).map_err(|failure| self.failed(file, failure))
    }
}
