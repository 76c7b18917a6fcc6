//! Makes tags of objects, and parts of them.
//!
//! A large object is divided into ranges. Each thread takes the next free range, requests it, and
//! hashes the bytes as they arrive; the parts are joined in order. A MAC without parts needs the
//! ranges in order. They wait in memory, so there are at most 16 and they are smaller, 2 MiB.

mod joined;
mod ordered;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tagmac_any::{AnyPart, AnyStream};
use tagmac_files::leaves::Leaves;
use tagmac_files::leaves::stream::{HashedLeaves, LeafStream};
use tagmac_files::open_key::OpenKey;
use tagmac_files::partial::PartStream;
use tagmac_files::progress::Progress;
use tagmac_files::read::Tagged;
use tagmac_files::{Error, ReadError};

use crate::failure::{Failure, joined};
use crate::object::{ObjectVersion, Span};
use crate::objects::Bucket;
use crate::range;
use joined::{Joined, Tail};

/// The approximate size of a requested range in bytes.
pub const RANGE: u64 = 8 << 20;

/// The size and number of ranges that wait in memory, for a MAC without parts.
const ORDERED_RANGE: u64 = 2 << 20;
const ORDERED_RANGES: u64 = 16;

/// The interval at which a thread reports the progress of its request.
const TICK: Duration = Duration::from_millis(100);

/// Reads objects for one MAC.
#[derive(Clone)]
pub struct ObjectReader<'a> {
    open_key: Arc<OpenKey>,
    progress: &'a dyn Progress,
    leaves: Option<Leaves>,
}

/// A range of a message, and its position in an object.
#[derive(Clone, Copy, Debug)]
pub struct MessageRange {
    /// The first byte of the range in the message; a multiple of the block size.
    pub start: u64,
    /// The position of the same byte in the object.
    pub at: u64,
    /// The length of the range in bytes.
    pub bytes: u64,
}

impl<'a> ObjectReader<'a> {
    /// Makes a reader that reports every byte to `progress`.
    pub fn new(open_key: &OpenKey, progress: &'a dyn Progress) -> ObjectReader<'a> {
        ObjectReader { open_key: Arc::new(open_key.clone()), progress, leaves: None }
    }

    /// Makes leaf tags of all objects that are longer than a leaf. The key must be able to; see
    /// [`check_key`](tagmac_files::leaves::check_key).
    pub fn with_leaves(self, leaves: Option<Leaves>) -> ObjectReader<'a> {
        ObjectReader { leaves, ..self }
    }

    /// Returns the tag of the content of an object that `facts` identifies, and its leaf tags, if it
    /// has some and they are wanted. `nonce` is empty for deterministic MACs.
    pub fn tag(
        &self,
        bucket: &Bucket,
        key: &str,
        facts: &ObjectVersion,
        nonce: &[u8],
    ) -> Result<Tagged, ReadError> {
        self.check_length(facts.size)?;
        let bytes = facts.size;
        let leaves = self.leaves.as_ref().and_then(|all| Some((all, all.size_for(bytes)?)));
        if let Some(leaves) = leaves {
            return self.tag_leaves(bucket, key, facts, leaves);
        }
        let tag = match self.open_key.mac.parts() {
            Some(parts) => {
                let range = MessageRange { start: 0, at: 0, bytes };
                let (part, tail) = self.part(bucket, key, facts, range)?;
                parts.finish(part, nonce, &tail)?
            }
            None => {
                let mut stream = self.open_key.mac.stream(nonce)?;
                if bytes <= RANGE {
                    let span = Span { start: 0, end: bytes };
                    let take = |stream: &mut AnyStream, piece: &[u8]| {
                        stream.update(piece);
                        Ok(())
                    };
                    stream = self.one_by_one(bucket, key, facts, span, stream, take)?;
                } else {
                    self.in_order(bucket, key, facts, |piece| stream.update(piece))?;
                }
                stream.tag()?
            }
        };
        Ok(Tagged::new(tag, bytes))
    }

    /// Returns the part of a range and the bytes after it: at most a block, and at least one byte
    /// unless the range is empty.
    pub fn part(
        &self,
        bucket: &Bucket,
        key: &str,
        facts: &ObjectVersion,
        range: MessageRange,
    ) -> Result<(AnyPart, Tail), ReadError> {
        let parts = self.open_key.mac.parts().expect("the caller checked for parts");
        let step = RANGE / parts.block() as u64 * parts.block() as u64;
        self.ranges(bucket, facts, range, step, |range| {
            self.one(bucket, key, facts, range)?.close().map_err(hashing)
        })
    }

    /// Returns the tag of the content of an object that `facts` identifies, and its leaf tags.
    fn tag_leaves(
        &self,
        bucket: &Bucket,
        key: &str,
        facts: &ObjectVersion,
        (leaves, leaf): (&Leaves, u64),
    ) -> Result<Tagged, ReadError> {
        let parts = self.open_key.mac.parts().expect("leaves have parts");
        let (bytes, sums) = (facts.size, Mutex::new(BTreeMap::new()));
        let range = MessageRange { start: 0, at: 0, bytes };
        let step = (RANGE / leaf).max(1) * leaf;
        let (part, rest) = self.ranges(bucket, facts, range, step, |range| {
            let open_key = Arc::clone(&self.open_key);
            let stream = LeafStream::new(open_key, leaf, bytes, range.start).map_err(hashing)?;
            let span = Span { start: range.at, end: range.at + range.bytes };
            let take =
                |stream: &mut LeafStream<_>, piece: &[u8]| stream.update(piece).map_err(hashing);
            let stream = self.one_by_one(bucket, key, facts, span, stream, take)?;
            let HashedLeaves { part, rest, sums: own } = stream.close().map_err(hashing)?;
            sums.lock().expect("no thread panics").insert(range.start, own);
            let part = part.ok_or_else(|| Failure::Final("internal error: no leaf".into()))?;
            Ok((part, rest))
        })?;
        let tag = parts.finish(part, &[], &rest)?;
        let sums: Vec<_> = sums.into_inner().expect("no thread panics").into_values().collect();
        let leaf_tags = leaves.tags(&tag, bytes, leaf, &sums, &rest);
        Ok(Tagged { tag, bytes, leaf_tags })
    }

    /// Divides a range into ranges of `step` bytes, hashes them with `hash`, and joins their parts.
    fn ranges(
        &self,
        bucket: &Bucket,
        facts: &ObjectVersion,
        range: MessageRange,
        step: u64,
        hash: impl Fn(MessageRange) -> Result<(AnyPart, Tail), Failure> + Sync,
    ) -> Result<(AnyPart, Tail), ReadError> {
        let parts = self.open_key.mac.parts().expect("the caller checked for parts");
        self.check_length(range.start.saturating_add(range.bytes))?;
        let count = range.bytes.div_ceil(step).max(1);
        if count == 1 {
            return Ok(hash(range)?);
        }
        if !facts.is_bound() {
            return Err(unbound().into());
        }
        // The next large object may begin once the last range of this one is requested.
        let alone = Mutex::new(Some(bucket.objects.large()));
        let piece = |index: u64| {
            let start = index * step;
            let bytes = step.min(range.bytes - start);
            MessageRange { start: range.start + start, at: range.at + start, bytes }
        };
        let (next, joined) = (AtomicU64::new(0), Joined::new(range.start));
        let take = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index + 1 >= count {
                    alone.lock().expect("no thread panics").take();
                }
                if index >= count {
                    return;
                }
                if joined.put(parts, hash(piece(index)), index + 1 == count).is_err() {
                    next.store(count, Ordering::Relaxed);
                }
            }
        };
        self.with_threads(bucket, count, take);
        Ok(joined.finish()?)
    }

    /// Hashes a range that arrives over one connection at a time.
    fn one(
        &self,
        bucket: &Bucket,
        key: &str,
        facts: &ObjectVersion,
        range: MessageRange,
    ) -> Result<PartStream<Arc<OpenKey>>, Failure> {
        // Treated as the last range: it leaves at least one byte, because some MACs treat the last
        // block differently.
        let open_key = Arc::clone(&self.open_key);
        let part = PartStream::new(open_key, b"-".to_vec(), range.start, true).map_err(hashing)?;
        let span = Span { start: range.at, end: range.at + range.bytes };
        let take = |part: &mut PartStream<Arc<OpenKey>>, piece: &[u8]| {
            part.update(piece).map_err(|error| Failure::Final(error.to_string()))
        };
        self.one_by_one(bucket, key, facts, span, part, take)
    }

    /// Passes the bytes of a range, which arrives over one connection at a time, to `take` with a
    /// hash.
    ///
    /// The task that receives the bytes updates the hash. A separate thread would be woken
    /// for every piece and would find it in another core's cache.
    fn one_by_one<H: Send + 'static>(
        &self,
        bucket: &Bucket,
        key: &str,
        facts: &ObjectVersion,
        span: Span,
        mut hash: H,
        mut take: impl FnMut(&mut H, &[u8]) -> Result<(), Failure> + Send + 'static,
    ) -> Result<H, Failure> {
        let done = Arc::new(AtomicUsize::new(0));
        let hashed = Arc::clone(&done);
        let (bucket, key, facts) = (bucket.clone(), String::from(key), facts.clone());
        let objects = bucket.objects.clone();
        let mut read = objects.runtime().spawn(async move {
            let take = |piece: &[u8]| {
                hashed.fetch_add(piece.len(), Ordering::Relaxed);
                take(&mut hash, piece)
            };
            range::read(&bucket, &key, span, &facts, take).await?;
            Ok(hash)
        });
        objects.runtime().block_on(async {
            loop {
                let ended = tokio::time::timeout(TICK, &mut read).await;
                self.progress.add(done.swap(0, Ordering::Relaxed));
                if let Ok(ended) = ended {
                    return joined(ended);
                }
            }
        })
    }

    /// Passes the bytes of an object to `take` in order.
    fn in_order(
        &self,
        bucket: &Bucket,
        key: &str,
        facts: &ObjectVersion,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        let count = facts.size.div_ceil(ORDERED_RANGE);
        if !facts.is_bound() {
            return Err(unbound());
        }
        let _alone = bucket.objects.large();
        let window = (bucket.objects.requests() as u64).min(ORDERED_RANGES);
        let queue = ordered::Queue::new(count, window);
        let fill = || {
            // Ends the queue after a panic too, or other threads would wait forever.
            let _closed = queue.closed_on_panic();
            while let Some(index) = queue.next() {
                let start = index * ORDERED_RANGE;
                let span = Span { start, end: facts.size.min(start + ORDERED_RANGE) };
                queue.put(index, fetch(bucket, key, span, facts));
            }
        };
        thread::scope(|scope| {
            let mut any = false;
            for _ in 0..window.min(count) {
                any |= thread::Builder::new().spawn_scoped(scope, fill).is_ok();
            }
            if !any {
                return Err(Failure::Final("cannot start a thread for requests".into()));
            }
            let _closed = queue.closed_on_panic();
            for _ in 0..count {
                let bytes = queue.take()?;
                self.progress.add(bytes.len());
                take(&bytes);
            }
            Ok(())
        })
    }

    /// Runs `take` on one thread per request, but on at most `count` threads.
    fn with_threads(&self, bucket: &Bucket, count: u64, take: impl Fn() + Sync) {
        let helpers = (bucket.objects.requests() as u64).min(count) - 1;
        thread::scope(|scope| {
            for _ in 0..helpers {
                // If no thread can be started, this one does all the work.
                if thread::Builder::new().spawn_scoped(scope, &take).is_err() {
                    break;
                }
            }
            take();
        });
    }

    fn check_length(&self, bytes: u64) -> Result<(), ReadError> {
        match self.open_key.mac.max_message_bytes() {
            Some(most) if bytes > most => Err(ReadError::TooLong { most, found: Some(bytes) }),
            _ => Ok(()),
        }
    }
}

/// Reads a range that is small enough for memory.
fn fetch(
    bucket: &Bucket,
    key: &str,
    span: Span,
    facts: &ObjectVersion,
) -> Result<Vec<u8>, Failure> {
    let (objects, bucket) = (bucket.objects.clone(), bucket.clone());
    let (key, facts) = (String::from(key), facts.clone());
    let read = objects.runtime().spawn(async move {
        let mut bytes = range::buffer(span.end - span.start)?;
        let take = |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        range::read(&bucket, &key, span, &facts, take).await?;
        Ok(bytes)
    });
    joined(objects.runtime().block_on(read))
}

fn hashing(error: Error) -> Failure {
    Failure::Final(error.to_string())
}

fn unbound() -> Failure {
    Failure::Final(
        "the store sent no strong ETag, so a change between two ranges could go unnoticed".into(),
    )
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use object_store::client::{HttpClient, HttpError, HttpRequest, HttpResponse, HttpService};
    use tagmac::isa::Level;
    use tagmac::save::Zeroizing;
    use tagmac_any::Algorithm;
    use tagmac_files::raw_key::RawKey;
    use tagmac_files::url::Url;

    use super::*;
    use crate::config::Config;
    use crate::objects::{Limits, Objects};
    use crate::requests::Store;
    use crate::signer::Signer;

    #[derive(Debug)]
    struct Panics;

    #[async_trait]
    impl HttpService for Panics {
        async fn call(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
            panic!("the intended panic")
        }
    }

    #[test]
    fn a_request_that_panics_is_a_failure() {
        let objects = Objects::new(Limits { requests: 4, objects: 1 }).unwrap();
        let client = HttpClient::new(Panics);
        let signer = Signer::S3 { credentials: None, region: "r".into(), request_payer: false };
        let endpoint = "https://example.org/b".into();
        let config = Config { client: client.clone(), writer: client, signer, endpoint };
        let url = Url::parse(b"s3://b/k").unwrap();
        let bucket = objects.bucket_in(Arc::new(Store::with(config)), &url);
        // A MAC with parts, and one that needs the ranges in order.
        for name in ["PMAC-AES128", "CMAC-AES128"] {
            let algorithm = Algorithm::from_name(name).unwrap();
            let key = RawKey::new(algorithm, Zeroizing::new(vec![0; 16])).unwrap();
            let open_key = OpenKey::new(&key, 128, Level::best()).unwrap();
            for size in [1, RANGE + 1, 10 * RANGE] {
                let facts = ObjectVersion { size, etag: Some("\"e\"".into()), version: None };
                let failed = ObjectReader::new(&open_key, &()).tag(&bucket, "k", &facts, &[]);
                let failed = failed.map(|_| ()).unwrap_err().to_string();
                assert!(failed.contains("internal error"), "{name} {size}: {failed}");
            }
        }
    }
}
