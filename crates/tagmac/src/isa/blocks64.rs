//! Blocks of eight bytes in vectors of words: lanes for bitsliced ciphers.

use super::{BitSlices, Isa, Lanes, MAX_WORDS, SMALL, Words};
use crate::sealed::Sealed;

/// A block of eight bytes in each word of the level's vectors.
#[derive(Clone, Copy)]
pub struct Blocks64<I>(I);

impl<I: Isa> Blocks64<I> {
    /// Returns the lanes of a level.
    #[inline(always)]
    pub fn new(isa: I) -> Self {
        Blocks64(isa)
    }

    /// The blocks of a vector as little-endian numbers, followed by zeros.
    #[inline(always)]
    fn numbers(self, a: <I::Words as Words>::W) -> [u64; MAX_WORDS] {
        let mut numbers = [0; MAX_WORDS];
        self.0.words().store(a, &mut numbers[..Self::LANES]);
        numbers
    }

    /// The inverse of `numbers`.
    #[inline(always)]
    fn load_numbers(self, numbers: &[u64; MAX_WORDS]) -> <I::Words as Words>::W {
        self.0.words().load(&numbers[..Self::LANES])
    }
}

impl<I: Isa> Sealed for Blocks64<I> {}

impl<I: Isa> Lanes for Blocks64<I> {
    const LANES: usize = 2 * I::Words::LANES;
    /// Enough for 8 to 32 blocks, and a divisor of the blocks in a mode's calls. 1 where code must
    /// be small.
    const UNROLL: usize = if Self::LANES < MAX_WORDS && !SMALL { 8 } else { 1 };
    type Block = [u8; 8];
    type V = <I::Words as Words>::W;
    type Counter = Self::V;
    /// The distance in bits to shift a counter, so that its low bytes come first after the bytes
    /// are swapped.
    type CounterLayout = u32;
    /// The length of pieces in bytes.
    type Stride = usize;
    type Narrow = Blocks64<I::One>;

    #[inline(always)]
    fn narrow(self) -> Blocks64<I::One> {
        Blocks64(self.0.narrow())
    }

    #[inline(always)]
    fn splat(self, b: &[u8; 8]) -> Self::V {
        self.0.words().splat(u64::from_le_bytes(*b))
    }

    #[inline(always)]
    fn load(self, p: &[u8]) -> Self::V {
        self.0.words().blocks(p)
    }

    #[inline(always)]
    fn load_lanes(self, p: &[u8]) -> Self::V {
        let mut numbers = [0; MAX_WORDS];
        for (number, block) in numbers[..Self::LANES].iter_mut().zip(p.as_chunks().0) {
            *number = u64::from_le_bytes(*block);
        }
        self.load_numbers(&numbers)
    }

    #[inline(always)]
    fn store_lanes(self, a: Self::V, p: &mut [u8]) {
        let numbers = self.numbers(a);
        for (block, number) in p.as_chunks_mut().0.iter_mut().zip(&numbers[..Self::LANES]) {
            *block = number.to_le_bytes();
        }
    }

    #[inline(always)]
    fn keep_lanes(self, a: Self::V, n: usize) -> Self::V {
        let mut numbers = self.numbers(a);
        numbers[n..].fill(0);
        self.load_numbers(&numbers)
    }

    #[inline(always)]
    fn set_last_lane(self, b: &[u8; 8]) -> Self::V {
        let mut numbers = [0; MAX_WORDS];
        numbers[Self::LANES - 1] = u64::from_le_bytes(*b);
        self.load_numbers(&numbers)
    }

    #[inline(always)]
    fn lane0(self, a: Self::V) -> [u8; 8] {
        self.numbers(a)[0].to_le_bytes()
    }

    #[inline(always)]
    fn xor_lanes(self, a: Self::V) -> <<I::One as Isa>::Words as Words>::W {
        let numbers = self.numbers(a);
        let xor = numbers.iter().fold(0, |xor, number| xor ^ number);
        self.narrow().splat(&xor.to_le_bytes())
    }

    #[inline(always)]
    fn xor(self, a: Self::V, b: Self::V) -> Self::V {
        self.0.words().xor(a, b)
    }

    #[inline(always)]
    fn counter(self, first: u64) -> Self::V {
        let words = self.0.words();
        words.add(words.splat(first), self.load_numbers(&[0, 1, 2, 3, 4, 5, 6, 7]))
    }

    #[inline(always)]
    fn advance(self, c: Self::V) -> Self::V {
        let words = self.0.words();
        words.add(c, words.splat(Self::LANES as u64))
    }

    #[inline(always)]
    fn be_prefix(self, bytes: usize) -> u32 {
        64 - 8 * bytes as u32
    }

    #[inline(always)]
    fn encode_counter(self, c: Self::V, layout: u32) -> Self::V {
        let words = self.0.words();
        words.swap_bytes(words.shl(c, layout))
    }

    #[inline(always)]
    fn stride(self, step: usize) -> usize {
        step
    }

    #[inline(always)]
    fn load_strided<const N: usize>(self, data: &[u8], at: usize, step: usize) -> [Self::V; N] {
        let words = self.0.words();
        let mut x = [words.splat(0); N];
        for (v, x) in x.iter_mut().enumerate() {
            *x = words.pieces(data, at + v * Self::LANES * step, step);
        }
        x
    }

    #[inline(always)]
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, step: usize) -> Self::V {
        let mut pieces = [0; 8 + 8 * MAX_WORDS];
        pieces[8..8 + n * step].copy_from_slice(&data[at..at + n * step]);
        self.0.words().pieces(&pieces, 8, step)
    }
}
