//! The fields of a registry row.

use core::num::NonZeroU64;
use std::sync::Arc;

use tagmac::Error;
use tagmac::isa::Level;
use tagmac_bounds::Theorem;

use crate::erased::DynMac;

/// The operations that a MAC supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Hashes of ranges can be joined.
    pub parts: bool,
    /// One message can be hashed on several threads.
    pub threads: bool,
    /// Many short messages in one call are hashed in parallel.
    pub batch: bool,
    /// A tag can be updated after an edit.
    pub edits: bool,
    /// Messages may have any number of bits.
    pub bits: bool,
}

pub(super) type Make =
    fn(key: &[u8], tag_bits: usize, level: Level) -> Result<Arc<dyn DynMac>, Error>;

/// A row of the registry.
pub struct Row {
    pub(super) name: &'static str,
    pub(super) family: &'static str,
    /// The cipher in the name, and LightMAC's counter length.
    pub(super) cipher: Option<&'static str>,
    pub(super) counter_bits: Option<usize>,
    /// Bytes of a new key, and of the shortest and longest keys.
    pub(super) new_key: usize,
    pub(super) min_key: usize,
    pub(super) max_key: usize,
    /// Bytes of the cipher's key, which an exhaustive search would try.
    pub(super) cipher_key: usize,
    /// The shortest and longest nonce in bytes; both 0 for a deterministic MAC.
    pub(super) min_nonce: usize,
    pub(super) max_nonce: usize,
    pub(super) min_tag: usize,
    pub(super) max_tag: usize,
    pub(super) tag_step: usize,
    /// Bytes of a block; 0 if the MAC has no parts.
    pub(super) block: usize,
    /// A saved part's hash grows by one byte for each `part_growth` bytes of the range; `None` if
    /// its length is fixed.
    pub(super) part_growth: Option<NonZeroU64>,
    /// Bytes of the calling thread's stack in which calls may leave secrets.
    pub(super) stack: usize,
    /// Bytes of the stack to wipe before a stream is created, if its state has unused space that
    /// would keep old stack contents.
    pub(super) stream_stack: usize,
    pub(super) limit_bits: u64,
    pub(super) can: Capabilities,
    /// The theorem that bounds it with its longest tags.
    pub(super) theorem: Option<Theorem>,
    pub(super) make: Make,
}
