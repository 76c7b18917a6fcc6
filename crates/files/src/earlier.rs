//! The entries of an earlier manifest or of a checkpoint, which follow a walk.

use std::iter::Peekable;

use crate::dir;
use crate::error::Error;
use crate::leaf_size;
use crate::manifest::entry::Entry;

/// The entries of an earlier manifest or of a checkpoint.
pub(crate) struct Earlier<I: Iterator> {
    entries: Option<Peekable<I>>,
    leaves: Option<EarlierLeaves>,
    /// The number of leaf tags of all previous entries.
    tags: u64,
}

/// The leaves of the new manifest, and what the earlier one has of them.
#[derive(Clone, Copy)]
pub(crate) struct EarlierLeaves {
    /// The length of a leaf in bytes.
    pub size: u64,
    /// The earlier manifest has leaf tags of this length.
    pub has_tags: bool,
}

/// An entry of an earlier manifest or of a checkpoint.
pub(crate) struct Old {
    pub entry: Entry,
    pub leaf_tags: OldLeafTags,
}

/// The place of the leaf tags of a file that is not read.
pub(crate) enum OldLeafTags {
    /// In the earlier manifest's file of leaf tags. This is the number of the first one.
    From(u64),
    /// In the checkpoint.
    Saved(Vec<u8>),
}

/// An entry, and its leaf tags if it is from a checkpoint.
pub(crate) type Found = (Entry, Option<Vec<u8>>);

impl<I: Iterator<Item = Result<Found, Error>>> Earlier<I> {
    pub fn new(entries: Option<I>, leaves: Option<EarlierLeaves>) -> Earlier<I> {
        Earlier { entries: entries.map(Iterator::peekable), leaves, tags: 0 }
    }

    /// Returns the entry at `path`, which must follow all previous ones. A file that lacks leaf tags
    /// is not returned: it must be read.
    pub fn find(&mut self, path: &[u8]) -> Result<Option<Old>, Error> {
        let Some(entries) = &mut self.entries else { return Ok(None) };
        let is_before = |found: &Result<Found, Error>| match found {
            Ok((entry, _)) => dir::order(&entry.path, path).is_le(),
            Err(_) => true,
        };
        while let Some(found) = entries.next_if(is_before) {
            let ((entry, saved), first) = (found?, self.tags);
            let own = self.leaves.map_or(0, |leaves| leaf_size::count(leaves.size, entry.size()));
            self.tags += own;
            if entry.path == path {
                let has_tags = own == 0 || self.leaves.is_none_or(|leaves| leaves.has_tags);
                let leaf_tags = saved.map_or(OldLeafTags::From(first), OldLeafTags::Saved);
                return Ok(has_tags.then_some(Old { entry, leaf_tags }));
            }
        }
        Ok(None)
    }

    /// Reads to the end, where the seal is checked again.
    pub fn finish(self) -> Result<(), Error> {
        self.entries.into_iter().flatten().try_for_each(|entry| entry.map(drop))
    }
}
