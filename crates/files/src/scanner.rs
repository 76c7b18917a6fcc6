//! Reads the current state of a tree's entries, in the form of a manifest.

use std::fs::File;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use crate::day::Day;
use crate::dir::{DirTree, EntryKind, FileStat, same_kind};
use crate::identity::Identity;
use crate::leaves::Leaves;
use crate::open_key::OpenKey;
use crate::progress::Progress;
use crate::read::{self, FileReader, Tagged};
use crate::read_error::ReadError;
use crate::sys::{self, HandleRef, Metadata};
use crate::xattrs;
use tagmac::Tag;
use tagmac_any::AnyMac;

use crate::manifest::entry::{Content, Entry};
use crate::manifest::options::ManifestOptions;
use crate::manifest::stamp::Stamp;

/// Minimum size in bytes of a file that all threads read together. A single thread reads a smaller
/// file.
const LARGE: u64 = 2 << 20;

/// The MACs of a second key. Everything that is read is tagged under this key too.
#[derive(Clone)]
pub struct Second {
    /// The MAC of files.
    pub mac: AnyMac,
    /// The MAC of extended attributes.
    pub seal_mac: AnyMac,
    /// Makes leaf tags of files that are longer than a leaf.
    pub leaves: Option<Leaves>,
}

/// An entry under a second key.
pub struct Anew {
    /// The entry.
    pub entry: Entry,
    /// Its leaf tags, if it has some.
    pub leaf_tags: Vec<u8>,
}

/// Reads entries of a tree.
pub struct Scanner<'a> {
    tree: DirTree,
    reader: FileReader<'a>,
    mac: &'a AnyMac,
    /// The MAC of extended attributes.
    seal_mac: &'a AnyMac,
    options: ManifestOptions,
    today: Day,
    /// Leaves large files to the main scanner.
    small: bool,
    /// When set, files are opened but not read: the result will not be used.
    skip_reading: &'a AtomicBool,
    second: Option<Second>,
    /// The content and the attributes of the last entry, under the second key.
    anew: (Option<Content>, Option<Tag>),
    /// The leaf tags of the last entry, under the second key if there is one.
    leaf_tags: Vec<u8>,
}

/// The part of an entry that is read.
pub enum Reading<'a> {
    /// Everything; a file is tagged under a new nonce.
    All,
    /// As [`All`](Reading::All), but a file that has the stamp of this entry is not read.
    Since(&'a Entry),
    /// Everything; a file is tagged under the nonce of this content, and not read if its size
    /// differs.
    Like(&'a Content),
    /// Metadata alone.
    Metadata,
}

/// The result of scanning an entry.
#[expect(clippy::large_enum_variant, reason = "nearly all are entries")]
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
        seal_mac: &'a AnyMac,
        options: ManifestOptions,
        threads: usize,
        bar: &'a dyn Progress,
        skip_reading: &'a AtomicBool,
    ) -> io::Result<Scanners<'a>> {
        let threads = read::threads(threads);
        let (mac, today) = (&key.mac, Day::today());
        let scanner = |threads, small| {
            let (tree, reader) = (tree.again()?, FileReader::new(mac, threads, bar));
            Ok(Scanner {
                tree,
                reader,
                mac,
                seal_mac,
                options,
                today,
                small,
                skip_reading,
                second: None,
                anew: (None, None),
                leaf_tags: Vec::new(),
            })
        };
        // A MAC without parts reads a large file on one thread in any case.
        let small = threads > 1 && mac.parts().is_some();
        let others: io::Result<Vec<_>> = (0..threads).map(|_| scanner(1, small)).collect();
        Ok(Scanners { main: scanner(threads, false)?, others: others? })
    }

    /// Also makes leaf tags of files that are longer than a leaf.
    pub fn with_leaves(mut self, leaves: Option<&'a Leaves>) -> Scanners<'a> {
        for scanner in self.others.iter_mut().chain([&mut self.main]) {
            scanner.reader.leaves = leaves;
        }
        self
    }

    /// Tags everything under a second key too. Then each file is read on one thread.
    pub fn with_second(mut self, second: &Second) -> Scanners<'a> {
        for scanner in self.others.iter_mut().chain([&mut self.main]) {
            (scanner.second, scanner.small) = (Some(second.clone()), false);
        }
        self
    }
}

impl Scanner<'_> {
    /// Scans an entry of a kind.
    pub fn scan(&mut self, path: &[u8], kind: EntryKind, reading: Reading<'_>) -> Observation {
        match self.entry(path, kind, reading) {
            Ok(Some(entry)) => Observation::Entry(entry),
            Ok(None) => Observation::Large,
            Err(error) => Observation::Unreadable(error),
        }
    }

    fn entry(
        &mut self,
        path: &[u8],
        kind: EntryKind,
        reading: Reading<'_>,
    ) -> Result<Option<Entry>, ReadError> {
        let ManifestOptions { mode, mtime, owner, xattrs, .. } = self.options;
        let (is_file, is_link) = (kind == EntryKind::File, kind == EntryKind::Link);
        self.anew = (None, None);
        self.leaf_tags.clear();
        let mut entry = Entry::new(kind);
        let facts = match reading {
            Reading::Metadata if is_file => {
                let facts = self.tree.facts(path)?;
                same_kind(kind, facts.kind)?;
                entry.content = Some(Content { size: facts.size, nonce: Vec::new(), tag: None });
                entry.stamp = Some(Stamp::of(&facts));
                if xattrs {
                    entry.xattrs = Some(self.xattrs(path, kind)?);
                }
                Some(facts)
            }
            _ if is_file => match self.file(path, reading, &mut entry)? {
                Some(facts) => Some(facts),
                None => return Ok(None),
            },
            _ if is_link || mode || mtime || owner => {
                let facts = self.tree.facts(path)?;
                same_kind(kind, facts.kind)?;
                Some(facts)
            }
            _ => None,
        };
        if is_link {
            entry.target = Some(self.tree.target(path)?);
        }
        if xattrs && kind == EntryKind::Directory {
            entry.xattrs = Some(self.xattrs(path, kind)?);
        }
        if let Some(facts) = facts {
            entry.mode = Some(facts.mode).filter(|_| mode && !is_link);
            entry.mtime = Some(facts.mtime).filter(|_| mtime && kind != EntryKind::Directory);
            entry.owner = Some(facts.owner).filter(|_| owner);
        }
        Ok(Some(entry))
    }

    /// Reads a file into `entry`. Returns `None` if it is left to the main scanner.
    fn file(
        &mut self,
        path: &[u8],
        reading: Reading<'_>,
        entry: &mut Entry,
    ) -> Result<Option<FileStat>, ReadError> {
        if let Reading::Since(Entry { content: Some(content), read, stamp: Some(stamp), .. }) =
            reading
        {
            let facts = self.tree.facts(path)?;
            if facts.kind == Some(EntryKind::File)
                && facts.size == content.size
                && stamp.is_of(&facts)
            {
                (entry.content, entry.read) = (Some(content.clone()), *read);
                entry.stamp = Some(*stamp);
                if self.options.xattrs {
                    entry.xattrs = Some(self.xattrs(path, EntryKind::File)?);
                }
                return Ok(Some(facts));
            }
        }
        let now = SystemTime::now();
        let (file, before) = self.tree.file(path)?;
        let facts = FileStat::from_metadata(&before);
        let size = self.reader.size(&file, &before);
        let mut content = Content { size: before.len(), nonce: Vec::new(), tag: None };
        let expected = match reading {
            Reading::Like(expected) => Some(expected),
            _ => None,
        };
        let other = expected.is_some_and(|expected| size.is_some_and(|s| s != expected.size));
        if !other && !self.skip_reading.load(Ordering::Relaxed) {
            if self.small && size.is_some_and(|size| size >= LARGE) {
                return Ok(None);
            }
            content.nonce = match expected {
                Some(expected) => expected.nonce.clone(),
                None => self.mac.algorithm().random_nonce()?,
            };
            let tagged = match &self.second {
                None => self.reader.tag_open(&file, &before, &content.nonce)?,
                Some(Second { mac, leaves, .. }) => {
                    let nonce = mac.algorithm().random_nonce()?;
                    let second = (mac, &*nonce, leaves.as_ref());
                    let [mut tagged, anew] =
                        self.reader.tag_twice(&file, &before, &content.nonce, second)?;
                    let Tagged { tag, bytes, leaf_tags } = anew;
                    tagged.leaf_tags = leaf_tags;
                    self.anew.0 = Some(Content { size: bytes, nonce, tag: Some(tag) });
                    tagged
                }
            };
            if self.tree.facts(path)?.identity != Identity::new(&before) {
                return Err(ReadError::Replaced);
            }
            content.tag = Some(tagged.tag);
            self.leaf_tags = tagged.leaf_tags;
            content.size = tagged.bytes;
            entry.read = Some(self.today);
            entry.stamp = size.and_then(|_| Stamp::settled(&facts, now));
        }
        if self.options.xattrs {
            let (second, anew) = (self.second.as_ref(), &mut self.anew.1);
            entry.xattrs = Some(attributes(sys::handle(&file), self.seal_mac, second, anew)?);
        }
        entry.content = Some(content);
        Ok(Some(facts))
    }

    /// Returns the tag of the extended attributes of a file or directory.
    fn xattrs(&mut self, path: &[u8], kind: EntryKind) -> Result<Tag, ReadError> {
        if kind == EntryKind::Directory {
            let folder = self.tree.directory(path)?;
            let folder = sys::handle_of_dir(folder);
            return attributes(folder, self.seal_mac, self.second.as_ref(), &mut self.anew.1);
        }
        let (file, _) = self.tree.file(path)?;
        attributes(sys::handle(&file), self.seal_mac, self.second.as_ref(), &mut self.anew.1)
    }

    /// Returns the last scanned entry under the second key, if there is one. `found` is that entry,
    /// and `path` its path.
    pub fn anew(&mut self, path: &[u8], found: &Entry) -> Option<Anew> {
        self.second.as_ref()?;
        let (content, xattrs) = mem::take(&mut self.anew);
        let entry = Entry { path: path.to_vec(), content, xattrs, ..found.clone() };
        Some(Anew { entry, leaf_tags: self.leaf_tags() })
    }

    /// Returns the leaf tags of the last entry, if it was read and has leaves; with a second key,
    /// those under that key.
    pub fn leaf_tags(&mut self) -> Vec<u8> {
        mem::take(&mut self.leaf_tags)
    }

    /// Opens a file.
    pub fn open(&mut self, path: &[u8]) -> Result<(File, Metadata), ReadError> {
        self.tree.file(path)
    }

    /// Returns the size of a file without opening it.
    pub fn size(&mut self, path: &[u8]) -> Result<u64, ReadError> {
        Ok(self.tree.facts(path)?.size)
    }
}

/// Returns the tag of the extended attributes of an open file or directory. With a second key,
/// `anew` receives the tag under that key.
fn attributes(
    file: HandleRef<'_>,
    seal_mac: &AnyMac,
    second: Option<&Second>,
    anew: &mut Option<Tag>,
) -> Result<Tag, ReadError> {
    let Some(second) = second else {
        let [tag] = xattrs::tags(file, [seal_mac])?;
        return Ok(tag);
    };
    let [tag, other] = xattrs::tags(file, [seal_mac, &second.seal_mac])?;
    *anew = Some(other);
    Ok(tag)
}
