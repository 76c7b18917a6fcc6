//! Hashes a range that comes in pieces to a partial.

use std::ops::Deref;

use tagmac::hazmat::PartError;
use tagmac::save::Zeroizing;
use tagmac_any::{AnyPart, Partial};

use super::error::{Edge, RangeError};
use super::name::check_object;
use super::part::aligned;
use crate::error::Error;
use crate::open_key::OpenKey;

/// A range of an object that is being hashed. `K` refers to the key: `&OpenKey`, `Arc<OpenKey>`.
pub struct PartStream<K> {
    key: K,
    object: Vec<u8>,
    last: bool,
    part: AnyPart,
    /// The bytes after the part: less than a block, or up to a block in the last range.
    held: Zeroizing<Vec<u8>>,
}

impl<K: Deref<Target = OpenKey>> PartStream<K> {
    /// Starts a range at byte `start` of the object with this name; see
    /// [`versioned`](super::versioned). `last` is true if the object ends with the range.
    pub fn new(key: K, object: Vec<u8>, start: u64, last: bool) -> Result<PartStream<K>, Error> {
        check_object(&object)?;
        let parts = key.parts()?;
        aligned(&key, Edge::Start, parts.block() as u64, start)?;
        let algorithm = key.mac.algorithm();
        let wrong = |error| RangeError::Mac { algorithm, error };
        let part = parts.new_part(start, &[]).map_err(wrong)?;
        // Allocated at full length, as a growing vector would leave copies in memory.
        let held = Zeroizing::new(Vec::with_capacity(parts.block()));
        Ok(PartStream { key, object, last, part, held })
    }

    /// Appends bytes to the range.
    ///
    /// # Errors
    ///
    /// [`PartError::Mac`] with [`TooLong`](tagmac::Error::TooLong) if the range would end beyond
    /// the MAC's limit. The stream is then unchanged.
    pub fn update(&mut self, mut data: &[u8]) -> Result<(), PartError> {
        self.check_limit(data.len())?;
        let parts = self.key.mac.parts().ok_or(PartError::ForeignPart)?;
        // In the last range at least one byte is kept: some MACs treat the last block differently.
        let (block, kept) = (parts.block(), self.last as usize);
        if self.held.len() + data.len() >= block + kept {
            if !self.held.is_empty() {
                let (fill, rest) = data.split_at(block - self.held.len());
                self.held.extend_from_slice(fill);
                parts.extend(&mut self.part, &self.held)?;
                self.held.clear();
                data = rest;
            }
            let (blocks, rest) = data.split_at((data.len() - kept) / block * block);
            parts.extend(&mut self.part, blocks)?;
            data = rest;
        }
        self.held.extend_from_slice(data);
        Ok(())
    }

    fn check_limit(&self, more: usize) -> Result<(), PartError> {
        let limit_bits = self.key.mac.algorithm().max_message_bits().unwrap_or(u64::MAX);
        let bits = self.end().checked_add(more as u64).and_then(|end| end.checked_mul(8));
        match bits {
            Some(bits) if bits <= limit_bits => Ok(()),
            _ => Err(tagmac::Error::TooLong { limit_bits }.into()),
        }
    }

    /// Returns the object's name.
    pub fn object(&self) -> &[u8] {
        &self.object
    }

    /// Returns the first byte of the range.
    pub fn start(&self) -> u64 {
        self.part.start()
    }

    /// Returns the byte after the range hashed so far.
    pub fn end(&self) -> u64 {
        self.part.end() + self.held.len() as u64
    }

    /// Returns whether the object ends with the range.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// Returns the sealed partial. More bytes may follow, and another seal.
    ///
    /// # Errors
    ///
    /// Fails if the range is empty but the object is not, if a range that is not the last ends
    /// within a block, or if the system has no random bytes.
    pub fn seal(&self) -> Result<Vec<u8>, Error> {
        self.check_end()?;
        let PartStream { key, object, part, held, .. } = self;
        let tail = self.last.then_some(&held[..]);
        let sealed = Partial::seal(&key.mac, &key.sealer, object, part, tail);
        Ok(sealed.map_err(RangeError::Seal)?)
    }

    /// Returns the part and the bytes after it: up to a block if the range is the last, and nothing
    /// otherwise. Both are as secret as the key. Adjoining parts can be
    /// [joined](tagmac_any::Parts::join).
    ///
    /// # Errors
    ///
    /// The same as for [`seal`](PartStream::seal).
    pub fn close(self) -> Result<(AnyPart, Zeroizing<Vec<u8>>), Error> {
        self.check_end()?;
        Ok((self.part, self.held))
    }

    fn check_end(&self) -> Result<(), Error> {
        let bytes = self.end() - self.start();
        if bytes == 0 && (self.start() > 0 || !self.last) {
            return Err(RangeError::Empty.into());
        }
        if !self.last && !self.held.is_empty() {
            let block = self.key.parts()?.block() as u64;
            aligned(&self.key, Edge::Hashed, block, bytes)?;
        }
        Ok(())
    }
}
