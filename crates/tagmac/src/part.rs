//! Parts: hashes of ranges of a message, which join with their neighbours.

use core::fmt;

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::construction;
use crate::construction::{Construction, Hash, absorbable_len, check_length};
use crate::error::{Error, FOREIGN_PART, holds_mac_error};
#[cfg(feature = "save")]
use crate::save::{Reader, Save, SaveError, Sealer, Writer};
use crate::tag::Tag;

/// An error of an operation on parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartError {
    /// A part starts or ends within a block.
    Unaligned {
        /// The MAC's block in bytes.
        block: usize,
        /// The offset or length that is not a multiple of the block.
        found: u64,
    },
    /// Two parts are not neighbours.
    Gap {
        /// Where the next part must start.
        expected: u64,
        /// Where it starts.
        found: u64,
    },
    /// A part is of another kind of MAC, or was made under another key.
    ForeignPart,
    /// The MAC treats the last block differently, so at least one byte must be left for the finish.
    NoLastBlock,
    /// The blocks are not those of the part: they were changed.
    LeafChanged {
        /// The part's first byte.
        start: u64,
        /// The byte after the part.
        end: u64,
    },
    /// The number of bytes is not that of the part.
    OldBytes {
        /// The length of the part in bytes.
        expected: u64,
        /// The number of bytes given.
        found: u64,
    },
    /// An error of the MAC.
    Mac(Error),
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PartError::Unaligned { block, found } => {
                write!(f, "expected a multiple of the block of {block} bytes, found {found}")
            }
            PartError::Gap { expected, found } => {
                write!(f, "the next part starts at byte {found}, expected byte {expected}")
            }
            PartError::ForeignPart => f.write_str(FOREIGN_PART),
            PartError::NoLastBlock => {
                f.write_str("the last block is missing; leave at least one byte for the finish")
            }
            PartError::LeafChanged { start, end } => {
                write!(f, "bytes {start} to {end} have changed since they were hashed")
            }
            PartError::OldBytes { expected, found } => {
                write!(f, "expected {expected} old bytes of the leaves, found {found}")
            }
            PartError::Mac(ref error) => error.fmt(f),
        }
    }
}

holds_mac_error!(PartError);

/// The hash of the bytes from `start` to `end` of some message. Wiped on drop; prints nothing in
/// `Debug`.
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
    /// Hashes whole blocks that start at byte `start` of the message. If the MAC treats the
    /// message's last block differently, leave that block to [`finish`](Part::finish).
    ///
    /// # Errors
    ///
    /// [`PartError::Unaligned`] if the start or the length is not a multiple of the block,
    /// [`PartError::Mac`] with [`Error::TooLong`] if the part ends beyond the MAC's limit.
    pub fn new(hash: &H, start: u64, blocks: &[u8]) -> Result<Self, PartError> {
        let block = hash.block();
        if !start.is_multiple_of(block as u64) {
            return Err(PartError::Unaligned { block, found: start });
        }
        let mut part = Part { start, end: start, block, sum: hash.empty() };
        part.extend(hash, blocks)?;
        Ok(part)
    }

    /// Adds the whole blocks that follow. The rules of [`new`](Part::new) apply.
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
    /// block size. On error the part is unchanged.
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

    /// Adds the next whole blocks. The caller has checked the limit.
    fn grow(&mut self, hash: &H, blocks: &[u8]) {
        construction::absorb(hash, &mut self.sum, self.end, blocks);
        self.end += blocks.len() as u64;
    }

    /// Returns the first byte of the range.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the byte after the range.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Joins two neighbouring ranges.
    ///
    /// # Errors
    ///
    /// [`PartError::Gap`] unless `right` starts where this part ends, [`PartError::ForeignPart`] if
    /// the MACs differ in their block size. You must make sure that both parts are under one key.
    pub fn join(mut self, hash: &H, right: &Self) -> Result<Self, PartError> {
        self.append(hash, right)?;
        Ok(self)
    }

    /// As [`join`](Part::join), in place: a move would leave a copy of the secret in memory.
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

    /// Checks in constant time that the part is the hash of these blocks.
    ///
    /// # Errors
    ///
    /// [`PartError::LeafChanged`] if it is not, [`PartError::OldBytes`] if the length differs,
    /// [`PartError::ForeignPart`] if the part is of a MAC with another block size.
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

    /// Returns the tag of the message that starts with this part and ends with `rest`, of any
    /// length.
    ///
    /// # Errors
    ///
    /// [`PartError::Gap`] if the part does not start at byte 0, [`PartError::NoLastBlock`] if the
    /// rest is empty although the MAC treats the last block differently. [`PartError::ForeignPart`]
    /// if the part is of a MAC with another block size. [`PartError::Mac`] with [`Error::TooLong`]
    /// if the message is over the limit, or with [`Error::PartialByte`] if it ends within a byte
    /// and the MAC accepts only whole bytes.
    pub fn finish<'m, M: Construction<Hash = H>>(
        mut self,
        mac: &M,
        nonce: &M::Nonce,
        rest: impl Into<Bits<'m>>,
    ) -> Result<Tag, PartError> {
        self.finalize(mac, nonce, rest.into())
    }

    /// As [`finish`](Part::finish), without moving the part.
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

/// The purpose in the associated data of a sealed part.
#[cfg(feature = "save")]
const PURPOSE: &[u8] = b"part 1";

#[cfg(feature = "save")]
impl<H: Hash<Sum: Save>> Part<H> {
    /// Appends the range and the sum unencrypted: seal the result.
    ///
    /// # Errors
    ///
    /// [`SaveError::NoSavedState`] if the sum cannot be read. The sum of a part can always be read.
    pub(crate) fn save(&self, out: &mut Writer) -> Result<(), SaveError> {
        out.number(self.start).number(self.end);
        Save::save(&self.sum, out)
    }

    /// Seals the part and binds it to its range and to `object`, the name of the message that it is
    /// a part of. Choose the names so that no two messages share one.
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
    /// [`SaveError::Mac`] with [`Error::NoRandomBytes`] if the system's random generator failed.
    pub fn seal(&self, sealer: &Sealer, object: &[u8]) -> Result<Vec<u8>, SaveError> {
        let mut out = Writer::default();
        self.save(&mut out)?;
        sealer.seal(&[PURPOSE, object], out.as_bytes())
    }

    /// Opens a sealed part of this object. Its range is authentic: `start` and `end` are as secure
    /// as the sum.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] if it was altered or belongs to another key or object,
    /// [`SaveError::Saved`] or [`SaveError::ForeignPart`] if it has another block size,
    /// [`SaveError::Mac`] with [`Error::TooLong`] if it ends beyond the MAC's limit. Only the
    /// sealer distinguishes MACs and keys.
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

    /// Reads a part that [`save`](Part::save) wrote, for a hash of the same kind and key.
    ///
    /// # Errors
    ///
    /// [`SaveError::Saved`] if the bytes are not a part, [`SaveError::ForeignPart`] if it has
    /// another block size, [`SaveError::Mac`] with [`Error::TooLong`] if it ends beyond the MAC's
    /// limit.
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
