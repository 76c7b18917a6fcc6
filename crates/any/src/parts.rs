//! Hashes of parts of messages, and the operations on them.

use core::fmt;

use tagmac::Tag;
use tagmac::hazmat::PartError;
use tagmac::save::{Reader, SaveError, Writer};

use crate::erased::{DynParts, ErasedPart};
use crate::key_id::KeyId;

/// The hash of a part of a message, for any MAC that has parts. It is secret: wiped on drop and
/// hidden in `Debug`.
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
    /// The id of the part's key.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The offset of the range's first byte.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The offset after the range's last byte.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// The operations on parts, for a MAC that has them, see [`Part`](tagmac::hazmat::Part).
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub(crate) mac: &'a dyn DynParts,
    pub(crate) id: KeyId,
}

impl Parts<'_> {
    /// The length of a block in bytes. Parts start and end at multiples of it.
    pub fn block(self) -> usize {
        self.mac.block()
    }

    /// True if the hash treats the last block differently. Then at least one byte of a nonempty
    /// message must be left for [`finish`](Parts::finish).
    pub fn last_block_distinct(self) -> bool {
        self.mac.last_block_distinct()
    }

    /// Hashes the part that starts at byte `start` and consists of whole blocks.
    ///
    /// # Errors
    ///
    /// As [`Part::new`](tagmac::hazmat::Part::new).
    pub fn new_part(self, start: u64, blocks: &[u8]) -> Result<AnyPart, PartError> {
        let part = self.mac.part(start, blocks)?;
        Ok(AnyPart { id: self.id, start, end: start + blocks.len() as u64, part })
    }

    /// Hashes whole blocks as [`new_part`](Parts::new_part), and appends the part to `out`, as
    /// [`save`](Parts::save) does.
    ///
    /// # Errors
    ///
    /// As [`new_part`](Parts::new_part). Then `out` is unchanged.
    pub fn save_new(self, start: u64, blocks: &[u8], out: &mut Writer) -> Result<(), PartError> {
        self.mac.save_new(start, blocks, out)
    }

    /// Appends whole blocks to a part.
    ///
    /// # Errors
    ///
    /// As [`Part::extend`](tagmac::hazmat::Part::extend), and [`PartError::ForeignPart`] also if
    /// the part belongs to another key. On an error the part is unchanged.
    pub fn extend(self, part: &mut AnyPart, blocks: &[u8]) -> Result<(), PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.extend(&mut part.part, blocks)?;
        part.end += blocks.len() as u64;
        Ok(())
    }

    /// Joins two adjacent parts.
    ///
    /// # Errors
    ///
    /// [`PartError::Gap`] if they are not adjacent, [`PartError::ForeignPart`] if one belongs to
    /// another MAC or key.
    pub fn join(self, left: AnyPart, right: &AnyPart) -> Result<AnyPart, PartError> {
        if left.id != self.id || right.id != self.id {
            return Err(PartError::ForeignPart);
        }
        let part = self.mac.join(left.part, &right.part)?;
        Ok(AnyPart { id: self.id, start: left.start, end: right.end, part })
    }

    /// Appends `right` to `left`, if it is adjacent. Then `right` is the empty part at its end.
    ///
    /// # Errors
    ///
    /// As [`join`](Parts::join). Then both parts are unchanged.
    pub fn append(self, left: &mut AnyPart, right: &mut AnyPart) -> Result<(), PartError> {
        if left.id != self.id || right.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.append(&mut left.part, &mut right.part)?;
        left.end = right.end;
        right.start = right.end;
        Ok(())
    }

    /// Checks in constant time that a part is the hash of these blocks.
    ///
    /// # Errors
    ///
    /// As [`Part::check`](tagmac::hazmat::Part::check), and [`PartError::ForeignPart`] if the part
    /// belongs to another MAC or key.
    pub fn check(self, part: &AnyPart, blocks: &[u8]) -> Result<(), PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.check(&part.part, blocks)
    }

    /// Returns the tag of the message that consists of `part` and `rest`. The part must start at
    /// byte 0.
    ///
    /// # Errors
    ///
    /// As [`Part::finish`](tagmac::hazmat::Part::finish). [`PartError::Mac`] with
    /// [`Error::NonceLength`](tagmac::Error::NonceLength) for a nonce of the wrong length, and
    /// [`PartError::ForeignPart`] if the part belongs to another MAC or key.
    pub fn finish(self, part: AnyPart, nonce: &[u8], rest: &[u8]) -> Result<Tag, PartError> {
        if part.id != self.id {
            return Err(PartError::ForeignPart);
        }
        self.mac.finish(part.part, nonce, rest.into())
    }

    /// Appends a part to `out`, unencrypted: seal the result.
    ///
    /// # Errors
    ///
    /// [`SaveError::ForeignPart`] if the part belongs to another MAC or key.
    pub fn save(self, part: &AnyPart, out: &mut Writer) -> Result<(), SaveError> {
        if part.id != self.id {
            return Err(SaveError::ForeignPart);
        }
        self.mac.save(&part.part, out)
    }

    /// Reads a part that [`save`](Parts::save) appended under this key. Only the seal proves that
    /// it did.
    ///
    /// # Errors
    ///
    /// [`SaveError::Saved`] if there is no such part, [`SaveError::ForeignPart`] if it has another
    /// block length, [`SaveError::Mac`] with [`Error::TooLong`](tagmac::Error::TooLong) if it ends
    /// beyond the MAC's limit.
    pub fn load(self, input: &mut Reader<'_>) -> Result<AnyPart, SaveError> {
        let (range, part) = self.mac.load(input)?;
        Ok(AnyPart { id: self.id, start: range.start, end: range.end, part })
    }
}
