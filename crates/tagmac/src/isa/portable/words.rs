//! Words in plain arrays. The loops are short, so that compilers turn them into the vectors that
//! every CPU of the target has.

use crate::isa::{Block, Words};

/// Two words.
#[derive(Clone, Copy)]
pub struct PortableWords;

type W = [u64; 2];

/// Applies `f` to each pair of words.
#[inline(always)]
fn each(a: W, b: W, f: impl Fn(u64, u64) -> u64) -> W {
    [f(a[0], b[0]), f(a[1], b[1])]
}

impl crate::sealed::Sealed for PortableWords {}

impl Words for PortableWords {
    const LANES: usize = 1;
    const HAS_VECTOR_MUL: bool = false;
    const MUL52: bool = false;
    type W = W;
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    fn splat(self, x: u64) -> W {
        [x; 2]
    }

    #[inline(always)]
    fn first(self, x: u64) -> W {
        [x, 0]
    }

    #[inline(always)]
    fn store(self, a: W, p: &mut [u64]) {
        p.copy_from_slice(&a);
    }

    #[inline(always)]
    fn lane0(self, a: W) -> Block {
        ((a[1] as u128) << 64 | a[0] as u128).to_le_bytes()
    }

    #[inline(always)]
    fn blocks(self, p: &[u8]) -> W {
        let ([low, high], []) = p.as_chunks() else { unreachable!("one block") };
        [u64::from_le_bytes(*low), u64::from_le_bytes(*high)]
    }

    #[inline(always)]
    fn even_odd(self, p: &[u8]) -> (W, W) {
        let (even, odd) = p.split_at(16);
        (self.blocks(even), self.blocks(odd))
    }

    #[inline(always)]
    fn deinterleave(self, p: &[u8]) -> (W, W) {
        let (a, b) = self.even_odd(p);
        self.deinterleave_pair(a, b)
    }

    #[inline(always)]
    fn deinterleave_pair(self, a: W, b: W) -> (W, W) {
        ([a[0], b[0]], [a[1], b[1]])
    }

    #[inline(always)]
    fn deinterleave_numbers(self, p: &[u128]) -> (W, W) {
        let [a, b] = p else { unreachable!("two blocks") };
        ([*a as u64, *b as u64], [(a >> 64) as u64, (b >> 64) as u64])
    }

    #[inline(always)]
    fn interleave_numbers(self, (low, high): (W, W), p: &mut [u128]) {
        for ((low, high), p) in low.into_iter().zip(high).zip(p) {
            *p = (high as u128) << 64 | low as u128;
        }
    }

    #[inline(always)]
    fn and(self, a: W, b: W) -> W {
        each(a, b, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, a: W, b: W) -> W {
        each(a, b, |a, b| a | b)
    }

    #[inline(always)]
    fn add(self, a: W, b: W) -> W {
        each(a, b, u64::wrapping_add)
    }

    #[inline(always)]
    fn add32(self, a: W, b: W) -> W {
        each(a, b, |a, b| {
            let low = (a as u32).wrapping_add(b as u32);
            let high = ((a >> 32) as u32).wrapping_add((b >> 32) as u32);
            low as u64 | (high as u64) << 32
        })
    }

    #[inline(always)]
    fn mul32(self, a: W, b: W) -> W {
        each(a, b, |a, b| a as u32 as u64 * (b as u32 as u64))
    }

    #[inline(always)]
    fn high32(self, a: W) -> W {
        self.shr(a, 32)
    }

    #[inline(always)]
    fn shl(self, a: W, n: u32) -> W {
        a.map(|a| a << n)
    }

    #[inline(always)]
    fn shr(self, a: W, n: u32) -> W {
        a.map(|a| a >> n)
    }

    #[inline(always)]
    fn sum_lanes(self, a: W) -> W {
        a
    }

    #[inline(always)]
    fn sum(self, a: W) -> u64 {
        a[0].wrapping_add(a[1])
    }

    #[inline(always)]
    fn add16(self, a: W, b: W) -> W {
        // The high bit of each field is added separately, so that carries stay within the field.
        const LOW: u64 = 0x7fff_7fff_7fff_7fff;
        each(a, b, |a, b| ((a & LOW) + (b & LOW)) ^ (a ^ b) & !LOW)
    }

    #[inline(always)]
    fn madd16(self, a: W, b: W) -> W {
        each(a, b, |a, b| {
            let product = |n| (a >> n) as i16 as i32 * (b >> n) as i16 as i32;
            let low = product(0).wrapping_add(product(16)) as u32;
            let high = product(32).wrapping_add(product(48)) as u32;
            low as u64 | (high as u64) << 32
        })
    }

    #[inline(always)]
    fn mul32_signed(self, a: W, b: W) -> W {
        each(a, b, |a, b| (a as i32 as i64 * b as i32 as i64) as u64)
    }

    #[inline(always)]
    fn xor(self, a: W, b: W) -> W {
        each(a, b, |a, b| a ^ b)
    }

    #[inline(always)]
    fn and_not(self, a: W, b: W) -> W {
        each(a, b, |a, b| a & !b)
    }

    #[inline(always)]
    fn load(self, p: &[u64]) -> W {
        [p[0], p[1]]
    }

    #[inline(always)]
    fn swap_bytes(self, a: W) -> W {
        [a[0].swap_bytes(), a[1].swap_bytes()]
    }
}
