//! Parts: the hash of a range of a message, and how neighbours join.

use core::fmt;

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::construction;
use crate::construction::{Construction, Hash, absorbable_len, check_length};
use crate::error::{Error, FOREIGN_PART, holds_mac_error};
#[cfg(feature = "save")]
use crate::save::{Reader, Save, SaveError, Sealer, Writer};
use crate::tag::Tag;

/// A request that parts cannot serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartError {
    /// A part starts or ends within a block.
    Unaligned {
        /// The MAC's block in bytes.
        block: usize,
        /// The offset or length in question.
        found: u64,
    },
    /// Two parts are no neighbours.
    Gap {
        /// Where the next part has to start.
        expected: u64,
        /// Where it starts.
        found: u64,
    },
    /// A part was made by another kind of MAC, or under another key.
    ForeignPart,
    /// The MAC treats the last block apart, so at least one byte must be left for the finish.
    NoLastBlock,
    /// The blocks are not those that the part is of: something has changed them.
    LeafChanged {
        /// The part's first byte.
        start: u64,
        /// The byte after the part.
        end: u64,
    },
    /// The blocks are more or fewer than those that the part is of.
    OldBytes {
        /// The bytes of the part.
        expected: u64,
        /// The bytes given.
        found: u64,
    },
    /// What the MAC refuses.
    Mac(Error),
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PartError::Unaligned { block, found } => {
                write!(f, "expected a multiple of the block of {block} bytes, found {found}")
            }
            PartError::Gap { expected, found } => {
                write!(f, "expected a part that starts at byte {expected}, found one at {found}")
            }
            PartError::ForeignPart => f.write_str(FOREIGN_PART),
            PartError::NoLastBlock => {
                f.write_str("expected at least one byte of the message for the finish, found none")
            }
            PartError::LeafChanged { start, end } => {
                write!(f, "expected bytes {start} to {end} as they were, found them changed")
            }
            PartError::OldBytes { expected, found } => {
                write!(f, "expected the {expected} old bytes of the leaves, found {found}")
            }
            PartError::Mac(ref error) => error.fmt(f),
        }
    }
}

holds_mac_error!(PartError);

/// The hash of the bytes from `start` to `end` of some message. Wiped on drop, silent in `Debug`.
pub struct Part<H: Hash> {
    start: u64,
    end: u64,
    block: usize,
    sum: H::Sum,
}

impl<H: Hash> Drop for Part<H> {
    fn drop(&mut self) {
        self.sum.zeroize();
    }
}

impl<H: Hash> fmt::Debug for Part<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Part({}..{})", self.start, self.end)
    }
}

impl<H: Hash> Part<H> {
    /// The part of whole blocks that starts at byte `start`. None of them may be the message's
    /// last if the MAC treats that one apart; [`finish`](Part::finish) takes the rest.
    ///
    /// # Errors
    ///
    /// [`PartError::Unaligned`] if the start or the length is no multiple of the block,
    /// [`PartError::Mac`] with [`Error::TooLong`] if the part ends over the MAC's limit.
    pub fn new(hash: &H, start: u64, blocks: &[u8]) -> Result<Self, PartError> {
        let block = hash.block();
        if !start.is_multiple_of(block as u64) {
            return Err(PartError::Unaligned { block, found: start });
        }
        let mut part = Part { start, end: start, block, sum: hash.empty() };
        part.extend(hash, blocks)?;
        Ok(part)
    }

    /// Adds the whole blocks that follow, under the same rules.
    ///
    /// ```
    /// use tagmac::PmacAes128;
    /// use tagmac::hazmat::Part;
    /// let (mac, message) = (PmacAes128::new(&[7; 16]), [3; 100]);
    /// let mut part = Part::new(&mac, 0, &message[..32])?;
    /// part.extend(&mac, &message[32..96])?;
    /// assert_eq!(part.finish(&mac, &(), &message[96..])?, mac.tag(&message)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Part::new), and [`PartError::ForeignPart`] if the part is of a MAC with another
    /// block. The part is then as it was.
    pub fn extend(&mut self, hash: &H, blocks: &[u8]) -> Result<(), PartError> {
        let (block, found) = (hash.block(), blocks.len() as u64);
        if self.block != block {
            return Err(PartError::ForeignPart);
        }
        if !found.is_multiple_of(block as u64) {
            return Err(PartError::Unaligned { block, found });
        }
        check_length(hash, self.end, blocks.into())?;
        self.grow(hash, blocks);
        Ok(())
    }

    /// Adds neighbouring whole blocks within the limit.
    fn grow(&mut self, hash: &H, blocks: &[u8]) {
        construction::absorb(hash, &mut self.sum, self.end, blocks);
        self.end += blocks.len() as u64;
    }

    /// The first byte of the range.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The byte after the range.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The two ranges as one.
    ///
    /// # Errors
    ///
    /// [`PartError::Gap`] unless `right` starts where this part ends, [`PartError::ForeignPart`] if they
    /// are of a MAC with another block. That they are of one key is up to you.
    pub fn join(mut self, hash: &H, right: &Self) -> Result<Self, PartError> {
        self.append(hash, right)?;
        Ok(self)
    }

    /// As [`join`](Part::join), where the part is: one that moves leaves a copy behind.
    pub(crate) fn append(&mut self, hash: &H, right: &Self) -> Result<(), PartError> {
        if self.block != hash.block() || right.block != hash.block() {
            return Err(PartError::ForeignPart);
        }
        if right.start != self.end {
            return Err(PartError::Gap { expected: self.end, found: right.start });
        }
        hash.join(&mut self.sum, &right.sum);
        self.end = right.end;
        Ok(())
    }

    /// Checks in constant time that the part is of these blocks.
    ///
    /// # Errors
    ///
    /// [`PartError::LeafChanged`] unless it is, [`PartError::OldBytes`] if they are more or fewer,
    /// [`PartError::ForeignPart`] if the part is of a MAC with another block.
    pub fn check(&self, hash: &H, blocks: &[u8]) -> Result<(), PartError> {
        let (expected, found) = (self.end - self.start, blocks.len() as u64);
        if expected != found {
            return Err(PartError::OldBytes { expected, found });
        }
        if self.block != hash.block() {
            return Err(PartError::ForeignPart);
        }
        let now = Part::new(hash, self.start, blocks)?;
        if !hash.ct_eq(&self.sum, &now.sum) {
            return Err(PartError::LeafChanged { start: self.start, end: self.end });
        }
        Ok(())
    }

    /// The tag of the message that this part begins and `rest`, of any length, ends.
    ///
    /// # Errors
    ///
    /// [`PartError::Gap`] if the part does not start at byte 0, [`PartError::NoLastBlock`] if the
    /// rest is empty although the MAC treats the last block apart, [`PartError::ForeignPart`] if the
    /// part is of a MAC with another block, [`PartError::Mac`] with [`Error::TooLong`] if the message
    /// is over the limit or with [`Error::PartialByte`] if it ends within a byte and the MAC takes
    /// bytes alone.
    pub fn finish<'m, M: Construction<Hash = H>>(
        mut self,
        mac: &M,
        nonce: &M::Nonce,
        rest: impl Into<Bits<'m>>,
    ) -> Result<Tag, PartError> {
        self.finalize(mac, nonce, rest.into())
    }

    /// As [`finish`](Part::finish), where the part is.
    pub(crate) fn finalize<M: Construction<Hash = H>>(
        &mut self,
        mac: &M,
        nonce: &M::Nonce,
        rest: Bits<'_>,
    ) -> Result<Tag, PartError> {
        let hash = mac.hash();
        if self.block != hash.block() {
            return Err(PartError::ForeignPart);
        }
        if self.start != 0 {
            return Err(PartError::Gap { expected: 0, found: self.start });
        }
        if H::LAST_BLOCK_DISTINCT && self.end > 0 && rest.bits() == 0 {
            return Err(PartError::NoLastBlock);
        }
        check_length(hash, self.end, rest)?;
        let cut = absorbable_len(hash, rest);
        self.grow(hash, &rest.bytes()[..cut]);
        let (sum, at, tail) = (&self.sum, self.end, rest.after(cut));
        let pad = &mut M::PadCache::default();
        Ok(construction::finalize(mac, nonce, pad, sum, at, tail)?)
    }
}

/// What a part is sealed for.
#[cfg(feature = "save")]
const PURPOSE: &[u8] = b"part 1";

#[cfg(feature = "save")]
impl<H: Hash<Sum: Save>> Part<H> {
    /// Appends the range and the sum, which nothing hides: seal what comes of it.
    ///
    /// # Errors
    ///
    /// [`SaveError::NoSavedState`] if the sum cannot be read; that of a part always can.
    pub(crate) fn save(&self, out: &mut Writer) -> Result<(), SaveError> {
        out.number(self.start).number(self.end);
        Save::save(&self.sum, out)
    }

    /// Seals the part, bound to its range and to the object that it is a part of: a name of your
    /// choice that no two messages share.
    ///
    /// ```
    /// use tagmac::hazmat::Part;
    /// use tagmac::{PmacAes128, save::Sealer};
    /// let (mac, message) = (PmacAes128::new(&[7; 16]), [3; 100]);
    /// let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
    /// // On one machine:
    /// let sealed = Part::new(&mac, 0, &message[..96])?.seal(&sealer, b"photo 17")?;
    /// // On another:
    /// let part = Part::open(&mac, &sealer, b"photo 17", &sealed)?;
    /// assert_eq!(part.finish(&mac, &(), &message[96..])?, mac.tag(&message)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SaveError::Mac`] with [`Error::NoRandomBytes`] if the system has none for the seal.
    pub fn seal(&self, sealer: &Sealer, object: &[u8]) -> Result<Vec<u8>, SaveError> {
        let mut out = Writer::default();
        self.save(&mut out)?;
        sealer.seal(&[PURPOSE, object], out.as_bytes())
    }

    /// The part of this object that was sealed. Its range is what it says now: `start` and `end`
    /// are as secure as the sum.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] if it was altered, or is of another key or object, [`SaveError::Saved`] or
    /// [`SaveError::ForeignPart`] if it has another block, [`SaveError::Mac`] with
    /// [`Error::TooLong`] if it ends over the MAC's limit. The sealer alone tells MACs and keys
    /// apart.
    pub fn open(
        hash: &H,
        sealer: &Sealer,
        object: &[u8],
        sealed: &[u8],
    ) -> Result<Self, SaveError> {
        let opened = sealer.open(&[PURPOSE, object], sealed)?;
        let input = &mut Reader::new(&opened);
        let part = Part::load(hash, input)?;
        if !input.is_empty() {
            return Err(SaveError::Saved { expected: "a part" });
        }
        Ok(part)
    }

    /// The part that was appended, which a hash of the same kind and key made.
    ///
    /// # Errors
    ///
    /// [`SaveError::Saved`] unless one was, [`SaveError::ForeignPart`] if it has another block,
    /// [`SaveError::Mac`] with [`Error::TooLong`] if it ends over the MAC's limit.
    pub(crate) fn load(hash: &H, input: &mut Reader<'_>) -> Result<Self, SaveError> {
        let none = SaveError::Saved { expected: "a part" };
        let (start, end) = (input.number().ok_or(none)?, input.number().ok_or(none)?);
        let block = hash.block();
        if start > end || [start, end].iter().any(|at| at % block as u64 != 0) {
            return Err(SaveError::ForeignPart);
        }
        check_length(hash, end, Bits::from(&[]))?;
        let sum = Save::load(input, start..end).ok_or(none)?;
        Ok(Part { start, end, block, sum })
    }
}
