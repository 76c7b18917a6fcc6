//! The contents that a manifest describes, and their verification from any place.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tagmac::Tag;
use tagmac::hazmat::PartError;

use crate::chain::Chain;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::leaf_size;
use crate::leaves::bucket::{self, SealedBucket};
use crate::leaves::file::LeafFile;
use crate::leaves::index::{Index, Place as IndexPlace};
use crate::leaves::wrong::WrongReads;
use crate::leaves::{LeafMac, Leaves, TAG_BYTES};
use crate::manifest::entry::{Content, Entry, word};
use crate::manifest::{Manifest, ManifestError, seal_mac};
use crate::objects::{Folder, ManifestKey, Place, ROOT};
use crate::open_key::OpenKey;
use crate::raw_key::RawKey;

/// The number of entries below a directory that are read before a seek skips the rest.
const MAX_SKIPPED: usize = 1000;

/// A manifest and its leaf tags. The files or objects themselves may be anywhere.
pub struct Contents {
    key: OpenKey,
    leaves: Leaves,
    source: Source,
    /// `None` for a manifest without leaf tags.
    wrong_reads: Option<Arc<WrongReads>>,
}

enum Source {
    Directory(Box<Directory>),
    Bucket(Box<SealedBucket>),
}

/// The manifest of a directory.
struct Directory {
    manifest: Manifest,
    index: Index,
    /// The path of the manifest, without links.
    place: PathBuf,
    /// Opened when a file needs them.
    tags: OnceLock<Arc<LeafFile>>,
}

impl Contents {
    /// Opens a manifest and verifies its seal: that of a directory, or, if `manifest` is a folder, that
    /// of a bucket.
    pub fn open(key: &OpenKey, raw: &RawKey, manifest: &Path) -> Result<Contents, Error> {
        if manifest.is_dir() {
            return Contents::open_bucket(key, raw, Box::new(Folder::new(manifest)));
        }
        let place = manifest.to_path_buf();
        let manifest = Manifest::open(manifest, key, seal_mac(raw))?;
        let place = place.canonicalize().map_err(|error| Error::file(&place, error))?;
        let leaves = Leaves::new(raw, manifest.header.options.leaves.unwrap_or(leaf_size::MAX));
        let index = Index::new(&manifest, key, &leaves)?;
        let wrong_reads = manifest.header.options.leaves.map(|_| {
            let name = Escaped::name(&place).to_string();
            Arc::new(WrongReads::new(name, key.mac.algorithm()))
        });
        let source =
            Source::Directory(Directory { manifest, index, place, tags: OnceLock::new() }.into());
        Ok(Contents { key: key.clone(), leaves, source, wrong_reads })
    }

    /// Opens the manifest of a bucket, whose files are at `place`, and verifies the seal of its root.
    /// The seals of its shards are verified when they are read.
    pub fn open_bucket(
        key: &OpenKey,
        raw: &RawKey,
        place: Box<dyn Place + Send + Sync>,
    ) -> Result<Contents, Error> {
        let name = place.shown_file(ROOT);
        let bucket = SealedBucket::open(ManifestKey::new(&key.mac, raw), place)?;
        let wrong_reads = bucket
            .root()
            .header
            .leaves
            .map(|_| Arc::new(WrongReads::new(name, key.mac.algorithm())));
        let leaves = Leaves::new(raw, bucket.root().header.leaves.unwrap_or(leaf_size::MAX));
        let source = Source::Bucket(bucket.into());
        Ok(Contents { key: key.clone(), leaves, source, wrong_reads })
    }

    /// Returns the leaves, which the manifest may lack.
    pub(crate) fn leaves(&self) -> &Leaves {
        &self.leaves
    }

    /// Returns whether the manifest has leaf tags.
    pub fn has_leaf_tags(&self) -> bool {
        self.wrong_reads.is_some()
    }

    /// Returns whether the manifest describes a bucket.
    pub fn is_bucket(&self) -> bool {
        matches!(self.source, Source::Bucket(_))
    }

    /// Returns the place in the chain of manifests.
    pub fn chain(&self) -> &Chain {
        match &self.source {
            Source::Directory(directory) => &directory.manifest.header.chain,
            Source::Bucket(bucket) => &bucket.root().header.chain,
        }
    }

    /// Returns the seal.
    pub fn seal(&self) -> Tag {
        match &self.source {
            Source::Directory(directory) => directory.manifest.seal,
            Source::Bucket(bucket) => bucket.root().seal,
        }
    }

    /// Returns the number of entries, and the sum of their sizes in bytes.
    pub fn totals(&self) -> (u64, u64) {
        match &self.source {
            Source::Directory(directory) => (directory.manifest.entries, directory.manifest.bytes),
            Source::Bucket(bucket) => (bucket.root().entries, bucket.root().bytes),
        }
    }

    /// Returns the entry of a path. In a bucket, a path with objects below it is a directory.
    pub fn entry(&self, path: &[u8]) -> Result<Entry, Error> {
        match &self.source {
            Source::Directory(_) => self.find(path).map(|place| place.entry),
            Source::Bucket(bucket) => bucket.entry(path)?.ok_or_else(|| missing(path)),
        }
    }

    /// Returns the entries at and below a path, in order; all entries for an empty path. In a bucket,
    /// these are objects only, without empty ones that mark a folder.
    pub fn entries<'a>(
        &'a self,
        path: &'a [u8],
    ) -> Box<dyn Iterator<Item = Result<Entry, Error>> + 'a> {
        self.entries_from(path, path)
    }

    /// Returns the entries at and below a path, in order, without those before `start`, which is at
    /// or below the path, or [`after`](Contents::after) it.
    pub fn entries_from<'a>(
        &'a self,
        path: &'a [u8],
        start: &[u8],
    ) -> Box<dyn Iterator<Item = Result<Entry, Error>> + 'a> {
        let Directory { manifest, index, .. } = match &self.source {
            Source::Directory(directory) => &**directory,
            Source::Bucket(bucket) => return Box::new(bucket.entries_from(path, start)),
        };
        let places = index.from(manifest, &self.leaves, start);
        let is_in = move |entry: &[u8]| entry == path || below(path, entry).is_some();
        let entries = places.map(|place| place.map(|place| place.entry));
        // `a/b` and all below it sort directly after `a`.
        Box::new(
            entries.take_while(move |entry| !matches!(entry, Ok(entry) if !is_in(&entry.path))),
        )
    }

    /// Returns the entries in a directory, without those in its directories; of the root for an empty
    /// path. In a bucket, names with empty segments are left out.
    pub fn children(&self, directory: &[u8]) -> Result<Vec<Entry>, Error> {
        let Directory { manifest, index, .. } = match &self.source {
            Source::Directory(directory) => &**directory,
            Source::Bucket(bucket) => return bucket.children(directory),
        };
        let (mut children, mut start) = (Vec::new(), directory.to_vec());
        'seek: loop {
            let mut skipped = 0;
            for place in index.from(manifest, &self.leaves, &start) {
                let entry = place?.entry;
                if entry.path == directory {
                    continue;
                }
                let Some(name) = below(directory, &entry.path) else { return Ok(children) };
                let Some(end) = name.iter().position(|&byte| byte == b'/') else {
                    children.push(entry);
                    continue;
                };
                skipped += 1;
                if skipped == MAX_SKIPPED {
                    start = self.after(&entry.path[..entry.path.len() - name.len() + end]);
                    continue 'seek;
                }
            }
            return Ok(children);
        }
    }

    /// Returns a path that sorts after all paths below a directory, and not after the next entry.
    pub fn after(&self, directory: &[u8]) -> Vec<u8> {
        match &self.source {
            // No name has a zero byte.
            Source::Directory(_) => [directory, &[1]].concat(),
            Source::Bucket(_) => bucket::after(directory),
        }
    }

    /// Returns the content of a file. `name` is the name of the file in messages.
    pub fn content(&self, path: &[u8], name: &Path) -> Result<SealedContent, Error> {
        let (entry, first) = match &self.source {
            Source::Directory(_) => self.find(path).map(|place| (place.entry, place.first))?,
            Source::Bucket(_) => (self.entry(path)?, 0),
        };
        let name = Escaped::name(name).to_string();
        let Some(Content { size, nonce, tag }) = &entry.content else {
            return Err(ManifestError::NoFile { file: name, kind: word(entry.kind) }.into());
        };
        let (size, nonce) = (*size, nonce.clone());
        let archived = || {
            let what =
                "the object was archived when it was sealed, so the manifest has no tag of it";
            Error::usage(format_args!("{name}: {what}"))
        };
        let tag = tag.ok_or_else(archived)?;
        let leaves = match self.leaves.size_for(size) {
            None => None,
            Some(leaf) => {
                let tags = match &self.source {
                    Source::Directory(directory) => directory.leaf_tags(first)?,
                    Source::Bucket(bucket) => {
                        bucket.leaf_tags(path, &self.leaves)?.map(LeafTags::InMemory)
                    }
                };
                let none = || ManifestError::NoLeafTags { file: name.clone() };
                let tags = tags.ok_or_else(none)?;
                Some(SealedLeaves { mac: LeafMac::new(&self.leaves, &tag, size, leaf), tags, leaf })
            }
        };
        let (key, wrong_reads) = (self.key.clone(), self.wrong_reads.clone());
        wrong_reads.iter().for_each(|wrong| wrong.open(size));
        Ok(SealedContent { key, name, entry, size, nonce, tag, leaves, wrong_reads })
    }

    fn find(&self, path: &[u8]) -> Result<IndexPlace, Error> {
        let Source::Directory(directory) = &self.source else {
            return Err(missing(path));
        };
        let Directory { manifest, index, .. } = &**directory;
        let found = index.from(manifest, &self.leaves, path).next().transpose()?;
        let found = found.filter(|place| place.entry.path == path);
        found.ok_or_else(|| missing(path))
    }
}

impl Directory {
    /// Returns the leaf tags of a file, from number `first` on; `None` if the manifest lacks them.
    fn leaf_tags(&self, first: u64) -> Result<Option<LeafTags>, Error> {
        if self.manifest.header.options.leaves.is_none() {
            return Ok(None);
        }
        let file = match self.tags.get() {
            Some(file) => file.clone(),
            None => {
                let opened = LeafFile::open(&self.place, self.manifest.header.chain.sequence)?;
                self.tags.get_or_init(|| Arc::new(opened)).clone()
            }
        };
        Ok(Some(LeafTags::InFile { file, first }))
    }
}

fn missing(path: &[u8]) -> Error {
    ManifestError::NoEntry { path: path.to_vec() }.into()
}

/// Returns the path relative to a directory, if it is in it or below it.
pub fn below<'a>(directory: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
    match directory {
        [] => Some(path),
        _ => path.strip_prefix(directory)?.strip_prefix(b"/"),
    }
}

/// The content of one file, as it was sealed. It verifies leaves, wherever their bytes come from.
pub struct SealedContent {
    key: OpenKey,
    name: String,
    entry: Entry,
    size: u64,
    nonce: Vec<u8>,
    tag: Tag,
    leaves: Option<SealedLeaves>,
    wrong_reads: Option<Arc<WrongReads>>,
}

/// The leaves of one file.
struct SealedLeaves {
    mac: LeafMac,
    tags: LeafTags,
    /// The length of a leaf in bytes.
    leaf: u64,
}

/// The leaf tags of one file.
enum LeafTags {
    /// Those of a file of leaf tags from number `first` on.
    InFile {
        file: Arc<LeafFile>,
        first: u64,
    },
    InMemory(Vec<u8>),
}

impl LeafTags {
    /// Returns the tag of leaf `number`.
    fn tag(&self, number: u64) -> Result<[u8; TAG_BYTES], Error> {
        match self {
            LeafTags::InFile { file, first } => file.tag(first + number),
            LeafTags::InMemory(tags) => Ok(tags.as_chunks().0[number as usize]),
        }
    }

    /// Forgets the tag of leaf `number`, because the leaf differs.
    fn forget(&self, number: u64) {
        if let LeafTags::InFile { file, first } = self {
            file.forget(first + number);
        }
    }
}

impl SealedContent {
    /// Returns the file's entry.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the length of a leaf in bytes. A file without leaves is one leaf.
    pub fn leaf(&self) -> u64 {
        self.leaves.as_ref().map_or(self.size.max(1), |leaves| leaves.leaf)
    }

    /// Returns the bytes of memory that the leaf tags take.
    pub fn memory(&self) -> usize {
        match self.leaves.as_ref().map(|leaves| &leaves.tags) {
            Some(LeafTags::InMemory(tags)) => tags.len(),
            _ => 0,
        }
    }

    /// Returns the start of the leaf with the byte at `offset`.
    pub fn start_of(&self, offset: u64) -> u64 {
        offset / self.leaf() * self.leaf()
    }

    /// Returns the range of the leaf that begins at `start`.
    pub fn range(&self, start: u64) -> Range<u64> {
        start..start.saturating_add(self.leaf()).min(self.size)
    }

    /// Returns the first byte of each leaf. An empty file has one leaf.
    pub fn starts(&self) -> impl Iterator<Item = u64> + use<> {
        let (size, leaf) = (self.size, self.leaf());
        (0..size.div_ceil(leaf).max(1)).map(move |number| number * leaf)
    }

    /// Returns whether these are the sealed bytes of the leaf that begins at `start`. Fails after more
    /// wrong leaves than the key allows, counted for all files of the open manifest.
    ///
    /// # Panics
    ///
    /// If no leaf begins there.
    pub fn is_sealed(&self, start: u64, bytes: &[u8]) -> Result<bool, Error> {
        let begins = start.is_multiple_of(self.leaf()) && start < self.size.max(1);
        assert!(begins, "{start}: no leaf begins there");
        let end = start + bytes.len() as u64;
        if end != self.range(start).end {
            return Ok(false);
        }
        let wrong_reads = self.wrong_reads.as_ref();
        wrong_reads.map_or(Ok(()), |wrong| wrong.check())?;
        let is_sealed = self.verify(start, bytes)?;
        if let (Some(wrong), false) = (wrong_reads, is_sealed) {
            wrong.add();
        }
        // Other threads may have exceeded the limit meanwhile.
        wrong_reads.map_or(Ok(()), |wrong| wrong.check())?;
        Ok(is_sealed)
    }

    /// Verifies the bytes of the leaf that begins at `start`.
    fn verify(&self, start: u64, bytes: &[u8]) -> Result<bool, Error> {
        let end = start + bytes.len() as u64;
        let Some(SealedLeaves { mac, tags, leaf }) = &self.leaves else {
            return Ok(self.key.mac.verify(&self.nonce, bytes, &self.tag).is_ok());
        };
        let number = start / leaf;
        let tag = Tag::try_from(&tags.tag(number)?[..]).expect("16 bytes");
        let parts = self.key.parts()?;
        let is_sealed = mac
            .is_tag_of(parts, number, start, (bytes, end == self.size), &tag)
            .map_err(|error: PartError| Error::io(format_args!("{}: {error}", self.name)))?;
        if !is_sealed {
            tags.forget(number);
        }
        Ok(is_sealed)
    }

    /// Fails if the file has another size than the sealed one.
    pub fn has_size(&self, found: u64) -> Result<(), Error> {
        match self.size {
            expected if expected == found => Ok(()),
            expected => Err(self.wrong(format_args!("expected {expected} bytes, found {found}"))),
        }
    }

    /// Returns the error for a leaf that is not the sealed one.
    pub fn differs(&self, Range { start, end }: Range<u64>) -> Error {
        self.wrong(format_args!("bytes {start} to {end} differ from those sealed"))
    }

    fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::mismatch(format_args!("{}: {what}", self.name))
    }
}
