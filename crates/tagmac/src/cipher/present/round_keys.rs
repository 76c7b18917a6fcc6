//! The round keys of PRESENT.

use zeroize::Zeroize;

use crate::isa::SMALL;

/// The rounds after which a key is added that another round follows.
pub(super) const KEYS: usize = 30;

/// Those of them that flights add.
pub(super) const MASKS: usize = if SMALL { 0 } else { KEYS };

/// The most blocks that a mode hands over at once.
pub(super) const MAX_BLOCKS: usize = if SMALL { 16 } else { 64 };

/// The key schedule, which has the same form for keys of both lengths.
#[derive(Clone)]
pub struct RoundKeys {
    /// K_1.
    pub(super) first: u64,
    /// K_32 ^ `OFFSET`.
    pub(super) last: u64,
    /// K_2 to K_31, each ^ `OFFSET`, as the narrow code adds them.
    pub(super) planes: [[u64; 4]; KEYS],
    /// The same: bit p of a key is all bits of word p. Words of 32 bits, so that all keys take
    /// 7.5 KiB and leave room in a first-level cache of 32 KiB.
    /// None where code is to be small: only flights add them.
    pub(super) masks: [[u32; 64]; MASKS],
}

impl Drop for RoundKeys {
    fn drop(&mut self) {
        self.first.zeroize();
        self.last.zeroize();
        self.planes.as_flattened_mut().zeroize();
        self.masks.as_flattened_mut().zeroize();
    }
}
