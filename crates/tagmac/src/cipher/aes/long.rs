//! AES-192 and AES-256 as one cipher, for programs with every MAC. It costs a branch and needs only
//! one set of kernels. AES-256 starts with two additional rounds.

use super::{Aes, Keys, aes};
use crate::cipher::known_answers::KnownAnswers;
use crate::cipher::traits::{Cipher, V};
use crate::isa::{Block, Isa, Level, Levels};
use crate::wipe::wipe;

/// AES with 12 or 14 rounds.
#[derive(Clone)]
pub struct LongAes {
    /// A flag: non-zero for AES-256. It is a block like the other fields, because padding would
    /// keep old stack contents.
    has_first: Block,
    first: [Block; 2],
    rest: Aes<12>,
}

impl Drop for LongAes {
    #[inline(never)]
    fn drop(&mut self) {
        wipe(&mut self.first, [0; 16]);
    }
}

impl From<Aes<12>> for LongAes {
    fn from(rest: Aes<12>) -> Self {
        LongAes { has_first: [0; 16], first: [[0; 16]; 2], rest }
    }
}

impl From<Aes<14>> for LongAes {
    fn from(aes: Aes<14>) -> Self {
        let mut long = LongAes::from(Aes { whitening: aes.whitening, rounds: [[0; 16]; 12] });
        long.has_first = [1; 16];
        long.first.copy_from_slice(&aes.rounds[..2]);
        long.rest.rounds.copy_from_slice(&aes.rounds[2..]);
        long
    }
}

/// The round keys on a level.
#[derive(Clone, Copy)]
pub struct LongKeys<'a, I: Isa> {
    has_first: bool,
    first: I::Keys<'a, 2>,
    rest: Keys<'a, I, 12>,
}

impl LongAes {
    /// The key schedule of AES-256.
    fn expand(key: &[u8], level: Level) -> Self {
        Aes::<14>::expand(key, level).into()
    }

    /// As [`expand`](LongAes::expand), within a kernel.
    #[inline(always)]
    fn expand_in<I: Isa>(isa: I, key: &[u8]) -> Self {
        Aes::<14>::expand_in(isa, key).into()
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I) -> LongKeys<'_, I> {
        let (has_first, first) = (self.has_first[0] != 0, isa.keys(&self.first));
        LongKeys { has_first, first, rest: self.rest.prepare(isa) }
    }
}

impl<I: Isa> LongKeys<'_, I> {
    #[inline(always)]
    fn whitening(&self) -> I::V {
        self.rest.whitening()
    }

    /// The two additional first rounds of AES-256.
    #[inline(always)]
    fn first_rounds<const N: usize>(&self, isa: I, mut x: [I::V; N]) -> [I::V; N] {
        if self.has_first {
            for r in 0..2 {
                let key = isa.key(&self.first, r);
                for x in &mut x {
                    *x = isa.aes(*x, key);
                }
            }
        }
        x
    }

    #[inline(always)]
    fn rounds<const N: usize>(&self, isa: I, x: [I::V; N]) -> [I::V; N] {
        self.rest.rounds(isa, self.first_rounds(isa, x))
    }

    #[inline(always)]
    fn chained_rounds<const N: usize>(&self, isa: I, x: [I::V; N], next: [I::V; N]) -> [I::V; N] {
        self.rest.chained_rounds(isa, self.first_rounds(isa, x), next)
    }

    #[inline(always)]
    fn add_rounds<const N: usize>(&self, isa: I, sum: I::V, x: [I::V; N]) -> I::V {
        self.rest.add_rounds(isa, sum, self.first_rounds(isa, x))
    }
}

aes!(LongAes, LongKeys[], "AES256", 32, AES256);
