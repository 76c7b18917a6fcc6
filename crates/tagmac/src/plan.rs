//! Which kernels a MAC is compiled to.

use crate::cipher::Cipher;
use crate::isa::{Isa, Levels, SMALL};

/// Which kernels a hash is compiled to. Tags are the same under every plan: it is for speed and for the
/// size of programs.
///
/// ```
/// use tagmac::hazmat::Plan;
/// use tagmac::isa::Levels;
/// const PLAN: Plan = Plan { short: Levels::Narrow, ..Plan::DEFAULT };
/// assert!(PLAN.narrow_path);
/// ```
#[derive(Clone, Copy)]
pub struct Plan {
    /// The levels that have kernels of their own for whole blocks.
    pub long: Levels,
    /// The levels that have kernels of their own for short messages and for what follows the last
    /// whole block.
    pub short: Levels,
    /// Whether messages of few blocks have kernels of their own, on the one-block level.
    pub narrow_path: bool,
    /// Whether one-shot calls use the kernels of streams where AES is not an instruction, and have none
    /// of their own there.
    pub shares_stream_kernels: bool,
    /// Whether the kernels of one-shot calls and of streams share one [`finish`](crate::hazmat::Hash::finish).
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

    /// That of a mode over a cipher.
    pub(crate) const fn over<C: Cipher>() -> Plan {
        Plan {
            long: C::LEVELS,
            short: Levels::Narrow,
            narrow_path: C::HAS_NARROW_PATH,
            shares_stream_kernels: C::HAS_NARROW_PATH,
            ..Plan::DEFAULT
        }
    }

    /// Whether one-shot calls on a level use the two kernels of streams: where AES takes so long that two
    /// calls are nothing beside it, and where code is to be small.
    pub(crate) const fn uses_stream_kernels<I: Isa>(self) -> bool {
        !I::AES_INSTRUCTIONS && (SMALL || self.shares_stream_kernels)
    }
}

/// When kernels share one [`finish`](crate::hazmat::Hash::finish), in a function of its own: where it is kilobytes of
/// code, beside which the call is nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SharedFinish {
    /// It is small, or a call would be felt.
    Never,
    /// On levels without AES instructions, where it is slow.
    WithoutAesInstructions,
    /// On all levels.
    Always,
}

impl SharedFinish {
    /// Whether they do so on a level.
    pub(crate) const fn applies<I: Isa>(self) -> bool {
        match self {
            SharedFinish::Never => false,
            SharedFinish::WithoutAesInstructions => !I::AES_INSTRUCTIONS,
            SharedFinish::Always => true,
        }
    }
}
