//! A store that counts the bytes that its readers ask for.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// A store and its counts.
#[derive(Debug)]
pub struct Counting<S> {
    store: S,
    pub counts: Arc<Counts>,
}

/// The requests for bytes, and the bytes.
#[derive(Debug, Default)]
pub struct Counts {
    pub requests: AtomicU64,
    pub bytes: AtomicU64,
}

impl Counts {
    fn add(&self, range: &Range<u64>) {
        self.requests.fetch_add(1, Relaxed);
        self.bytes.fetch_add(range.end - range.start, Relaxed);
    }

    /// Returns the requests and bytes so far, and starts again.
    pub fn take(&self) -> (u64, u64) {
        (self.requests.swap(0, Relaxed), self.bytes.swap(0, Relaxed))
    }
}

impl<S> Counting<S> {
    pub fn new(store: S) -> Counting<S> {
        Counting { store, counts: Arc::default() }
    }
}

impl<S: fmt::Display> fmt::Display for Counting<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl<S: ObjectStore> ObjectStore for Counting<S> {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let is_head = options.head;
        let found = self.store.get_opts(location, options).await?;
        if !is_head {
            self.counts.add(&found.range);
        }
        Ok(found)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().for_each(|range| self.counts.add(range));
        self.store.get_ranges(location, ranges).await
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.store.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(locations)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}
