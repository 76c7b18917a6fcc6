//! Edits that change the file's length: the sidecar's tree is cut off, and grows again.

use std::fs::Metadata;

use super::tree::Growing;
use super::{State, no_bar, store};
use crate::error::{Error, Shown, say};
use crate::progress::Bar;

impl State<'_> {
    /// Vouches for what was added at the end of the file, once the leaf before it has been checked.
    pub(super) fn append(&mut self, bar: &Bar) -> Result<(), Error> {
        let before = self.open.settled()?;
        let (found, length) = (before.len(), self.header.length);
        if found < length {
            return self.has_its_length();
        }
        self.open.within_limit(found)?;
        let start = self.header.blocks() / self.header.leaf * self.header.leaf;
        let mut last = vec![0; (length - start) as usize];
        self.read(&mut last, start)?;
        self.check(start, &last)?;
        if found > length {
            self.grow(start, found, &last, &before, bar)?;
        }
        bar.file();
        Ok(())
    }

    /// The file as it is from byte `start` on, where a leaf begins, to `length`. What was read of
    /// it and checked is `checked`: no other bytes stand for these. `before` is what was said of it
    /// before any was read.
    pub(super) fn grow(
        &mut self,
        start: u64,
        length: u64,
        checked: &[u8],
        before: &Metadata,
        bar: &Bar,
    ) -> Result<(), Error> {
        let (leaf, blocks) = (self.header.leaf, self.open.blocks(length));
        let root = self.header.root.take();
        let mut growing = Growing::from(&self.tree, root, start / leaf)?;
        // The leaf, or two, that checked bytes begin.
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
            let part = self.tree.parts.of(at, bytes).map_err(|error| self.open.io(error))?;
            growing.push(&mut self.tree, part)?;
        }
        let mut rest = bytes.split_off(in_leaves);
        if first < length {
            let threads = self.open.args.reading.num_threads;
            let tree = &mut self.tree;
            source.leaves(first, blocks, threads, |part| growing.push(tree, part))?;
            rest.resize((length - blocks) as usize, 0);
            source.read(&mut rest, blocks)?;
        }
        self.header.root = growing.done(&mut self.tree)?;
        (self.header.rest, self.header.length) = (rest, length);
        self.open.stayed(before)?;
        self.commit()
    }

    /// Cuts the file off, once the leaf with the cut has been checked. The state comes first, because
    /// the leaf cannot be checked without the bytes that go.
    pub(super) fn truncate(&mut self, length: u64) -> Result<(), Error> {
        let before = self.open.settled()?;
        let (found, old) = (before.len(), self.header.length);
        if length > old {
            return Err(self.open.usage(format_args!(
                "--truncate: expected at most the file's {old} bytes, found {length}"
            )));
        }
        if length == old && found >= old {
            return self.cut();
        }
        self.has_its_length()?;
        let leaf = self.header.leaf;
        let start = self.open.blocks(length) / leaf * leaf;
        let end = if length > start { self.widened(start, length).1 } else { start };
        let mut bytes = vec![0; (end - start) as usize];
        self.read(&mut bytes, start)?;
        self.check(start, &bytes)?;
        bytes.truncate((length - start) as usize);
        self.header.cut_from = old;
        self.grow(start, length, &bytes, &before, &no_bar())?;
        self.cut()
    }

    /// Finishes a cut that was not done. Only a file that has the length of before, and the bytes
    /// that stay, is known to be the one to cut.
    pub(super) fn finish_cut(&mut self) -> Result<(), Error> {
        let (length, old, found) = (self.header.length, self.header.cut_from, self.open.length()?);
        // The same command again says that the rest may go, whatever it is.
        if old == 0 || self.open.args.edit.truncate == Some(length) {
            return Ok(());
        }
        if found < length {
            return self.has_its_length();
        }
        if found == length {
            return self.cut();
        }
        if found != old {
            return Err(self.open.mismatch(format_args!(
                "expected {length} bytes, or {old} with those that were being cut off, found \
                 {found}; '--truncate {length}' cuts off all that follows"
            )));
        }
        let start = self.open.blocks(length) / self.header.leaf * self.header.leaf;
        let mut bytes = vec![0; (length - start) as usize];
        self.read(&mut bytes, start)?;
        self.check(start, &bytes)?;
        self.cut()?;
        let name = Shown::name(self.open.path);
        say(format_args!("{name}: finished a cut to {length} bytes that was cut short"));
        Ok(())
    }

    /// Cuts the file to the length of the state, and then says in the sidecar that this is done.
    fn cut(&mut self) -> Result<(), Error> {
        let file = &self.open.file;
        let cut = file.set_len(self.header.length).and_then(|()| file.sync_all());
        cut.map_err(store::io(self.open.path))?;
        if self.header.cut_from > 0 {
            self.header.cut_from = 0;
            self.header.commit(&mut self.tree.store, self.tree.parts)?;
        }
        Ok(())
    }
}
