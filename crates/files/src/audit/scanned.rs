//! A tree as an audit source, read by a scanner.

use crate::audit::change::{Metadata, changes, metadata};
use crate::audit::source::{Item, Lost, Reading, Source};
use crate::audit::{Change, Status};
use crate::dir::EntryKind;
use crate::manifest::entry::{Content, Entry, word};
use crate::pool;
use crate::read_error::ReadError;
use crate::scanner::{Observation, Scanner};

/// An entry of the manifest that was found with the same kind.
pub struct Both {
    /// The sealed entry.
    pub sealed: Entry,
    /// For a directory that cannot be listed completely, the reason.
    pub unlisted: Option<String>,
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

impl Source for Scanner<'_> {
    type Both = Both;
    type New = NewFile;
    type Metadata = Metadata;

    const BATCH: usize = pool::BATCH;
    const NEW_BYTES: usize = size_of::<NewFile>();
    const FILE: &'static str = "file";

    fn look(&mut self, item: Item<Self>) -> Item<Self> {
        match item {
            Item::Both(both) => compare(self, both),
            Item::New(new) => match self.size(&new.path) {
                Ok(size) => Item::New(NewFile { size, ..new }),
                Err(_) => Item::Settled(new.path.into(), Self::FILE, Status::New),
            },
            item => item,
        }
    }

    fn read(&mut self, new: &NewFile, nonce: &[u8]) -> Reading<Self> {
        let expected = Content { size: new.size, nonce: nonce.into(), tag: None };
        match self.scan(&new.path, EntryKind::File, Some(&expected)) {
            Observation::Entry(Entry {
                content: Some(Content { size, tag: Some(tag), .. }),
                mode,
                mtime,
                ..
            }) => Reading::Done(size, tag, (mode, mtime)),
            Observation::Large => Reading::Later,
            Observation::Entry(_) | Observation::Unreadable(_) => Reading::Failed,
        }
    }

    fn name_and_size(new: &NewFile) -> (&[u8], u64) {
        (&new.path, new.size)
    }

    fn changes(sealed: &Metadata, found: &Metadata) -> Vec<Change> {
        let mut changes = Vec::new();
        metadata(*sealed, *found, &mut changes);
        changes
    }
}

/// Compares a sealed entry with the entry found.
fn compare<'a>(scanner: &mut Scanner<'a>, both: Both) -> Item<Scanner<'a>> {
    let Both { sealed, unlisted } = both;
    let observed = scanner.scan(&sealed.path, sealed.kind, sealed.content.as_ref());
    let status = match (observed, unlisted) {
        (Observation::Large, unlisted) => return Item::Both(Both { sealed, unlisted }),
        (Observation::Entry(found), None) => Status::from_changes(changes(&sealed, &found)),
        (Observation::Entry(found), Some(why)) => match changes(&sealed, &found) {
            changes if changes.is_empty() => Status::Unreadable(why),
            changes => Status::Changed(changes),
        },
        (Observation::Unreadable(_), Some(why)) => Status::Unreadable(why),
        // It existed when its directory was listed.
        (Observation::Unreadable(ReadError::Missing(_)), None) => return missing(sealed),
        (Observation::Unreadable(error), None) => Status::Unreadable(error.to_string()),
    };
    let kind = word(sealed.kind);
    Item::Settled(sealed.path, kind, status)
}

/// Returns the verdict on a missing entry. A missing file may be a new one under another name.
pub fn missing<'a>(sealed: Entry) -> Item<Scanner<'a>> {
    let Entry { kind, path, mode, mtime, content, .. } = sealed;
    match content {
        Some(Content { size, nonce, tag: Some(tag) }) => {
            Item::Missing(Lost { name: path, size, nonce, tag, metadata: (mode, mtime) })
        }
        _ => Item::Settled(path, word(kind), Status::Missing),
    }
}
