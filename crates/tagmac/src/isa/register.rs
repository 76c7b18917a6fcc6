//! Sixteen bytes that functions return, where there is no register for them.

use super::{Block, opaque_word};

/// See [`isa::Register`](crate::isa::Register).
#[derive(Clone, Copy)]
pub struct Register(Block);

impl Register {
    /// The register that holds a block.
    #[inline(always)]
    pub(crate) fn new(block: &Block) -> Register {
        Register(*block)
    }

    /// The block.
    #[inline(always)]
    pub(crate) fn block(self) -> Block {
        self.0
    }

    /// Whether it holds this block, in a time that does not depend on either.
    #[inline(always)]
    pub(crate) fn ct_eq(self, block: &Block) -> bool {
        let differ = u128::from_ne_bytes(self.0) ^ u128::from_ne_bytes(*block);
        opaque_word(differ as u64 | (differ >> 64) as u64) == 0
    }
}
