//! Edits that change the file's length.

use super::State;
use super::error::UpdateError;
use super::header::{Pending, Sums};
use super::tree::TreeBuilder;
use crate::error::Error;
use crate::progress::Progress;

impl State<'_> {
    /// Accepts bytes added at the end of the file, after checking the leaf before them.
    pub(super) fn append(&mut self, bar: &dyn Progress) -> Result<(), Error> {
        let before = self.open.settled()?;
        let (found, length) = (before.len(), self.header.sums.length);
        if found < length {
            return self.has_its_length();
        }
        self.open.within_limit(found)?;
        let start = self.leaf_of_last(length);
        let mut last = vec![0; (length - start) as usize];
        self.read(&mut last, start)?;
        if let Some(change) = self.find_change(start, &last)? {
            return Err(self.unaccepted(change, found > length, false));
        }
        if found > length {
            let sums = self.grown(start, found, &last, bar)?;
            self.open.stayed(&before)?;
            self.commit(sums)?;
        }
        bar.file();
        Ok(())
    }

    /// Returns the start of the leaf that contains the end of a file of this length, or would come
    /// next.
    pub(super) fn leaf_of_last(&self, length: u64) -> u64 {
        self.open.blocks(length).min(self.header.sums.blocks()) / self.header.leaf
            * self.header.leaf
    }

    /// Returns the start of the leaf that contains the last byte before a cut.
    pub(super) fn leaf_before(&self, cut: u64) -> u64 {
        self.leaf_of_last(cut.saturating_sub(1))
    }

    /// Returns the sums of the file with new contents from `start`, the start of a leaf, to
    /// `length`. The first bytes were read and checked already; these, in `checked`, are used
    /// instead of reading them again.
    fn grown(
        &mut self,
        start: u64,
        length: u64,
        checked: &[u8],
        bar: &dyn Progress,
    ) -> Result<Sums, Error> {
        let (leaf, blocks) = (self.header.leaf, self.open.blocks(length));
        let root = self.header.sums.again(self.tree.parts)?.root;
        let mut builder = TreeBuilder::from(&self.tree, root, start / leaf)?;
        // The one or two leaves that begin with checked bytes.
        let checked_end = start + checked.len() as u64;
        let first = checked_end.div_ceil(leaf).saturating_mul(leaf).min(length);
        let mut bytes = checked.to_vec();
        bytes.resize((first - start) as usize, 0);
        let from = checked.len();
        let source = self.open.source(leaf, bar);
        source.read(&mut bytes[from..], checked_end)?;
        let in_leaves = (blocks.min(first) - start) as usize;
        for (bytes, at) in
            bytes[..in_leaves].chunks(leaf as usize).zip((start..).step_by(leaf as usize))
        {
            let part =
                self.tree.parts.new_part(at, bytes).map_err(|error| self.open.refused(error))?;
            builder.push(&mut self.tree, part)?;
        }
        let mut rest = bytes.split_off(in_leaves);
        if first < length {
            let threads = self.open.args.threads;
            let tree = &mut self.tree;
            source.leaves(first, blocks, threads, |part| builder.push(tree, part))?;
            rest.resize((length - blocks) as usize, 0);
            source.read(&mut rest, blocks)?;
        }
        Ok(Sums { length, rest, root: builder.done(&mut self.tree)? })
    }

    /// Truncates the file, after checking all bytes to be removed and the leaf that contains the
    /// cut. The new state is recorded first, because the removed bytes cannot be checked
    /// afterwards.
    pub(super) fn truncate(&mut self, length: u64, bar: &dyn Progress) -> Result<(), Error> {
        let old = self.header.sums.length;
        if length > old {
            let file = self.open.path.into();
            return Err(UpdateError::TruncateEnd { file, length: old, found: length }.into());
        }
        let before = self.open.settled()?;
        self.has_its_length()?;
        if length == old {
            bar.file();
            return Ok(());
        }
        let start = self.leaf_of_last(length);
        let first = self.leaf_before(length);
        if first < start {
            self.check_range(first, start, bar)?;
        }
        let end = if length > start { self.widened(start, length).1 } else { start };
        let mut kept = vec![0; (end - start) as usize];
        self.open.source(self.header.leaf, bar).read(&mut kept, start)?;
        self.check(start, &kept)?;
        if end < old {
            self.check_range(end, old, bar)?;
        }
        bar.file();
        kept.truncate((length - start) as usize);
        let next = self.grown(start, length, &kept, &())?;
        // Free it: leaves may be large, and one is read again.
        drop(kept);
        self.open.untouched(&before).map_err(|error| self.open.unread(error))?;
        self.begin(Pending { next, patch: None })?;
        self.cut(&before)?;
        self.is_cut()?;
        self.edited()
    }
}
