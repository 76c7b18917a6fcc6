//! Patches: checked writes into the file.
//!
//! Before the file is written, the sidecar records the old and new bytes and a state with the
//! pending patch. If that state is found later, the patch was interrupted. Then the file must
//! contain only old and new bytes at that place, and with the old bytes restored, the leaves must
//! match the previous state.

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

/// Bytes of a patch per node page.
const PIECE: usize = 1 << 20;
/// Maximum number of node pages of a patch. Their list is a node page itself.
const MAX_PIECES: usize = 1 << 16;
/// Bytes per sector, which disks write atomically.
const SECTOR: u64 = 512;

/// A piece of a patch, stored in one node page.
pub(super) struct Piece {
    start: u64,
    length: u64,
    place: Extent,
}

impl State<'_> {
    /// Writes the input from `open` into the file, after checking the leaves.
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
            // Up to the end of a leaf. At the end of the file, one byte more shows that the patch
            // is too long.
            let end = self.step(self.widened(at, at).0, length).max(at);
            let most = end - at + u64::from(end >= length);
            let mut new = Vec::new();
            let read = (&mut *input).take(most).read_to_end(&mut new);
            read.map_err(store::io(name))?;
            // Stop at the first end of the input: a terminal, a pipe with another writer or a
            // growing file may continue after it. More bytes would belong to a leaf whose other
            // bytes are already in `next`.
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
            // The bytes that are checked again after a write to the end of the file.
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

    /// Detects that another program truncated the file just before a patch was written to its end:
    /// the write has restored its length, with zeros before the patch.
    pub(super) fn is_written(&self, patch: &Patch) -> Result<(), Error> {
        let (start, end) = (patch.offset.saturating_sub(1), patch.offset + patch.length);
        let Some(Pending { next, .. }) = &self.header.pending else { return Ok(()) };
        if end < next.length || self.open.length()? < next.length {
            // The length reveals the truncation.
            return Ok(());
        }
        let sums = if patch.side == Side::Old { &self.header.sums } else { next };
        match self.find_change_in_from(sums, start, end, &())? {
            Some(change) => Err(self.stuck(Interference::Changed(change))),
            None => Ok(()),
        }
    }

    /// Returns the pieces of a patch.
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

    /// Returns the old bytes of a piece, followed by the new ones.
    fn both(&self, piece: &Piece) -> Result<Zeroizing<Vec<u8>>, Error> {
        let text = self.tree.store.get(b"patch", &piece.place)?;
        if text.len() as u64 != 2 * piece.length {
            return Err(self.tree.store.altered());
        }
        Ok(text)
    }

    /// Reads the file at the place of a piece. Returns less at the end of the file.
    fn found(&self, piece: &Piece) -> Result<Vec<u8>, Error> {
        let there = self.open.length()?.saturating_sub(piece.start).min(piece.length);
        let mut found = vec![0; there as usize];
        self.read(&mut found, piece.start)?;
        Ok(found)
    }

    /// Checks that the place of a patch has only old and new bytes, and that the leaves around it
    /// are unchanged. Returns the first violation.
    pub(super) fn find_others(
        &self,
        patch: &Patch,
        pieces: &[Piece],
    ) -> Result<Option<Interference>, Error> {
        let (offset, end) = (patch.offset, patch.offset + patch.length);
        // At the end of the file, include the bytes that are checked again after the write.
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

    /// Writes one side of a patch into the file. `was` is the side that was being written. A sector
    /// with other bytes than those of both sides is an error if `strict`, and is skipped otherwise.
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

/// Describes foreign bytes within a patch.
fn foreign(at: u64, others: &Range<usize>) -> Interference {
    Interference::Foreign(at + others.start as u64..at + others.end as u64)
}

/// Returns the sectors of `bytes` bytes that start at offset `at` of the file.
fn sectors(at: u64, bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let here = start;
        let to_next = SECTOR - (at + here as u64) % SECTOR;
        start = bytes.min(here + to_next as usize);
        (here < start).then_some(here..start)
    })
}

/// Returns runs of sectors that differ. Equal ones are not written: a hole has no space allocated,
/// and on a full disk even writing zeros to it fails.
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

/// Returns the sectors that a patch cannot have left in this state. A sector is written atomically,
/// or up to some byte where a write ended or overlapped with a read. So it switches between old and
/// new bytes at most once. If the patch is being undone, a second write makes that twice.
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
