//! Compares leaves of the file with those of the sidecar.

use std::ops::Range;

use super::State;
use super::error::UpdateError;
use super::header::Sums;
use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::progress::Progress;

/// Maximum number of leaves read at once, and of their bytes, except that one leaf may be longer.
const STEP: u64 = 4096;
const STEP_BYTES: u64 = 4 << 20;

impl State<'_> {
    /// Extends a range to whole leaves, and to the rest if it reaches it.
    pub(super) fn widened(&self, start: u64, end: u64) -> (u64, u64) {
        let (leaf, blocks) = (self.header.leaf, self.header.sums.blocks());
        let start = if start >= blocks { blocks } else { start / leaf * leaf };
        let end = match end > blocks {
            true => self.header.sums.length,
            false => end.div_ceil(leaf).saturating_mul(leaf).min(blocks),
        };
        (start, end)
    }

    /// Returns the end of a batch of whole leaves that starts at `at`, the start of a leaf, and
    /// ends at or before `end`. Batches are bounded, so that memory does not depend on the range.
    pub(super) fn step(&self, at: u64, end: u64) -> u64 {
        let leaf = self.header.leaf;
        let bytes = (STEP_BYTES / leaf).clamp(1, STEP) * leaf;
        end.min(at.saturating_add(bytes))
    }

    /// Compares whole leaves, and optionally the rest, with the current sums. Returns the range
    /// from the first leaf that differs to the last.
    pub(super) fn find_change(
        &self,
        start: u64,
        bytes: &[u8],
    ) -> Result<Option<Range<u64>>, Error> {
        self.find_change_from(&self.header.sums, start, bytes)
    }

    /// Like [`find_change`](State::find_change), with the given sums.
    pub(super) fn find_change_from(
        &self,
        sums: &Sums,
        start: u64,
        bytes: &[u8],
    ) -> Result<Option<Range<u64>>, Error> {
        let blocks = sums.blocks();
        let in_leaves = (blocks.saturating_sub(start) as usize).min(bytes.len());
        let (mut leaves, rest) = bytes.split_at(in_leaves);
        let mut change = None;
        if let (Some(root), false) = (&sums.root, leaves.is_empty()) {
            let first = start / self.header.leaf;
            let last = (start + in_leaves as u64).div_ceil(self.header.leaf);
            for part in self.tree.leaves(root, first, last)? {
                let bytes = (part.end() - part.start()) as usize;
                let (leaf, after) =
                    leaves.split_at_checked(bytes).ok_or_else(|| self.tree.store.altered())?;
                match self.tree.parts.check(&part, leaf) {
                    Err(tagmac::hazmat::PartError::LeafChanged { start, end }) => {
                        widen(&mut change, start..end);
                    }
                    done => done.map_err(|error| self.open.refused(error))?,
                }
                leaves = after;
            }
        }
        let same = rest.is_empty() || rest == sums.rest;
        if !same {
            widen(&mut change, blocks..sums.length);
        }
        Ok(change)
    }

    /// Fails if these bytes differ from the current sums.
    pub(super) fn check(&self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        self.is_same(self.find_change(start, bytes)?)
    }

    /// Reads the leaves around a range and fails if they have changed.
    pub(super) fn check_range(
        &self,
        start: u64,
        end: u64,
        bar: &dyn Progress,
    ) -> Result<(), Error> {
        self.is_same(self.find_change_in(start, end, bar)?)
    }

    fn is_same(&self, change: Option<Range<u64>>) -> Result<(), Error> {
        let file = || self.open.path.into();
        change.map_or(Ok(()), |bytes| Err(UpdateError::Changed { file: file(), bytes }.into()))
    }

    /// Returns the error for changed leaves that can only be accepted. New bytes at the end come
    /// after that: appending checks the last leaf against the sums.
    pub(super) fn unaccepted(&self, bytes: Range<u64>, grew: bool, settled: bool) -> Error {
        UpdateError::Unaccepted { file: self.open.path.into(), bytes, grew, settled }.into()
    }

    /// Reads the leaves around a range. Returns the range from the first that has changed to the
    /// last.
    pub(super) fn find_change_in(
        &self,
        start: u64,
        end: u64,
        bar: &dyn Progress,
    ) -> Result<Option<Range<u64>>, Error> {
        self.find_change_in_from(&self.header.sums, start, end, bar)
    }

    /// Like [`find_change_in`](State::find_change_in), with the given sums.
    pub(super) fn find_change_in_from(
        &self,
        sums: &Sums,
        start: u64,
        end: u64,
        bar: &dyn Progress,
    ) -> Result<Option<Range<u64>>, Error> {
        let (mut at, end) = self.widened(start, end);
        let (mut bytes, mut change) = (Vec::new(), None);
        while at < end {
            let next = self.step(at, end);
            bytes.resize((next - at) as usize, 0);
            self.open.source(self.header.leaf, bar).read(&mut bytes, at)?;
            if let Some(more) = self.find_change_from(sums, at, &bytes)? {
                widen(&mut change, more);
            }
            at = next;
        }
        Ok(change)
    }

    /// Updates `sums` to those of the file with these bytes from `start`, the start of a leaf.
    pub(super) fn lay(&mut self, sums: &mut Sums, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let (leaf, blocks) = (self.header.leaf, sums.blocks());
        let in_leaves = (blocks.saturating_sub(start) as usize).min(bytes.len());
        let (leaves, rest) = bytes.split_at(in_leaves);
        if !rest.is_empty() {
            sums.rest = rest.to_vec();
        }
        if let (Some(root), false) = (&sums.root, leaves.is_empty()) {
            let starts = (start..).step_by(leaf as usize);
            let parts = leaves.chunks(leaf as usize).zip(starts);
            let parts = parts.map(|(bytes, at)| self.tree.parts.new_part(at, bytes));
            let parts: Vec<_> =
                parts.collect::<Result<_, _>>().map_err(|error| self.open.refused(error))?;
            sums.root = Some(self.tree.replace(root, start / leaf, parts)?);
        }
        Ok(())
    }

    pub(super) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.open.source(self.header.leaf, &()).read(bytes, at)
    }

    /// Returns the number of bytes that [`range`](State::range) reads.
    pub(super) fn in_range(&self, offset: u64, length: u64) -> u64 {
        let (start, end) = self.widened(offset, offset.saturating_add(length));
        if length == 0 { 0 } else { end - start }
    }

    /// Accepts the current bytes of whole leaves.
    pub(super) fn range(
        &mut self,
        offset: u64,
        length: u64,
        bar: &dyn Progress,
    ) -> Result<(), Error> {
        let before = self.open.settled()?;
        // If the file has grown, the bytes before can still be accepted.
        if before.len() < self.header.sums.length {
            return self.has_its_length();
        }
        let (end, file) = (offset.saturating_add(length), self.header.sums.length);
        if end > file {
            let (file, length) = (self.open.path.into(), file);
            return Err(UpdateError::RangeEnd { file, length, found: end }.into());
        }
        if length == 0 {
            bar.file();
            return self.has_its_length();
        }
        let (start, end) = self.widened(offset, end);
        let mut sums = self.header.sums.again(self.tree.parts)?;
        let (mut at, mut bytes) = (start, Vec::new());
        while at < end {
            let next = self.step(at, end);
            bytes.resize((next - at) as usize, 0);
            self.open.source(self.header.leaf, bar).read(&mut bytes, at)?;
            self.lay(&mut sums, at, &bytes)?;
            at = next;
        }
        bar.file();
        self.open.stayed(&before)?;
        self.commit(sums)?;
        let name = Escaped::name(self.open.path);
        diagnostic(format_args!("{name}: accepted bytes {start} to {end} unchecked"));
        self.has_its_length()
    }
}

/// Extends `change` to the end of `more`.
fn widen(change: &mut Option<Range<u64>>, more: Range<u64>) {
    let start = change.as_ref().map_or(more.start, |change| change.start);
    *change = Some(start..more.end);
}
