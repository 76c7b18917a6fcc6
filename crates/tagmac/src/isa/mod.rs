//! Instruction sets: what vectors of blocks and of words can do on each level of CPU.
//!
//! A level is a bundle of CPU features. A value of a level's type is the proof that this CPU has
//! them, so a kernel that takes the value is plain safe Rust. Kernels are written once, generic
//! over [`Isa`], and [`Dispatch`] is the only place where a run-time choice becomes compile-time
//! code: choose once per range, loops inside.
//!
//! Every function and closure that a kernel passes through needs `#[inline(always)]`. Without it
//! the result stays right and every instruction becomes a call; `scripts/check-asm` tells.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod block;
mod blocks64;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod detect;
pub(crate) mod gf128;
mod lanes;
mod level;
mod portable;
mod scalar_blocks;
mod sealed;
mod self_test;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use block::zero_filled;
pub(crate) use block::zeros_before;
pub use block::{Block, CipherBlock};
pub use blocks64::Blocks64;
pub use lanes::Lanes;
pub(crate) use lanes::MAX_LANES;
#[cfg(all(test, feature = "dynamic"))]
pub(crate) use level::ASKED;
pub use level::{Dispatch, Kernel, Level, NarrowLevel, Status, UnusableLevel, WordLevel};
pub(crate) use level::{Facts, KnownAnswer, SelfTest};
#[cfg(feature = "umac99")]
pub(crate) use portable::PortableWords;
pub(crate) use portable::SMALL;
pub use scalar_blocks::ScalarBlocks;
pub(crate) use words::MAX_WORDS;
pub use words::Words;
#[cfg(all(feature = "alloc", target_arch = "x86_64"))]
pub(crate) use x86::l2_bytes;

/// For key schedules: the last word of four in the place of all.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
const LAST_WORD: Block = [12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15];
/// The same after RotWord.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
const LAST_WORD_TURNED: Block = [13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12];

/// One level of instruction sets: vectors of AES blocks, and what else its instructions do.
pub trait Isa: Lanes<Block = Block, Narrow = Self::One> {
    /// The name that `TAGMAC_LEVEL` takes.
    const NAME: &'static str;
    /// The most AES blocks of a message that has a kernel of its own on the one-block level, at most
    /// 8. Zero on a one-block level where code without loops gains nothing.
    const NARROW_PATH_MAX_BLOCKS: usize;

    /// `R` round keys as the level likes to keep them over a loop.
    type Keys<'a, const R: usize>: Copy;
    /// Vectors of 64-bit words, see [`Isa::words`].
    type Words: Words;
    /// The one-block level: [`Narrow`](Lanes::Narrow), which is a level too.
    type One: Isa<One = Self::One>;

    /// Runs `f` on three values, compiled with this level's instructions. Values of up to two words
    /// are passed in registers; what `f` captures is not, so it should capture nothing.
    fn call<A, B, C, R>(self, a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R;
    /// Runs `f` compiled with this level's instructions.
    #[inline(always)]
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        self.call(
            f,
            (),
            (),
            #[inline(always)]
            |f, (), ()| f(),
        )
    }
    /// As [`run`](Isa::run), in a function of its own: for what is large and stands in many kernels.
    fn run_outlined<R>(self, f: impl FnOnce() -> R) -> R;
    /// Arithmetic on words, at the widest that the level has.
    fn words(self) -> Self::Words;

    /// Prepares round keys: once per range, before the loop.
    fn keys<'a, const R: usize>(self, keys: &'a [Block; R]) -> Self::Keys<'a, R>;
    /// The same round keys for one turn of a loop. A level with few registers has them loaded again
    /// in each turn: loaded before the loop, most of them would only move to the stack.
    #[inline(always)]
    fn reload_keys<'a, const R: usize>(self, keys: &Self::Keys<'a, R>) -> Self::Keys<'a, R> {
        *keys
    }
    /// Round key `r` in every lane.
    fn key<const R: usize>(self, keys: &Self::Keys<'_, R>, r: usize) -> Self::V;
    /// One AES round in each lane: `MixColumns(ShiftRows(SubBytes(a))) ^ k`.
    fn aes(self, a: Self::V, k: Self::V) -> Self::V;
    /// The last AES round in each lane: `ShiftRows(SubBytes(a)) ^ k`.
    fn aes_last(self, a: Self::V, k: Self::V) -> Self::V;
    /// Whether a round is an instruction. Where it is not, all rounds are a call, because they are
    /// kilobytes of code.
    const AES_INSTRUCTIONS: bool = true;
    /// All rounds but the last.
    #[inline(always)]
    fn aes_first_rounds<const R: usize, const N: usize>(
        self,
        keys: &Self::Keys<'_, R>,
        mut x: [Self::V; N],
    ) -> [Self::V; N] {
        // Four keys stay in registers everywhere.
        let keys = if N == 8 && R > 4 { self.reload_keys(keys) } else { *keys };
        for r in 0..R - 1 {
            let key = self.key(&keys, r);
            for x in &mut x {
                *x = self.aes(*x, key);
            }
        }
        x
    }
    /// All `R` rounds.
    #[inline(always)]
    fn aes_rounds<const R: usize, const N: usize>(
        self,
        keys: &Self::Keys<'_, R>,
        x: [Self::V; N],
    ) -> [Self::V; N] {
        let mut x = self.aes_first_rounds(keys, x);
        let key = self.key(keys, R - 1);
        for x in &mut x {
            *x = self.aes_last(*x, key);
        }
        x
    }

    /// Prepares a layout: byte i of a block is byte `layout[i]` of the little-endian counter, or zero
    /// where `layout[i]` is [`ZERO`].
    fn counter_layout(self, layout: &Block) -> Self::CounterLayout;

    /// In each lane, four words of AES's key schedule (FIPS-197, section 5.2): word j is the xor of
    /// words 0 to j of `before`, and of SubWord of the last word of `last`. With an `rcon`, RotWord
    /// comes before SubWord, and `rcon` is added.
    fn next_key_words(self, before: Self::V, last: Self::V, rcon: Option<u8>) -> Self::V;
    /// `a & b`.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each lane times x in GF(2^128), as PMAC has it: modulo x^128 + x^7 + x^2 + x + 1, and the first
    /// bit of a block is the coefficient of x^127.
    #[inline(always)]
    fn times_x(self, a: Self::V) -> Self::V {
        each_lane(self, a, gf128::times_x)
    }
    /// Each lane over x.
    #[inline(always)]
    fn over_x(self, a: Self::V) -> Self::V {
        each_lane(self, a, gf128::over_x)
    }
}

/// A function of each lane, one by one.
#[inline(always)]
fn each_lane<I: Isa>(isa: I, a: I::V, f: impl Fn(Block) -> Block) -> I::V {
    let mut lanes = [[0; 16]; MAX_LANES];
    let lanes = &mut lanes[..I::LANES];
    isa.store_lanes(a, lanes.as_flattened_mut());
    for lane in &mut *lanes {
        *lane = f(*lane);
    }
    isa.load(lanes.as_flattened())
}

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
const AHEAD: usize = 4096;

/// Asks the caches for `bytes` bytes of `data`, those [`AHEAD`] bytes from its start or, if it is
/// shorter, the last ones.
///
/// CPUs do so unasked for lines of cache that are loaded one after the other, but not always for
/// LightMAC's pieces, which lie across lines, and for NH's chunks: without it, from memory, LightMAC
/// takes five times as long on Zen 5, UMAC-64 twice. PMAC gains nothing.
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
