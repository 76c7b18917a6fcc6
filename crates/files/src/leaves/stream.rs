//! Hashes a range of a content that comes in pieces, and keeps the sums of its leaves.

use std::ops::Deref;

use tagmac::hazmat::PartError;
use tagmac::save::{Writer, Zeroizing};
use tagmac_any::AnyPart;

use crate::error::Error;
use crate::open_key::OpenKey;
use crate::partial::PartStream;

/// A range of whole leaves that is being hashed. `K` refers to the key, such as `Arc<OpenKey>`.
pub struct LeafStream<K> {
    key: K,
    /// The length of a leaf in bytes.
    leaf: u64,
    /// The size of the content in bytes.
    size: u64,
    open: PartStream<K>,
    hashed: HashedLeaves,
}

/// The hash of a range of whole leaves.
#[derive(Default)]
pub struct HashedLeaves {
    /// The blocks of all leaves. `None` without leaves.
    pub part: Option<AnyPart>,
    /// The bytes after the blocks, 1 to a whole block, if the content ends with the range.
    pub rest: Zeroizing<Vec<u8>>,
    /// The sums of the leaves, in order.
    pub sums: Writer,
}

impl<K: Clone + Deref<Target = OpenKey>> LeafStream<K> {
    /// Starts at byte `start`, where a leaf begins, of a content of `size` bytes.
    pub fn new(key: K, leaf: u64, size: u64, start: u64) -> Result<LeafStream<K>, Error> {
        let open = open(&key, leaf, size, start)?;
        Ok(LeafStream { key, leaf, size, open, hashed: HashedLeaves::default() })
    }

    /// Appends bytes to the range.
    pub fn update(&mut self, mut data: &[u8]) -> Result<(), Error> {
        let wrong = |error: PartError| Error::io(error);
        while !data.is_empty() {
            let end = self.open.start() + self.leaf;
            if self.open.end() == end && end < self.size {
                let next = open(&self.key, self.leaf, self.size, end)?;
                let done = std::mem::replace(&mut self.open, next);
                self.hashed.add(&self.key, done)?;
                continue;
            }
            let left = end.min(self.size) - self.open.end();
            // More than the content is an error of the stream.
            let bytes = if left == 0 { data.len() } else { data.len().min(left as usize) };
            let (now, later) = data.split_at(bytes);
            self.open.update(now).map_err(wrong)?;
            data = later;
        }
        Ok(())
    }

    /// Returns the hash. Fails if the range does not end with a leaf.
    pub fn close(mut self) -> Result<HashedLeaves, Error> {
        self.hashed.add(&self.key, self.open)?;
        Ok(self.hashed)
    }
}

/// Starts the leaf at `start`.
fn open<K: Clone + Deref<Target = OpenKey>>(
    key: &K,
    leaf: u64,
    size: u64,
    start: u64,
) -> Result<PartStream<K>, Error> {
    let is_last = size.saturating_sub(start) <= leaf;
    PartStream::new(key.clone(), b"-".to_vec(), start, is_last)
}

impl HashedLeaves {
    fn add<K: Deref<Target = OpenKey>>(
        &mut self,
        key: &K,
        leaf: PartStream<K>,
    ) -> Result<(), Error> {
        let parts = key.parts()?;
        let (part, rest) = leaf.close()?;
        let wrong = |error: PartError| Error::io(error);
        parts.save(&part, &mut self.sums).map_err(|_| wrong(PartError::ForeignPart))?;
        self.part = Some(match self.part.take() {
            Some(before) => parts.join(before, &part).map_err(wrong)?,
            None => part,
        });
        self.rest = rest;
        Ok(())
    }
}
