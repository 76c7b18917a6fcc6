//! A hostile store, which counts the requests and the bytes that they ask for.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::task::yield_now;

/// A lie of a store.
#[derive(Clone, Debug, PartialEq)]
pub enum Lie {
    /// Answers are right.
    None,
    /// Every second answer has one wrong bit.
    Flips,
    /// Answers are those of other objects.
    Swapped(BTreeMap<Path, Path>),
    /// Answers begin later, by this number of bytes.
    Shifted(i64),
    /// Answers have fewer bytes.
    Short,
    /// Answers have more bytes.
    Long,
    /// Sizes differ by this number of bytes.
    Size(i64),
    /// Answers come in tiny pieces, also empty ones, and never at once.
    Slow,
    /// Answers end with an error.
    Fails,
    /// The answers for one object never come.
    Hangs(Path),
    /// Those for one object never end, and all pieces are empty.
    Empty(Path),
    /// The reader's copy is claimed to be current.
    Unmodified,
}

/// Counts of the requests to a store.
#[derive(Debug, Default)]
pub struct Counts {
    pub requests: AtomicU64,
    pub bytes: AtomicU64,
    /// The answers that are being received.
    pub open: AtomicI64,
    pub most_open: AtomicI64,
}

impl Counts {
    /// Returns the requests and bytes so far, and starts again.
    pub fn take(&self) -> (u64, u64) {
        (self.requests.swap(0, SeqCst), self.bytes.swap(0, SeqCst))
    }
}

/// An answer that is being received.
struct Open(Arc<Counts>);

impl Open {
    fn new(counts: Arc<Counts>) -> Open {
        let open = counts.open.fetch_add(1, SeqCst) + 1;
        counts.most_open.fetch_max(open, SeqCst);
        Open(counts)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, SeqCst);
    }
}

#[derive(Clone, Debug)]
pub struct Hostile {
    pub objects: InMemory,
    pub lie: Lie,
    pub counts: Arc<Counts>,
}

impl Hostile {
    pub fn new(objects: &InMemory, lie: Lie) -> Hostile {
        Hostile { objects: objects.clone(), lie, counts: Arc::default() }
    }

    fn pieces(&self, number: u64, bytes: Bytes) -> Vec<Result<Bytes>> {
        let mut bytes = bytes.to_vec();
        match &self.lie {
            Lie::Flips if number % 2 == 1 && !bytes.is_empty() => {
                let at = number as usize % bytes.len();
                bytes[at] ^= 1 << (number % 8);
            }
            Lie::Short => drop(bytes.pop()),
            Lie::Long => bytes.push(7),
            Lie::Slow => {
                let mut pieces = vec![Ok(Bytes::new())];
                for piece in bytes.chunks(1000) {
                    pieces.extend([Ok(Bytes::copy_from_slice(piece)), Ok(Bytes::new())]);
                }
                return pieces;
            }
            Lie::Fails => {
                let end = bytes.len() / 2;
                let error = Error::Generic { store: "hostile", source: "gone".into() };
                return vec![Ok(bytes[..end].to_vec().into()), Err(error)];
            }
            _ => {}
        }
        vec![Ok(bytes.into())]
    }
}

impl fmt::Display for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hostile")
    }
}

#[async_trait]
impl ObjectStore for Hostile {
    async fn get_opts(&self, location: &Path, mut options: GetOptions) -> Result<GetResult> {
        let number = self.counts.requests.fetch_add(1, SeqCst);
        assert!(!options.head && options.if_match.is_none() && options.if_none_match.is_none());
        let mut location = location.clone();
        match &self.lie {
            Lie::Swapped(others) => location = others.get(&location).cloned().unwrap_or(location),
            Lie::Unmodified => {
                let path = location.to_string();
                return Err(Error::NotModified { path, source: "really".into() });
            }
            _ => {}
        }
        if let Lie::Shifted(by) = self.lie
            && let Some(object_store::GetRange::Bounded(Range { start, end })) = &mut options.range
        {
            *start = start.saturating_add_signed(by);
            *end = end.saturating_add_signed(by);
        }
        let found = self.objects.get_opts(&location, options).await?;
        let (range, mut meta) = (found.range.clone(), found.meta.clone());
        let (attributes, extensions) = (found.attributes.clone(), found.extensions.clone());
        self.counts.bytes.fetch_add(range.end - range.start, SeqCst);
        if let Lie::Size(by) = self.lie {
            meta.size = meta.size.saturating_add_signed(by);
        }
        let endless = match &self.lie {
            Lie::Hangs(path) if *path == location => Some(stream::pending().boxed()),
            Lie::Empty(path) if *path == location => {
                Some(stream::repeat_with(|| Ok(Bytes::new())).boxed())
            }
            _ => None,
        };
        let pieces = match endless {
            Some(pieces) => pieces,
            None => stream::iter(self.pieces(number, found.bytes().await?)).boxed(),
        };
        let (counts, is_slow) = (self.counts.clone(), self.lie == Lie::Slow);
        // Panics if it is polled again after its end.
        let pieces = stream::unfold((pieces, None), move |(mut pieces, open)| {
            let open = open.unwrap_or_else(|| Open::new(counts.clone()));
            async move {
                if is_slow {
                    yield_now().await;
                }
                let piece = pieces.next().await?;
                Some((piece, (pieces, Some(open))))
            }
        });
        let payload = GetResultPayload::Stream(pieces.boxed());
        Ok(GetResult { payload, meta, range, attributes, extensions })
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        panic!("listings come from the manifest")
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        panic!("listings come from the manifest")
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        panic!("nothing is written")
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        panic!("nothing is written")
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        panic!("nothing is deleted")
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        panic!("nothing is copied")
    }
}
