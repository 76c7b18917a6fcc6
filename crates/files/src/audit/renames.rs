//! New files that are missing ones under other names: those of the same size and, under the missing
//! one's nonce, the same tag.
//!
//! [`Renames`] reads the new files of a [`Source`]. Sources that work elsewhere, and all at once, ask
//! [`planned`] what to read, and [`paired`] what came out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::ops::Range;

use tagmac::Tag;

use crate::audit::Change;
use crate::audit::source::{Lost, Reading, Source, Sources};
use crate::manifest::entry::Content;
use crate::pool;
use crate::room::Room;

/// The bytes that are kept of missing files' names and what belongs to them, and of those of new ones.
const MAX_BYTES: usize = 8 << 20;
/// Under nonces each pair of files needs a reading of its own. A new file gets at most this many.
const TRIES: usize = 8;

/// New and missing files, as many as are kept.
pub struct Renames<S: Source> {
    missing: Vec<Lost<S::Metadata>>,
    new: Vec<S::New>,
    missing_room: Room,
    new_room: Room,
}

/// The outcome for one file.
pub enum RenameOutcome<'a> {
    /// A new file is a missing one.
    Renamed {
        /// The missing one.
        from: &'a [u8],
        /// The new one.
        to: &'a [u8],
        /// What differs besides the name.
        changes: Vec<Change>,
    },
    /// A file is new.
    New(&'a [u8]),
    /// A file is missing.
    Missing(&'a [u8]),
}

impl<S: Source> Renames<S> {
    /// None yet.
    pub fn new() -> Renames<S> {
        let [missing_room, new_room] = [Room::new(MAX_BYTES), Room::new(MAX_BYTES)];
        Renames { missing: Vec::new(), new: Vec::new(), missing_room, new_room }
    }

    /// Keeps a missing file, or gives it back if there is no room.
    pub fn missing(&mut self, mut lost: Lost<S::Metadata>) -> Option<Lost<S::Metadata>> {
        if !self.missing_room.takes(&lost.name, size_of::<Lost<S::Metadata>>()) {
            return Some(lost);
        }
        lost.name.shrink_to_fit();
        self.missing.push(lost);
        None
    }

    /// Keeps a new file, or gives it back if there is no room.
    pub fn new_file(&mut self, new: S::New) -> Option<S::New> {
        if !self.new_room.takes(S::name_and_size(&new).0, S::NEW_BYTES) {
            return Some(new);
        }
        self.new.push(new);
        None
    }

    /// Finds out which new files are missing ones, and calls `each` with what came out, in order. The
    /// tags were made under nonces or not. Returns whether all files were kept.
    pub fn resolve(
        self,
        nonces: bool,
        sources: Sources<'_, S>,
        mut each: impl FnMut(RenameOutcome<'_>),
    ) -> bool {
        let Renames { missing, new, missing_room, new_room } = self;
        let Sources { main, others } = sources;
        let mut found = vec![false; missing.len()];
        let mut settle = |new: &S::New, pair: Option<(usize, S::Metadata)>| {
            let (name, _) = S::name_and_size(new);
            match pair {
                Some((number, metadata)) => {
                    found[number] = true;
                    let Lost { name: from, metadata: sealed, .. } = &missing[number];
                    let changes = S::changes(sealed, &metadata);
                    each(RenameOutcome::Renamed { from, to: name, changes });
                }
                None => each(RenameOutcome::New(name)),
            }
        };
        if nonces {
            // One by one: which missing ones a new one is held against depends on those before.
            let mut index = Index::new(missing.iter().map(|lost| (lost.size, None)));
            for new in &new {
                let (_, size) = S::name_and_size(new);
                let pair = index.take(size, None, TRIES, |number| {
                    let Lost { nonce, tag: sealed, .. } = &missing[number];
                    match main.read(new, nonce) {
                        Reading::Done(_, tag, metadata) if tag == *sealed => Some(metadata),
                        _ => None,
                    }
                });
                settle(new, pair);
            }
        } else {
            let sizes: BTreeSet<u64> = missing.iter().map(|lost| lost.size).collect();
            let mut index = Index::new(missing.iter().map(|lost| (lost.size, Some(&lost.tag))));
            let read = |source: &mut S, new: S::New| {
                // A file with a size that no missing one has is not read.
                let is_like_one = sizes.contains(&S::name_and_size(&new).1);
                let reading = if is_like_one { source.read(&new, &[]) } else { Reading::Failed };
                (new, reading)
            };
            let done = |(new, reading)| {
                let reading = match reading {
                    Reading::Later => main.read(&new, &[]),
                    reading => reading,
                };
                let pair = match reading {
                    Reading::Done(size, tag, metadata) => {
                        // The index has the beginnings of tags, not tags.
                        let is_it = |number: usize| (missing[number].tag == tag).then_some(());
                        let found = index.take(size, Some(&tag), usize::MAX, is_it);
                        found.map(|(number, ())| (number, metadata))
                    }
                    Reading::Later | Reading::Failed => None,
                };
                settle(&new, pair);
                Ok::<(), Infallible>(())
            };
            let Ok(()) = pool::in_batches(S::BATCH, others, new.into_iter(), read, done);
        }
        let left = missing.iter().zip(&found).filter(|(_, found)| !**found);
        left.map(|(lost, _)| RenameOutcome::Missing(&lost.name)).for_each(each);
        !missing_room.is_spent() && !new_room.is_spent()
    }
}

/// The missing files of each size and beginning of a tag, in order. Nobody who lacks the key chooses
/// the beginning of a tag. Where each file has its own nonce, those of each size.
struct Index(BTreeMap<(u64, [u8; 8]), VecDeque<usize>>);

impl Index {
    fn new<'a>(missing: impl Iterator<Item = (u64, Option<&'a Tag>)>) -> Index {
        let mut index = Index(BTreeMap::new());
        for (number, (size, tag)) in missing.enumerate() {
            index.0.entry(Index::key(size, tag)).or_default().push_back(number);
        }
        index
    }

    fn key(size: u64, tag: Option<&Tag>) -> (u64, [u8; 8]) {
        let mut start = [0; 8];
        let tag = tag.map_or(&[][..], |tag| tag.as_bytes());
        start.iter_mut().zip(tag).for_each(|(byte, &of)| *byte = of);
        (size, start)
    }

    /// Takes out the first one that `is_it` returns something for, and asks for `tries` at most.
    fn take<T>(
        &mut self,
        size: u64,
        tag: Option<&Tag>,
        tries: usize,
        mut is_it: impl FnMut(usize) -> Option<T>,
    ) -> Option<(usize, T)> {
        let candidates = self.0.get_mut(&Index::key(size, tag))?;
        let mut tried = candidates.iter().enumerate().take(tries);
        let (at, found) = tried.find_map(|(at, &number)| Some((at, is_it(number)?)))?;
        Some((candidates.remove(at)?, found))
    }
}

/// The readings that find new files of these sizes among missing ones, in order: the number of a new
/// file, and the nonce.
///
/// All are made whatever comes of the others, so under nonces a new file is not held against the
/// first missing ones that are left, but against those with about its place among all of its size.
pub fn planned<'a>(missing: &'a [Content], new: &[u64]) -> Vec<(usize, &'a [u8])> {
    /// The nonces of the missing files of a size, each once, and the new files so far.
    #[derive(Default)]
    struct Group<'a> {
        nonces: Vec<&'a [u8]>,
        new: usize,
    }
    let mut seen = BTreeSet::new();
    let mut groups: BTreeMap<u64, Group<'_>> = BTreeMap::new();
    for Content { size, nonce, .. } in missing {
        if seen.insert((*size, &**nonce)) {
            groups.entry(*size).or_default().nonces.push(nonce);
        }
    }
    let mut readings = Vec::new();
    for (number, size) in new.iter().enumerate() {
        let Some(group) = groups.get_mut(size) else { continue };
        let nonces = &group.nonces[around(group.new, group.nonces.len())];
        readings.extend(nonces.iter().map(|nonce| (number, *nonce)));
        group.new += 1;
    }
    readings
}

/// The `TRIES` places around a place, or all.
fn around(place: usize, places: usize) -> Range<usize> {
    let start = place.saturating_sub(TRIES / 2).min(places.saturating_sub(TRIES));
    start..places.min(start + TRIES)
}

/// The numbers of new files, each with that of the missing file that it is. `read` has the number of
/// a new file and its content for each of the [`planned`] readings, in their order.
pub fn paired(missing: &[Content], read: &[(usize, Content)]) -> Vec<(usize, usize)> {
    let contents = missing.iter().map(|content| (content.size, content.tag.as_ref()));
    let mut index = Index::new(contents);
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (new, content) in read {
        if pairs.last().is_some_and(|(last, _)| last == new) {
            continue;
        }
        let is_it = |number: usize| (missing[number] == *content).then_some(());
        let found = index.take(content.size, content.tag.as_ref(), usize::MAX, is_it);
        pairs.extend(found.map(|(number, ())| (*new, number)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(size: u64, nonce: u8, tag: u8) -> Content {
        Content { size, nonce: vec![nonce], tag: Some(Tag::new(&[tag; 8], 64).unwrap()) }
    }

    /// The pairs that come out if a new file has each of these contents but for the nonce.
    fn pairs(missing: &[Content], new: &[(u64, u8)]) -> Vec<(usize, usize)> {
        let sizes: Vec<u64> = new.iter().map(|(size, _)| *size).collect();
        let readings = planned(missing, &sizes);
        assert!(readings.is_sorted_by_key(|(number, _)| *number));
        let read = readings.into_iter().map(|(number, nonce)| {
            let (size, tag) = new[number];
            // Another nonce makes another tag.
            let tag = tag ^ nonce.first().unwrap_or(&0);
            let tag = Some(Tag::new(&[tag; 8], 64).unwrap());
            (number, Content { size, nonce: nonce.into(), tag })
        });
        paired(missing, &read.collect::<Vec<_>>())
    }

    #[test]
    fn up_to_eight_missing_files_of_a_size_are_all_tried() {
        let missing: Vec<_> = (0..8).map(|i| content(3, i, 100 ^ i)).collect();
        // All have the same bytes, so each new file is the first one left.
        assert_eq!(pairs(&missing, &[(3, 100), (4, 100), (3, 7), (3, 100)]), [(0, 0), (3, 1)]);
        let missing: Vec<_> = (0..8).map(|i| content(3, i, (100 + i) ^ i)).collect();
        let new: Vec<_> = (0..8).rev().map(|i| (3, 100 + i)).collect();
        assert!(pairs(&missing, &new).into_iter().eq((0..8).map(|i| (i, 7 - i))));
    }

    #[test]
    fn of_more_those_around_the_same_place_are_tried() {
        let missing: Vec<_> = (0..50).map(|i| content(3, i, (100 + i) ^ i)).collect();
        let new = |places: &[u8]| places.iter().map(|i| (3, 100 + i)).collect::<Vec<_>>();
        let all: Vec<u8> = (0..50).collect();
        assert!(pairs(&missing, &new(&all)).into_iter().eq((0..50).map(|i| (i, i))));
        // Three are still missing, and two are new: these are as many places off as there are.
        let shifted: Vec<u8> = (3..50).collect();
        assert!(pairs(&missing, &new(&shifted)).into_iter().eq((0..47).map(|i| (i, i + 3))));
        let added: Vec<u8> = [99, 99].into_iter().chain(0..50).collect();
        assert!(pairs(&missing, &new(&added)).into_iter().eq((0..50).map(|i| (i + 2, i))));
        let readings = planned(&missing, &[3; 60]);
        assert_eq!(readings.len(), 60 * TRIES);
        assert_eq!(planned(&missing, &[4; 60]), []);
    }

    #[test]
    fn without_nonces_each_new_file_is_read_once() {
        let without = |size, tag| Content { nonce: Vec::new(), ..content(size, 0, tag) };
        let missing: Vec<_> = (0..20).map(|i| without(3, i % 10)).collect();
        assert_eq!(planned(&missing, &[3, 4, 3]), [(0, &[][..]), (2, &[][..])]);
        let new: Vec<_> = [15, 9, 9, 9, 0].map(|tag| (3, tag)).to_vec();
        assert_eq!(pairs(&missing, &new), [(1, 9), (2, 19), (4, 0)]);
    }

    #[test]
    fn tags_that_begin_alike_are_two() {
        let tag = |last| Tag::new(&[[7; 15].as_slice(), &[last]].concat(), 128).unwrap();
        let one = |last| Content { size: 3, nonce: Vec::new(), tag: Some(tag(last)) };
        let missing = [one(1), one(2), one(3)];
        assert_eq!(paired(&missing, &[(0, one(2)), (1, one(4)), (2, one(1))]), [(0, 1), (2, 0)]);
    }
}
