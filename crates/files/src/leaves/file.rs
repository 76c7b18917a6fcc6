//! The file of all leaf tags of a manifest.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::atomic::{self, AtomicFile};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::folder;
use crate::leaves::TAG_BYTES;
use crate::manifest::BUFFER;
use crate::open;
use crate::overwrite::Overwrite;

/// The first bytes, as long as a leaf tag.
pub(crate) const MAGIC: &[u8; TAG_BYTES] = b"tagmac-leaves-1\n";
const SUFFIX: &[u8] = b".leaves";

/// Returns the path of the leaf tags of the manifest with this path and sequence number.
pub fn path(manifest: &Path, sequence: u64) -> PathBuf {
    let mut name = OsString::from(manifest);
    name.push(format!(".{sequence}.leaves"));
    name.into()
}

/// Writes leaf tags in the order of the manifest.
pub struct LeafWriter {
    path: PathBuf,
    file: AtomicFile,
    buffer: Vec<u8>,
}

impl LeafWriter {
    /// Starts the file. Nothing appears there before it is complete.
    pub fn create(path: PathBuf) -> Result<LeafWriter, Error> {
        let over = Overwrite::Kind("a file of leaf tags", begins_like_leaves);
        let file = AtomicFile::new(&path, 0o666, over);
        let file = file.map_err(|error| Error::file(&path, error))?;
        Ok(LeafWriter { path, file, buffer: MAGIC.to_vec() })
    }

    /// Appends tags.
    pub fn add(&mut self, tags: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(tags);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| Error::file(&self.path, error))
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        self.file.finish().map(drop).map_err(|error| Error::file(&self.path, error))
    }
}

/// An open file of leaf tags. Nothing in it is trusted.
pub struct LeafFile {
    path: PathBuf,
    file: File,
}

impl LeafFile {
    /// Opens the leaf tags of the manifest with this path and sequence number.
    pub fn open(manifest: &Path, sequence: u64) -> Result<LeafFile, Error> {
        let path = path(manifest, sequence);
        let (file, _) = open::regular(&path).map_err(|error| Error::file(&path, error))?;
        let file = LeafFile { path, file };
        let mut start = [0; TAG_BYTES];
        file.read_exact(&mut start, 0)?;
        match &start == MAGIC {
            true => Ok(file),
            false => Err(file.wrong("not a file of leaf tags")),
        }
    }

    /// Reads the tags from number `first` on.
    pub fn read(&self, first: u64, tags: &mut [u8]) -> Result<(), Error> {
        self.read_exact(tags, (first + 1) * TAG_BYTES as u64)
    }

    fn read_exact(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.file.read_exact_at(bytes, at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.wrong("the file of leaf tags was cut off"),
            _ => Error::file(&self.path, error),
        })
    }

    fn wrong(&self, what: &str) -> Error {
        Error::mismatch(format_args!("{}: {what}", Escaped::name(&self.path)))
    }
}

pub(crate) fn begins_like_leaves(file: File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// Removes the leaf tags of manifests with this path and other numbers than `keep`. Those that cannot be removed stay for
/// the next seal.
pub fn sweep(manifest: &Path, keep: Option<u64>) {
    let name = manifest.file_name().unwrap_or_default().as_bytes();
    let keep = keep.map(|keep| path(manifest, keep));
    let keep = keep.as_deref().and_then(Path::file_name);
    let Ok(entries) = fs::read_dir(folder::parent(manifest)) else { return };
    for entry in entries.filter_map(Result::ok) {
        let found = entry.file_name();
        let number = found.as_bytes().strip_prefix(name).and_then(|rest| rest.strip_prefix(b"."));
        let number = number.and_then(|rest| rest.strip_suffix(SUFFIX)).unwrap_or_default();
        let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
        if !is_number || Some(&*found) == keep {
            continue;
        }
        let old = folder::parent(manifest).join(&found);
        if let Ok(file) = open::alone(&old)
            && file.try_clone().and_then(begins_like_leaves).unwrap_or(false)
        {
            // The next seal tries again.
            let _ = atomic::remove(&old, &file);
        }
    }
}
