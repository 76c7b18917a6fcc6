//! AES (FIPS-197) over lanes: `ROUNDS + 1` round keys, of which the first is added outside.
//!
//! The key schedule needs no table: SubBytes of a word is the last round, with the zero key, of
//! the block that holds the word four times, because ShiftRows leaves such a block alone.

mod inverse;
#[cfg(feature = "dynamic")]
mod long;

use zeroize::Zeroize;

use super::known_answers::KnownAnswers;
use super::traits::{Cipher, Decrypt, V};
use crate::isa::{Block, Dispatch, Isa, Kernel, Lanes, Level, NarrowLevel};

#[cfg(feature = "dynamic")]
pub(crate) use long::LongAes;

/// AES with `ROUNDS` rounds. Fewer rounds than the standard's are the first rounds' keys with a
/// last round that has no MixColumns.
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
        self.whitening.zeroize();
        self.rounds.zeroize();
    }
}

impl<const ROUNDS: usize> core::fmt::Debug for Aes<ROUNDS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Aes(..)")
    }
}

/// Round keys on a level.
#[derive(Clone, Copy)]
pub struct Keys<'a, I: Isa, const ROUNDS: usize> {
    whitening: I::V,
    rounds: I::Keys<'a, ROUNDS>,
}

impl<const ROUNDS: usize> Aes<ROUNDS> {
    /// The first `ROUNDS + 1` round keys of AES with a key of 16, 24 or 32 bytes.
    pub(crate) fn expand(key: &[u8], level: Level) -> Self {
        let mut aes = Aes { whitening: [0; 16], rounds: [[0; 16]; ROUNDS] };
        NarrowLevel::from(level).run(Expand { key, aes: &mut aes });
        aes
    }

    /// The round keys on a level.
    #[inline(always)]
    pub(crate) fn on<I: Isa>(&self, isa: I) -> Keys<'_, I, ROUNDS> {
        Keys { whitening: isa.splat(&self.whitening), rounds: isa.keys(&self.rounds) }
    }
}

impl<I: Isa, const ROUNDS: usize> Keys<'_, I, ROUNDS> {
    /// The first round key.
    #[inline(always)]
    pub(crate) fn whitening(&self) -> I::V {
        self.whitening
    }

    /// All rounds on blocks to which the first round key was added.
    #[inline(always)]
    pub(crate) fn rounds<const N: usize>(&self, isa: I, x: [I::V; N]) -> [I::V; N] {
        isa.aes_rounds(&self.rounds, x)
    }

    /// As [`rounds`](Keys::rounds), each xored with its `next`, which is added to the last round key
    /// while the other rounds run.
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

    /// As [`rounds`](Keys::rounds), all xored into `sum`. In a flight the sum stands in the place
    /// of the last round key, so that adding costs nothing; an even number of last keys cancel out.
    /// Two chains, because each step waits for the one before, and so long that only what follows
    /// hides it.
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

struct Expand<'a, const ROUNDS: usize> {
    key: &'a [u8],
    aes: &'a mut Aes<ROUNDS>,
}

impl<const ROUNDS: usize> Kernel for Expand<'_, ROUNDS> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let isa = isa.narrow();
        let zero = isa.splat(&[0; 16]);
        let sub_word = |word: u32| -> u32 {
            let word = word as u128;
            let four = word | word << 32 | word << 64 | word << 96;
            let block = isa.lane0(isa.aes_last(isa.splat(&four.to_le_bytes()), zero));
            u128::from_le_bytes(block) as u32
        };
        // FIPS-197, section 5.2, on words in little-endian order. `last` holds the Nk words before
        // the next one, at place i mod Nk.
        let nk = self.key.len() / 4;
        let mut last = [0u32; 8];
        for (word, bytes) in last.iter_mut().zip(self.key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let mut rcon = 1u32;
        for i in 0..4 * (ROUNDS + 1) {
            let place = i % nk;
            if i >= nk {
                let mut word = last[(i - 1) % nk];
                if place == 0 {
                    word = sub_word(word.rotate_right(8)) ^ rcon;
                    rcon = (rcon << 1) ^ ((rcon >> 7) * 0x11b);
                } else if nk > 6 && place == 4 {
                    word = sub_word(word);
                }
                last[place] ^= word;
            }
            let block = match i / 4 {
                0 => &mut self.aes.whitening,
                r => &mut self.aes.rounds[r - 1],
            };
            block[4 * (i % 4)..][..4].copy_from_slice(&last[place].to_le_bytes());
        }
        last.zeroize();
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
            type Levels = Level;
            type Lanes<I: Isa> = I;
            type Keys<'a, I: Isa> = $keys<'a, I $(, $rounds)?>;
            type Sum<'a, I: Isa> = I::V;

            fn new(key: &[u8; $key], level: Level) -> Self {
                <$aes>::expand(key, level)
            }

            #[inline(always)]
            fn lanes<I: Isa>(isa: I) -> I {
                isa
            }

            #[inline(always)]
            fn keys<I: Isa>(&self, isa: I) -> Self::Keys<'_, I> {
                self.on(isa)
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
#[cfg(feature = "dynamic")]
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
