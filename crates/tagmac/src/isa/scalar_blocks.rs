//! Single blocks: lanes for ciphers that are plain functions of bytes.

use core::marker::PhantomData;

use super::{CipherBlock, Lanes};
use crate::sealed::Sealed;

/// One block of type B per vector, on any CPU.
#[derive(Clone, Copy)]
pub struct ScalarBlocks<B>(PhantomData<B>);

impl<B> ScalarBlocks<B> {
    /// Returns the lanes, which every CPU has.
    #[inline(always)]
    pub fn new() -> Self {
        ScalarBlocks(PhantomData)
    }
}

impl<B> Default for ScalarBlocks<B> {
    fn default() -> Self {
        ScalarBlocks::new()
    }
}

impl<B: CipherBlock> Sealed for ScalarBlocks<B> {}

impl<B: CipherBlock> Lanes for ScalarBlocks<B> {
    const LANES: usize = 1;
    const UNROLL: usize = 8;
    type Block = B;
    type V = B;
    type Counter = u64;
    /// The distance in bits to shift a counter, so that its low bytes come first in eight bytes.
    type CounterLayout = u32;
    /// The length of pieces in bytes, and ones in the bytes of a block that they fill.
    type Stride = (usize, B);
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    fn splat(self, b: &B) -> B {
        *b
    }

    #[inline(always)]
    fn load(self, p: &[u8]) -> B {
        let mut b = B::ZERO;
        b.as_mut().copy_from_slice(p);
        b
    }

    #[inline(always)]
    fn load_lanes(self, p: &[u8]) -> B {
        if p.is_empty() { B::ZERO } else { self.load(p) }
    }

    #[inline(always)]
    fn store_lanes(self, a: B, p: &mut [u8]) {
        if let Some(p) = p.get_mut(..B::BYTES) {
            p.copy_from_slice(a.as_ref());
        }
    }

    #[inline(always)]
    fn keep_lanes(self, a: B, n: usize) -> B {
        if n == 0 { B::ZERO } else { a }
    }

    #[inline(always)]
    fn set_last_lane(self, b: &B) -> B {
        *b
    }

    #[inline(always)]
    fn lane0(self, a: B) -> B {
        a
    }

    #[inline(always)]
    fn xor_lanes(self, a: B) -> B {
        a
    }

    #[inline(always)]
    fn xor(self, a: B, b: B) -> B {
        a.xor(&b)
    }

    #[inline(always)]
    fn counter(self, first: u64) -> u64 {
        first
    }

    #[inline(always)]
    fn advance(self, c: u64) -> u64 {
        c.wrapping_add(1)
    }

    #[inline(always)]
    fn be_prefix(self, bytes: usize) -> u32 {
        64 - 8 * bytes as u32
    }

    #[inline(always)]
    fn encode_counter(self, c: u64, layout: u32) -> B {
        let (mut b, bytes) = (B::ZERO, B::BYTES.min(8));
        b.as_mut()[..bytes].copy_from_slice(&(c << layout).to_be_bytes()[..bytes]);
        b
    }

    #[inline(always)]
    fn stride(self, step: usize) -> (usize, B) {
        let before = B::first_ones(8 * (B::BYTES - step));
        (step, before.xor(&B::first_ones(8 * B::BYTES)))
    }

    #[inline(always)]
    fn load_strided<const N: usize>(
        self,
        data: &[u8],
        at: usize,
        (step, piece): (usize, B),
    ) -> [B; N] {
        let data = &data[at + step - B::BYTES..at + N * step];
        let mut x = [B::ZERO; N];
        for (i, x) in x.iter_mut().enumerate() {
            *x = self.load(&data[i * step..][..B::BYTES]).and(&piece);
        }
        x
    }

    #[inline(always)]
    fn load_strided_lanes(self, data: &[u8], at: usize, n: usize, (step, _): (usize, B)) -> B {
        let mut b = B::ZERO;
        b.as_mut()[B::BYTES - n * step..].copy_from_slice(&data[at..at + n * step]);
        b
    }
}
