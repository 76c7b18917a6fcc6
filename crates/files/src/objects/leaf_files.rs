//! The files of leaf tags of an object manifest.
//!
//! The leaf tags of a shard's objects, in order, are in files of about 8 MiB. The name of a file is a
//! hash of what determines its bytes: the length of leaves, and the tag and the size of each object.
//! So a file never replaces one with other leaf tags, and the shard suffices to find it.

use sha2::{Digest, Sha256};
use tagmac::save::Writer;

use crate::error::Error;
use crate::leaf_size;
use crate::leaves::TAG_BYTES;
use crate::leaves::file::MAGIC;
use crate::objects::object::Object;
use crate::objects::place::{LEAVES, Place};

/// The number of leaf tags in a full file, which may have more.
const FULL: u64 = 1 << 19;

/// A file of leaf tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafFile {
    /// Its name.
    pub name: String,
    /// The number of its leaf tags.
    pub tags: u64,
}

impl LeafFile {
    /// Returns the length in bytes.
    pub fn bytes(&self) -> u64 {
        (self.tags + 1) * TAG_BYTES as u64
    }

    /// Reads `count` leaf tags from number `first` on.
    pub fn read(&self, place: &dyn Place, first: u64, count: u64) -> Result<Vec<u8>, Error> {
        let [start, end] = [first, first + count].map(|tag| (tag + 1) * TAG_BYTES as u64);
        let shown = || place.shown_file(&self.name);
        let tags = place.read_range(&self.name, self.bytes(), start..end)?;
        let tags =
            tags.ok_or_else(|| Error::io(format_args!("{}: the leaf tags are missing", shown())))?;
        if tags.len() as u64 != end - start {
            return Err(Error::mismatch(format_args!("{}: the leaf tags were cut off", shown())));
        }
        Ok(tags)
    }
}

/// Returns the number of leaf tags of an object, with leaves of `leaf` bytes. 0 for an archived
/// object.
pub fn count(leaf: u64, object: &Object) -> u64 {
    object.tag.map_or(0, |_| leaf_size::count(leaf, object.size))
}

/// Divides the leaf tags of a shard's objects into files.
pub struct LeafFileNames {
    leaf: u64,
    hash: Sha256,
    tags: u64,
}

impl LeafFileNames {
    /// Starts a shard with leaves of `leaf` bytes.
    pub fn new(leaf: u64) -> LeafFileNames {
        LeafFileNames { leaf, hash: Sha256::new_with_prefix(leaf.to_le_bytes()), tags: 0 }
    }

    /// Adds the next object. Returns the number of its first leaf tag in the file.
    pub fn add(&mut self, object: &Object) -> u64 {
        let first = self.tags;
        if let (Some(tag), own @ 1..) = (&object.tag, count(self.leaf, object)) {
            let mut text = Writer::with_capacity(64);
            text.length_prefixed(tag.as_bytes()).number(object.size);
            self.hash.update(text.as_bytes());
            self.tags += own;
        }
        first
    }

    /// Returns the number of leaf tags in the file so far.
    pub fn tags(&self) -> u64 {
        self.tags
    }

    /// Returns whether the file ends here. The last one ends with its shard.
    pub fn is_full(&self) -> bool {
        self.tags >= FULL
    }

    /// Ends the file, and starts the next one. `None` if no object has leaf tags.
    pub fn end(&mut self) -> Option<LeafFile> {
        let LeafFileNames { hash, tags, .. } =
            std::mem::replace(self, LeafFileNames::new(self.leaf));
        let name = base16ct::lower::encode_string(&hash.finalize()[..16]);
        (tags > 0).then(|| LeafFile { name: format!("{LEAVES}{name}"), tags })
    }
}

/// Where the leaf tags of a shard's objects are.
#[derive(Debug, Default)]
pub struct LeafLayout {
    /// The files, in order.
    files: Vec<LeafFile>,
    /// For each object, the number of the file with its leaf tags, and the number of the first one.
    starts: Vec<(u32, u64)>,
}

impl LeafLayout {
    /// Returns the layout for the objects of a shard, with leaves of `leaf` bytes.
    pub fn new(leaf: u64, objects: impl Iterator<Item = Object>) -> LeafLayout {
        let (mut layout, mut names) = (LeafLayout::default(), LeafFileNames::new(leaf));
        for object in objects {
            let first = names.add(&object);
            layout.starts.push((layout.files.len() as u32, first));
            if names.is_full() {
                layout.files.extend(names.end());
            }
        }
        layout.files.extend(names.end());
        layout
    }

    /// Returns all files.
    pub fn into_files(self) -> Vec<LeafFile> {
        self.files
    }

    /// Returns the file with the leaf tags of the object with this number in the shard, and the number
    /// of the first one. The object must have some.
    pub fn find(&self, object: usize) -> (&LeafFile, u64) {
        let (file, first) = self.starts[object];
        (&self.files[file as usize], first)
    }
}

/// The file of leaf tags that is being written.
pub struct LeafFileBuilder {
    names: LeafFileNames,
    bytes: Vec<u8>,
}

impl LeafFileBuilder {
    /// Starts a shard with leaves of `leaf` bytes.
    pub fn new(leaf: u64) -> LeafFileBuilder {
        LeafFileBuilder { names: LeafFileNames::new(leaf), bytes: MAGIC.to_vec() }
    }

    /// Adds the leaf tags of the next object.
    pub fn push(&mut self, object: &Object, tags: &[u8]) -> Result<(), String> {
        let (expected, found) = (count(self.names.leaf, object), tags.len() / TAG_BYTES);
        if (expected as usize, 0) != (found, tags.len() % TAG_BYTES) {
            return Err(format!("expected {expected} leaf tags, found {found}"));
        }
        self.names.add(object);
        self.bytes.extend_from_slice(tags);
        Ok(())
    }

    /// Returns the file and its bytes if it is full, or if the shard ends here and it has leaf tags.
    pub fn end(&mut self, is_shard_end: bool) -> Option<(LeafFile, Vec<u8>)> {
        if !is_shard_end && !self.names.is_full() {
            return None;
        }
        let file = self.names.end();
        let bytes = std::mem::replace(&mut self.bytes, MAGIC.to_vec());
        file.map(|file| (file, bytes))
    }
}
