//! 16-byte return values on targets without a register for them.

use super::{Block, opaque_word};

/// See [`isa::Register`](crate::isa::Register).
#[derive(Clone, Copy)]
pub struct Register(Block);

impl Register {
    /// Returns the register that holds a block.
    #[inline(always)]
    pub(crate) fn new(block: &Block) -> Register {
        Register(*block)
    }

    /// Returns the block.
    #[inline(always)]
    pub(crate) fn block(self) -> Block {
        self.0
    }

    /// Compares with a block in constant time.
    #[inline(always)]
    pub(crate) fn ct_eq(self, block: &Block) -> bool {
        let differ = u128::from_ne_bytes(self.0) ^ u128::from_ne_bytes(*block);
        opaque_word(differ as u64 | (differ >> 64) as u64) == 0
    }
}
