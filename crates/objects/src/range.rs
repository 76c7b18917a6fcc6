//! Reads a range of an object, with retries on new connections.

use std::ops::Range;

use tagmac_files::ReadError;

use crate::failure::{CHANGED, Failure};
use crate::object::{Body, Metadata, ObjectVersion, Span};
use crate::objects::Bucket;
use crate::pace::Pace;
use crate::retry::Tries;

/// The failure when a response is too long.
const MORE: &str = "the store sent more bytes than requested: it does not support range requests";

impl Bucket {
    /// Returns the properties of an object.
    pub fn facts(&self, key: &str) -> Result<ObjectVersion, ReadError> {
        let facts = persistently(self, || self.store.facts(key));
        Ok(self.objects.runtime().block_on(facts)?)
    }

    /// Returns the properties of an object and its metadata.
    pub fn described(&self, key: &str) -> Result<(ObjectVersion, Metadata), Failure> {
        let described = persistently(self, || self.store.described(key));
        self.objects.runtime().block_on(described)
    }

    /// Reads the bytes from `start` to `end`, within the object, of the content expected.
    pub fn bytes(
        &self,
        key: &str,
        Range { start, end }: Range<u64>,
        expected: &ObjectVersion,
    ) -> Result<Vec<u8>, Failure> {
        let mut bytes = buffer(end.saturating_sub(start))?;
        let take = |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        self.objects.runtime().block_on(read(self, key, Span { start, end }, expected, take))?;
        Ok(bytes)
    }
}

/// Allocates memory for `bytes` bytes, a size that the store reported.
pub fn buffer(bytes: u64) -> Result<Vec<u8>, Failure> {
    let mut memory = Vec::new();
    let has = usize::try_from(bytes).is_ok_and(|bytes| memory.try_reserve_exact(bytes).is_ok());
    let failed = || Failure::Final(format!("out of memory: cannot allocate {bytes} bytes"));
    has.then_some(memory).ok_or_else(failed)
}

/// Repeats an operation until it succeeds or a retry would not help.
pub async fn persistently<T, F: Future<Output = Result<T, Failure>>>(
    bucket: &Bucket,
    mut attempt: impl FnMut() -> F,
) -> Result<T, Failure> {
    let mut tries = Tries::new();
    loop {
        let permit = bucket.objects.permits().acquire().await.expect("never closed");
        let done = attempt().await;
        drop(permit);
        match done {
            Err(failure) => tries.pause(failure).await?,
            done => return done,
        }
    }
}

/// Reads the bytes of an object from `span.start` to `span.end`, which are within it, and passes
/// them to `take` in order. If a body ends early, reading resumes at that byte. All bytes come from
/// the content expected.
pub async fn read(
    bucket: &Bucket,
    key: &str,
    span: Span,
    expected: &ObjectVersion,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Span { start, end } = span;
    if start == end && end > 0 {
        // An empty range has no bytes to read, but the object must exist.
        let found = persistently(bucket, || bucket.store.facts(key)).await?;
        return if expected.is(&found) { Ok(()) } else { Err(CHANGED) };
    }
    let mut known = expected.clone();
    let mut at = start;
    let mut tries = Tries::new();
    loop {
        let permit = bucket.objects.permits().acquire().await.expect("never closed");
        // An empty object has no ranges, so request all of it to check that it exists.
        let wanted = match end {
            0 => Span { start: 0, end: u64::MAX },
            _ => Span { start: at, end },
        };
        let failure = match bucket.store.get(key, wanted, &known).await {
            Ok(body) => {
                known = same(known, &body, at)?;
                match pieces(body, &mut at, end, &mut tries, &mut take).await? {
                    None => return Ok(()),
                    Some(failure) => failure,
                }
            }
            Err(Failure::Missing) if at > 0 => {
                return Err(Failure::Changed("the object was deleted while it was read"));
            }
            Err(failure) => failure,
        };
        if at > start && !known.is_bound() {
            return Err(Failure::Final(
                "the connection broke, and the store sent no strong ETag to resume with".into(),
            ));
        }
        drop(permit);
        tries.pause(failure).await?;
    }
}

/// Passes on the pieces of a body, up to byte `end` of the object. Returns the failure that
/// interrupted it, if any.
async fn pieces(
    mut body: Body,
    at: &mut u64,
    end: u64,
    tries: &mut Tries,
    take: &mut impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<Option<Failure>, Failure> {
    let mut pace = Pace::default();
    while *at < end {
        let piece = match pace.next(&mut body.pieces).await {
            Some(Ok(piece)) => piece,
            Some(Err(failure)) => return Ok(Some(failure)),
            None => {
                let what = format!("the body ended at byte {at}, before byte {end}");
                return Ok(Some(Failure::Passing(what, None)));
            }
        };
        if piece.len() as u64 > end - *at {
            return Err(Failure::Final(MORE.into()));
        }
        take(&piece)?;
        *at += piece.len() as u64;
        tries.progressed(piece.len());
    }
    // The connection can be reused only after the end of the body was read.
    if let Some(Ok(piece)) = pace.next(&mut body.pieces).await
        && !piece.is_empty()
    {
        return Err(Failure::Final(MORE.into()));
    }
    Ok(None)
}

/// Updates the properties of the object after a response. Rejects a response with another content
/// or another start.
fn same(known: ObjectVersion, body: &Body, at: u64) -> Result<ObjectVersion, Failure> {
    let found = &body.facts;
    if !known.is(found) {
        return Err(CHANGED);
    }
    if body.start != at {
        return Err(Failure::Final(format!(
            "the answer starts at byte {} instead of byte {at}: the store does not support range \
             requests",
            body.start
        )));
    }
    Ok(ObjectVersion { version: found.version.clone().or(known.version), ..known })
}
