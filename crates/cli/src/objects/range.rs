//! Hashes a range of an object into a partial.

use std::path::Path;

use tagmac_any::Partial;
use tagmac_files::open_key::OpenKey;
use tagmac_files::partial::{Edge, PartRange, RangeError, aligned, versioned};
use tagmac_files::progress::Progress;
use tagmac_files::{Error, ReadError};
use tagmac_objects::{ObjectVersion, read};

use crate::objects::stores::Stores;

impl Stores {
    /// Hashes a range of the object at the URL `range.file` into a partial. If `range.object` is
    /// empty, the name is the object's key and version.
    pub fn partial(
        &self,
        open_key: &OpenKey,
        progress: &dyn Progress,
        range: PartRange<'_>,
    ) -> Result<Vec<u8>, Error> {
        let parts = open_key.parts()?;
        aligned(open_key, Edge::Start, parts.block() as u64, range.start)?;
        let length = range.inner_length(open_key, parts.block() as u64)?;
        let (bucket, key) = self.object(range.file)?;
        let failed = |error: ReadError| range.failed(error);
        let facts = bucket.facts(&key).map_err(failed)?;
        let span = range.span(length, facts.size)?;
        let (expected, found) = (span.at.saturating_add(span.bytes), facts.size);
        if expected > found {
            return Err(failed(ReadError::Short { expected, found }).into());
        }
        let object = match range.object {
            // With --at, the partial describes an object that differs from the one in the store.
            [] if range.at.is_some_and(|at| at != range.start) => {
                return Err(Error::usage(
                    "--at differs from --start, so the range is not of the object at the URL; name its \
                     object with --object",
                ));
            }
            [] => name(range.file, &key, &facts)?,
            given => given.to_vec(),
        };
        let wanted = read::MessageRange { start: span.start, at: span.at, bytes: span.bytes };
        let reader = read::ObjectReader::new(open_key, progress);
        let (mut part, tail) = reader.part(&bucket, &key, &facts, wanted).map_err(failed)?;
        if !range.last {
            parts.extend(&mut part, &tail).map_err(Error::io)?;
        }
        progress.file();
        let tail = range.last.then_some(&**tail);
        let sealed = Partial::seal(&open_key.mac, &open_key.sealer, &object, &part, tail);
        Ok(sealed.map_err(RangeError::Seal)?)
    }
}

/// Returns the name of the object in its partials, which is the same on every machine.
fn name(url: &Path, key: &str, facts: &ObjectVersion) -> Result<Vec<u8>, Error> {
    match facts.version_name() {
        Some(version) => Ok(versioned(key.as_bytes(), version.as_bytes())?),
        None => Err(Error::usage(format_args!(
            "{}: the store reports no version and no ETag; use --object",
            tagmac_files::escaped::Escaped::name(url)
        ))),
    }
}
