//! The tag and the leaf tags of a message that arrives in chunks of any length.

use tagmac::Tag;
use tagmac::hazmat::PartError;
use tagmac_any::{AnyMac, Parts};

use crate::read::pieces::{Growing, LeafSums};
use crate::read_error::ReadError;

/// A message that arrives in chunks.
pub struct LeafStream<'a> {
    parts: Parts<'a>,
    growing: Growing<'a>,
    /// The bytes after the blocks that were hashed: at least one, except at the start.
    rest: Vec<u8>,
    /// Set by an error of `update`.
    failed: Option<PartError>,
}

impl<'a> LeafStream<'a> {
    /// Starts a message, whose leaves have the sums `sums`.
    pub fn new(mac: &'a AnyMac, sums: &'a LeafSums) -> Result<LeafStream<'a>, PartError> {
        let parts = mac.parts().ok_or(PartError::ForeignPart)?;
        let growing = Growing::new(parts, 0, Some(sums))?;
        Ok(LeafStream { parts, growing, rest: Vec::new(), failed: None })
    }

    /// Appends bytes. [`finish`](LeafStream::finish) returns the error, if any.
    pub fn update(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        // The last block is special for some MACs, so at least one byte is left.
        let block = self.parts.block();
        let cut = self.rest.len().saturating_sub(1) / block * block;
        if self.failed.is_none() {
            self.failed = self.growing.extend(&self.rest[..cut]).err();
        }
        self.rest.drain(..cut);
    }

    /// Returns the tag, and the bytes after the last leaf's blocks. The sums are complete then. The
    /// message must not be empty.
    pub fn finish(self) -> Result<(Tag, Vec<u8>), ReadError> {
        let LeafStream { parts, mut growing, rest, failed } = self;
        failed.map_or(Ok(()), Err)?;
        let end = growing.close_last(&rest)?.to_vec();
        let tag = parts.finish(growing.finish()?, &[], &end)?;
        Ok((tag, end))
    }
}
