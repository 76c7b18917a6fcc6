//! A range of an object, whatever happens to the connections that it comes over.

use tagmac_files::ReadError;

use crate::failure::{CHANGED, Failure};
use crate::object::{Body, ObjectVersion, Span};
use crate::objects::Bucket;
use crate::pace::Pace;
use crate::retry::Tries;

/// Bytes that nobody asked for.
const MORE: &str = "expected the range that was asked for, found more: the store serves no ranges";

impl Bucket {
    /// What is known of an object.
    pub fn facts(&self, key: &str) -> Result<ObjectVersion, ReadError> {
        let facts = persistently(self, || self.store.facts(key));
        Ok(self.objects.runtime().block_on(facts)?)
    }
}

/// Memory for `bytes` bytes, a number that a store names.
pub fn buffer(bytes: u64) -> Result<Vec<u8>, Failure> {
    let mut memory = Vec::new();
    let has = usize::try_from(bytes).is_ok_and(|bytes| memory.try_reserve_exact(bytes).is_ok());
    let failed = || Failure::Final(format!("expected memory for {bytes} bytes, found none"));
    has.then_some(memory).ok_or_else(failed)
}

/// Does something until it is done, or will not be.
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

/// Reads the bytes of an object from `span.start` to `span.end`, which are in it, and hands them to
/// `take` in order. A body that ends too soon goes on where it was cut. All of them are of the content
/// that is expected.
pub async fn read(
    bucket: &Bucket,
    key: &str,
    span: Span,
    expected: &ObjectVersion,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Span { start, end } = span;
    if start == end && end > 0 {
        // Nothing to read; that it is there has to be asked all the same.
        let found = persistently(bucket, || bucket.store.facts(key)).await?;
        return if expected.is(&found) { Ok(()) } else { Err(CHANGED) };
    }
    let mut known = expected.clone();
    let mut at = start;
    let mut tries = Tries::new();
    loop {
        let permit = bucket.objects.permits().acquire().await.expect("never closed");
        // Of an empty object there is no range to ask for; that it is there has to be asked all the
        // same.
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
                "the connection broke, and the store gives no strong ETag by which to go on".into(),
            ));
        }
        drop(permit);
        tries.pause(failure).await?;
    }
}

/// Hands on the pieces of a body, up to byte `end` of the object. What cut it off, if anything did.
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
    // The connection can serve again once its end was seen.
    if let Some(Ok(piece)) = pace.next(&mut body.pieces).await
        && !piece.is_empty()
    {
        return Err(Failure::Final(MORE.into()));
    }
    Ok(None)
}

/// What is known of the object after an answer. Refuses one of another content or place.
fn same(known: ObjectVersion, body: &Body, at: u64) -> Result<ObjectVersion, Failure> {
    let found = &body.facts;
    if !known.is(found) {
        return Err(CHANGED);
    }
    if body.start != at {
        return Err(Failure::Final(format!(
            "expected an answer from byte {at} on, found one from byte {}: the store serves no ranges",
            body.start
        )));
    }
    Ok(ObjectVersion { version: found.version.clone().or(known.version), ..known })
}
