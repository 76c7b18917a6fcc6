//! Instruction-set levels: the vectors of blocks and words of each kind of CPU.
//!
//! A level is a bundle of CPU features. A value of a level's type is the proof that this CPU has
//! them, so a kernel with such a parameter is plain safe Rust. Kernels are written once, generic
//! over [`Isa`]. Only [`Level::run`] turns a run-time choice into compile-time code: choose once
//! per range, with loops inside.
//!
//! Every function and closure between [`Level::run`] and the instructions needs
//! `#[inline(always)]`. Without it results stay correct, but every instruction becomes a call;
//! `scripts/check-asm` detects this.

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
/// A 16-byte return value, in a register if possible, so that comparing it needs no memory.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use register::Register;
pub use scalar_blocks::ScalarBlocks;
#[cfg(test)]
pub(crate) use usable::ASKED;
pub(crate) use usable::KnownAnswer;
pub use usable::{SelfTest, Status, UnusableLevel};
pub(crate) use words::MAX_WORDS;
pub use words::Words;
/// A 16-byte return value, in a register if possible, so that comparing it needs no memory.
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::Register;
#[cfg(all(feature = "alloc", target_arch = "x86_64"))]
pub(crate) use x86::l2_bytes;

/// For key schedules: the last of four words, in all four places.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
const LAST_WORD: Block = [12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15];
/// The same, after RotWord.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
const LAST_WORD_TURNED: Block = [13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12];

/// In [`Isa::counter_layout`]: a zero byte.
pub const ZERO: u8 = 0x80;

/// A number as a big-endian block, stored in one piece. Kernels load it in one piece, and two
/// halves cannot be forwarded to one load until both have reached the cache.
#[inline(always)]
pub(crate) fn be_block(number: u128) -> Block {
    #[cfg(target_arch = "x86_64")]
    return x86::be_block(number);
    #[cfg(not(target_arch = "x86_64"))]
    number.to_be_bytes()
}

/// The same word, hidden from the optimiser. A mask then stays a mask, and values computed from the
/// word are not gathered into vectors. For 64-bit products that would cost more than it saves.
#[inline(always)]
pub(crate) fn opaque_word(word: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    return x86::opaque_word(word);
    #[cfg(not(target_arch = "x86_64"))]
    core::hint::black_box(word)
}

/// The same reference, hidden from the optimiser, so that values loaded through it are not kept for
/// the next iteration of a loop.
#[inline(always)]
pub(crate) fn reloaded<T>(reference: &T) -> &T {
    #[cfg(target_arch = "x86_64")]
    return x86::opaque(reference);
    #[cfg(not(target_arch = "x86_64"))]
    reference
}

/// The prefetch distance in bytes. A core takes less time to process this much than memory takes to
/// answer.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 8192;

/// Prefetches `bytes` bytes of `data`, those [`AHEAD`] bytes from its start or, if it is shorter,
/// the last ones.
///
/// CPUs prefetch consecutive cache lines themselves, but not always for LightMAC's pieces, which
/// cross lines, and for NH's chunks. Without this, from memory, LightMAC takes five times as long
/// on Zen 5, and UMAC-64 twice as long. PMAC is 12 % faster from 32 MiB on.
#[inline(always)]
pub(crate) fn fetch_ahead(data: &[u8], bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    x86::prefetch(data.as_ptr().wrapping_add(AHEAD.min(data.len().saturating_sub(bytes))), bytes);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, bytes);
}

/// Prefetches messages that a batch processes side by side next: of each every second line of its
/// first `bytes` bytes, and the last line. CPUs load the lines between them.
///
/// CPUs prefetch consecutive lines of one message, but not lines of several messages in turn.
/// Without this, on Zen 3, a batch from memory takes up to three times as long as single calls. No
/// branch depends on a message's length, which CPUs would often predict wrongly. Not inlined, so that
/// all kernels share it.
#[inline(never)]
pub(crate) fn fetch_messages(messages: &[&[u8]], bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for message in messages {
        let (first, last) = (message.as_ptr(), message.len().saturating_sub(1));
        for at in (0..bytes).step_by(128) {
            x86::prefetch(first.wrapping_add(at.min(last)), 1);
        }
        x86::prefetch(first.wrapping_add(last), 1);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (messages, bytes);
}

/// Prefetches the first `n` messages, of one length. Short ones have few lines, which CPUs load early
/// enough. Inlined, because as a function it takes twice as long.
#[inline(always)]
pub(crate) fn fetch_alike(messages: &[&[u8]], n: usize) {
    #[cfg(target_arch = "x86_64")]
    if messages.first().is_some_and(|first| first.len() >= 320) {
        for message in messages.iter().take(n) {
            x86::prefetch(message.as_ptr(), message.len());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (messages, n);
}

/// The layout of [`Lanes::be_prefix`].
#[inline(always)]
fn be_prefix(bytes: usize) -> Block {
    // Byte i is byte `bytes - 1 - i` of the little-endian counter: a window into a constant ramp.
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

/// Ones in the last `bytes` bytes of a block, after zeros.
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

/// The address of the block that ends with the first of `pieces` pieces of `step` bytes from `at`.
/// The blocks that end with the other pieces follow in steps of `step` bytes, all within `data`.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[inline(always)]
fn first_block(data: &[u8], at: usize, step: usize, pieces: usize) -> *const u8 {
    assert!((8..=16).contains(&step) && data[at..].len() >= pieces * step);
    data[at + step - 16..].as_ptr()
}
