//! Plans: the kernels that a MAC is compiled to.

use crate::cipher::Cipher;
use crate::isa::{Isa, Levels, SMALL};

/// The kernels that a hash is compiled to. A plan changes only speed and the size of programs; tags
/// are the same under every plan.
///
/// ```
/// use tagmac::hazmat::Plan;
/// use tagmac::isa::Levels;
/// const PLAN: Plan = Plan { short: Levels::Narrow, ..Plan::DEFAULT };
/// assert!(PLAN.narrow_path);
/// ```
#[derive(Clone, Copy)]
pub struct Plan {
    /// The levels with their own kernels for whole blocks.
    pub long: Levels,
    /// The levels with their own kernels for short messages and for the bytes after the last whole
    /// block.
    pub short: Levels,
    /// Compile kernels for messages of few blocks, on the one-block level.
    pub narrow_path: bool,
    /// Where AES is not an instruction, let one-shot calls use the kernels of streams and compile
    /// no others.
    pub shares_stream_kernels: bool,
    /// Let the kernels of one-shot calls and of streams share one
    /// [`finish`](crate::hazmat::Hash::finish).
    pub shared_finish: SharedFinish,
}

impl Plan {
    /// All kernels, on all levels.
    pub const DEFAULT: Plan = Plan {
        long: Levels::All,
        short: Levels::All,
        narrow_path: true,
        shares_stream_kernels: false,
        shared_finish: SharedFinish::Never,
    };

    /// The plan of a mode over a cipher.
    pub(crate) const fn over<C: Cipher>() -> Plan {
        Plan {
            long: C::LEVELS,
            short: C::ONE_BLOCK_LEVELS,
            narrow_path: C::HAS_NARROW_PATH,
            shares_stream_kernels: C::HAS_NARROW_PATH,
            ..Plan::DEFAULT
        }
    }

    /// Returns whether one-shot calls on a level use the two kernels of streams. They do where AES
    /// is so slow that two calls do not matter, or where code must be small.
    pub(crate) const fn uses_stream_kernels<I: Isa>(self) -> bool {
        !I::AES_INSTRUCTIONS && (SMALL || self.shares_stream_kernels)
    }
}

/// When kernels share one [`finish`](crate::hazmat::Hash::finish), as a separate function. It pays
/// where `finish` is kilobytes of code and the cost of the call does not matter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SharedFinish {
    /// For a small `finish`, or where a call would be noticeable.
    Never,
    /// On levels without AES instructions, where `finish` is slow.
    WithoutAesInstructions,
    /// On all levels.
    Always,
}

impl SharedFinish {
    /// Returns whether kernels share `finish` on this level.
    pub(crate) const fn applies<I: Isa>(self) -> bool {
        match self {
            SharedFinish::Never => false,
            SharedFinish::WithoutAesInstructions => !I::AES_INSTRUCTIONS,
            SharedFinish::Always => true,
        }
    }
}
