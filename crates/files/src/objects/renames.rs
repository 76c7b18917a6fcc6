//! New objects that are missing ones under other names: those with the same tag and size.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;

use tagmac::Tag;

use crate::objects::object::Object;
use crate::objects::tagger::{Listed, Tagger, Unread};
use crate::pool;
use crate::room::Room;

/// So much is kept of the names of missing objects and what belongs to them, and so much of new ones.
const MAX_BYTES: usize = 8 << 20;
/// Under nonces each pair of objects needs a reading of its own. A new object gets so many.
const TRIES: usize = 8;

/// New and missing objects, as many as are kept.
pub struct Renames<T> {
    nonces: bool,
    missing: Vec<Object>,
    new: Vec<Listed<T>>,
    missing_room: Room,
    new_room: Room,
}

/// What came out.
pub enum Found<'a> {
    /// A new object is a missing one.
    Renamed {
        /// The missing one.
        from: &'a [u8],
        /// The new one.
        to: &'a [u8],
    },
    /// An object is new.
    New(&'a [u8]),
    /// An object is missing.
    Missing(&'a [u8]),
}

/// Which missing objects have a size and the beginning of a tag, which nobody chooses who lacks the
/// key; under nonces, which have that size.
type Index = BTreeMap<(u64, [u8; 8]), VecDeque<usize>>;

fn place(size: u64, tag: Option<&Tag>) -> (u64, [u8; 8]) {
    let mut start = [0; 8];
    let tag = tag.map_or(&[][..], |tag| tag.as_bytes());
    start.iter_mut().zip(tag).for_each(|(byte, &of)| *byte = of);
    (size, start)
}

impl<T: Send> Renames<T> {
    /// None yet, of a MAC that takes nonces or not.
    pub fn new(nonces: bool) -> Renames<T> {
        let [missing_room, new_room] = [Room::new(MAX_BYTES), Room::new(MAX_BYTES)];
        Renames { nonces, missing: Vec::new(), new: Vec::new(), missing_room, new_room }
    }

    /// Keeps a missing object, or gives it back if there is no room.
    pub fn missing(&mut self, object: Object) -> Option<Object> {
        if !self.missing_room.takes::<Object>(&object.name) {
            return Some(object);
        }
        self.missing.push(object);
        None
    }

    /// Keeps a new object, or gives it back if there is no room.
    pub fn new_object(&mut self, object: Listed<T>) -> Option<Listed<T>> {
        // Twice: what `T` holds elsewhere is about as much as what it is itself.
        if !self.new_room.takes::<[Listed<T>; 2]>(&object.name) {
            return Some(object);
        }
        self.new.push(object);
        None
    }

    /// Finds out which new objects are missing ones, and calls `each` with what came out, in order.
    /// Whether all were kept.
    pub fn resolve<W: Tagger<T>>(self, taggers: &mut [W], mut each: impl FnMut(Found<'_>)) -> bool {
        let Renames { nonces, missing, new, missing_room, new_room } = self;
        let sizes: BTreeSet<u64> = missing.iter().map(|object| object.size).collect();
        let mut index = Index::new();
        for (number, object) in missing.iter().enumerate() {
            let tag = Some(&object.tag).filter(|_| !nonces);
            index.entry(place(object.size, tag)).or_default().push_back(number);
        }
        let mut found = vec![false; missing.len()];
        let mut done = |object: &Listed<T>, number: Option<usize>| match number {
            Some(number) => {
                found[number] = true;
                each(Found::Renamed { from: &missing[number].name, to: &object.name });
            }
            None => each(Found::New(&object.name)),
        };
        if nonces {
            // One by one: which objects a reading is held against depends on those before.
            let tagger = &mut taggers[0];
            for object in &new {
                let candidates = index.entry(place(object.size, None)).or_default();
                let tries = candidates.iter().take(TRIES);
                let at = tries.into_iter().position(|&number| {
                    let sealed = &missing[number];
                    tagger.tag(object, &sealed.nonce) == Ok(sealed.tag)
                });
                done(object, at.and_then(|at| candidates.remove(at)));
            }
        } else {
            let tag = |tagger: &mut W, object: Listed<T>| {
                // What has no missing object of its size is not read.
                let tag = sizes.contains(&object.size).then(|| tagger.tag(&object, &[]));
                (object, tag)
            };
            let Ok(()) = pool::in_order(taggers, new.into_iter(), tag, |(object, tag)| {
                let number = tag.and_then(Result::<Tag, Unread>::ok).and_then(|tag| {
                    let candidates = index.get_mut(&place(object.size, Some(&tag)))?;
                    // The index has the beginnings of tags, not tags.
                    let at = candidates.iter().position(|&number| missing[number].tag == tag)?;
                    candidates.remove(at)
                });
                done(&object, number);
                Ok::<(), Infallible>(())
            });
        }
        for (object, _) in missing.iter().zip(&found).filter(|(_, found)| !**found) {
            each(Found::Missing(&object.name));
        }
        !missing_room.is_spent() && !new_room.is_spent()
    }
}
