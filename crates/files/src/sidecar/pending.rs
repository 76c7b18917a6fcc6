//! Interrupted edits.
//!
//! The state before an edit that writes to the file is kept until the edit is done, and so is the
//! state after it. What a kill can leave in the file follows from the two: bytes that are neither
//! are somebody else's. No update writes over such bytes or deletes them. One that finds none of
//! them finishes the edit; otherwise it asks for a decision, `--finish` or `--undo`.

use std::fs::Metadata;

use super::State;
use super::error::{Interference, Interrupted, UpdateError};
use super::header::{Patch, Pending, Side, Sums};
use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::faults;
use crate::read_error::ReadError;

impl State<'_> {
    /// Makes an edit known before the file is touched.
    pub(super) fn begin(&mut self, pending: Pending) -> Result<(), Error> {
        self.header.pending = Some(pending);
        self.make_known()
    }

    /// A state with an edit has to be there for good in both places before the file is written:
    /// with the only copy the old bytes would be lost.
    fn make_known(&mut self) -> Result<(), Error> {
        self.put_header()?;
        self.tree.store.sync()?;
        // Without its name the sidecar, and what it keeps of the file, would be gone with this run, or when
        // the machine stops.
        self.tree.store.sync_name()?;
        self.tree.store.is_in_place()
    }

    /// The file is as it is after the edit.
    pub(super) fn done(&mut self) -> Result<(), Error> {
        // Until the end of the edit the old bytes and the new ones are kept for a file that somebody
        // else has put in this one's place.
        self.open.is_in_place()?;
        self.header.pending.take().map_or(Ok(()), |pending| self.commit(pending.next))
    }

    /// The same, once the file was edited. Refuses one that somebody else has shortened meanwhile.
    pub(super) fn edited(&mut self) -> Result<(), Error> {
        let expected = self.header.pending.as_ref().map_or(0, |pending| pending.next.length);
        let found = self.open.length()?;
        if found < expected {
            return Err(self.stuck(length(expected, found)));
        }
        self.done()
    }

    /// The file is as it was before the edit: the same bytes, so the same nonce.
    fn undone(&mut self) -> Result<(), Error> {
        self.open.is_in_place()?;
        self.header.pending = None;
        self.put_header()
    }

    /// Refuses to go on with an interrupted edit where a tag is expected: the tag is that before the edit, and an old
    /// sidecar, from before the edit was undone, has the same.
    pub(super) fn is_expected_to_recover(&self) -> Result<(), Error> {
        match (&self.header.pending, &self.open.args.expect) {
            (Some(pending), Some(_)) => {
                let (file, edit) = (self.open.path.into(), self.interrupted(pending));
                Err(UpdateError::ExpectedInterrupted { file, edit }.into())
            }
            _ => Ok(()),
        }
    }

    /// Goes on with an interrupted edit, if nobody else has touched it.
    pub(super) fn recover(&mut self) -> Result<(), Error> {
        let Some(Pending { next, patch }) = &self.header.pending else { return Ok(()) };
        let (patch, next, old) = (*patch, next.length, self.header.sums.length);
        // Before a cut, so that every write shows that comes while what goes is checked.
        let before = match patch {
            None => self.open.settled()?,
            Some(_) => self.open.metadata()?,
        };
        let (name, found) = (Escaped::name(self.open.path), before.len());
        match patch {
            Some(_) if found < old => {
                return Err(self.stuck(length(old, found)));
            }
            Some(patch @ Patch { offset, length, side, .. }) => {
                let pieces = self.pieces(&patch)?;
                if let Some(what) = self.find_others(&patch, &pieces)? {
                    return Err(self.stuck(what));
                }
                self.bring(&pieces, side, side, true)?;
                self.is_written(&patch)?;
                let (what, done) = match side {
                    Side::New => ("finished", self.edited()),
                    Side::Old => ("undid", self.undone()),
                };
                done?;
                diagnostic(format_args!(
                    "{name}: {what} the interrupted patch of {length} bytes at byte {offset}"
                ));
                return Ok(());
            }
            None if found == next => {}
            None if found == old => {
                let start = self.leaf_before(next);
                if let Some(change) = self.find_change_in(start, old, &())? {
                    return Err(self.stuck(Interference::Changed(change)));
                }
                self.cut(&before)?;
            }
            None => {
                let (expected, before) = (next, Some(old));
                return Err(self.stuck(Interference::Length { expected, before, found }));
            }
        }
        self.is_cut()?;
        self.edited()?;
        diagnostic(format_args!("{name}: finished the interrupted truncation to {next} bytes"));
        Ok(())
    }

    /// Finishes the edit: writes the new bytes of a patch where only its own are, or cuts the file off if
    /// it ends in the bytes that are to go. All else stays as it is.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        let Some(Pending { next, patch }) = &self.header.pending else {
            return self.has_its_length();
        };
        let (patch, next, old) = (*patch, next.length, self.header.sums.length);
        match patch {
            Some(patch) => self.settle(patch, Side::New)?,
            None => {
                let before = self.open.settled()?;
                let start = self.leaf_before(next);
                if before.len() == old && self.find_change_in(start, old, &())?.is_none() {
                    self.cut(&before)?;
                }
            }
        }
        self.done()?;
        self.is_as_accepted(patch, next)
    }

    /// Undoes the edit: writes the old bytes of a patch where only its own are. What is to be cut off
    /// stays.
    pub(super) fn undo(&mut self) -> Result<(), Error> {
        let Some(Pending { next, patch }) = &self.header.pending else {
            return Err(UpdateError::NotInterrupted { file: self.open.path.into() }.into());
        };
        let (patch, next, old) = (*patch, next.length, self.header.sums.length);
        let found = self.open.length()?;
        match patch {
            Some(patch) => self.settle(patch, Side::Old)?,
            None if found < old => {
                return Err(self.stuck(length(old, found)));
            }
            None => {}
        }
        self.undone()?;
        self.is_as_accepted(patch, next)
    }

    /// Brings one side of a patch into the file, and no other from now on.
    fn settle(&mut self, patch: Patch, side: Side) -> Result<(), Error> {
        if (patch.side, side) == (Side::Old, Side::New) {
            // A patch on its way out is taken back before it is written again, so that no sector goes over
            // from one side to the other more often than `bring` knows of.
            self.bring(&self.pieces(&patch)?, Side::Old, Side::Old, false)?;
        }
        if let Some(Pending { patch: Some(patch), .. }) = &mut self.header.pending
            && patch.side != side
        {
            patch.side = side;
            self.make_known()?;
        }
        self.bring(&self.pieces(&patch)?, patch.side, side, false)
    }

    /// Whether the file is what the state says where the edit was: that of a patch, or a cut to
    /// `next` bytes.
    fn is_as_accepted(&self, patch: Option<Patch>, next: u64) -> Result<(), Error> {
        let (start, end) = match patch {
            Some(Patch { offset, length, .. }) => {
                // What was written to the end may have made a file longer that had been shortened.
                let before = u64::from(offset + length == self.header.sums.length);
                (offset.saturating_sub(before), offset + length)
            }
            None => (self.leaf_before(next), self.header.sums.length),
        };
        let (found, length) = (self.open.length()?, self.header.sums.length);
        if start < end
            && found >= length
            && let Some(change) = self.find_change_in(start, end, &())?
        {
            return Err(self.unaccepted(change, found > length, true));
        }
        self.has_its_length()
    }

    /// Cuts the file off, if it is still what it was before it was checked. The edit is known, so
    /// whatever goes wrong here, it stays on its way.
    pub(super) fn cut(&self, before: &Metadata) -> Result<(), Error> {
        let Some(Pending { next: Sums { length, .. }, .. }) = &self.header.pending else {
            return Ok(());
        };
        let file = &self.open.file;
        let stopped = |error: ReadError| self.unfinished(error, "truncation");
        self.open.untouched(before).map_err(stopped)?;
        let cut = faults::set_len(file, *length).and_then(|()| faults::sync_all(file));
        cut.map_err(|error| stopped(ReadError::Io(error)))
    }

    /// Refuses a file that was cut off and has other bytes before the cut than those that stay, as
    /// somebody else has changed them, or had shortened the file, so that the cut made it longer.
    pub(super) fn is_cut(&self) -> Result<(), Error> {
        let Some(Pending { next, .. }) = &self.header.pending else { return Ok(()) };
        let found = self.open.length()?;
        if found < next.length {
            let expected = next.length;
            return Err(self.stuck(length(expected, found)));
        }
        let start = self.leaf_before(next.length);
        let mut left = vec![0; (next.length - start) as usize];
        self.read(&mut left, start)?;
        match self.find_change_from(next, start, &left)? {
            Some(change) => Err(self.stuck(Interference::Changed(change))),
            None => Ok(()),
        }
    }

    /// An edit that is known could not be finished.
    pub(super) fn unfinished(&self, error: ReadError, edit: &'static str) -> Error {
        let (file, expects) = (self.open.path.into(), self.open.args.expect.is_some());
        UpdateError::Unfinished { file, edit, expects, error }.into()
    }

    /// An edit was interrupted, and only the caller can say how to go on.
    pub(super) fn stuck(&self, found: Interference) -> Error {
        let Some(pending) = &self.header.pending else {
            return self.tree.store.altered();
        };
        let (file, edit) = (self.open.path.into(), self.interrupted(pending));
        UpdateError::Stuck { file, edit, found }.into()
    }

    /// The edit on its way.
    fn interrupted(&self, pending: &Pending) -> Interrupted {
        let (from, to) = (self.header.sums.length, pending.next.length);
        match pending.patch {
            Some(Patch { offset, length, .. }) => Interrupted::Patch { offset, length },
            None => {
                let gone = self.open.length().is_ok_and(|found| found < from);
                Interrupted::Truncation { from, to, gone }
            }
        }
    }
}

/// The file does not have the length that the edit leaves it with.
fn length(expected: u64, found: u64) -> Interference {
    Interference::Length { expected, before: None, found }
}
