//! An object store that verifies every byte before it returns it.
//!
//! ```text
//! a range -> the leaves that cover it -> in the cache, or adjacent ones in one request
//!         -> each copied, verified, and returned from the copy
//! ```
//!
//! Names, sizes and times come from the manifest. The listings of the store, and what it says about
//! objects, are not used, except to detect an object of another size.

mod error;
mod fetch;
mod listing;
mod lru;
mod meta;
mod ranges;
mod threads;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, future, stream};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Error, Extensions, GetOptions, GetRange, GetResult, GetResultPayload,
    ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions,
    PutPayload, PutResult, RenameOptions, Result,
};
use tagmac_files::leaves::content::Contents;

pub use error::NotSealed;
use error::{generic, lookup, missing, read_only};
use fetch::{Fetcher, Leaves, Sealed};
use lru::Lru;
use threads::blocking;

/// The number of files whose tags are kept; fewer if they have many leaf tags.
const OPENED: usize = 256;
/// The bytes of leaf tags that weigh as much as a file.
const TAGS: usize = 64 << 10;

/// Limits on the memory of a [`VerifiedStore`], for all its readers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimits {
    /// The bytes that are received and verified at a time, 256 MiB by default. Further readers wait.
    /// A leaf that is longer is received alone.
    pub receiving: usize,
    /// The bytes of the cache of verified leaves, 64 MiB by default.
    pub cache: usize,
}

impl Default for MemoryLimits {
    fn default() -> MemoryLimits {
        MemoryLimits { receiving: 256 << 20, cache: 64 << 20 }
    }
}

/// The files of a sealed tree, or the objects of a sealed bucket, in an object store. Every byte that
/// it returns was sealed at that place of that file.
///
/// The manifest describes the files below a prefix of the store: its file `PATH` is the object
/// `PREFIX/PATH`, and the `VerifiedStore` calls it `PATH`.
///
/// - **Reads** request whole leaves, adjacent ones in one request and each one once, and verify them.
///   A file without leaves is requested as a whole. If a leaf differs, the error is [`NotSealed`], and
///   no byte of the leaf is returned.
/// - **Listings and `head`** come from the manifest, without a request. A path that the manifest does
///   not have is [`Error::NotFound`], even if the store has such an object. So is an object that the
///   store lacks, when it is read. Links and directories are not objects. A listing fails if a name
///   cannot be the name of an object, for example because it has a line feed. Empty objects whose names
///   end in a slash mark folders, and are not listed.
/// - **Conditions** depend on the manifest only. The ETag consists of the size and the tag. Versions
///   are not supported.
/// - **Writes** are [`Error::NotSupported`].
///
/// Memory has [limits](MemoryLimits), for all clones of a store together. Each reader also has up to
/// 256 KiB of verified bytes, or one leaf if it is longer. The cache keeps a leaf if a reader needed
/// only a part of it, because the next reader often needs the rest.
///
/// In a runtime of Tokio, a task receives the bytes for each reader, so a reader that is not polled
/// does not stop the others. `spawn_blocking` verifies them, because a leaf can have 64 MiB, and
/// leaf tags are in a file. Without a runtime, both happen where the reader is polled.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use tagmac_files::leaves::content::Contents;
/// use tagmac_files::open_key::OpenKey;
/// use tagmac_files::raw_key::RawKey;
/// use tagmac_objects::object_store::ObjectStoreExt;
/// use tagmac_objects::object_store::aws::AmazonS3Builder;
/// use tagmac_objects::verified::VerifiedStore;
///
/// # async fn read(raw: RawKey, key: OpenKey) -> Result<(), Box<dyn std::error::Error>> {
/// let contents = Arc::new(Contents::open(&key, &raw, Path::new("photos.manifest"))?);
/// let bucket = AmazonS3Builder::from_env().with_bucket_name("photos").build()?;
/// let store = VerifiedStore::new(bucket, "2026".into(), contents);
/// let start = store.get_range(&"raw/17.raw".into(), 0..1024).await?;
/// # Ok(())
/// # }
/// ```
pub struct VerifiedStore<S> {
    shared: Arc<Shared>,
    fetcher: Arc<Fetcher<S>>,
}

struct Shared {
    contents: Arc<Contents>,
    opened: Mutex<Lru<Path, Arc<Sealed>>>,
    /// The number of files opened so far.
    count: AtomicU64,
}

impl<S: ObjectStore> VerifiedStore<S> {
    /// Makes a store of the objects below a prefix of `store`, which are the files of a manifest.
    pub fn new(store: S, prefix: Path, contents: Arc<Contents>) -> VerifiedStore<S> {
        VerifiedStore::with_limits(store, prefix, contents, MemoryLimits::default())
    }

    /// Makes a store with other limits.
    pub fn with_limits(
        store: S,
        prefix: Path,
        contents: Arc<Contents>,
        limits: MemoryLimits,
    ) -> VerifiedStore<S> {
        let MemoryLimits { receiving, cache } = limits;
        let (opened, count) = (Mutex::new(Lru::new(OPENED)), AtomicU64::new(0));
        VerifiedStore {
            shared: Arc::new(Shared { contents, opened, count }),
            fetcher: Arc::new(Fetcher::new(store, prefix, receiving, cache)),
        }
    }

    /// Returns the file of a path.
    async fn sealed(&self, path: &Path) -> Result<Arc<Sealed>> {
        if let Some(sealed) = self.shared.opened().get(path) {
            return Ok(sealed);
        }
        let (shared, path) = (self.shared.clone(), path.clone());
        blocking(move || shared.open(path)).await
    }

    /// Starts to read a file.
    async fn read(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let sealed = self.sealed(path).await?;
        let (meta, size) = (sealed.meta.clone(), sealed.meta.size);
        options.check_preconditions(&meta)?;
        let range = match options.range {
            None => 0..size,
            Some(range) => range.as_range(size).map_err(generic)?,
        };
        // The last 0 bytes. An empty file, in contrast, is read.
        if range.is_empty() && size > 0 {
            return Ok(result(meta, range, stream::empty().boxed()));
        }
        let (fetcher, cover) = (self.fetcher.clone(), sealed.cover(&range));
        let mut leaves = Leaves::new(fetcher.clone(), sealed.clone(), cover, options.extensions);
        // So that a missing object is an error now.
        leaves.open().await?;
        let wanted = range.clone();
        let pieces = leaves.into_stream().map_ok(move |leaf| {
            let (_, part) = leaf.within(&wanted);
            if part.len() == leaf.bytes.len() {
                return leaf.bytes;
            }
            fetcher.keep(&sealed, &leaf);
            // A small part must not keep the memory of the whole leaf.
            match part.len() < leaf.bytes.len() / 2 {
                true => Bytes::copy_from_slice(part),
                false => leaf.bytes.slice_ref(part),
            }
        });
        Ok(result(meta, range, pieces.boxed()))
    }
}

fn result(
    meta: ObjectMeta,
    range: Range<u64>,
    pieces: BoxStream<'static, Result<Bytes>>,
) -> GetResult {
    let (payload, attributes) = (GetResultPayload::Stream(pieces), Attributes::default());
    GetResult { payload, meta, range, attributes, extensions: Extensions::default() }
}

impl Shared {
    fn opened(&self) -> std::sync::MutexGuard<'_, Lru<Path, Arc<Sealed>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the metadata of a file.
    fn meta(&self, path: &Path) -> Result<ObjectMeta> {
        let entry = self.contents.entry(path.as_ref().as_bytes());
        let entry = entry.map_err(|error| lookup(path, error))?;
        meta::of(&entry, path.clone()).ok_or_else(|| missing(path))
    }

    fn open(&self, path: Path) -> Result<Arc<Sealed>> {
        let name = std::path::Path::new(path.as_ref());
        let content = self.contents.content(path.as_ref().as_bytes(), name);
        let content = content.map_err(|error| lookup(&path, error))?;
        let meta = meta::of(content.entry(), path.clone()).ok_or_else(|| missing(&path))?;
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let weight = 1 + content.memory() / TAGS;
        let sealed = Arc::new(Sealed { number, meta, content });
        let mut opened = self.opened();
        opened.add(path.clone(), sealed.clone(), weight);
        Ok(opened.get(&path).unwrap_or(sealed))
    }
}

impl<S> Clone for VerifiedStore<S> {
    fn clone(&self) -> VerifiedStore<S> {
        VerifiedStore { shared: self.shared.clone(), fetcher: self.fetcher.clone() }
    }
}

impl<S: fmt::Debug> fmt::Debug for VerifiedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fetcher { store, prefix, .. } = &*self.fetcher;
        f.debug_struct("VerifiedStore")
            .field("store", store)
            .field("prefix", prefix)
            .finish_non_exhaustive()
    }
}

impl<S: fmt::Display> fmt::Display for VerifiedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifiedStore({}, {})", self.fetcher.store, self.fetcher.prefix)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: ObjectStore> ObjectStore for VerifiedStore<S> {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if options.version.is_some() {
            let source = "a manifest has no versions of objects".into();
            return Err(Error::NotSupported { source });
        }
        if !options.head {
            return self.read(location, options).await;
        }
        let (shared, path) = (self.shared.clone(), location.clone());
        let meta = blocking(move || shared.meta(&path)).await?;
        options.check_preconditions(&meta)?;
        let range = 0..meta.size;
        Ok(result(meta, range, stream::empty().boxed()))
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let sealed = self.sealed(location).await?;
        let range =
            |range: &Range<u64>| GetRange::Bounded(range.clone()).as_range(sealed.meta.size);
        let ranges = ranges.iter().map(range).collect::<std::result::Result<_, _>>();
        ranges::read(&self.fetcher, &sealed, ranges.map_err(generic)?).await
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        listing::all(self.shared.contents.clone(), listing::path_of(prefix))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let offset = offset.clone();
        let is_after = move |meta: &ObjectMeta| future::ready(meta.location > offset);
        self.list(prefix).try_filter(is_after).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let (contents, path) = (self.shared.contents.clone(), listing::path_of(prefix));
        blocking(move || listing::directory(&contents, &path)).await
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(read_only())
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(read_only())
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        locations.map(|location| location.and_then(|_| Err(read_only()))).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(read_only())
    }

    async fn rename_opts(&self, _: &Path, _: &Path, _: RenameOptions) -> Result<()> {
        Err(read_only())
    }
}
