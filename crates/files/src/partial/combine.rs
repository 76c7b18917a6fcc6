//! An object's tag from its partials.
//!
//! Partials come from elsewhere, and there may be many. So each is read twice: its header, which has
//! a seal of its own and says how much there can be, and once all of them make a whole, the rest, one
//! after the other.

use std::cmp::Ordering;

use tagmac::Tag;
use tagmac::save::SaveError;
use tagmac_any::{Algorithm, AnyPart, Partial, PartialError};
use zeroize::Zeroizing;

use super::error::{Between, CombineError, Located, Wanted};
use super::stored::Stored;
use super::version::split_version;
use crate::error::Error;
use crate::open_key::OpenKey;
use crate::read::Tagged;

/// An object that was put together.
pub struct Combined {
    /// Its name, as its partials have it.
    pub object: Vec<u8>,
    /// Its tag, and its length.
    pub tagged: Tagged,
}

/// Which object the partials have to be of. They are of one in any case.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'a> {
    /// Any one.
    Any,
    /// The one of this name.
    Name(&'a [u8]),
    /// One of these, which are in the name as [`versioned`](super::versioned) puts them there.
    Object {
        /// The object, or any.
        object: Option<&'a [u8]>,
        /// The version, or any.
        version: Option<&'a [u8]>,
    },
}

impl Expected<'_> {
    /// What was expected, if this name is another.
    fn differs(&self, name: &[u8]) -> Option<Wanted> {
        match *self {
            Expected::Any => None,
            Expected::Name(expected) => (expected != name).then(|| Wanted::Name(expected.into())),
            Expected::Object { object, version } => {
                let (found_object, found) = split_version(name);
                let object = object.filter(|object| *object != found_object);
                let version = version.filter(|version| Some(*version) != found);
                let object = object.map(|object| Wanted::Object(object.into()));
                object.or_else(|| version.map(|version| Wanted::Version(version.into())))
            }
        }
    }
}

/// The tag of the object that the partials make, in any order. `nonce` is empty for deterministic
/// MACs.
pub fn combine<S: Stored>(
    key: &OpenKey,
    expected: Expected<'_>,
    partials: &[S],
    nonce: &[u8],
) -> Result<Combined, Error> {
    if partials.is_empty() {
        return Err(CombineError::NoPartials.into());
    }
    let (object, mut ranges) = ranges(expected, partials, key)?;
    ranges.sort_by_key(|range| (range.start, range.end));
    adjoin(&ranges)?;
    let tag = tag(key, nonce, &object, &ranges)?;
    let bytes = ranges.last().map_or(0, |last| last.end);
    Ok(Combined { object, tagged: Tagged { tag, bytes } })
}

/// A partial that is whole, and was made under the key.
pub struct Opened {
    /// The object's name, with its version if it has one.
    pub object: Vec<u8>,
    /// The first byte of the range.
    pub start: u64,
    /// The byte after the range.
    pub end: u64,
    /// Whether the object ends with the range.
    pub last: bool,
}

/// Checks one partial.
pub fn open(key: &OpenKey, stored: &impl Stored) -> Result<Opened, Error> {
    key.parts()?;
    let (object, range) = header(key, stored)?;
    opened(key, &object, &range)?;
    let StoredRange { start, end, last, .. } = range;
    Ok(Opened { object, start, end, last })
}

/// What a partial's header says, which somebody with the key made.
struct StoredRange<'a, S> {
    stored: &'a S,
    start: u64,
    end: u64,
    last: bool,
    /// Bytes that the partial can have.
    most: u64,
}

impl<S: Stored> StoredRange<'_, S> {
    /// The range and where it is from.
    fn located(&self) -> Located {
        Located { start: self.start, end: self.end, partial: self.stored.name() }
    }

    fn is_of(&self, partial: &Partial<'_>) -> bool {
        let found = (partial.start(), partial.end(), partial.is_last());
        found == (self.start, self.end, self.last)
    }
}

/// The object's name and its ranges, as the headers say. Refuses headers that were altered, and
/// partials of several objects, or of another one than was asked for.
fn ranges<'a, S: Stored>(
    expected: Expected<'_>,
    partials: &'a [S],
    key: &OpenKey,
) -> Result<(Vec<u8>, Vec<StoredRange<'a, S>>), Error> {
    let mut first: Option<(Vec<u8>, &S)> = None;
    let mut other = None;
    let mut ranges = Vec::with_capacity(partials.len());
    for stored in partials {
        let (object, range) = header(key, stored)?;
        ranges.push(range);
        let (of, name) = first.get_or_insert_with(|| (object.clone(), stored));
        let differs = || {
            let first = || Wanted::First { name: of.clone(), partial: name.name() };
            (*of != object).then(first)
        };
        if other.is_none() {
            let expected = expected.differs(&object).or_else(differs);
            other = expected.map(|expected| (stored.name(), expected, object));
        }
    }
    match other {
        None => Ok((first.map_or(Vec::new(), |(object, _)| object), ranges)),
        Some((partial, expected, found)) => {
            Err(CombineError::OtherObject { partial, expected, found }.into())
        }
    }
}

/// The object's name and the range, as the header says, which is read and checked alone.
fn header<'a, S: Stored>(
    key: &OpenKey,
    stored: &'a S,
) -> Result<(Vec<u8>, StoredRange<'a, S>), Error> {
    let head = stored.read(Partial::MAX_HEADER as u64)?;
    let partial = Partial::parse(&head).map_err(|error| refused(stored, error))?;
    belongs(stored, &partial, key)?;
    let checked = partial.check(&key.mac, &key.sealer);
    let partial = checked.map_err(|error| refused(stored, error))?;
    let (start, end, last) = (partial.start(), partial.end(), partial.is_last());
    let range = StoredRange { stored, start, end, last, most: partial.max_len() };
    Ok((partial.object().to_vec(), range))
}

/// Refuses a partial of another algorithm or key.
fn belongs(stored: &impl Stored, partial: &Partial<'_>, key: &OpenKey) -> Result<(), Error> {
    let (algorithm, found) = (key.mac.algorithm(), partial.algorithm());
    let id = partial.key_id();
    if Algorithm::from_name(found) == Ok(algorithm) && id == key.key_id() {
        return Ok(());
    }
    let (partial, expected, found_algorithm) = (stored.name(), key.key_id(), found.into());
    Err(CombineError::OtherKey { partial, algorithm, expected, found_algorithm, found: id }.into())
}

/// The part and the tail in a partial whose header was read before.
fn opened<S: Stored>(
    key: &OpenKey,
    object: &[u8],
    range: &StoredRange<'_, S>,
) -> Result<(AnyPart, Zeroizing<Vec<u8>>), Error> {
    let wrong = |error| refused(range.stored, error);
    let altered = || wrong(PartialError::Save(SaveError::Seal));
    let mut bytes = range.stored.read(range.most + 1)?;
    if bytes.len() as u64 > range.most {
        return Err(altered());
    }
    let head = Partial::parse(&bytes).map_err(wrong)?.header_len();
    let (head, sealed) = bytes.split_at_mut(head);
    let partial = Partial::parse(head).map_err(wrong)?;
    let partial = partial.check(&key.mac, &key.sealer).map_err(wrong)?;
    let opened = partial.open_in_place(sealed).map_err(wrong)?;
    if !range.is_of(&partial) || partial.object() != object {
        return Err(altered());
    }
    Ok(opened)
}

fn refused(stored: &impl Stored, error: PartialError) -> Error {
    CombineError::Refused { partial: stored.name(), error }.into()
}

/// Refuses ranges, in the order of their starts, that do not make a whole.
fn adjoin<S: Stored>(ranges: &[StoredRange<'_, S>]) -> Result<(), CombineError> {
    let [first, .., last] = ranges else {
        let [only] = ranges else { return Ok(()) };
        return ends(only, only);
    };
    for pair in ranges.windows(2) {
        let [left, right] = pair else { unreachable!("two") };
        let (end, start) = (left.end, right.start);
        let between = match end.cmp(&start) {
            Ordering::Less => Between::Gap(start - end),
            Ordering::Greater => Between::Overlap,
            Ordering::Equal if left.last => Between::End,
            Ordering::Equal => continue,
        };
        let (left, right) = (left.located(), right.located());
        return Err(CombineError::Apart { between, left, right });
    }
    ends(first, last)
}

/// Refuses ranges that lack the first or the last one.
fn ends<S: Stored>(
    first: &StoredRange<'_, S>,
    last: &StoredRange<'_, S>,
) -> Result<(), CombineError> {
    if first.start > 0 {
        return Err(CombineError::NoFirst { found: first.located() });
    }
    if !last.last {
        return Err(CombineError::NoLast { found: last.located() });
    }
    Ok(())
}

/// Joins the parts, which adjoin.
fn tag<S: Stored>(
    key: &OpenKey,
    nonce: &[u8],
    object: &[u8],
    ranges: &[StoredRange<'_, S>],
) -> Result<Tag, Error> {
    let parts = key.parts()?;
    let wrong = CombineError::Mac;
    let mut whole = parts.new_part(0, &[]).map_err(wrong)?;
    let mut tail = None;
    for range in ranges {
        let (part, rest) = opened(key, object, range)?;
        whole = parts.join(whole, &part).map_err(wrong)?;
        tail = Some(rest);
    }
    let tail = tail.as_ref().map_or(&[][..], |tail| tail);
    Ok(parts.finish(whole, nonce, tail).map_err(wrong)?)
}
