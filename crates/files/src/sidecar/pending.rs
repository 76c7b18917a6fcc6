//! Interrupted edits.
//!
//! The state before an edit that writes to the file is kept until the edit is done, and so is the
//! state after it. What a kill can leave in the file follows from the two: bytes that are neither
//! are somebody else's. No update writes over such bytes or deletes them. One that finds none of
//! them finishes the edit; otherwise it asks for a decision, `--finish` or `--undo`.

use std::fmt::Display;
use std::fs::Metadata;

use super::header::{Patch, Pending, Side, Sums};
use super::{State, leaves};
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
            return Err(self.stuck(format_args!("expected {expected} bytes, found {found}")));
        }
        self.done()
    }

    /// The file is as it was before the edit: the same bytes, so the same nonce.
    fn undone(&mut self) -> Result<(), Error> {
        self.open.is_in_place()?;
        self.header.pending = None;
        self.put_header()
    }

    /// Refuses to go on with an interrupted edit under `--expect`: the tag is that before the edit, and an old
    /// sidecar, from before the edit was undone, has the same.
    pub(super) fn is_expected_to_recover(&self) -> Result<(), Error> {
        match (&self.header.pending, &self.open.args.expect) {
            (Some(pending), Some(_)) => {
                let finish = match &pending.patch {
                    Some(Patch { offset, length, .. }) => {
                        format!("writes {length} bytes at byte {offset}")
                    }
                    None => format!("cuts the file off at {} bytes", pending.next.length),
                };
                Err(self.open.mismatch(format_args!(
                    "expected a state with the tag of --expect, found an edit of it on its way: --finish \
                     {finish}, --undo keeps the old bytes; if no update of yours was interrupted, this is \
                     an old sidecar, and only --undo is right"
                )))
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
                return Err(self.stuck(format_args!("expected {old} bytes, found {found}")));
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
                    return Err(self.stuck(leaves::changed(&change)));
                }
                self.cut(&before)?;
            }
            None => {
                let what = format_args!("expected {next} bytes, or {old} as before the truncation");
                return Err(self.stuck(format_args!("{what}, found {found}")));
            }
        }
        self.is_cut()?;
        self.edited()?;
        diagnostic(format_args!("{name}: finished the interrupted truncation to {next} bytes"));
        Ok(())
    }

    /// `--finish`: writes the new bytes of a patch where only its own are, or cuts the file off if
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

    /// `--undo`: writes the old bytes of a patch where only its own are. What is to be cut off
    /// stays.
    pub(super) fn undo(&mut self) -> Result<(), Error> {
        let Some(Pending { next, patch }) = &self.header.pending else {
            return Err(self.open.usage("--undo: expected an interrupted edit, found none"));
        };
        let (patch, next, old) = (*patch, next.length, self.header.sums.length);
        let found = self.open.length()?;
        match patch {
            Some(patch) => self.settle(patch, Side::Old)?,
            None if found < old => {
                return Err(self.stuck(format_args!("expected {old} bytes, found {found}")));
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
            let (what, way) =
                (leaves::changed(&change), leaves::way_to_accept(&change, found > length));
            return Err(self
                .open
                .mismatch(format_args!("{what}; the interrupted edit is settled, and {way}")));
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
        cut.map_err(|error| stopped(error.into()))
    }

    /// Refuses a file that was cut off and has other bytes before the cut than those that stay, as
    /// somebody else has changed them, or had shortened the file, so that the cut made it longer.
    pub(super) fn is_cut(&self) -> Result<(), Error> {
        let Some(Pending { next, .. }) = &self.header.pending else { return Ok(()) };
        let found = self.open.length()?;
        if found < next.length {
            let expected = next.length;
            return Err(self.stuck(format_args!("expected {expected} bytes, found {found}")));
        }
        let start = self.leaf_before(next.length);
        let mut left = vec![0; (next.length - start) as usize];
        self.read(&mut left, start)?;
        match self.find_change_from(next, start, &left)? {
            Some(change) => Err(self.stuck(leaves::changed(&change))),
            None => Ok(()),
        }
    }

    /// What went wrong with an edit that is known.
    pub(super) fn unfinished(&self, what: impl Display, edit: &str) -> Error {
        let next = match self.open.args.expect {
            Some(_) => format!("--finish continues the {edit}, --undo undoes it"),
            None => format!("the next update continues the {edit}, or --undo undoes it"),
        };
        self.open.io(format_args!("{what}; {next}; free space if the disk is full"))
    }

    /// An edit was interrupted, and only the caller can say how to go on.
    pub(super) fn stuck(&self, what: impl Display) -> Error {
        let Some(Pending { next, patch }) = &self.header.pending else {
            return self.open.mismatch(what);
        };
        let (old, next) = (self.header.sums.length, next.length);
        let gone = self.open.length().is_ok_and(|found| found < old);
        match patch {
            Some(Patch { offset, length, .. }) => self.open.mismatch(format_args!(
                "{what}; a patch of {length} bytes at byte {offset} was interrupted: --finish writes \
                 its bytes, --undo the old ones, and neither overwrites bytes of other programs"
            )),
            None if gone => self.open.mismatch(format_args!(
                "{what}; a truncation from {old} to {next} bytes was interrupted: --finish takes it \
                 as done and deletes nothing"
            )),
            None => self.open.mismatch(format_args!(
                "{what}; a truncation from {old} to {next} bytes was interrupted: --finish takes it \
                 as done, --undo undoes it, and neither deletes bytes of other programs"
            )),
        }
    }
}
