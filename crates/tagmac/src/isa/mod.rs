//! Instruction sets: what vectors of blocks and of words can do on each level of CPU.
//!
//! A level is a bundle of CPU features. A value of a level's type is the proof that this CPU has
//! them, so a kernel that takes the value is plain safe Rust. Kernels are written once, generic
//! over [`Isa`], and [`Level::run`] is the only place where a run-time choice becomes compile-time
//! code: choose once per range, loops inside.
//!
//! Every function and closure that a kernel passes through needs `#[inline(always)]`. Without it
//! the result stays right and every instruction becomes a call; `scripts/check-asm` tells.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod bit_slices;
pub(crate) mod block;
mod blocks64;
pub(crate) mod gf128;
mod lanes;
mod level;
mod portable;
#[cfg(not(target_arch = "x86_64"))]
mod register;
mod scalar_blocks;
mod self_test;
mod usable;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use bit_slices::{BitSlices, Nibbles};
pub(crate) use block::zero_filled;
pub(crate) use block::zeros_before;
pub use block::{Block, CipherBlock};
pub use blocks64::Blocks64;
pub(crate) use lanes::MAX_LANES;
pub use lanes::{Isa, Lanes};
pub(crate) use level::Facts;
#[cfg(target_arch = "aarch64")]
pub(crate) use level::Neon;
#[cfg(target_arch = "x86_64")]
pub(crate) use level::{Aesni, Avx2, Avx512, Vaes};
pub use level::{Kernel, Level, Levels};
pub(crate) use portable::SMALL;
/// Sixteen bytes as functions return them: in a register, so that who compares them need not store them.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use register::Register;
pub use scalar_blocks::ScalarBlocks;
#[cfg(test)]
pub(crate) use usable::ASKED;
pub(crate) use usable::KnownAnswer;
pub use usable::{SelfTest, Status, UnusableLevel};
pub(crate) use words::MAX_WORDS;
pub use words::Words;
/// Sixteen bytes as functions return them: in a register, so that who compares them need not store them.
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::Register;
#[cfg(all(feature = "alloc", target_arch = "x86_64"))]
pub(crate) use x86::l2_bytes;

/// For key schedules: the last word of four in the place of all.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
const LAST_WORD: Block = [12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15];
/// The same after RotWord.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
const LAST_WORD_TURNED: Block = [13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12];

/// In [`Isa::counter_layout`]: this byte of the block is zero.
pub const ZERO: u8 = 0x80;

/// A number as a block, big-endian, stored at once: kernels load it at once, and what is stored in
/// halves is not loaded together before both have left for the cache.
#[inline(always)]
pub(crate) fn be_block(number: u128) -> Block {
    #[cfg(target_arch = "x86_64")]
    return x86::be_block(number);
    #[cfg(not(target_arch = "x86_64"))]
    number.to_be_bytes()
}

/// The word itself, of which compilers know nothing: a mask stays one, and what is made of it is not
/// gathered into vectors, which for products of 64 bits costs more than it saves.
#[inline(always)]
pub(crate) fn opaque_word(word: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    return x86::opaque_word(word);
    #[cfg(not(target_arch = "x86_64"))]
    core::hint::black_box(word)
}

/// The reference itself, of which compilers do not know that it is the same as before: what is loaded
/// there in a turn of a loop is not kept for the next one.
#[inline(always)]
pub(crate) fn reloaded<T>(reference: &T) -> &T {
    #[cfg(target_arch = "x86_64")]
    return x86::opaque(reference);
    #[cfg(not(target_arch = "x86_64"))]
    reference
}

/// How far ahead of its use a message is asked for: a page, which takes a core less time to work on
/// than memory takes to answer.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 8192;

/// Asks the caches for `bytes` bytes of `data`, those [`AHEAD`] bytes from its start or, if it is
/// shorter, the last ones.
///
/// CPUs do so unasked for lines of cache that are loaded one after the other, but not always for
/// LightMAC's pieces, which lie across lines, and for NH's chunks: without it, from memory, LightMAC
/// takes five times as long on Zen 5, UMAC-64 twice. PMAC gains 12 % from 32 MiB on.
#[inline(always)]
pub(crate) fn fetch_ahead(data: &[u8], bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    x86::prefetch(data.as_ptr().wrapping_add(AHEAD.min(data.len().saturating_sub(bytes))), bytes);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, bytes);
}

/// The layout of [`Lanes::be_prefix`].
#[inline(always)]
fn be_prefix(bytes: usize) -> Block {
    // Byte i is byte `bytes - 1 - i` of the little-endian counter: a window into a fixed ramp.
    const RAMP: [u8; 24] = {
        let mut ramp = [ZERO; 24];
        let mut i = 0;
        while i < 8 {
            ramp[i] = 7 - i as u8;
            i += 1;
        }
        ramp
    };
    *RAMP[8 - bytes..].first_chunk().expect("16 of 24 bytes")
}

/// Ones in the last `bytes` bytes of a block, zeros before them.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[inline(always)]
fn last_ones(bytes: usize) -> Block {
    const RAMP: [u8; 32] = {
        let mut ramp = [0; 32];
        let mut i = 16;
        while i < 32 {
            ramp[i] = 0xff;
            i += 1;
        }
        ramp
    };
    *RAMP[bytes..].first_chunk().expect("at most a block")
}

/// Where the block is that ends with the first of `pieces` pieces of `step` bytes from `at` on.
/// Blocks that end with the others follow it in steps of `step` bytes, all within `data`.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[inline(always)]
fn first_block(data: &[u8], at: usize, step: usize, pieces: usize) -> *const u8 {
    assert!((8..=16).contains(&step) && data[at..].len() >= pieces * step);
    data[at + step - 16..].as_ptr()
}
