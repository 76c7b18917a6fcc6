//! Updates a tag after an edit, by a tree of sums over the leaves of a message.
//!
//! A leaf is a range of whole blocks. The tree stores each leaf's sum and joins the sums. An edit
//! costs the leaves that it touches and about log n joins. The tag equals that of the whole message
//! computed from scratch (Black and Rogaway 2001, "incrementality"; here for every MAC that has
//! parts).
//!
//! **The unit of trust is the leaf.** An edit needs the old bytes of the leaves that it touches,
//! and first checks them against the stored sums. A byte of these leaves that somebody else has
//! changed is therefore detected, and never authenticated. [`Tree::needs`] returns the range of
//! these bytes.
//!
//! **A tree is as secret as the key.** Anyone who sees its sums can forge. It is wiped on drop,
//! prints nothing in `Debug`, and keeps only the unfinished last block of the message.
//!
//! ```
//! use tagmac::PmacAes128;
//! use tagmac::edit::{Edit, Tree};
//!
//! let (mac, mut message) = (PmacAes128::new(&[7; 16]), vec![3; 1_000_000]);
//! let mut tree = Tree::from_message(&mac, &message)?;
//!
//! let old = tree.needs(&Edit::Replace(500_000..500_005))?;
//! let old = &message[old.start as usize..old.end as usize];
//! tree.replace(500_000, b"hello", old)?;
//! message[500_000..500_005].copy_from_slice(b"hello");
//! assert_eq!(tree.tag(&())?, mac.tag(&message)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod node;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
use core::mem;
use core::ops::{Deref, Range};

use zeroize::Zeroizing;

use crate::construction;
use crate::construction::{Construction, Hash, absorbable_len, check_length};
use crate::error::{Error, Mismatch, holds_mac_error};
use crate::part::PartError;
use crate::tag::{Tag, matches};
use node::{Link, Node, Trees, total};

/// The default maximum length of a leaf in bytes.
const LEAF: usize = 64 << 10;

/// An edit, in byte offsets of the old message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Replaces these bytes by the same number of others.
    Replace(Range<u64>),
    /// Removes all bytes after this length.
    Truncate(u64),
    /// Inserts bytes before this one.
    Insert(u64),
    /// Removes these bytes and moves the following ones up.
    Remove(Range<u64>),
}

/// An error of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// The old bytes of a leaf do not match its sum: they were changed outside the tree.
    LeafChanged {
        /// The leaf's first byte.
        start: u64,
        /// The byte after the leaf.
        end: u64,
    },
    /// The number of old bytes is not that of the leaves that the edit touches.
    OldBytes {
        /// The number of bytes of these leaves.
        expected: u64,
        /// The number of bytes given.
        found: u64,
    },
    /// An edit reaches past the end of the message.
    PastEnd {
        /// The message's length in bytes.
        length: u64,
        /// The end of the edit.
        found: u64,
    },
    /// The MAC binds each block to its position, so blocks cannot be inserted or removed.
    PositionDependent,
    /// A leaf, or a range to insert or remove, starts or ends within a block.
    Unaligned {
        /// The MAC's block in bytes.
        block: usize,
        /// The offset or length that is not a multiple of the block.
        found: u64,
    },
    /// An error of the MAC.
    Mac(Error),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EditError::LeafChanged { start, end } => PartError::LeafChanged { start, end }.fmt(f),
            EditError::OldBytes { expected, found } => {
                PartError::OldBytes { expected, found }.fmt(f)
            }
            EditError::PastEnd { length, found } => write!(
                f,
                "the edit ends at byte {found}, past the end of the message of {length} bytes"
            ),
            EditError::PositionDependent => f.write_str(
                "this MAC binds blocks to their positions, so bytes cannot be inserted or removed",
            ),
            EditError::Unaligned { block, found } => PartError::Unaligned { block, found }.fmt(f),
            EditError::Mac(ref error) => error.fmt(f),
        }
    }
}

holds_mac_error!(EditError);

/// The sums of a message's leaves. `R` refers to the MAC: `&M`, `Arc<M>`, `Box<M>`.
///
/// A MAC whose sums grow with the message, the UMAC of 1999, gains nothing: each join copies the
/// sums. A MAC with nonces needs a new nonce for each tag. A key for one message allows no edits.
pub struct Tree<R: Deref<Target: Construction>> {
    mac: R,
    leaf: usize,
    root: Link<SumOf<R>>,
    /// The bytes after the last block that is certainly full and not the message's last.
    rest: Vec<u8>,
}

type HashOf<R> = <<R as Deref>::Target as Construction>::Hash;
type SumOf<R> = <HashOf<R> as Hash>::Sum;

impl<R: Deref<Target: Construction>> fmt::Debug for Tree<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree({} bytes)", self.bytes())
    }
}

impl<R: Deref<Target: Construction>> Tree<R> {
    /// Returns the tree of the empty message. The length of its leaves is the largest multiple of
    /// the block up to 64 KiB.
    pub fn new(mac: R) -> Self {
        let block = mac.hash().block();
        let leaf = (LEAF / block).max(1) * block;
        Tree { mac, leaf, root: None, rest: Vec::new() }
    }

    /// Returns the tree of the empty message, with leaves of at most `leaf` bytes.
    ///
    /// # Errors
    ///
    /// [`EditError::Unaligned`] unless `leaf` is a multiple of the block and not 0.
    pub fn with_leaf(mac: R, leaf: usize) -> Result<Self, EditError> {
        let block = mac.hash().block();
        if leaf == 0 || !leaf.is_multiple_of(block) {
            return Err(EditError::Unaligned { block, found: leaf as u64 });
        }
        Ok(Tree { leaf, ..Tree::new(mac) })
    }

    /// Returns the tree of a message.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message is over the MAC's limit.
    pub fn from_message(mac: R, message: &[u8]) -> Result<Self, Error> {
        let mut tree = Tree::new(mac);
        tree.append(message)?;
        Ok(tree)
    }

    /// Returns the length of the message in bytes.
    pub fn bytes(&self) -> u64 {
        total(&self.root) + self.rest.len() as u64
    }

    /// Returns the range of old bytes that an edit needs: the leaves that it touches. The range is
    /// empty if the edit touches only the unfinished end, which the tree stores.
    ///
    /// # Errors
    ///
    /// [`EditError::PastEnd`] if the edit reaches past the end. For [`Edit::Insert`] and
    /// [`Edit::Remove`] also [`EditError::PositionDependent`] if the MAC binds blocks to their
    /// positions, and [`EditError::Unaligned`] unless the offsets are multiples of the block.
    pub fn needs(&self, edit: &Edit) -> Result<Range<u64>, EditError> {
        let (block, length) = (self.mac.hash().block(), self.bytes());
        let (start, end) = match *edit {
            Edit::Replace(Range { start, end }) | Edit::Remove(Range { start, end }) => {
                (start, end.max(start))
            }
            Edit::Truncate(at) | Edit::Insert(at) => (at, at),
        };
        if end > length {
            return Err(EditError::PastEnd { length, found: end });
        }
        if let Edit::Insert(_) | Edit::Remove(_) = edit {
            if !HashOf::<R>::POSITION_INDEPENDENT {
                return Err(EditError::PositionDependent);
            }
            for found in [start, end] {
                aligned(block, found)?;
            }
        }
        let touched = match edit {
            // The leaf before the position grows.
            Edit::Insert(_) => start.saturating_sub(1)..start.max(1),
            Edit::Truncate(0) => 0..0,
            // The leaf that the cut shortens must be summed again. If the cut is at a leaf's end,
            // the leaf gets shorter only where the last block must be held back.
            Edit::Truncate(_) if HashOf::<R>::LAST_BLOCK_DISTINCT || !self.is_end(start) => {
                start - 1..start
            }
            Edit::Truncate(_) => start..start,
            _ => start..end,
        };
        Ok(self.leaves(&touched))
    }

    /// Appends bytes to the message.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message becomes longer than the MAC's limit.
    pub fn append(&mut self, new: &[u8]) -> Result<(), Error> {
        let hash = self.mac.hash();
        check_length(hash, self.bytes(), new.into())?;
        let (mut new, fill) = (new, hash.block() - self.rest.len());
        if !self.rest.is_empty() {
            if new.len() < fill + HashOf::<R>::LAST_BLOCK_DISTINCT as usize {
                self.rest.extend_from_slice(new);
                return Ok(());
            }
            let mut first = mem::take(&mut self.rest);
            first.extend_from_slice(&new[..fill]);
            self.grow(&first);
            new = &new[fill..];
        }
        let (blocks, rest) = new.split_at(absorbable_len(self.mac.hash(), new.into()));
        self.grow(blocks);
        self.rest = rest.to_vec();
        Ok(())
    }

    /// Appends whole blocks after the leaves.
    fn grow(&mut self, blocks: &[u8]) {
        if blocks.is_empty() {
            return;
        }
        let Tree { mac, leaf, root, .. } = self;
        let (hash, leaf, end) = (mac.hash(), *leaf, total(root));
        // First fill up the last leaf.
        let mut filled = 0;
        if end > 0 {
            Trees(hash).change(root, 0, &(end - 1..end), &mut |range, sum| {
                let old = (range.end - range.start) as usize;
                filled = blocks.len().min(leaf.saturating_sub(old));
                let blocks = &blocks[..filled];
                construction::absorb(hash, sum, end, blocks);
                old + filled
            });
        }
        let more = self.tree(end + filled as u64, &blocks[filled..], leaf);
        let root = self.root.take();
        self.root = Trees(self.mac.hash()).concat(root, more);
    }

    /// Removes all bytes after `length`. `old` holds the bytes that [`needs`](Tree::needs) names.
    ///
    /// # Errors
    ///
    /// As `needs`. [`EditError::OldBytes`] if `old` has the wrong length,
    /// [`EditError::LeafChanged`] if it does not match the leaf's sum. On error the tree is
    /// unchanged.
    pub fn truncate(&mut self, length: u64, old: &[u8]) -> Result<(), EditError> {
        let leaf = self.needs(&Edit::Truncate(length))?;
        self.check(&leaf, old)?;
        let (all, trees) = (total(&self.root), Trees(self.mac.hash()));
        if length > all || leaf.is_empty() && length == all {
            self.rest.truncate((length - all) as usize);
            return Ok(());
        }
        let (kept, _) =
            trees.split(self.root.take(), if leaf.is_empty() { length } else { leaf.start });
        self.root = kept;
        self.rest.clear();
        Ok(self.append(&old[..(length - total(&self.root)) as usize])?)
    }

    /// Replaces the bytes at `offset` by `new`. `old` holds the bytes that [`needs`](Tree::needs)
    /// names.
    ///
    /// # Errors
    ///
    /// As [`truncate`](Tree::truncate).
    pub fn replace(&mut self, offset: u64, new: &[u8], old: &[u8]) -> Result<(), EditError> {
        let end = offset.saturating_add(new.len() as u64);
        let leaves = self.needs(&Edit::Replace(offset..end))?;
        self.check(&leaves, old)?;
        let all = total(&self.root);
        let in_leaves = (end.min(all).saturating_sub(offset)) as usize;
        let (in_leaves, in_rest) = new.split_at(in_leaves);
        let (hash, trees) = (self.mac.hash(), Trees(self.mac.hash()));
        let make = &mut |range: Range<u64>, sum: &mut _| {
            let place = |at: u64| (at - leaves.start) as usize;
            let mut blocks = old[place(range.start)..place(range.end)].to_vec();
            let (from, to) = (offset.max(range.start), range.end.min(end));
            let new = &in_leaves[(from - offset) as usize..(to - offset) as usize];
            blocks[(from - range.start) as usize..][..new.len()].copy_from_slice(new);
            *sum = hash.empty();
            construction::absorb(hash, sum, range.start, &blocks);
            blocks.len()
        };
        if !leaves.is_empty() {
            trees.change(&mut self.root, 0, &leaves, make);
        }
        if !in_rest.is_empty() {
            let from = (offset.max(all) - all) as usize;
            self.rest[from..][..in_rest.len()].copy_from_slice(in_rest);
        }
        Ok(())
    }

    /// Inserts bytes before byte `offset`. `old` holds the bytes that [`needs`](Tree::needs) names.
    ///
    /// # Errors
    ///
    /// As [`truncate`](Tree::truncate). [`EditError::Unaligned`] unless the new bytes are whole
    /// blocks, [`EditError::Mac`] with [`Error::TooLong`] if the message becomes longer than the
    /// MAC's limit.
    pub fn insert(&mut self, offset: u64, new: &[u8], old: &[u8]) -> Result<(), EditError> {
        let leaf = self.needs(&Edit::Insert(offset))?;
        let hash = self.mac.hash();
        aligned(hash.block(), new.len() as u64)?;
        check_length(hash, self.bytes(), new.into())?;
        self.check(&leaf, old)?;
        let (before, after) = old.split_at((offset - leaf.start) as usize);
        self.splice(leaf, &[before, new, after].concat());
        Ok(())
    }

    /// Removes bytes. `old` holds the bytes that [`needs`](Tree::needs) names.
    ///
    /// # Errors
    ///
    /// As [`truncate`](Tree::truncate).
    pub fn remove(&mut self, range: Range<u64>, old: &[u8]) -> Result<(), EditError> {
        let leaves = self.needs(&Edit::Remove(range.clone()))?;
        self.check(&leaves, old)?;
        if range.is_empty() {
            return Ok(());
        }
        let place = |at: u64| (at - leaves.start) as usize;
        let left = [&old[..place(range.start)], &old[place(range.end)..]].concat();
        self.splice(leaves, &left);
        Ok(())
    }

    /// Returns the tag of the message.
    ///
    /// # Errors
    ///
    /// Never: the tree refused a message that is too long. It returns a `Result` as all functions
    /// that compute a tag.
    pub fn tag(&self, nonce: &<R::Target as Construction>::Nonce) -> Result<Tag, Error> {
        let (mac, hash) = (&*self.mac, self.mac.hash());
        let empty = Zeroizing::new(hash.empty());
        let sum = self.root.as_ref().map_or(&*empty, |root| root.joined());
        let (at, tail, pad) = (total(&self.root), (&*self.rest).into(), &mut Default::default());
        construction::finalize(mac, nonce, pad, sum, at, tail)
    }

    /// Checks a tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    pub fn verify(
        &self,
        nonce: &<R::Target as Construction>::Nonce,
        tag: &Tag,
    ) -> Result<(), Mismatch> {
        matches(self.tag(nonce), tag)
    }

    /// Widens the range to whole leaves. An empty range stays empty.
    fn leaves(&self, range: &Range<u64>) -> Range<u64> {
        let mut leaves: Option<Range<u64>> = None;
        let widen = &mut |leaf: Range<u64>, _: &_| {
            leaves = Some(leaves.as_ref().map_or(leaf.start, |leaves| leaves.start)..leaf.end);
            Ok::<_, Infallible>(())
        };
        if !range.is_empty() {
            let Ok(()) = Trees::<HashOf<R>>::visit(&self.root, 0, range, widen);
        }
        let start = range.start.min(total(&self.root));
        leaves.unwrap_or(start..start)
    }

    /// Returns whether a leaf ends at byte `at` or all leaves end earlier.
    fn is_end(&self, at: u64) -> bool {
        at >= total(&self.root) || self.leaves(&(at..at + 1)).start == at
    }

    /// Compares old bytes with the leaves' sums.
    fn check(&self, leaves: &Range<u64>, old: &[u8]) -> Result<(), EditError> {
        let (expected, found) = (leaves.end - leaves.start, old.len() as u64);
        if expected != found {
            return Err(EditError::OldBytes { expected, found });
        }
        if leaves.is_empty() {
            return Ok(());
        }
        let hash = self.mac.hash();
        Trees::<HashOf<R>>::visit(&self.root, 0, leaves, &mut |leaf, sum| {
            let place = |at: u64| (at - leaves.start) as usize;
            let now = sum_of(hash, leaf.start, &old[place(leaf.start)..place(leaf.end)]);
            if !hash.ct_eq(sum, &now) {
                return Err(EditError::LeafChanged { start: leaf.start, end: leaf.end });
            }
            Ok(())
        })
    }

    /// Replaces leaves by new leaves of these blocks.
    fn splice(&mut self, leaves: Range<u64>, blocks: &[u8]) {
        let block = self.mac.hash().block();
        // Leaves of about the same length, so that none is small.
        let count = blocks.len().div_ceil(self.leaf).max(1);
        let leaf = blocks.len().div_ceil(count).div_ceil(block).max(1) * block;
        let middle = self.tree(leaves.start, blocks, leaf);
        let root = self.root.take();
        let trees = Trees(self.mac.hash());
        let (before, from) = trees.split(root, leaves.start);
        let (_, after) = trees.split(from, leaves.end - leaves.start);
        self.root = trees.concat(trees.concat(before, middle), after);
    }

    /// The tree of blocks that start at byte `at`, with leaves of `leaf` bytes.
    fn tree(&self, at: u64, blocks: &[u8], leaf: usize) -> Link<SumOf<R>> {
        let hash = self.mac.hash();
        let trees = Trees(hash);
        let starts = (at..).step_by(leaf);
        let mut leaves = blocks.chunks(leaf).zip(starts).map(|(blocks, at)| -> Box<Node<_>> {
            trees.leaf(blocks.len(), SumOf::<R>::clone(&sum_of(hash, at, blocks)))
        });
        trees.build(blocks.len().div_ceil(leaf), &mut leaves)
    }
}

/// The sum of blocks that start at byte `at`.
fn sum_of<H: Hash>(hash: &H, at: u64, blocks: &[u8]) -> Zeroizing<H::Sum> {
    let mut sum = Zeroizing::new(hash.empty());
    construction::absorb(hash, &mut *sum, at, blocks);
    sum
}

fn aligned(block: usize, found: u64) -> Result<(), EditError> {
    if found.is_multiple_of(block as u64) {
        return Ok(());
    }
    Err(EditError::Unaligned { block, found })
}
