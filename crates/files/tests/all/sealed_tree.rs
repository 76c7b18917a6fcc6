//! A sealed tree in a new folder, and changes to its files.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tagmac_files::Error;
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealOptions, Sealing};

/// A tree of files `f0`, `f1`, ... and its manifest `m`.
pub struct Place {
    pub keys: (OpenKey, RawKey),
    pub root: PathBuf,
    pub manifest: PathBuf,
    folder: tempfile::TempDir,
    leaves: Option<u64>,
}

impl Place {
    /// Seals files with these contents.
    pub fn new(keys: (OpenKey, RawKey), leaves: Option<u64>, contents: &[&[u8]]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let (root, manifest) = (folder.path().join("t"), folder.path().join("m"));
        let place = Place { keys, root, manifest, folder, leaves };
        fs::create_dir(&place.root).unwrap();
        for (number, bytes) in contents.iter().enumerate() {
            fs::write(place.file(number), bytes).unwrap();
        }
        place.seal().unwrap();
        place
    }

    /// Returns the path of a file in the tree.
    pub fn file(&self, number: usize) -> PathBuf {
        self.root.join(format!("f{number}"))
    }

    /// Returns a path next to the tree.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the names next to the tree, and its own.
    pub fn names(&self) -> Vec<String> {
        names(self.folder.path())
    }

    /// Seals the tree again.
    pub fn seal(&self) -> Result<(), Error> {
        seal(&self.keys, self.leaves, &self.root, &self.manifest)
    }
}

/// Seals a tree.
pub fn seal(
    (key, raw): &(OpenKey, RawKey),
    leaves: Option<u64>,
    root: &Path,
    manifest: &Path,
) -> Result<(), Error> {
    let sealed = ManifestOptions { leaves, ..ManifestOptions::default() };
    let options = SealOptions { sealed, threads: 2, ..SealOptions::new(root, manifest) };
    Sealing::new(key, raw, options)?.run(&()).map(drop)
}

/// Returns the names in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the content of a file.
pub fn bytes(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Changes a byte of a file.
pub fn flip(path: &Path, at: u64) {
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}
