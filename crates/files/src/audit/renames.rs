//! Detects renamed files: new files with the size of a missing one and, under its nonce, the same
//! tag.
//!
//! [`Renames`] reads the new files of a [`Source`]. A source that reads remotely and all at once
//! asks [`planned`] for the readings to make, and passes their results to [`paired`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::ops::Range;

use tagmac::Tag;

use crate::audit::Change;
use crate::audit::source::{Lost, Reading, Source, Sources};
use crate::manifest::entry::Content;
use crate::pool;
use crate::room::Room;

/// Memory limit for missing files, and the same for new ones.
const MAX_BYTES: usize = 8 << 20;
/// With nonces, each pair of a new and a missing file is a separate reading. Limits them per new
/// file.
const TRIES: usize = 8;

/// New and missing files, up to a memory limit.
pub struct Renames<S: Source> {
    missing: Vec<Lost<S::Metadata>>,
    new: Vec<S::New>,
    missing_room: Room,
    new_room: Room,
}

/// The outcome for one file.
pub enum RenameOutcome<'a> {
    /// The new file `to` is the missing file `from`.
    Renamed {
        /// The missing file's name.
        from: &'a [u8],
        /// The new file's name.
        to: &'a [u8],
        /// Further differences.
        changes: Vec<Change>,
    },
    /// The file is new.
    New(&'a [u8]),
    /// The file is missing.
    Missing(&'a [u8]),
}

impl<S: Source> Renames<S> {
    /// Creates an empty set.
    pub fn new() -> Renames<S> {
        let [missing_room, new_room] = [Room::new(MAX_BYTES), Room::new(MAX_BYTES)];
        Renames { missing: Vec::new(), new: Vec::new(), missing_room, new_room }
    }

    /// Keeps a missing file, or returns it if the memory limit is reached.
    pub fn missing(&mut self, mut lost: Lost<S::Metadata>) -> Option<Lost<S::Metadata>> {
        if !self.missing_room.takes(&lost.name, size_of::<Lost<S::Metadata>>()) {
            return Some(lost);
        }
        lost.name.shrink_to_fit();
        self.missing.push(lost);
        None
    }

    /// Keeps a new file, or returns it if the memory limit is reached.
    pub fn new_file(&mut self, new: S::New) -> Option<S::New> {
        if !self.new_room.takes(S::name_and_size(&new).0, S::NEW_BYTES) {
            return Some(new);
        }
        self.new.push(new);
        None
    }

    /// Finds out which new files are missing ones, and calls `each` with every outcome in order.
    /// `nonces` is set if the tags were made under nonces. Returns whether all files were kept.
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
            // In sequence: the missing files left to try depend on the previous matches.
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
                // Without a missing file of that size there is nothing to find.
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
                        // The index has only prefixes of tags, so compare the whole tag.
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

/// Missing files in order, by size and tag prefix. Without the key, nobody can choose the prefix of
/// a tag. With nonces the key is only the size.
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

    /// Removes and returns the first candidate for which `is_it` returns a value, after at most
    /// `tries` calls.
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

/// Returns the readings needed to find new files of these sizes among missing ones, in order. Each
/// is the number of a new file and a nonce.
///
/// All readings are planned before the first result is known. With nonces, a new file is therefore
/// compared with the missing files of its size at about the same position, rather than with the
/// first that remain.
pub fn planned<'a>(missing: &'a [Content], new: &[u64]) -> Vec<(usize, &'a [u8])> {
    /// The distinct nonces of the missing files of one size, and the number of new files so far.
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

/// Returns the range of `TRIES` places around `place`, or all places if there are fewer.
fn around(place: usize, places: usize) -> Range<usize> {
    let start = place.saturating_sub(TRIES / 2).min(places.saturating_sub(TRIES));
    start..places.min(start + TRIES)
}

/// Returns pairs of a new file and the missing file that it is, by number. `read` has the new
/// file's number and content for each of the [`planned`] readings, in order.
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

    /// Returns the pairs for new files with these sizes and tags, whatever the nonce.
    fn pairs(missing: &[Content], new: &[(u64, u8)]) -> Vec<(usize, usize)> {
        let sizes: Vec<u64> = new.iter().map(|(size, _)| *size).collect();
        let readings = planned(missing, &sizes);
        assert!(readings.is_sorted_by_key(|(number, _)| *number));
        let read = readings.into_iter().map(|(number, nonce)| {
            let (size, tag) = new[number];
            // Each nonce changes the tag.
            let tag = tag ^ nonce.first().unwrap_or(&0);
            let tag = Some(Tag::new(&[tag; 8], 64).unwrap());
            (number, Content { size, nonce: nonce.into(), tag })
        });
        paired(missing, &read.collect::<Vec<_>>())
    }

    #[test]
    fn up_to_eight_missing_files_of_a_size_are_all_tried() {
        let missing: Vec<_> = (0..8).map(|i| content(3, i, 100 ^ i)).collect();
        // All have the same content, so each new file matches the first missing one left.
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
        // Three files are still missing and two are new, so positions shift by three and by two.
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
