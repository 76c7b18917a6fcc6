//! Interrupted edits.
//!
//! Until an edit that writes to the file is complete, the states before and after it are both kept.
//! They determine what an interrupted edit can have left in the file; any other bytes come from
//! another program. No update overwrites or deletes such bytes. If an update finds none, it
//! finishes the edit; otherwise it asks the user to choose between `--finish` and `--undo`.

use super::State;
use super::error::{Interference, Interrupted, UpdateError};
use super::header::{Patch, Pending, Side, Sums};
use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::faults;
use crate::read_error::ReadError;
use crate::sys::Metadata;

impl State<'_> {
    /// Records an edit before the file is written.
    pub(super) fn begin(&mut self, pending: Pending) -> Result<(), Error> {
        self.header.pending = Some(pending);
        self.make_known()
    }

    /// Syncs the header with the pending edit. Both copies must be on disk before the file is
    /// written: the sidecar has the only copy of the old bytes.
    fn make_known(&mut self) -> Result<(), Error> {
        self.put_header()?;
        self.tree.store.sync()?;
        // Without its name on disk, a crash would lose the sidecar and the old bytes in it.
        self.tree.store.sync_name()?;
        self.tree.store.is_in_place()
    }

    /// Ends an edit: the file is in the state after it.
    pub(super) fn done(&mut self) -> Result<(), Error> {
        // If another program has replaced the file, keep the old and new bytes for it.
        self.open.is_in_place()?;
        self.header.pending.take().map_or(Ok(()), |pending| self.commit(pending.next))
    }

    /// Ends an edit that was just made. Fails if another program has shortened the file meanwhile.
    pub(super) fn edited(&mut self) -> Result<(), Error> {
        let expected = self.header.pending.as_ref().map_or(0, |pending| pending.next.length);
        let found = self.open.length()?;
        if found < expected {
            return Err(self.stuck(length(expected, found)));
        }
        self.done()
    }

    /// Ends an edit that was undone: the file is in the old state, with the same bytes and so the
    /// same nonce.
    fn undone(&mut self) -> Result<(), Error> {
        self.open.is_in_place()?;
        self.header.pending = None;
        self.put_header()
    }

    /// Refuses to continue an interrupted edit if a tag is expected. The state before the edit has
    /// that tag, but so does an old sidecar from before the edit was undone.
    pub(super) fn is_expected_to_recover(&self) -> Result<(), Error> {
        match (&self.header.pending, &self.open.args.expect) {
            (Some(pending), Some(_)) => {
                let (file, edit) = (self.open.path.into(), self.interrupted(pending));
                Err(UpdateError::ExpectedInterrupted { file, edit }.into())
            }
            _ => Ok(()),
        }
    }

    /// Continues an interrupted edit, if no other program has interfered.
    pub(super) fn recover(&mut self) -> Result<(), Error> {
        let Some(Pending { next, patch }) = &self.header.pending else { return Ok(()) };
        let (patch, next, old) = (*patch, next.length, self.header.sums.length);
        // Taken before a truncation, so that writes during the check are noticed.
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

    /// Finishes the edit: writes the new bytes of a patch where only its own bytes are, or
    /// truncates the file if it ends in the bytes to remove. Leaves everything else unchanged.
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

    /// Undoes the edit: writes the old bytes of a patch where only its own bytes are. Bytes that a
    /// truncation would remove stay.
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

    /// Writes one side of a patch into the file and records that side.
    fn settle(&mut self, patch: Patch, side: Side) -> Result<(), Error> {
        if (patch.side, side) == (Side::Old, Side::New) {
            // Undo a patch completely before writing it again, so that no sector switches between
            // the sides more often than `bring` expects.
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

    /// Checks that the file matches the state at the place of the edit: a patch, or a truncation to
    /// `next` bytes.
    fn is_as_accepted(&self, patch: Option<Patch>, next: u64) -> Result<(), Error> {
        let (start, end) = match patch {
            Some(Patch { offset, length, .. }) => {
                // Writing to the end may have restored the length of a truncated file.
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

    /// Truncates the file, if it has not changed since it was checked. The edit is recorded, so it
    /// stays pending if anything fails here.
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

    /// Checks the bytes before the cut. Fails if another program has changed them, or had shortened
    /// the file, so that the cut extended it.
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

    /// Returns the error for a recorded edit that could not be finished.
    pub(super) fn unfinished(&self, error: ReadError, edit: &'static str) -> Error {
        let (file, expects) = (self.open.path.into(), self.open.args.expect.is_some());
        UpdateError::Unfinished { file, edit, expects, error }.into()
    }

    /// Returns the error for an interrupted edit that needs a decision by the caller.
    pub(super) fn stuck(&self, found: Interference) -> Error {
        let Some(pending) = &self.header.pending else {
            return self.tree.store.altered();
        };
        let (file, edit) = (self.open.path.into(), self.interrupted(pending));
        UpdateError::Stuck { file, edit, found }.into()
    }

    /// Describes the pending edit.
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

/// Describes a file whose length is not the one after the edit.
fn length(expected: u64, found: u64) -> Interference {
    Interference::Length { expected, before: None, found }
}
