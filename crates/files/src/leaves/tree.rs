//! A sealed tree, whose files can be read from any place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::dir::DirTree;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::leaves::content::Contents;
use crate::leaves::verified::VerifiedFile;
use crate::open_key::OpenKey;
use crate::raw_key::RawKey;
use crate::walk::below;

/// A tree and its manifest.
pub struct SealedTree {
    contents: Arc<Contents>,
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
        SealedTree::new(Arc::new(Contents::open(key, raw, manifest)?), root)
    }

    /// Opens the directory `root`, whose contents these are.
    pub fn new(contents: Arc<Contents>, root: &Path) -> Result<SealedTree, Error> {
        let tree = DirTree::open(root).map_err(|error| Error::file(root, error))?;
        Ok(SealedTree { contents, root: root.to_path_buf(), tree })
    }

    /// Returns the sealed contents.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Opens a file. `path` is its path in the manifest.
    pub fn file(&mut self, path: &[u8]) -> Result<VerifiedFile, Error> {
        let file = self.damaged(path)?;
        file.has_its_size()?;
        Ok(file)
    }

    /// Opens a file that may have another size than the sealed one.
    pub(crate) fn damaged(&mut self, path: &[u8]) -> Result<VerifiedFile, Error> {
        let name = below(&self.root, path);
        // An object may have such a name.
        if path.split(|&byte| byte == b'/').any(|part| matches!(part, b"" | b"." | b"..")) {
            let name = Escaped::bytes(path);
            return Err(Error::usage(format_args!("{name}: no file can have this name")));
        }
        let content = self.contents.content(path, &name)?;
        let (file, _) = self.tree.file(path).map_err(|error| Error::file(&name, error))?;
        Ok(VerifiedFile::new(content, file, name))
    }
}
