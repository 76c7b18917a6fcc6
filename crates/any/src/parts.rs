//! Parts of messages, and the calls on them.

use core::fmt;

use tagmac::Tag;
use tagmac::hazmat::PartError;
use tagmac::save::{Reader, SaveError, Writer};

use crate::erased::{DynParts, ErasedPart};
use crate::key_id::KeyId;

/// A part of a message, for any MAC that has parts. Secret, wiped on drop, silent in `Debug`.
pub struct AnyPart {
    id: KeyId,
    start: u64,
    end: u64,
    part: ErasedPart,
}

impl fmt::Debug for AnyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyPart({}..{})", self.start, self.end)
    }
}

impl AnyPart {
    /// The id of the key that it is under.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The first byte of the range.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The byte after the range.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// The calls on parts of a MAC that has them, see [`Part`](tagmac::hazmat::Part).
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub(crate) mac: &'a dyn DynParts,
    pub(crate) id: KeyId,
}

impl Parts<'_> {
    /// Bytes of a block: parts start and end at multiples of it.
    pub fn block(self) -> usize {
        self.mac.block()
    }

    /// Whether the last block is treated differently, so that at least one byte of a message that is
    /// not empty must be left for [`finish`](Parts::finish).
    pub fn last_block_distinct(self) -> bool {
        self.mac.last_block_distinct()
    }

    /// The part of whole blocks that starts at byte `start`.
    ///
    /// # Errors
    ///
    /// As [`Part::new`](tagmac::hazmat::Part::new).
    pub fn new_part(self, start: u64, blocks: &[u8]) -> Result<AnyPart, PartError> {
        let part = self.mac.part(start, blocks)?;
        Ok(AnyPart { id: self.id, start, end: start + blocks.len() as u64, part })
    }

    /// Adds the whole blocks that follow to a part.
    ///
    /// # Errors
    ///
    /// As [`Part::extend`](tagmac::hazmat::Part::extend); [`PartError::ForeignPart`] also if the part is
    /// of another key. The part is then as it was.
    pub fn extend(self, part: &mut AnyPart, blocks: &[u8]) -> Result<(), PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.extend(&mut part.part, blocks)?;
        part.end += blocks.len() as u64;
        Ok(())
    }

    /// Two neighbouring parts as one.
    ///
    /// # Errors
    ///
    /// [`PartError::Gap`] if they are no neighbours, [`PartError::ForeignPart`] if one is of another
    /// MAC or key.
    pub fn join(self, left: AnyPart, right: &AnyPart) -> Result<AnyPart, PartError> {
        if left.id != self.id || right.id != self.id {
            return Err(PartError::ForeignPart);
        }
        let part = self.mac.join(left.part, &right.part)?;
        Ok(AnyPart { id: self.id, start: left.start, end: right.end, part })
    }

    /// Checks in constant time that a part is of these blocks.
    ///
    /// # Errors
    ///
    /// As [`Part::check`](tagmac::hazmat::Part::check); [`PartError::ForeignPart`] if the part is of
    /// another MAC or key.
    pub fn check(self, part: &AnyPart, blocks: &[u8]) -> Result<(), PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.check(&part.part, blocks)
    }

    /// The tag of the message that `part` begins and `rest` ends.
    ///
    /// # Errors
    ///
    /// As [`Part::finish`](tagmac::hazmat::Part::finish), [`PartError::Mac`] with
    /// [`Error::NonceLength`](tagmac::Error::NonceLength) for a nonce of the wrong length; [`PartError::ForeignPart`] if the part
    /// is of another MAC or key.
    pub fn finish(self, part: AnyPart, nonce: &[u8], rest: &[u8]) -> Result<Tag, PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.finish(part.part, nonce, rest.into())
    }

    /// Appends a part, which nothing hides: seal what comes of it.
    ///
    /// # Errors
    ///
    /// [`SaveError::ForeignPart`] if the part is of another MAC or key.
    pub fn save(self, part: &AnyPart, out: &mut Writer) -> Result<(), SaveError> {
        if part.id != self.id {
            return Err(SaveError::ForeignPart);
        }
        self.mac.save(&part.part, out)
    }

    /// The part that was appended under this key: that it was is up to the seal.
    ///
    /// # Errors
    ///
    /// [`SaveError::Saved`] unless one was, [`SaveError::ForeignPart`] if it has another block,
    /// [`SaveError::Mac`] with [`Error::TooLong`](tagmac::Error::TooLong) if it ends over the MAC's limit.
    pub fn load(self, input: &mut Reader<'_>) -> Result<AnyPart, SaveError> {
        let (range, part) = self.mac.load(input)?;
        Ok(AnyPart { id: self.id, start: range.start, end: range.end, part })
    }
}
