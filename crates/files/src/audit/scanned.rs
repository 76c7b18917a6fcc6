//! A tree as an audit source, read by a scanner.

use std::io;

use crate::audit::change::{Metadata, changes, visible_changes};
use crate::audit::leaves::LeafReader;
use crate::audit::plan::Turn;
use crate::audit::source::{Item, Lost, Reading, Settled, Source};
use crate::audit::{Change, Status};
use crate::dir::EntryKind;
use crate::error::Error;
use crate::faults;
use crate::manifest::entry::{Content, Entry, word};
use crate::memory;
use crate::pool;
use crate::read_error::ReadError;
use crate::scanner::{self, Observation, Scanner};

/// Reads a tree on one thread.
pub struct TreeReader<'a> {
    /// Reads entries.
    pub scanner: Scanner<'a>,
    /// Reads leaves, if they are sampled.
    pub leaves: Option<LeafReader<'a>>,
}

/// An entry of the manifest that was found with the same kind.
pub struct Both {
    /// The sealed entry.
    pub sealed: Entry,
    /// For a directory that cannot be listed completely, the reason.
    pub unlisted: Option<String>,
    /// For a file, what the plan says.
    pub turn: Option<Turn>,
}

/// A file that is not in the manifest.
pub struct NewFile {
    path: Box<[u8]>,
    /// Zero until a scanner has examined the file.
    size: u64,
}

impl NewFile {
    /// A file that no scanner has examined yet.
    pub fn new(path: Vec<u8>) -> NewFile {
        NewFile { path: path.into(), size: 0 }
    }
}

impl Source for TreeReader<'_> {
    type Both = Both;
    type New = NewFile;
    type Metadata = Metadata;

    const BATCH: usize = pool::BATCH;
    const NEW_BYTES: usize = size_of::<NewFile>();
    const FILE: &'static str = "file";

    fn look(&mut self, item: Item<Self>) -> Result<Item<Self>, Error> {
        Ok(match item {
            Item::Both(both) => return self.compare(both),
            Item::New(new) => match self.scanner.size(&new.path) {
                Ok(size) => Item::New(NewFile { size, ..new }),
                Err(_) => Item::settled(new.path.into(), Self::FILE, Status::New),
            },
            item => item,
        })
    }

    fn read(&mut self, new: &NewFile, nonce: &[u8]) -> Reading<Self> {
        let expected = Content { size: new.size, nonce: nonce.into(), tag: None };
        match self.scanner.scan(&new.path, EntryKind::File, scanner::Reading::Like(&expected)) {
            Observation::Entry(entry) => match &entry.content {
                Some(Content { size, tag: Some(tag), .. }) => {
                    Reading::Done(*size, *tag, Metadata::of(&entry))
                }
                _ => Reading::Failed,
            },
            Observation::Large => Reading::Later,
            Observation::Unreadable(_) => Reading::Failed,
        }
    }

    fn name_and_size(new: &NewFile) -> (&[u8], u64) {
        (&new.path, new.size)
    }

    fn changes(sealed: &Metadata, found: &Metadata) -> Vec<Change> {
        sealed.changes(found)
    }
}

impl TreeReader<'_> {
    /// Compares a sealed entry with the entry found.
    fn compare(&mut self, both: Both) -> Result<Item<Self>, Error> {
        let Both { sealed, unlisted, mut turn } = both;
        let is_read = turn.is_none_or(|turn| turn.read);
        let reading = match &sealed.content {
            Some(_) if !is_read => scanner::Reading::Metadata,
            Some(content) => scanner::Reading::Like(content),
            None => scanner::Reading::All,
        };
        let compared = |found: &Entry| match is_read {
            true => changes(&sealed, found),
            false => visible_changes(&sealed, found),
        };
        let observed = self.scanner.scan(&sealed.path, sealed.kind, reading);
        let anew = match &observed {
            Observation::Entry(found) => self.scanner.anew(&sealed.path, found),
            _ => None,
        };
        let status = match (observed, unlisted) {
            (Observation::Large, unlisted) => {
                return Ok(Item::Both(Both { sealed, unlisted, turn }));
            }
            (Observation::Entry(found), why) => match (compared(&found), why) {
                (changes, None) if !is_read => self.read_leaves(&sealed, &mut turn, changes)?,
                (changes, Some(why)) if changes.is_empty() => Status::Unreadable(why),
                (changes, _) => Status::from_changes(changes),
            },
            (Observation::Unreadable(_), Some(why)) => Status::Unreadable(why),
            // It existed when its directory was listed.
            (Observation::Unreadable(ReadError::Missing(_)), None) => {
                return Ok(missing(turn, sealed));
            }
            (Observation::Unreadable(error), None) => Status::Unreadable(error.to_string()),
        };
        let anew = anew.filter(|_| matches!(status, Status::Unchanged)).map(Box::new);
        let (kind, name) = (word(sealed.kind), sealed.path);
        Ok(Item::Settled(Settled { name, kind, status, turn, anew }))
    }

    /// Returns the verdict on a file that is not read as a whole, after reading the leaves that were
    /// chosen. `changes` are those of its metadata.
    fn read_leaves(
        &mut self,
        sealed: &Entry,
        turn: &mut Option<Turn>,
        mut changes: Vec<Change>,
    ) -> Result<Status<'static>, Error> {
        let sampled = turn.as_mut().and_then(Turn::sampled);
        let has_its_size = changes.iter().all(|change| change.what != "size");
        if let (Some(leaves), Some(count), true) = (&self.leaves, sampled, has_its_size) {
            let mut open = None;
            let read = leaves.read(&sealed.path, count, |range, bytes| {
                if open.is_none() {
                    open = Some(self.scanner.open(&sealed.path)?);
                }
                let (file, facts) = open.as_ref().expect("it was just opened");
                let length = (range.end - range.start) as usize;
                if bytes.capacity() < length {
                    *bytes = memory::reserved(length)?;
                }
                bytes.resize(length, 0);
                let short = ReadError::Short { expected: range.end, found: facts.len() };
                faults::read_exact_at(file, bytes, range.start).map_err(|error| {
                    match error.kind() {
                        io::ErrorKind::UnexpectedEof => short,
                        _ => ReadError::from(error),
                    }
                })
            });
            match read? {
                Ok(damage) => changes.splice(0..0, damage).for_each(drop),
                Err(error) if changes.is_empty() => {
                    return Ok(Status::Unreadable(error.to_string()));
                }
                Err(_) => {}
            }
        }
        Ok(if changes.is_empty() { Status::NotRead } else { Status::Changed(changes) })
    }
}

/// Returns the verdict on a missing entry. A missing file may be a new one under another name.
pub fn missing<S: Source<Metadata = Metadata>>(turn: Option<Turn>, sealed: Entry) -> Item<S> {
    let metadata = Metadata::of(&sealed);
    let Entry { kind, path, content, .. } = sealed;
    match content {
        Some(Content { size, nonce, tag: Some(tag) }) => {
            Item::Missing(Lost { name: path, size, nonce, tag, metadata, turn })
        }
        _ => Item::settled(path, word(kind), Status::Missing),
    }
}
