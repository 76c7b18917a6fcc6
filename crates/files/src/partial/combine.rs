//! Combines partials into an object's tag.
//!
//! Partials come from other machines, and there may be many. So each is read twice: first only its
//! header, which has its own seal and bounds the length of the rest; and, once all ranges adjoin,
//! the rest, one partial after the other.

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

/// An object that was combined from its partials.
pub struct Combined {
    /// The object's name, as in its partials.
    pub object: Vec<u8>,
    /// The tag and the length.
    pub tagged: Tagged,
}

/// The object that the partials must belong to. In any case they must all belong to one.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'a> {
    /// Any object.
    Any,
    /// The object with this name.
    Name(&'a [u8]),
    /// An object and a version, as [`versioned`](super::versioned) joins them to a name.
    Object {
        /// The object, or any.
        object: Option<&'a [u8]>,
        /// The version, or any.
        version: Option<&'a [u8]>,
    },
}

impl Expected<'_> {
    /// Returns the expected object if `name` is another.
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

/// Combines partials, given in any order, into the object's tag. `nonce` is empty for deterministic
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
    Ok(Combined { object, tagged: Tagged::new(tag, bytes) })
}

/// A verified partial.
pub struct Opened {
    /// The object's name, with its version if it has one.
    pub object: Vec<u8>,
    /// The first byte of the range.
    pub start: u64,
    /// The byte after the range.
    pub end: u64,
    /// True if the object ends with the range.
    pub last: bool,
}

/// Verifies one partial.
pub fn open(key: &OpenKey, stored: &impl Stored) -> Result<Opened, Error> {
    key.parts()?;
    let (object, range) = header(key, stored)?;
    opened(key, &object, &range)?;
    let StoredRange { start, end, last, .. } = range;
    Ok(Opened { object, start, end, last })
}

/// A range, from a partial's verified header.
struct StoredRange<'a, S> {
    stored: &'a S,
    start: u64,
    end: u64,
    last: bool,
    /// The maximum length of the partial in bytes.
    most: u64,
}

impl<S: Stored> StoredRange<'_, S> {
    /// Returns the range and the partial's name.
    fn located(&self) -> Located {
        Located { start: self.start, end: self.end, partial: self.stored.name() }
    }

    fn is_of(&self, partial: &Partial<'_>) -> bool {
        let found = (partial.start(), partial.end(), partial.is_last());
        found == (self.start, self.end, self.last)
    }
}

/// Reads all headers. Returns the object's name and its ranges. Fails if a header is invalid, or if
/// the partials belong to several objects or not to the expected one.
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

/// Reads and verifies a header alone. Returns the object's name and the range.
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

/// Rejects a partial of another algorithm or key.
fn belongs(stored: &impl Stored, partial: &Partial<'_>, key: &OpenKey) -> Result<(), Error> {
    let (algorithm, found) = (key.mac.algorithm(), partial.algorithm());
    let id = partial.key_id();
    if Algorithm::from_name(found) == Ok(algorithm) && id == key.key_id() {
        return Ok(());
    }
    let (partial, expected, found_algorithm) = (stored.name(), key.key_id(), found.into());
    Err(CombineError::OtherKey { partial, algorithm, expected, found_algorithm, found: id }.into())
}

/// Opens a partial whose header was read before. Returns the part and the tail.
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

/// Checks that ranges, sorted by their starts, cover a whole object.
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

/// Checks that the first and the last range of the object are present.
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

/// Joins the parts of adjoining ranges.
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
