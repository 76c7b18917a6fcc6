//! AES (FIPS-197) over lanes, with `ROUNDS + 1` round keys. The first is added outside.
//!
//! The key schedule also works without a table, see [`Isa::next_key_words`].

mod inverse;
mod long;

use core::slice;

use super::known_answers::KnownAnswers;
use super::traits::{Cipher, Decrypt, V};
use crate::isa::{Block, CipherBlock, Isa, Kernel, Lanes, Level, Levels};
use crate::wipe::wipe;

pub use long::LongAes;

/// AES with `ROUNDS` rounds. With fewer rounds than the standard's, it uses the first round keys,
/// and its last round has no MixColumns.
// Not aligned, although loads of round keys may then cross a cache line: the padding would keep old
// stack contents.
#[derive(Clone)]
pub struct Aes<const ROUNDS: usize> {
    whitening: Block,
    rounds: [Block; ROUNDS],
}

/// AES with a 16-byte key.
pub type Aes128 = Aes<10>;
/// AES with a 24-byte key.
pub type Aes192 = Aes<12>;
/// AES with a 32-byte key.
pub type Aes256 = Aes<14>;

impl<const ROUNDS: usize> Drop for Aes<ROUNDS> {
    #[inline(never)]
    fn drop(&mut self) {
        wipe(slice::from_mut(&mut self.whitening), [0; 16]);
        wipe(&mut self.rounds, [0; 16]);
    }
}

impl<const ROUNDS: usize> core::fmt::Debug for Aes<ROUNDS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Aes(..)")
    }
}

/// The round keys on a level.
#[derive(Clone, Copy)]
pub struct Keys<'a, I: Isa, const ROUNDS: usize> {
    whitening: I::V,
    rounds: I::Keys<'a, ROUNDS>,
}

impl<const ROUNDS: usize> Aes<ROUNDS> {
    /// The first `ROUNDS + 1` round keys of AES with a key of 16, 24 or 32 bytes.
    pub(crate) fn expand(key: &[u8], level: Level) -> Self {
        level.run(Expand::<ROUNDS> { key })
    }

    /// As [`expand`](Aes::expand), within a kernel.
    #[inline(always)]
    pub(crate) fn expand_in<I: Isa>(isa: I, key: &[u8]) -> Self {
        Expand { key }.run(isa)
    }

    /// Prepares the round keys for a level.
    #[inline(always)]
    pub(crate) fn prepare<I: Isa>(&self, isa: I) -> Keys<'_, I, ROUNDS> {
        Keys { whitening: isa.splat(&self.whitening), rounds: isa.keys(&self.rounds) }
    }
}

impl<I: Isa, const ROUNDS: usize> Keys<'_, I, ROUNDS> {
    /// The first round key.
    #[inline(always)]
    pub(crate) fn whitening(&self) -> I::V {
        self.whitening
    }

    /// All rounds, on blocks to which the first round key was already added.
    #[inline(always)]
    pub(crate) fn rounds<const N: usize>(&self, isa: I, x: [I::V; N]) -> [I::V; N] {
        isa.aes_rounds(&self.rounds, x)
    }

    /// As [`rounds`](Keys::rounds), and xors each result with its `next`, which is added to the
    /// last round key while the other rounds run.
    #[inline(always)]
    pub(crate) fn chained_rounds<const N: usize>(
        &self,
        isa: I,
        x: [I::V; N],
        next: [I::V; N],
    ) -> [I::V; N] {
        if !I::AES_INSTRUCTIONS {
            let mut y = self.rounds(isa, x);
            for (y, next) in y.iter_mut().zip(next) {
                *y = isa.xor(*y, next);
            }
            return y;
        }
        let mut x = isa.aes_first_rounds(&self.rounds, x);
        let key = isa.key(&self.rounds, ROUNDS - 1);
        for (x, next) in x.iter_mut().zip(next) {
            *x = isa.aes_last(*x, isa.xor(key, next));
        }
        x
    }

    /// As [`rounds`](Keys::rounds), and xors all results into `sum`. In an unrolled loop the sum
    /// replaces the last round key, so that adding is free; an even number of last round keys
    /// cancel out. Two accumulators: a single chain would be bound by the latency of the last
    /// round.
    #[inline(always)]
    pub(crate) fn add_rounds<const N: usize>(&self, isa: I, sum: I::V, x: [I::V; N]) -> I::V {
        if !I::AES_INSTRUCTIONS || N < 8 || !N.is_multiple_of(4) {
            let x = self.rounds(isa, x);
            return x.into_iter().fold(
                sum,
                #[inline(always)]
                |sum, x| isa.xor(sum, x),
            );
        }
        let x = isa.aes_first_rounds(&self.rounds, x);
        let mut sums = [sum, isa.splat(&[0; 16])];
        for (i, x) in x.into_iter().enumerate() {
            sums[i % 2] = isa.aes_last(x, sums[i % 2]);
        }
        isa.xor(sums[0], sums[1])
    }
}

/// The next round constant: this one times x in AES's field.
#[inline(always)]
pub(crate) fn next_rcon(rcon: u8) -> u8 {
    (rcon << 1) ^ ((rcon >> 7) * 0x1b)
}

struct Expand<'a, const ROUNDS: usize> {
    key: &'a [u8],
}

impl<const ROUNDS: usize> Kernel for Expand<'_, ROUNDS> {
    const LEVELS: Levels = Levels::Narrow;
    type Out = Aes<ROUNDS>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Aes<ROUNDS> {
        let (isa, key) = (isa.narrow(), self.key);
        let mut aes = Aes { whitening: [0; 16], rounds: [[0; 16]; ROUNDS] };
        let (blocks, half) = key.as_chunks();
        let (first, last) = (isa.splat(&blocks[0]), isa.splat(&blocks[blocks.len() - 1]));
        let mut rcon = 1u8;
        let mut next = |before, last, turned: bool| {
            let next = isa.next_key_words(before, last, turned.then_some(rcon));
            if turned {
                rcon = next_rcon(rcon);
            }
            next
        };
        aes.whitening = blocks[0];
        if half.is_empty() {
            // Each round key depends on the previous one, or on the previous two.
            let two = blocks.len() == 2;
            let (mut before, mut last) = (first, last);
            for (i, round) in aes.rounds.iter_mut().enumerate() {
                if two && i == 0 {
                    *round = blocks[1];
                    continue;
                }
                let key = next(before, last, !two || i % 2 == 1);
                *round = isa.lane0(key);
                (before, last) = (if two { last } else { key }, key);
            }
            return aes;
        }
        // Keys of 24 bytes: six words depend on the previous six, the last two of them without
        // SubWord.
        let mut words = [[0; 4]; 4 * 15];
        words[..6].copy_from_slice(key.as_chunks().0);
        let four = |words: &[[u8; 4]]| isa.load(words[..4].as_flattened());
        for i in (6..4 * (ROUNDS + 1)).step_by(6) {
            let key = next(four(&words[i - 6..]), four(&words[i - 4..]), true);
            words[i..i + 4].as_flattened_mut().copy_from_slice(&isa.lane0(key));
            for i in i + 4..i + 6 {
                words[i] = CipherBlock::xor(&words[i - 6], &words[i - 1]);
            }
        }
        let (_, rounds) = words.as_flattened()[..16 * (ROUNDS + 1)].split_at(16);
        aes.rounds.as_flattened_mut().copy_from_slice(rounds);
        wipe(&mut words, [0; 4]);
        aes
    }
}

macro_rules! aes {
    ($aes:ty, $keys:ident[$($rounds:literal)?], $name:literal, $key:literal, $answers:ident) => {
        impl Cipher for $aes {
            const NAME: &'static str = $name;
            const KEY_BYTES: usize = $key;
            const HAS_NARROW_PATH: bool = true;
            const KNOWN_ANSWERS: Option<&'static KnownAnswers> = Some(&crate::cipher::known_answers::$answers);
            type Block = Block;
            type Key = [u8; $key];
            const LEVELS: Levels = Levels::All;
            type Lanes<I: Isa> = I;
            type Keys<'a, I: Isa> = $keys<'a, I $(, $rounds)?>;
            type Sum<'a, I: Isa> = I::V;

            fn new(key: &[u8; $key], level: Level) -> Self {
                <$aes>::expand(key, level)
            }

            #[inline(always)]
            fn new_in<I: Isa>(isa: I, key: &[u8; $key], _level: Level) -> Self {
                <$aes>::expand_in(isa, key)
            }

            #[inline(always)]
            fn lanes<I: Isa>(isa: I) -> I {
                isa
            }

            #[inline(always)]
            fn keys<I: Isa>(&self, isa: I) -> Self::Keys<'_, I> {
                self.prepare(isa)
            }

            #[inline(always)]
            fn whiten<I: Isa>(isa: I, keys: &Self::Keys<'_, I>, mask: I::V) -> I::V {
                isa.xor(mask, keys.whitening())
            }

            #[inline(always)]
            fn encrypt_whitened<I: Isa, const N: usize>(
                isa: I,
                keys: &Self::Keys<'_, I>,
                x: [I::V; N],
            ) -> [I::V; N] {
                keys.rounds(isa, x)
            }

            #[inline(always)]
            fn encrypt_chained<I: Isa, const N: usize>(
                isa: I,
                keys: &Self::Keys<'_, I>,
                x: [I::V; N],
                next: [I::V; N],
            ) -> [I::V; N] {
                keys.chained_rounds(isa, x, next)
            }

            #[inline(always)]
            fn sum<'a, I: Isa>(isa: I, _keys: &Self::Keys<'a, I>) -> I::V
            where
                Self: 'a,
            {
                isa.splat(&[0; 16])
            }

            #[inline(always)]
            fn add_whitened<'a, I: Isa, const N: usize>(
                isa: I,
                keys: &Self::Keys<'a, I>,
                sum: &mut I::V,
                x: [I::V; N],
            ) where
                Self: 'a,
            {
                *sum = keys.add_rounds(isa, *sum, x);
            }

            #[inline(always)]
            fn add_whitened_lanes<'a, I: Isa>(
                isa: I,
                keys: &Self::Keys<'a, I>,
                sum: &mut I::V,
                x: I::V,
                n: usize,
            ) where
                Self: 'a,
            {
                let [x] = keys.rounds(isa, [x]);
                *sum = isa.xor(*sum, isa.keep_lanes(x, n));
            }

            #[inline(always)]
            fn finish<'a, I: Isa>(
                isa: I,
                _keys: &Self::Keys<'a, I>,
                sum: &mut I::V,
            ) -> V<Self, I::Narrow>
            where
                Self: 'a,
            {
                isa.xor_lanes(*sum)
            }
        }
    };
}
use aes;

aes!(Aes<10>, Keys[10], "AES128", 16, AES128);
aes!(Aes<12>, Keys[12], "AES192", 24, AES192);
aes!(Aes<14>, Keys[14], "AES256", 32, AES256);

impl<const ROUNDS: usize> Decrypt for Aes<ROUNDS>
where
    Self: Cipher<Block = Block>,
{
    #[inline(always)]
    fn decrypt_one<I: Isa>(&self, isa: I, block: &Block) -> Block {
        self.inverse(isa, block)
    }
}
