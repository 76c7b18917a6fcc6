//! The contents that a manifest describes, and their verification from any place.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tagmac::Tag;
use tagmac::hazmat::PartError;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::leaf_size;
use crate::leaves::file::LeafFile;
use crate::leaves::index::{Index, Place};
use crate::leaves::{LeafMac, Leaves};
use crate::manifest::entry::{Content, Entry, word};
use crate::manifest::{Manifest, ManifestError, seal_mac};
use crate::open_key::OpenKey;
use crate::raw_key::RawKey;

/// The number of entries below a directory that are read before a seek skips the rest.
const MAX_SKIPPED: usize = 1000;

/// A manifest, its index and its leaf tags. The files themselves may be anywhere.
pub struct Contents {
    key: OpenKey,
    leaves: Leaves,
    manifest: Manifest,
    index: Index,
    /// The path of the manifest, without links.
    place: PathBuf,
    /// Opened when a file needs them.
    tags: OnceLock<Arc<LeafFile>>,
}

impl Contents {
    /// Opens a manifest and verifies its seal.
    pub fn open(key: &OpenKey, raw: &RawKey, manifest: &Path) -> Result<Contents, Error> {
        let place = manifest.to_path_buf();
        let manifest = Manifest::open(manifest, key, seal_mac(raw))?;
        let place = place.canonicalize().map_err(|error| Error::file(&place, error))?;
        let leaves = Leaves::new(raw, manifest.header.options.leaves.unwrap_or(leaf_size::MAX));
        let index = Index::new(&manifest, key, &leaves)?;
        let tags = OnceLock::new();
        Ok(Contents { key: key.clone(), leaves, manifest, index, place, tags })
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the entry of a path.
    pub fn entry(&self, path: &[u8]) -> Result<Entry, Error> {
        self.find(path).map(|place| place.entry)
    }

    /// Returns the entries at and below a path, in order; all entries for an empty path.
    pub fn entries<'a>(
        &'a self,
        path: &'a [u8],
    ) -> impl Iterator<Item = Result<Entry, Error>> + use<'a> {
        self.entries_from(path, path)
    }

    /// Returns the entries at and below a path, in order, without those before `start`, which is at
    /// or below the path, or directly after all below it.
    pub fn entries_from<'a>(
        &'a self,
        path: &'a [u8],
        start: &[u8],
    ) -> impl Iterator<Item = Result<Entry, Error>> + use<'a> {
        let places = self.index.from(&self.manifest, &self.leaves, start);
        let is_in = move |entry: &[u8]| entry == path || below(path, entry).is_some();
        let entries = places.map(|place| place.map(|place| place.entry));
        // `a/b` and all below it sort directly after `a`.
        entries.take_while(move |entry| !matches!(entry, Ok(entry) if !is_in(&entry.path)))
    }

    /// Returns the entries in a directory, without those in its directories; of the root for an empty
    /// path.
    pub fn children(&self, directory: &[u8]) -> Result<Vec<Entry>, Error> {
        let (mut children, mut start) = (Vec::new(), directory.to_vec());
        'seek: loop {
            let mut skipped = 0;
            for place in self.index.from(&self.manifest, &self.leaves, &start) {
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
                    start = after(&entry.path[..entry.path.len() - name.len() + end]);
                    continue 'seek;
                }
            }
            return Ok(children);
        }
    }

    /// Returns the content of a file. `name` is the name of the file in messages.
    pub fn content(&self, path: &[u8], name: &Path) -> Result<SealedContent, Error> {
        let Place { entry, first } = self.find(path)?;
        let name = Escaped::name(name).to_string();
        let Some(Content { size, nonce, tag }) = &entry.content else {
            return Err(ManifestError::NoFile { file: name, kind: word(entry.kind) }.into());
        };
        let (size, nonce) = (*size, nonce.clone());
        let tag = tag.expect("a manifest has a tag of each file");
        let leaves = match self.leaves.size_for(size) {
            None => None,
            Some(_) if self.manifest.header.options.leaves.is_none() => {
                return Err(ManifestError::NoLeafTags { file: name }.into());
            }
            Some(leaf) => {
                let (file, mac) = (self.tags()?, LeafMac::new(&self.leaves, &tag, size, leaf));
                Some(LeafTags { mac, file, first, leaf })
            }
        };
        Ok(SealedContent { key: self.key.clone(), name, entry, size, nonce, tag, leaves })
    }

    fn tags(&self) -> Result<Arc<LeafFile>, Error> {
        if let Some(tags) = self.tags.get() {
            return Ok(tags.clone());
        }
        let opened = LeafFile::open(&self.place, self.manifest.header.chain.sequence)?;
        Ok(self.tags.get_or_init(|| Arc::new(opened)).clone())
    }

    fn find(&self, path: &[u8]) -> Result<Place, Error> {
        let found = self.index.from(&self.manifest, &self.leaves, path).next().transpose()?;
        let found = found.filter(|place| place.entry.path == path);
        found.ok_or_else(|| ManifestError::NoEntry { path: path.to_vec() }.into())
    }
}

/// Returns a path that sorts after all paths below a directory, and not after the next entry.
pub fn after(directory: &[u8]) -> Vec<u8> {
    // No name has a zero byte.
    [directory, &[1]].concat()
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
    leaves: Option<LeafTags>,
}

/// The leaf tags of one file.
struct LeafTags {
    mac: LeafMac,
    file: Arc<LeafFile>,
    /// The number of the file's first tag.
    first: u64,
    /// The length of a leaf in bytes.
    leaf: u64,
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
        self.leaves.as_ref().map_or(self.size.max(1), |tags| tags.leaf)
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

    /// Returns whether these are the sealed bytes of the leaf that begins at `start`.
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
        let Some(LeafTags { mac, file, first, leaf }) = &self.leaves else {
            return Ok(self.key.mac.verify(&self.nonce, bytes, &self.tag).is_ok());
        };
        let number = start / leaf;
        let tag = Tag::try_from(&file.tag(first + number)?[..]).expect("16 bytes");
        let parts = self.key.parts()?;
        let is_sealed = mac
            .is_tag_of(parts, number, start, (bytes, end == self.size), &tag)
            .map_err(|error: PartError| Error::io(format_args!("{}: {error}", self.name)))?;
        if !is_sealed {
            file.forget(first + number);
        }
        Ok(is_sealed)
    }

    /// Returns the error for a leaf that is not the sealed one.
    pub fn differs(&self, Range { start, end }: Range<u64>) -> Error {
        self.wrong(format_args!("bytes {start} to {end} differ from those sealed"))
    }

    pub(crate) fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::mismatch(format_args!("{}: {what}", self.name))
    }
}
