//! Reads the current state of a tree's entries, in the form of a manifest.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::dir::{DirTree, EntryKind, FileStat, same_kind};
use crate::identity::Identity;
use crate::open_key::OpenKey;
use crate::progress::Progress;
use crate::read::{self, FileReader};
use crate::read_error::ReadError;
use tagmac_any::AnyMac;

use crate::manifest::entry::{Content, Entry};
use crate::manifest::header::ManifestOptions;

/// Minimum size in bytes of a file that all threads read together. A single thread reads a smaller
/// file.
const LARGE: u64 = 2 << 20;

/// Reads entries of a tree.
pub struct Scanner<'a> {
    tree: DirTree,
    reader: FileReader<'a>,
    mac: &'a AnyMac,
    options: ManifestOptions,
    /// Leaves large files to the main scanner.
    small: bool,
    /// When set, files are opened but not read: the result will not be used.
    skip_reading: &'a AtomicBool,
}

/// The result of scanning an entry.
pub enum Observation {
    /// The entry as it is now, without its path.
    Entry(Entry),
    /// A large file, left to the main scanner.
    Large,
    /// The entry cannot be read.
    Unreadable(ReadError),
}

/// The scanners of a tree: one with all threads, and one per thread.
pub struct Scanners<'a> {
    /// Reads any file; large ones with all threads.
    pub main: Scanner<'a>,
    /// Read small files, each on one thread.
    pub others: Vec<Scanner<'a>>,
}

impl<'a> Scanners<'a> {
    /// Creates scanners with `threads` threads in total; 0 means one per core.
    pub fn new(
        tree: &DirTree,
        key: &'a OpenKey,
        options: ManifestOptions,
        threads: usize,
        bar: &'a dyn Progress,
        skip_reading: &'a AtomicBool,
    ) -> io::Result<Scanners<'a>> {
        let threads = read::threads(threads);
        let mac = &key.mac;
        let scanner = |threads, small| {
            let reader = FileReader::new(mac, threads, bar);
            Ok(Scanner { tree: tree.again()?, reader, mac, options, small, skip_reading })
        };
        // A MAC without parts reads a large file on one thread in any case.
        let small = threads > 1 && mac.parts().is_some();
        let others: io::Result<Vec<_>> = (0..threads).map(|_| scanner(1, small)).collect();
        Ok(Scanners { main: scanner(threads, false)?, others: others? })
    }
}

impl Scanner<'_> {
    /// Scans an entry of a kind. With `expected`, tags a file under the same nonce, and does not
    /// read it if its size differs.
    pub fn scan(
        &mut self,
        path: &[u8],
        kind: EntryKind,
        expected: Option<&Content>,
    ) -> Observation {
        match self.entry(path, kind, expected) {
            Ok(Some(entry)) => Observation::Entry(entry),
            Ok(None) => Observation::Large,
            Err(error) => Observation::Unreadable(error),
        }
    }

    fn entry(
        &mut self,
        path: &[u8],
        kind: EntryKind,
        expected: Option<&Content>,
    ) -> Result<Option<Entry>, ReadError> {
        let ManifestOptions { mode, mtime, .. } = self.options;
        let mut entry = Entry {
            kind,
            // The caller has the path. Not copying it avoids allocating on one thread and freeing
            // on another.
            path: Vec::new(),
            mode: None,
            mtime: None,
            content: None,
            target: None,
        };
        let facts = if kind == EntryKind::File {
            let (file, before) = self.tree.file(path)?;
            let facts = FileStat::from_metadata(&before);
            let size = self.reader.size(&file, &before);
            let mut content = Content { size: before.len(), nonce: Vec::new(), tag: None };
            let other = expected.is_some_and(|expected| size.is_some_and(|s| s != expected.size));
            if !other && !self.skip_reading.load(Ordering::Relaxed) {
                if self.small && size.is_some_and(|size| size >= LARGE) {
                    return Ok(None);
                }
                content.nonce = match expected {
                    Some(expected) => expected.nonce.clone(),
                    None => self.mac.algorithm().random_nonce()?,
                };
                let tagged = self.reader.tag_open(&file, &before, &content.nonce)?;
                if self.tree.facts(path)?.identity != Identity::new(&before) {
                    return Err(ReadError::Replaced);
                }
                content.tag = Some(tagged.tag);
                content.size = tagged.bytes;
            }
            entry.content = Some(content);
            Some(facts)
        } else if kind == EntryKind::Link || mode || mtime {
            let facts = self.tree.facts(path)?;
            same_kind(kind, facts.kind)?;
            Some(facts)
        } else {
            None
        };
        if kind == EntryKind::Link {
            entry.target = Some(self.tree.target(path)?);
        }
        if let Some(facts) = facts {
            entry.mode = Some(facts.mode).filter(|_| mode && kind != EntryKind::Link);
            entry.mtime = Some(facts.mtime).filter(|_| mtime && kind != EntryKind::Directory);
        }
        Ok(Some(entry))
    }

    /// Returns the size of a file without opening it.
    pub fn size(&mut self, path: &[u8]) -> Result<u64, ReadError> {
        Ok(self.tree.facts(path)?.size)
    }
}
