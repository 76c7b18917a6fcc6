//! `tagmac combine`: an object's tag from its partials.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tagmac::any::{Algorithm, Partial, PartialError};
use tagmac::{Error as MacError, Tag};

use crate::args::Combine;
use crate::error::{Error, Exit, Shown};
use crate::line::{self, End, Line};
use crate::mac::{self, Mac};
use crate::output;
use crate::read::Trouble;
use crate::record::Record;

/// Prints the tag of the object that the partials make.
pub fn run(args: &Combine) -> Result<Option<Exit>, Error> {
    let mac = mac::make(&args.key, false)?;
    mac.parts()?;
    let nonce = match mac.given_nonce(args.nonce_hex.as_ref(), None)? {
        Some(given) => given.to_vec(),
        None => mac.mac.algorithm().random_nonce().map_err(Error::io)?,
    };
    let files: Vec<Vec<u8>> =
        args.partials.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let mut ranges = Vec::new();
    for (path, bytes) in args.partials.iter().zip(&files) {
        let partial = Partial::parse(bytes).map_err(|error| refused(path, error))?;
        let range = Range { path, partial };
        range.belongs(&mac)?;
        ranges.push(range);
    }
    same_object(args, &ranges)?;
    ranges.sort_by_key(|range| (range.partial.start(), range.partial.end()));
    adjoin(&ranges)?;
    let tag = tag(&mac, &nonce, &ranges)?;
    let [.., last] = &ranges[..] else { unreachable!("at least one partial") };
    let name = match &args.name {
        Some(name) => name.as_bytes(),
        None => last.partial.object(),
    };
    let line = Line {
        algorithm: Some(mac.mac.algorithm().name()),
        nonce: Some(nonce).filter(|nonce| !nonce.is_empty()),
        name: name.into(),
        tag: tag.as_bytes().to_vec(),
    };
    if args.json {
        let bytes = Some(last.partial.end());
        output::json(&Record { bytes, ..Record::of_line(&line, &mac, "tagged") })?;
    } else {
        line::print(&line, End::Newline)?;
    }
    Ok(None)
}

/// A partial and its file.
struct Range<'a> {
    path: &'a Path,
    partial: Partial<'a>,
}

impl Range<'_> {
    /// The range and the file, for a message.
    fn shown(&self) -> String {
        let (start, end) = (self.partial.start(), self.partial.end());
        format!("bytes {start} to {end} ({})", Shown::name(self.path))
    }

    /// Refuses a partial of another algorithm or key.
    fn belongs(&self, mac: &Mac) -> Result<(), Error> {
        let (algorithm, found) = (mac.mac.algorithm(), self.partial.algorithm());
        let id = base16ct::lower::encode_string(&self.partial.key_id());
        if Algorithm::named(found) == Ok(algorithm) && id == mac.key_id {
            return Ok(());
        }
        let (name, own) = (Shown::name(self.path), &mac.key_id);
        let found = Shown::text(found.as_bytes());
        Err(Error::key(format_args!(
            "{name}: expected a partial of {algorithm} under the key {own}, \
             found one of {found} under {id}"
        )))
    }
}

/// The bytes of a partial. A file that is none is not read to its end.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error: io::Error| {
        Error::io(format_args!("{}: {}", Shown::name(path), Trouble::from(error)))
    };
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.by_ref().take(16).read_to_end(&mut bytes).map_err(failed)?;
    if !Partial::begins(&bytes) {
        return Err(refused(path, PartialError::NotAPartial));
    }
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn refused(path: &Path, error: PartialError) -> Error {
    Error::mismatch(format_args!("{}: {error}", Shown::name(path)))
}

/// Refuses partials of several objects, or of another one than was asked for.
fn same_object(args: &Combine, ranges: &[Range<'_>]) -> Result<(), Error> {
    let (expected, of) = match (&args.object, ranges) {
        (Some(object), _) => (object.as_bytes(), "--object".into()),
        (None, [first, ..]) => (first.partial.object(), Shown::name(first.path).to_string()),
        (None, []) => return Ok(()),
    };
    let Some(other) = ranges.iter().find(|range| range.partial.object() != expected) else {
        return Ok(());
    };
    let [expected, found] = [expected, other.partial.object()].map(Shown::bytes);
    let name = Shown::name(other.path);
    Err(Error::mismatch(format_args!(
        "{name}: expected a partial of {expected} ({of}), found one of {found}"
    )))
}

/// Refuses ranges, in the order of their starts, that do not make a whole.
fn adjoin(ranges: &[Range<'_>]) -> Result<(), Error> {
    let [first, .., last] = ranges else {
        let [only] = ranges else { return Ok(()) };
        return ends(only, only);
    };
    for pair in ranges.windows(2) {
        let [left, right] = pair else { unreachable!("two") };
        let (end, start) = (left.partial.end(), right.partial.start());
        let what = match end.cmp(&start) {
            std::cmp::Ordering::Less => format!("a gap of {} bytes", start - end),
            std::cmp::Ordering::Greater => "an overlap".into(),
            std::cmp::Ordering::Equal if left.partial.is_last() => "the last one before".into(),
            std::cmp::Ordering::Equal => continue,
        };
        return Err(Error::mismatch(format_args!(
            "expected ranges that adjoin, found {what}: {} and {}",
            left.shown(),
            right.shown()
        )));
    }
    ends(first, last)
}

/// Refuses ranges that lack the first or the last one.
fn ends(first: &Range<'_>, last: &Range<'_>) -> Result<(), Error> {
    if first.partial.start() > 0 {
        let found = first.shown();
        return Err(Error::mismatch(format_args!(
            "expected a first range from byte 0, found {found} before all others"
        )));
    }
    if !last.partial.is_last() {
        let found = last.shown();
        return Err(Error::mismatch(format_args!(
            "expected a last range (part --last), found {found} after all others"
        )));
    }
    Ok(())
}

/// Joins the parts, which adjoin.
fn tag(mac: &Mac, nonce: &[u8], ranges: &[Range<'_>]) -> Result<Tag, Error> {
    let parts = mac.parts()?;
    let wrong = |error: MacError| Error::mismatch(error);
    let mut whole = parts.of(0, &[]).map_err(wrong)?;
    let mut tail = None;
    for Range { path, partial } in ranges {
        let opened = partial.open(&mac.mac, &mac.sealer);
        let (part, rest) = opened.map_err(|error| refused(path, error))?;
        whole = parts.join(whole, &part).map_err(wrong)?;
        tail = Some(rest);
    }
    let tail = tail.as_ref().map_or(&[][..], |tail| tail);
    parts.finish(whole, nonce, tail).map_err(wrong)
}
