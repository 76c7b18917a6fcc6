//! An object's tag from its partials.
//!
//! Partials come from elsewhere, and there may be many. So each is read twice: its header, which has
//! a seal of its own and says how much there can be, and once all of them make a whole, the rest, one
//! after the other.

use std::cmp::Ordering;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tagmac::Tag;
use tagmac::dynamic::{Algorithm, AnyPart, Partial, PartialError};
use tagmac::hazmat::PartError;
use tagmac::save::SaveError;
use zeroize::Zeroizing;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::mac::Mac;
use crate::open;
use crate::read::Tagged;
use crate::read_error::ReadError;

/// An object that was put together.
pub struct Combined {
    /// Its name, as its partials have it.
    pub object: Vec<u8>,
    /// Its tag, and its length.
    pub tagged: Tagged,
}

/// The tag of the object that the partials make, in any order: of the one with the name `object`, or
/// of any one. `nonce` is empty for deterministic MACs.
pub fn combine(
    mac: &Mac,
    object: Option<&[u8]>,
    partials: &[PathBuf],
    nonce: &[u8],
) -> Result<Combined, Error> {
    if partials.is_empty() {
        return Err(Error::usage("expected at least one partial, found none"));
    }
    let (object, mut ranges) = ranges(object, partials, mac)?;
    ranges.sort_by_key(|range| (range.start, range.end));
    adjoin(&ranges)?;
    let tag = tag(mac, nonce, &object, &ranges)?;
    let bytes = ranges.last().map_or(0, |last| last.end);
    Ok(Combined { object, tagged: Tagged { tag, bytes } })
}

/// What a partial's header says, which somebody with the key made.
struct Range<'a> {
    path: &'a Path,
    start: u64,
    end: u64,
    last: bool,
    /// Bytes that the file can have.
    most: u64,
}

impl Range<'_> {
    /// The range and the file, for a message.
    fn shown(&self) -> String {
        format!("bytes {} to {} ({})", self.start, self.end, Escaped::name(self.path))
    }

    fn is_of(&self, partial: &Partial<'_>) -> bool {
        let found = (partial.start(), partial.end(), partial.is_last());
        found == (self.start, self.end, self.last)
    }
}

/// The object's name and its ranges, as the headers say. Refuses headers that were altered, and
/// partials of several objects, or of another one than was asked for.
fn ranges<'a>(
    object: Option<&[u8]>,
    partials: &'a [PathBuf],
    mac: &Mac,
) -> Result<(Vec<u8>, Vec<Range<'a>>), Error> {
    let mut of = None;
    let mut object = object.map(<[u8]>::to_vec);
    let mut other = None;
    let mut ranges = Vec::with_capacity(partials.len());
    for path in partials {
        let head = read(path, Partial::MAX_HEADER as u64)?;
        let partial = Partial::parse(&head).map_err(|error| refused(path, error))?;
        belongs(path, &partial, mac)?;
        let checked = partial.check(&mac.mac, &mac.sealer);
        let partial = checked.map_err(|error| refused(path, error))?;
        if object.is_none() {
            (object, of) = (Some(partial.object().to_vec()), Some(path));
        }
        let (expected, found) = (object.as_deref(), partial.object());
        if expected != Some(found) && other.is_none() {
            other = Some((path, found.to_vec()));
        }
        let (start, end, last) = (partial.start(), partial.end(), partial.is_last());
        let most = partial.max_len();
        ranges.push(Range { path, start, end, last, most });
    }
    let object = object.unwrap_or_default();
    let Some((path, found)) = other else { return Ok((object, ranges)) };
    let of = of.map_or("--object".into(), |path| Escaped::name(path).to_string());
    let ([expected, found], name) =
        ([&object, &found].map(|o| Escaped::bytes(o)), Escaped::name(path));
    Err(Error::mismatch(format_args!(
        "{name}: expected a partial of {expected} ({of}), found one of {found}"
    )))
}

/// Refuses a partial of another algorithm or key.
fn belongs(path: &Path, partial: &Partial<'_>, mac: &Mac) -> Result<(), Error> {
    let (algorithm, found) = (mac.mac.algorithm(), partial.algorithm());
    let id = partial.key_id();
    if Algorithm::from_name(found) == Ok(algorithm) && id == mac.key_id() {
        return Ok(());
    }
    let (name, own) = (Escaped::name(path), mac.key_id());
    let found = Escaped::bytes(found.as_bytes());
    Err(Error::key(format_args!(
        "{name}: expected a partial of {algorithm} under this key (id {own}), found one of {found} \
         under the key with id {id}"
    )))
}

/// The first bytes of a partial, at most so many.
fn read(path: &Path, most: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
    let failed = |error: ReadError| Error::io(format_args!("{}: {error}", Escaped::name(path)));
    let (file, facts) = open::regular(path).map_err(failed)?;
    let room = usize::try_from(facts.len().min(most)).unwrap_or(usize::MAX);
    let mut bytes = Zeroizing::new(Vec::new());
    let none = |_| failed(io::Error::from(io::ErrorKind::OutOfMemory).into());
    bytes.try_reserve_exact(room).map_err(none)?;
    (&file).take(most).read_to_end(&mut bytes).map_err(|error| failed(error.into()))?;
    Ok(bytes)
}

/// The part and the tail in a partial whose header was read before.
fn opened(
    mac: &Mac,
    object: &[u8],
    range: &Range<'_>,
) -> Result<(AnyPart, Zeroizing<Vec<u8>>), Error> {
    let wrong = |error| refused(range.path, error);
    let altered = || wrong(PartialError::Save(SaveError::Seal));
    let mut bytes = read(range.path, range.most + 1)?;
    if bytes.len() as u64 > range.most {
        return Err(altered());
    }
    let head = Partial::parse(&bytes).map_err(wrong)?.header_len();
    let (head, sealed) = bytes.split_at_mut(head);
    let partial = Partial::parse(head).map_err(wrong)?;
    let partial = partial.check(&mac.mac, &mac.sealer).map_err(wrong)?;
    let opened = partial.open_in_place(sealed).map_err(wrong)?;
    if !range.is_of(&partial) || partial.object() != object {
        return Err(altered());
    }
    Ok(opened)
}

fn refused(path: &Path, error: PartialError) -> Error {
    Error::mismatch(format_args!("{}: {error}", Escaped::name(path)))
}

/// Refuses ranges, in the order of their starts, that do not make a whole.
fn adjoin(ranges: &[Range<'_>]) -> Result<(), Error> {
    let [first, .., last] = ranges else {
        let [only] = ranges else { return Ok(()) };
        return ends(only, only);
    };
    for pair in ranges.windows(2) {
        let [left, right] = pair else { unreachable!("two") };
        let (end, start) = (left.end, right.start);
        let what = match end.cmp(&start) {
            Ordering::Less => format!("a gap of {} bytes", start - end),
            Ordering::Greater => "an overlap".into(),
            Ordering::Equal if left.last => "the last one before".into(),
            Ordering::Equal => continue,
        };
        return Err(Error::mismatch(format_args!(
            "expected adjoining ranges, found {what}: {} and {}",
            left.shown(),
            right.shown()
        )));
    }
    ends(first, last)
}

/// Refuses ranges that lack the first or the last one.
fn ends(first: &Range<'_>, last: &Range<'_>) -> Result<(), Error> {
    if first.start > 0 {
        let found = first.shown();
        return Err(Error::mismatch(format_args!(
            "expected a first range from byte 0, found {found} before all others"
        )));
    }
    if !last.last {
        let found = last.shown();
        return Err(Error::mismatch(format_args!(
            "expected a last range (part --last), found {found} after all others"
        )));
    }
    Ok(())
}

/// Joins the parts, which adjoin.
fn tag(mac: &Mac, nonce: &[u8], object: &[u8], ranges: &[Range<'_>]) -> Result<Tag, Error> {
    let parts = mac.parts()?;
    let wrong = |error: PartError| Error::mismatch(error);
    let mut whole = parts.new_part(0, &[]).map_err(wrong)?;
    let mut tail = None;
    for range in ranges {
        let (part, rest) = opened(mac, object, range)?;
        whole = parts.join(whole, &part).map_err(wrong)?;
        tail = Some(rest);
    }
    let tail = tail.as_ref().map_or(&[][..], |tail| tail);
    parts.finish(whole, nonce, tail).map_err(wrong)
}
