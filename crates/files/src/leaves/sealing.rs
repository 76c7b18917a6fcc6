//! The leaf tags of a manifest that is being written.

use std::path::{Path, PathBuf};

use crate::earlier::EarlierLeaves;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::folder;
use crate::leaves::file::{LeafFile, LeafWriter};
use crate::leaves::{Leaves, TAG_BYTES, check_key};
use crate::manifest::Manifest;
use crate::manifest::entry::Entry;
use crate::open_key::OpenKey;
use crate::raw_key::RawKey;
use crate::read_error::ReadError;

/// The leaf tags of a seal.
pub(crate) struct Sealing {
    leaves: Leaves,
    writer: LeafWriter,
    /// Those of the earlier manifest, if it has the same leaves.
    old: Option<LeafFile>,
}

impl Sealing {
    /// Starts the leaf tags of a directory, with leaves of `size` bytes. `since` is the earlier manifest
    /// and its path.
    pub fn new(
        (key, raw): (&OpenKey, &RawKey),
        size: u64,
        directory: &Path,
        leaf_file: PathBuf,
        since: Option<(&Manifest, &Path)>,
    ) -> Result<Sealing, Error> {
        check_key(key)?;
        debug_assert_eq!(key.whole_blocks(size).ok(), Some(size), "leaves consist of blocks");
        let folder = folder::parent(&leaf_file).canonicalize();
        let inside = folder.and_then(|folder| Ok(folder.starts_with(directory.canonicalize()?)));
        if inside.map_err(|error| Error::file(directory, ReadError::from(error)))? {
            return Err(Error::usage(format_args!(
                "{}: leaf tags must be outside the directory",
                Escaped::name(&leaf_file)
            )));
        }
        let same = since.filter(|(since, _)| since.header.options.leaves == Some(size));
        let old = same.and_then(|(since, path)| {
            // Without them, the files are read again.
            LeafFile::open(path, since.header.chain.sequence).ok()
        });
        let writer = LeafWriter::create(leaf_file)?;
        Ok(Sealing { leaves: Leaves::new(raw, size), writer, old })
    }

    /// Returns the key of leaf tags.
    pub fn leaves(&self) -> &Leaves {
        &self.leaves
    }

    /// Returns what the earlier manifest has of these leaves.
    pub fn earlier(&self) -> EarlierLeaves {
        EarlierLeaves { size: self.leaves.size, has_tags: self.old.is_some() }
    }

    /// Adds the leaf tags of an entry.
    pub fn add(&mut self, entry: &Entry, tags: &[u8]) -> Result<(), Error> {
        let bytes = self.bytes(entry);
        if tags.len() == bytes {
            return self.writer.add(tags);
        }
        // Without a size in advance, a file has no leaf tags. No reader accepts zeros.
        self.writer.add(&vec![0; bytes])
    }

    /// Adds the leaf tags of an entry that was carried over: those that begin at number `first` of the
    /// earlier manifest.
    pub fn carry(&mut self, entry: &Entry, first: u64) -> Result<(), Error> {
        let mut tags = vec![0; self.bytes(entry)];
        if let Some(old) = self.old.as_ref().filter(|_| !tags.is_empty()) {
            old.read(first, &mut tags)?;
        }
        self.writer.add(&tags)
    }

    fn bytes(&self, entry: &Entry) -> usize {
        self.leaves.count_for(entry.size()) as usize * TAG_BYTES
    }

    /// Puts the leaf tags in their place.
    pub fn finish(self) -> Result<(), Error> {
        self.writer.finish()
    }
}
