//! A sealed tree, whose files can be read from any place.

use std::path::{Path, PathBuf};

use crate::dir::DirTree;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::leaves::file::LeafFile;
use crate::leaves::index::{Index, Place};
use crate::leaves::verified::{LeafTags, VerifiedFile};
use crate::leaves::{self, Leaves};
use crate::manifest::entry::{Entry, word};
use crate::manifest::{Manifest, ManifestError, seal_mac};
use crate::open_key::OpenKey;
use crate::raw_key::RawKey;
use crate::walk::below;

/// A tree and its manifest.
pub struct SealedTree {
    key: OpenKey,
    leaves: Leaves,
    manifest: Manifest,
    index: Index,
    /// The path of the manifest, without links.
    place: PathBuf,
    root: PathBuf,
    tree: DirTree,
}

impl SealedTree {
    /// Opens the directory `root` and its manifest, and verifies the seal.
    pub fn open(
        key: &OpenKey,
        raw: &RawKey,
        manifest: &Path,
        root: &Path,
    ) -> Result<SealedTree, Error> {
        let place = manifest.to_path_buf();
        let manifest = Manifest::open(manifest, key, seal_mac(raw))?;
        let place = place.canonicalize().map_err(|error| Error::file(&place, error))?;
        let tree = DirTree::open(root).map_err(|error| Error::file(root, error))?;
        let leaves = Leaves::new(raw, manifest.header.options.leaves.unwrap_or(leaves::MAX));
        let index = Index::new(&manifest, key, &leaves)?;
        let (key, root) = (key.clone(), root.to_path_buf());
        Ok(SealedTree { key, leaves, manifest, index, place, root, tree })
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Opens a file. `path` is its path in the manifest.
    pub fn file(&mut self, path: &[u8]) -> Result<VerifiedFile, Error> {
        let file = self.damaged(path)?;
        file.has_its_size()?;
        Ok(file)
    }

    /// Opens a file that may have another size than the sealed one.
    pub(crate) fn damaged(&mut self, path: &[u8]) -> Result<VerifiedFile, Error> {
        let Place { entry, first } = self.find(path)?;
        let name = below(&self.root, path);
        let Some(content) = entry.content else {
            let (name, kind) = (Escaped::name(&name), word(entry.kind));
            return Err(Error::usage(format_args!("{name}: expected a file, found a {kind}")));
        };
        let (file, _) = self.tree.file(path).map_err(|error| Error::file(&name, error))?;
        let tags = match self.leaves.size_for(content.size) {
            None => None,
            Some(_) if self.manifest.header.options.leaves.is_none() => {
                return Err(Error::usage(format_args!(
                    "{}: the manifest has no leaf tags; to read this file, seal with --leaves",
                    Escaped::name(&name)
                )));
            }
            Some(leaf) => {
                let sequence = self.manifest.header.chain.sequence;
                let file = LeafFile::open(&self.place, sequence)?;
                Some(LeafTags { file, first, leaf })
            }
        };
        Ok(VerifiedFile::new((self.key.clone(), &self.leaves), (file, &name), content, tags))
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
        let places = self.index.from(&self.manifest, &self.leaves, path);
        let is_below = move |entry: &[u8]| {
            let rest = entry.strip_prefix(path);
            path.is_empty() || rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
        };
        let entries = places.map(|place| place.map(|place| place.entry));
        // `a/b` and all below it sort directly after `a`.
        entries.take_while(move |entry| !matches!(entry, Ok(entry) if !is_below(&entry.path)))
    }

    fn find(&self, path: &[u8]) -> Result<Place, Error> {
        let found = self.index.from(&self.manifest, &self.leaves, path).next().transpose()?;
        let found = found.filter(|place| place.entry.path == path);
        found.ok_or_else(|| ManifestError::NoEntry { path: path.to_vec() }.into())
    }
}
