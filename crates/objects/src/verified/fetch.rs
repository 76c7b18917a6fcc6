//! Fetches leaves from a store and verifies them.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{Extensions, GetOptions, GetRange, ObjectMeta, ObjectStore, Result};
use tagmac_files::leaves::content::SealedContent;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;

use crate::verified::error::{NotSealed, generic, request};
use crate::verified::lru::Lru;
use crate::verified::threads::{apart, blocking};

/// The approximate number of bytes that a reader receives and verifies at once.
const GROUP: u64 = 256 << 10;
/// The approximate maximum length of one request.
const REQUEST: u64 = 64 << 20;
/// The bytes of a permit.
const UNIT: usize = 4 << 10;
/// The approximate memory of a leaf in the cache, besides its bytes.
const OVERHEAD: usize = 256;

/// A file of the manifest.
pub struct Sealed {
    /// Different for each opened file.
    pub number: u64,
    /// The metadata, with the path in the manifest.
    pub meta: ObjectMeta,
    pub content: SealedContent,
}

impl Sealed {
    /// Returns the bytes of the leaves that have the bytes of a range.
    pub fn cover(&self, range: &Range<u64>) -> Range<u64> {
        let leaf = self.content.leaf();
        self.content.start_of(range.start)
            ..range.end.div_ceil(leaf).saturating_mul(leaf).min(self.content.size())
    }
}

/// A verified leaf.
pub struct Leaf {
    /// The offset of its first byte in the file.
    pub start: u64,
    pub bytes: Bytes,
}

impl Leaf {
    /// Returns the offset after the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Returns the bytes of the leaf in a range, and their offset in the file.
    pub fn within(&self, range: &Range<u64>) -> (u64, &[u8]) {
        let start = range.start.clamp(self.start, self.end());
        let end = range.end.clamp(start, self.end());
        (start, &self.bytes[(start - self.start) as usize..(end - self.start) as usize])
    }
}

/// A store, and the memory that its readers share.
pub struct Fetcher<S> {
    pub store: S,
    pub prefix: Path,
    memory: Arc<Semaphore>,
    /// The number of permits.
    units: usize,
    cache: Mutex<Lru<(u64, u64), Bytes>>,
}

impl<S: fmt::Debug> fmt::Debug for Fetcher<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").field("store", &self.store).finish_non_exhaustive()
    }
}

impl<S: ObjectStore> Fetcher<S> {
    pub fn new(store: S, prefix: Path, memory: usize, cache: usize) -> Fetcher<S> {
        let units = memory.div_ceil(UNIT).clamp(1, u32::MAX as usize).min(Semaphore::MAX_PERMITS);
        let (memory, cache) = (Arc::new(Semaphore::new(units)), Mutex::new(Lru::new(cache)));
        Fetcher { store, prefix, memory, units, cache }
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Lru<(u64, u64), Bytes>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a leaf for the next readers.
    pub fn keep(&self, sealed: &Sealed, leaf: &Leaf) {
        let weight = leaf.bytes.len() + OVERHEAD;
        self.cache().add((sealed.number, leaf.start), leaf.bytes.clone(), weight);
    }

    fn cached(&self, sealed: &Sealed, start: u64) -> Option<Leaf> {
        let bytes = self.cache().get(&(sealed.number, start))?;
        Some(Leaf { start, bytes })
    }

    /// Returns the leaves from `start` on to request at once: up to the next one in the cache.
    fn uncached(&self, sealed: &Sealed, start: u64, end: u64) -> Range<u64> {
        let (cache, most) = (self.cache(), end.min(start.saturating_add(REQUEST)));
        let mut next = sealed.content.range(start).end;
        while next < most && !cache.has(&(sealed.number, next)) {
            next = sealed.content.range(next).end;
        }
        start..next
    }

    /// Requests whole leaves.
    async fn open(
        &self,
        sealed: &Sealed,
        range: Range<u64>,
        extensions: Extensions,
    ) -> Result<Request> {
        let path = &sealed.meta.location;
        let object: Path = self.prefix.parts().chain(path.parts()).collect();
        // A request for no bytes is an error: an empty file is requested as a whole.
        let asked = (!range.is_empty()).then(|| GetRange::Bounded(range.clone()));
        let options = GetOptions { range: asked, extensions, ..GetOptions::default() };
        let found = self.store.get_opts(&object, options).await;
        let found = found.map_err(|error| request(path, error))?;
        let (expected, size) = (sealed.meta.size, found.meta.size);
        if size != expected {
            return Err(NotSealed::Size { path: path.clone(), expected, found: size }.into());
        }
        Ok(Request { range, pieces: found.into_stream(), rest: Bytes::new() })
    }

    /// Waits until the memory of readers has room for some bytes.
    async fn room(memory: Arc<Semaphore>, units: usize, bytes: u64) -> OwnedSemaphorePermit {
        let wanted = usize::try_from(bytes.div_ceil(UNIT as u64)).unwrap_or(units).min(units);
        memory.acquire_many_owned(wanted as u32).await.expect("never closed")
    }
}

/// A response of the store, and how far it was read.
struct Request {
    /// The bytes that were not read yet.
    range: Range<u64>,
    pieces: BoxStream<'static, Result<Bytes>>,
    /// The end of the last piece.
    rest: Bytes,
}

impl Request {
    /// Receives the next leaf. `None` if the response is shorter or longer than the requested range.
    async fn receive(&mut self, leaf: &Range<u64>) -> Result<Option<Vec<u8>>> {
        let bytes = usize::try_from(leaf.end - leaf.start).map_err(generic)?;
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(bytes).map_err(generic)?;
        while buffer.len() < bytes {
            if !self.has_more().await? {
                return Ok(None);
            }
            let piece = self.rest.split_to(self.rest.len().min(bytes - buffer.len()));
            // The store might still change its own buffer: only the copy is verified and returned.
            buffer.extend_from_slice(&piece);
        }
        self.range.start = leaf.end;
        if self.range.is_empty() {
            if self.has_more().await? {
                return Ok(None);
            }
            // Frees the connection before the leaves are verified.
            self.pieces = stream::empty().boxed();
        }
        Ok(Some(buffer))
    }

    /// Returns whether the response has more bytes. Not called again after the end.
    async fn has_more(&mut self) -> Result<bool> {
        while self.rest.is_empty() {
            match self.pieces.next().await.transpose()? {
                None => return Ok(false),
                Some(piece) => self.rest = piece,
            }
            // An endless stream of empty pieces must not keep the thread.
            if self.rest.is_empty() {
                yield_now().await;
            }
        }
        Ok(true)
    }

    /// Receives and verifies the next leaves.
    async fn group(
        mut self,
        sealed: Arc<Sealed>,
        room: impl Future<Output = OwnedSemaphorePermit> + Send,
        end: u64,
    ) -> Result<(Request, VecDeque<Leaf>)> {
        let permit = room.await;
        let mut leaves = Vec::new();
        loop {
            let leaf = sealed.content.range(self.range.start);
            let received = self.receive(&leaf).await;
            let received = received.map_err(|error| request(&sealed.meta.location, error))?;
            let Some(bytes) = received else { return Err(differs(&sealed, leaf)) };
            let is_last = leaf.end >= end;
            leaves.push((leaf, bytes));
            if is_last {
                break;
            }
        }
        let verified = blocking(move || {
            let _permit = permit;
            leaves.into_iter().map(|(leaf, bytes)| verified(&sealed, leaf, bytes)).collect()
        });
        Ok((self, verified.await?))
    }
}

fn verified(sealed: &Sealed, leaf: Range<u64>, bytes: Vec<u8>) -> Result<Leaf> {
    match sealed.content.is_sealed(leaf.start, &bytes).map_err(generic)? {
        true => Ok(Leaf { start: leaf.start, bytes: bytes.into() }),
        false => Err(differs(sealed, leaf)),
    }
}

fn differs(sealed: &Sealed, range: Range<u64>) -> object_store::Error {
    NotSealed::Bytes { path: sealed.meta.location.clone(), range }.into()
}

/// Leaves of one file, in order, from the cache or from the store.
pub struct Leaves<S> {
    fetcher: Arc<Fetcher<S>>,
    sealed: Arc<Sealed>,
    extensions: Extensions,
    /// The offset of the next leaf that is neither ready nor in the request.
    next: u64,
    end: u64,
    /// False until the only leaf of an empty file was read.
    is_done: bool,
    request: Option<Request>,
    ready: VecDeque<Leaf>,
}

impl<S: ObjectStore> Leaves<S> {
    /// Whole leaves.
    pub fn new(
        fetcher: Arc<Fetcher<S>>,
        sealed: Arc<Sealed>,
        range: Range<u64>,
        extensions: Extensions,
    ) -> Leaves<S> {
        let Range { start: next, end } = range;
        let (is_done, request, ready) = (false, None, VecDeque::new());
        Leaves { fetcher, sealed, extensions, next, end, is_done, request, ready }
    }

    /// Finds the next leaf in the cache, or requests it. Nothing is received yet.
    pub async fn open(&mut self) -> Result<()> {
        if self.is_done || self.request.is_some() || !self.ready.is_empty() {
            return Ok(());
        }
        if let Some(leaf) = self.fetcher.cached(&self.sealed, self.next) {
            self.advance(leaf.end());
            self.ready.push_back(leaf);
            return Ok(());
        }
        let range = self.fetcher.uncached(&self.sealed, self.next, self.end);
        let end = range.end;
        let opened = self.fetcher.open(&self.sealed, range, self.extensions.clone());
        self.request = Some(opened.await?);
        self.advance(end);
        Ok(())
    }

    fn advance(&mut self, next: u64) {
        self.next = next;
        self.is_done = next >= self.end;
    }

    /// Returns the next leaf.
    async fn pull(&mut self) -> Result<Option<Leaf>> {
        loop {
            if let Some(leaf) = self.ready.pop_front() {
                return Ok(Some(leaf));
            }
            let Some(request) = self.request.take() else {
                if self.is_done {
                    return Ok(None);
                }
                self.open().await?;
                continue;
            };
            let Range { start, end } = request.range;
            let leaf = self.sealed.content.leaf();
            let group = (GROUP / leaf).max(1).saturating_mul(leaf);
            let group = start.saturating_add(group).min(end);
            // Room is taken after the store has responded, and only by a task that runs on its own.
            // So the reader that has room does not wait for a request limit of the store, and its
            // program need not poll it.
            let Fetcher { memory, units, .. } = &*self.fetcher;
            let room = Fetcher::<S>::room(memory.clone(), *units, group - start);
            let sealed = self.sealed.clone();
            let (request, leaves) = apart(request.group(sealed, room, group)).await?;
            self.request = (request.range.start < request.range.end).then_some(request);
            self.ready = leaves;
        }
    }

    /// Returns the leaves as a stream. It ends after the first error.
    pub fn into_stream(self) -> BoxStream<'static, Result<Leaf>> {
        let leaves = stream::try_unfold(self, |mut leaves| async move {
            let leaf = leaves.pull().await?;
            Ok(leaf.map(|leaf| (leaf, leaves)))
        });
        leaves.boxed()
    }
}
