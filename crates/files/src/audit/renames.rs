//! New files that are missing ones under other names: those with the same tag and size.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::dir::Kind;
use tagmac::dynamic::AnyMac;

use crate::audit::change::{self, Change, Metadata};
use crate::manifest::entry::{Content, Entry};
use crate::room::Room;
use crate::scanner::{Observation, Scanner};

/// So much is kept of the names of missing files and what belongs to them, and so much of new ones.
const MAX_BYTES: usize = 8 << 20;
/// Under nonces each pair of files needs a reading of its own. A new file gets so many.
const TRIES: usize = 8;

/// New and missing files, as many as are kept.
pub struct Renames {
    nonces: bool,
    missing: Vec<Lost>,
    new: Vec<(Box<[u8]>, u64)>,
    missing_room: Room,
    new_room: Room,
}

struct Lost {
    path: Box<[u8]>,
    content: Content,
    metadata: Metadata,
    found: bool,
}

/// What came out.
pub enum Found<'a> {
    /// A new file is a missing one.
    Renamed {
        /// The missing one.
        from: &'a [u8],
        /// The new one.
        to: &'a [u8],
        /// What differs beside the path.
        changes: Vec<Change>,
    },
    /// A file is new.
    New(&'a [u8]),
    /// A file is missing.
    Missing(&'a [u8]),
}

impl Renames {
    /// None yet.
    pub fn new(mac: &AnyMac) -> Renames {
        let nonces = mac.algorithm().takes_nonce();
        let [missing_room, new_room] = [Room::new(MAX_BYTES), Room::new(MAX_BYTES)];
        Renames { nonces, missing: Vec::new(), new: Vec::new(), missing_room, new_room }
    }

    /// Keeps a missing entry, or gives it back if it cannot be one of these.
    pub fn missing(&mut self, entry: Entry) -> Option<Entry> {
        if entry.kind != Kind::File || !self.missing_room.takes::<Lost>(&entry.path) {
            return Some(entry);
        }
        let Entry { path, content, mode, mtime, .. } = entry;
        let content = content.expect("the line of a file has its content");
        let metadata = (mode, mtime);
        self.missing.push(Lost { path: path.into(), content, metadata, found: false });
        None
    }

    /// Keeps a new file, or gives its path back if it cannot be one of these.
    pub fn new_file(&mut self, path: Vec<u8>, kind: Kind, size: Option<u64>) -> Option<Vec<u8>> {
        match size.filter(|_| kind == Kind::File) {
            Some(size) if self.new_room.takes::<(Box<[u8]>, u64)>(&path) => {
                self.new.push((path.into(), size));
                None
            }
            _ => Some(path),
        }
    }

    /// Finds out which new files are missing ones, and calls `each` with what came out, in order.
    /// Whether all were kept.
    pub fn resolve(mut self, scanner: &mut Scanner<'_>, mut each: impl FnMut(Found<'_>)) -> bool {
        // The beginning of a tag, which nobody chooses who lacks the key, or the size.
        let tagged = |content: &Content| match content.tag.filter(|_| !self.nonces) {
            Some(tag) => {
                let mut start = [0; 8];
                start.iter_mut().zip(tag.as_bytes()).for_each(|(byte, &of)| *byte = of);
                u64::from_be_bytes(start) ^ content.size
            }
            None => content.size,
        };
        let sizes: BTreeSet<u64> = self.missing.iter().map(|lost| lost.content.size).collect();
        let mut index: BTreeMap<u64, VecDeque<usize>> = BTreeMap::new();
        for (number, lost) in self.missing.iter().enumerate() {
            index.entry(tagged(&lost.content)).or_default().push_back(number);
        }
        for (path, size) in &self.new {
            // What has no missing file of its size is not read.
            let from = sizes.contains(size).then(|| {
                let mut look =
                    |expected: &Content| match scanner.scan(path, Kind::File, Some(expected)) {
                        Observation::Entry(entry) => Some(entry),
                        _ => None,
                    };
                if self.nonces {
                    let any = Content { size: *size, nonce: Vec::new(), tag: None };
                    let candidates = index.get_mut(&tagged(&any))?;
                    let mut is_it = |(at, number): (usize, &usize)| {
                        let expected = &self.missing[*number].content;
                        let found = look(expected)?;
                        (found.content.as_ref()?.tag == expected.tag).then_some((at, found))
                    };
                    let mut tries = candidates.iter().enumerate().take(TRIES);
                    let (at, found) = tries.find_map(&mut is_it)?;
                    return candidates.remove(at).zip(Some(found));
                }
                let any = Content { size: *size, nonce: Vec::new(), tag: None };
                let found = look(&any)?;
                let content = found.content.as_ref().filter(|content| content.tag.is_some())?;
                let candidates = index.get_mut(&tagged(content))?;
                // The index has the beginnings of tags, not tags.
                let is_it = |number: &usize| self.missing[*number].content == *content;
                let at = candidates.iter().position(is_it)?;
                candidates.remove(at).zip(Some(found))
            });
            match from.flatten() {
                Some((number, found)) => {
                    let lost = &mut self.missing[number];
                    lost.found = true;
                    let mut changes = Vec::new();
                    change::metadata(lost.metadata, &found, &mut changes);
                    each(Found::Renamed { from: &lost.path, to: path, changes });
                }
                None => each(Found::New(path)),
            }
        }
        let missing = self.missing.iter().filter(|lost| !lost.found);
        missing.map(|lost| Found::Missing(&lost.path)).for_each(each);
        !self.missing_room.is_spent() && !self.new_room.is_spent()
    }
}
