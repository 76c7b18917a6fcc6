//! The leaves of the file against those of the sidecar.

use super::{Root, State, no_bar};
use crate::error::{Error, Shown, say};
use crate::progress::Bar;

/// Leaves that are read at once, and their bytes, unless one leaf has more.
const STEP: u64 = 256;
const STEP_BYTES: u64 = 16 << 20;

/// What is other than before.
pub(super) struct Next {
    root: Option<Root>,
    rest: Option<Vec<u8>>,
}

impl State<'_> {
    /// The bytes of whole leaves around a range, and of the rest if it goes so far.
    pub(super) fn widened(&self, start: u64, end: u64) -> (u64, u64) {
        let (leaf, blocks) = (self.header.leaf, self.header.blocks());
        let start = if start >= blocks { blocks } else { start / leaf * leaf };
        let end = match end > blocks {
            true => self.header.length,
            false => end.div_ceil(leaf).saturating_mul(leaf).min(blocks),
        };
        (start, end)
    }

    /// Holds bytes of whole leaves, and perhaps of the rest, against what is known of them.
    pub(super) fn check(&self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let blocks = self.header.blocks();
        let in_leaves = (blocks.saturating_sub(start) as usize).min(bytes.len());
        let (mut leaves, rest) = bytes.split_at(in_leaves);
        if let (Some(root), false) = (&self.header.root, leaves.is_empty()) {
            let first = start / self.header.leaf;
            let last = self.header.leaves_to(start + in_leaves as u64);
            for part in self.tree.leaves(root, first, last)? {
                let bytes = (part.end() - part.start()) as usize;
                let (leaf, after) =
                    leaves.split_at_checked(bytes).ok_or_else(|| self.tree.store.altered())?;
                self.tree.parts.check(&part, leaf).map_err(|error| match error {
                    tagmac::Error::LeafChanged { start, end } => self.changed(start, end),
                    other => self.open.io(other),
                })?;
                leaves = after;
            }
        }
        if !rest.is_empty() && rest != self.header.rest {
            return Err(self.changed(blocks, self.header.length));
        }
        Ok(())
    }

    pub(super) fn changed(&self, start: u64, end: u64) -> Error {
        self.open.mismatch(format_args!(
            "expected bytes {start} to {end} as they were vouched for, found them changed by \
             something else than 'tagmac update'"
        ))
    }

    /// The leaves and the rest if these bytes are what the file is.
    pub(super) fn next(&mut self, start: u64, bytes: &[u8]) -> Result<Next, Error> {
        let (leaf, blocks) = (self.header.leaf, self.header.blocks());
        let in_leaves = (blocks.saturating_sub(start) as usize).min(bytes.len());
        let (leaves, rest) = bytes.split_at(in_leaves);
        let rest = Some(rest.to_vec()).filter(|rest| !rest.is_empty());
        let mut root = None;
        if let (Some(old), false) = (&self.header.root, leaves.is_empty()) {
            let starts = (start..).step_by(leaf as usize);
            let parts = leaves.chunks(leaf as usize).zip(starts);
            let parts = parts.map(|(bytes, at)| self.tree.parts.of(at, bytes));
            let parts: Vec<_> =
                parts.collect::<Result<_, _>>().map_err(|error| self.open.io(error))?;
            root = Some(self.tree.replace(old, start / leaf, parts)?);
        }
        Ok(Next { root, rest })
    }

    /// Takes them for what the file is.
    pub(super) fn vouch(&mut self, next: Next) {
        if let Some(root) = next.root {
            self.header.root = Some(root);
        }
        if let Some(rest) = next.rest {
            self.header.rest = rest;
        }
    }

    pub(super) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.open.source(self.header.leaf, &no_bar()).read(bytes, at)
    }

    /// How many bytes [`range`](State::range) reads.
    pub(super) fn in_range(&self, offset: u64, length: u64) -> u64 {
        let (start, end) = self.widened(offset, offset.saturating_add(length));
        if length == 0 { 0 } else { end - start }
    }

    /// Vouches for whole leaves as they are now.
    pub(super) fn range(&mut self, offset: u64, length: u64, bar: &Bar) -> Result<(), Error> {
        let before = self.open.settled()?;
        self.has_its_length()?;
        let (end, file) = (offset.saturating_add(length), self.header.length);
        if end > file {
            return Err(self.open.usage(format_args!(
                "--range: expected a range within the file's {file} bytes, found one up to {end}"
            )));
        }
        if length == 0 {
            bar.file();
            return Ok(());
        }
        let (start, end) = self.widened(offset, end);
        // In steps, so that memory does not depend on the range.
        let leaf = self.header.leaf;
        let step = (STEP_BYTES / leaf).clamp(1, STEP) * leaf;
        let (mut at, mut bytes) = (start, Vec::new());
        while at < end {
            bytes.resize((end - at).min(step) as usize, 0);
            self.open.source(leaf, bar).read(&mut bytes, at)?;
            let next = self.next(at, &bytes)?;
            self.vouch(next);
            at += bytes.len() as u64;
        }
        bar.file();
        self.open.stayed(&before)?;
        self.commit()?;
        let name = Shown::name(self.open.path);
        say(format_args!("{name}: bytes {start} to {end} are vouched for as they are"));
        Ok(())
    }
}
