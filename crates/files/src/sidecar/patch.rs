//! A patch, written through the check.
//!
//! Before the file is touched, old and new bytes are in the sidecar, and a state that says so. If
//! that state is found later, the patch was cut short: the file has to hold old and new bytes and
//! no others there, and with the old ones in place the leaves have to be as they were before it.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use crate::error::Error;
use crate::faults;
use crate::read_error::ReadError;
use tagmac::save::{Reader, Writer, Zeroizing};

use super::error::{Interference, UpdateError};
use super::header::{Patch, Pending, Side};
use super::store::Extent;
use super::{State, store};

/// So many bytes of a patch are in one node page.
const PIECE: usize = 1 << 20;
/// So many node pages may be in the list of them, which is a node page itself.
const MAX_PIECES: usize = 1 << 16;
/// What a disk writes as a whole.
const SECTOR: u64 = 512;

/// Some bytes of a patch.
pub(super) struct Piece {
    start: u64,
    length: u64,
    place: Extent,
}

impl State<'_> {
    /// Writes the bytes of what `open` opens into the file, once the leaves have been checked.
    pub(super) fn patch(
        &mut self,
        offset: u64,
        name: &Path,
        open: &dyn Fn() -> Result<Box<dyn Read>, Error>,
    ) -> Result<(), Error> {
        self.has_its_length()?;
        let length = self.header.sums.length;
        if offset > length {
            let file = self.open.path.into();
            return Err(UpdateError::PatchStart { file, length, found: offset }.into());
        }
        let mut input = open()?;
        let mut next = self.header.sums.again(self.tree.parts)?;
        let (mut pieces, mut at, mut ended) = (Vec::new(), offset, false);
        while !ended {
            // To the end of a leaf; one byte more than there is room for shows that there are too
            // many.
            let end = self.step(self.widened(at, at).0, length).max(at);
            let most = end - at + u64::from(end >= length);
            let mut new = Vec::new();
            let read = (&mut *input).take(most).read_to_end(&mut new);
            read.map_err(store::io(name))?;
            // A terminal, a pipe with another writer or a file that grows may go on after its end.
            // More bytes would belong to a leaf whose other bytes are in `next` already.
            ended = (new.len() as u64) < most;
            let to = at + new.len() as u64;
            if to > length {
                return Err(UpdateError::PatchEnd { file: self.open.path.into(), length }.into());
            }
            if new.is_empty() {
                break;
            }
            let (start, end) = self.widened(at, to);
            let mut bytes = vec![0; (end - start) as usize];
            self.read(&mut bytes, start)?;
            self.check(start, &bytes)?;
            let old = &mut bytes[(at - start) as usize..][..new.len()];
            for (old, new) in old.chunks(PIECE).zip(new.chunks(PIECE)) {
                if pieces.len() == MAX_PIECES {
                    let file = self.open.path.into();
                    return Err(UpdateError::PatchTooLong(file, at - offset).into());
                }
                let mut text = Writer::default();
                text.bytes(old).bytes(new);
                let (place, length) = (self.tree.store.put(b"patch", &text)?, old.len() as u64);
                pieces.push(Piece { start: at, length, place });
                at += length;
            }
            old.copy_from_slice(&new);
            self.lay(&mut next, start, &bytes)?;
        }
        if pieces.is_empty() {
            return Ok(());
        }
        if at == length {
            // What is looked at again when the file was written to its end.
            self.check_range(offset.saturating_sub(1), offset, &())?;
        }
        let mut text = Writer::default();
        for piece in &pieces {
            text.number(piece.length);
            piece.place.save(&mut text);
        }
        let (length, list) = (at - offset, self.tree.store.put(b"pieces", &text)?);
        let patch = Patch { offset, length, side: Side::New, pieces: list };
        self.begin(Pending { next, patch: Some(patch) })?;
        self.bring(&pieces, Side::New, Side::New, true)?;
        self.is_written(&patch)?;
        self.edited()
    }

    /// Refuses a file that somebody else had shortened just before a patch was written to its end:
    /// the write has made it as long as it was, with zeros before the patch.
    pub(super) fn is_written(&self, patch: &Patch) -> Result<(), Error> {
        let (start, end) = (patch.offset.saturating_sub(1), patch.offset + patch.length);
        let Some(Pending { next, .. }) = &self.header.pending else { return Ok(()) };
        if end < next.length || self.open.length()? < next.length {
            // Its length shows it.
            return Ok(());
        }
        let sums = if patch.side == Side::Old { &self.header.sums } else { next };
        match self.find_change_in_from(sums, start, end, &())? {
            Some(change) => Err(self.stuck(Interference::Changed(change))),
            None => Ok(()),
        }
    }

    /// The pieces of a patch.
    pub(super) fn pieces(&self, patch: &Patch) -> Result<Vec<Piece>, Error> {
        let text = self.tree.store.get(b"pieces", &patch.pieces)?;
        let input = &mut Reader::new(&text);
        let (mut pieces, mut start) = (Vec::new(), patch.offset);
        let end = patch.offset + patch.length;
        let altered = || self.tree.store.altered();
        while start < end {
            let (length, place) = input.number().zip(Extent::load(input)).ok_or_else(altered)?;
            if length == 0 || length > end - start {
                return Err(altered());
            }
            pieces.push(Piece { start, length, place });
            start += length;
        }
        Ok(pieces)
    }

    /// The old bytes of a piece, and then the new ones.
    fn both(&self, piece: &Piece) -> Result<Zeroizing<Vec<u8>>, Error> {
        let text = self.tree.store.get(b"patch", &piece.place)?;
        if text.len() as u64 != 2 * piece.length {
            return Err(self.tree.store.altered());
        }
        Ok(text)
    }

    /// What the file has of a piece, which may be less.
    fn found(&self, piece: &Piece) -> Result<Vec<u8>, Error> {
        let there = self.open.length()?.saturating_sub(piece.start).min(piece.length);
        let mut found = vec![0; there as usize];
        self.read(&mut found, piece.start)?;
        Ok(found)
    }

    /// What is wrong with a file that has something else than old and new bytes where a patch is,
    /// or whose leaves around it are not as they were.
    pub(super) fn find_others(
        &self,
        patch: &Patch,
        pieces: &[Piece],
    ) -> Result<Option<Interference>, Error> {
        let (offset, end) = (patch.offset, patch.offset + patch.length);
        // Up to the end of the file, also what is looked at again when it was written.
        let before = u64::from(end == self.header.sums.length);
        let (mut at, end) = self.widened(offset.saturating_sub(before), end);
        let mut bytes = Vec::new();
        while at < end {
            let next = self.step(at, end);
            bytes.resize((next - at) as usize, 0);
            self.read(&mut bytes, at)?;
            let first = pieces.partition_point(|piece| piece.start + piece.length <= at);
            for piece in pieces[first..].iter().take_while(|piece| piece.start < next) {
                let both = self.both(piece)?;
                let (old, new) = both.split_at(both.len() / 2);
                let (from, to) = (piece.start.max(at), (piece.start + piece.length).min(next));
                let within = (from - piece.start) as usize..(to - piece.start) as usize;
                let found = &mut bytes[(from - at) as usize..(to - at) as usize];
                let (old, new) = (&old[within.clone()], &new[within]);
                if let Some(others) = others(patch.side, from, found, old, new).next() {
                    return Ok(Some(foreign(from, &others)));
                }
                found.copy_from_slice(old);
            }
            if let Some(change) = self.find_change(at, &bytes)? {
                return Ok(Some(Interference::Changed(change)));
            }
            at = next;
        }
        Ok(None)
    }

    /// Writes one side of a patch into the file; `was` is the one that was on its way. A sector
    /// that has bytes of neither is refused if `strict`, and else left alone.
    pub(super) fn bring(
        &self,
        pieces: &[Piece],
        was: Side,
        side: Side,
        strict: bool,
    ) -> Result<(), Error> {
        let file = &self.open.file;
        for piece in pieces {
            let (both, found) = (self.both(piece)?, self.found(piece)?);
            let (old, new) = both.split_at(both.len() / 2);
            let bytes = if side == Side::Old { old } else { new };
            let mut done = 0;
            let end = found.len()..found.len();
            for others in others(was, piece.start, &found, old, new).chain([end]) {
                if strict && !others.is_empty() {
                    return Err(self.stuck(foreign(piece.start, &others)));
                }
                let own = done..others.start;
                done = others.end;
                let at = piece.start + own.start as u64;
                for run in unlike(at, &found[own.clone()], &bytes[own.clone()]) {
                    let at = at + run.start as u64;
                    let written = faults::write_all_at(file, &bytes[own.clone()][run], at);
                    written.map_err(|error| self.unfinished(ReadError::Io(error), "patch"))?;
                }
            }
        }
        faults::sync_data(file).map_err(|error| self.unfinished(ReadError::Io(error), "patch"))
    }
}

/// Bytes in the place of a patch that are not its own.
fn foreign(at: u64, others: &Range<usize>) -> Interference {
    Interference::Foreign(at + others.start as u64..at + others.end as u64)
}

/// The sectors of so many bytes from byte `at` of the file on.
fn sectors(at: u64, bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let here = start;
        let to_next = SECTOR - (at + here as u64) % SECTOR;
        start = bytes.min(here + to_next as usize);
        (here < start).then_some(here..start)
    })
}

/// Runs of sectors that differ. The others are not written: a hole has no room of its own, and on a
/// full disk takes no bytes, not even those that it reads as.
fn unlike(at: u64, found: &[u8], bytes: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for sector in sectors(at, found.len()) {
        if found[sector.clone()] == bytes[sector.clone()] {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.end == sector.start => run.end = sector.end,
            _ => runs.push(sector),
        }
    }
    runs
}

/// The sectors in which the file has something that a patch cannot have left there. A sector is
/// written as a whole, or up to some byte where a write ended or met a read of the disk: there it
/// goes over from new to old, or from old to new, and no more than once. If the patch is on its way
/// out, that is a second write, and makes it twice.
fn others<'a>(
    side: Side,
    at: u64,
    found: &'a [u8],
    old: &'a [u8],
    new: &'a [u8],
) -> impl Iterator<Item = Range<usize>> + 'a {
    let most = if side == Side::New { 1 } else { 2 };
    let goes_over = move |found: &[u8], mut now: [&[u8]; 2]| {
        let mut n = 0;
        for _ in 0..=most {
            let rest = found[n..].iter().zip(&now[0][n..]);
            n += rest.take_while(|(found, side)| found == side).count();
            now.reverse();
        }
        n == found.len()
    };
    sectors(at, found.len()).filter(move |sector| {
        let [found, old, new] = [found, old, new].map(|bytes| &bytes[sector.clone()]);
        !goes_over(found, [new, old]) && !goes_over(found, [old, new])
    })
}
