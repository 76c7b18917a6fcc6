//! What a row says of a MAC.

use core::num::NonZeroU64;
use std::sync::Arc;

use tagmac::Error;
use tagmac::isa::Level;
use tagmac_bounds::Theorem;

use crate::erased::DynMac;

/// What can be done with a MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Hashes of ranges join.
    pub parts: bool,
    /// One message on several threads.
    pub threads: bool,
    /// Many short messages in one call, side by side.
    pub batch: bool,
    /// A tag that follows edits.
    pub edits: bool,
    /// Messages of any number of bits.
    pub bits: bool,
}

pub(super) type Make =
    fn(key: &[u8], tag_bits: usize, level: Level) -> Result<Arc<dyn DynMac>, Error>;

/// A row of the registry.
pub struct Row {
    pub(super) name: &'static str,
    pub(super) family: &'static str,
    /// The cipher that the name has, and LightMAC's counter.
    pub(super) cipher: Option<&'static str>,
    pub(super) counter_bits: Option<usize>,
    /// Bytes of a new key, and of the keys that are taken.
    pub(super) new_key: usize,
    pub(super) min_key: usize,
    pub(super) max_key: usize,
    /// Bytes of the cipher's key: what a search for a key tries.
    pub(super) cipher_key: usize,
    /// The shortest and longest nonce in bytes; both 0 for a deterministic MAC.
    pub(super) min_nonce: usize,
    pub(super) max_nonce: usize,
    pub(super) min_tag: usize,
    pub(super) max_tag: usize,
    pub(super) tag_step: usize,
    /// Bytes of a block, 0 if there are no parts.
    pub(super) block: usize,
    /// A saved part's hash grows with the range, by a byte for so many; `None` if it does not.
    pub(super) part_growth: Option<NonZeroU64>,
    /// Bytes of the stack within which calls leave secrets, on the thread that made them.
    pub(super) stack: usize,
    /// Bytes of the stack to wipe before a stream is made there, for a state whose empty room keeps what it finds.
    pub(super) stream_stack: usize,
    pub(super) limit_bits: u64,
    pub(super) can: Capabilities,
    /// What bounds it with tags of full length.
    pub(super) theorem: Option<Theorem>,
    pub(super) make: Make,
}
