//! L3-HASH (RFC 4418, section 5.4), from 16 bytes to 4 in each stream.

use crate::isa::{Words, opaque_word};

/// 2^36 - 5.
const P36: u64 = (1 << 36) - 5;

/// A stream's keys: eight numbers mod 2^36 - 5, and the bytes that mask the result.
#[derive(Clone, Copy)]
pub(super) struct L3Key {
    /// The first four are reduced when they are used, which only messages over 16 MiB do.
    k1: [u64; 8],
    k2: u32,
}

/// Reduces any number mod 2^36 - 5.
#[inline(always)]
fn reduced(a: u64) -> u64 {
    // 2^36 = 5 mod p. The part from bit 36 has 28 bits, so one fold results in less than 2p.
    let a = (a & ((1 << 36) - 1)) + 5 * (a >> 36);
    let less_p = a.wrapping_sub(P36);
    let below = (less_p >> 63).wrapping_neg();
    less_p ^ (less_p ^ a) & below
}

impl L3Key {
    pub(super) const ZERO: L3Key = L3Key { k1: [0; 8], k2: 0 };

    pub(super) fn new(k1: &[u8; 64], k2: &[u8; 4]) -> L3Key {
        let mut key = L3Key { k1: [0; 8], k2: u32::from_be_bytes(*k2) };
        for (i, (number, bytes)) in key.k1.iter_mut().zip(k1.as_chunks().0).enumerate() {
            *number = u64::from_be_bytes(*bytes);
            if i >= 4 {
                *number = reduced(*number);
            }
        }
        key
    }

    /// Sets numbers 4 and 5, or 6 and 7, which messages of up to 16 MiB need.
    #[inline(always)]
    pub(super) fn set_low(&mut self, pair: usize, k1: &[u8; 16]) {
        for (number, bytes) in self.k1[4 + 2 * pair..].iter_mut().zip(k1.as_chunks().0) {
            *number = reduced(u64::from_be_bytes(*bytes));
        }
    }

    #[inline(always)]
    pub(super) fn set_k2(&mut self, k2: &[u8; 4]) {
        self.k2 = u32::from_be_bytes(*k2);
    }

    /// The hash of `high 2^64 + low`.
    #[inline(always)]
    pub(super) fn hash(&self, high: u64, low: u64) -> u32 {
        let [k1, k2, k3, k4, ..] = self.k1;
        let high = dot(high, [reduced(k1), reduced(k2), reduced(k3), reduced(k4)]);
        self.finish(high + self.dot_low(low))
    }

    /// The hash of a number below 2^64.
    #[inline(always)]
    pub(super) fn hash_low(&self, low: u64) -> u32 {
        self.finish(self.dot_low(low))
    }

    /// As [`hash_low`](L3Key::hash_low), without vectors. For one or two streams vectors have a
    /// higher throughput but a longer latency.
    #[inline(always)]
    pub(super) fn hash_low_in_words(&self, low: u64) -> u32 {
        let [.., k5, k6, k7, k8] = self.k1;
        let [a, b, c] = [48, 32, 16].map(|at| opaque_word(low >> at & 0xffff));
        self.finish(a * k5 + b * k6 + c * k7 + (low & 0xffff) * k8)
    }

    /// As [`hash_low`](L3Key::hash_low), in each word.
    #[inline(always)]
    pub(super) fn hash_low_each<A: Words>(&self, a: A, low: A::W) -> A::W {
        let [.., k5, k6, k7, k8] = self.k1;
        let sixteen = a.splat(0xffff);
        let words = [
            a.shr(low, 48),
            a.and(a.shr(low, 32), sixteen),
            a.and(a.shr(low, 16), sixteen),
            a.and(low, sixteen),
        ];
        // Keys have 36 bits: the low 32 and the other 4.
        let (mut sum, mut high) = (a.splat(0), a.splat(0));
        for (word, k) in words.into_iter().zip([k5, k6, k7, k8]) {
            sum = a.add(sum, a.mul32(word, a.splat(k)));
            high = a.add(high, a.mul32(word, a.splat(k >> 32)));
        }
        let sum = a.add(sum, a.shl(high, 32));
        // As `reduced`.
        let over = a.shr(sum, 36);
        let sum = a.add(a.and(sum, a.splat((1 << 36) - 1)), a.add(over, a.shl(over, 2)));
        let less_p = a.add(sum, a.splat(P36.wrapping_neg()));
        // All ones where `less_p` is negative.
        let below = a.xor(a.add(a.shr(less_p, 63), a.splat(u64::MAX)), a.splat(u64::MAX));
        let sum = a.or(a.and(sum, below), a.and_not(less_p, below));
        a.xor(a.and(sum, a.splat(u32::MAX as u64)), a.splat(self.k2 as u64))
    }

    #[inline(always)]
    fn dot_low(&self, low: u64) -> u64 {
        let [.., k5, k6, k7, k8] = self.k1;
        dot(low, [k5, k6, k7, k8])
    }

    #[inline(always)]
    fn finish(&self, sum: u64) -> u32 {
        reduced(sum) as u32 ^ self.k2
    }
}

/// The sum of four 16-bit words, highest first, times their keys: below 2^54.
#[inline(always)]
fn dot(words: u64, k: [u64; 4]) -> u64 {
    (words >> 48) * k[0]
        + (words >> 32 & 0xffff) * k[1]
        + (words >> 16 & 0xffff) * k[2]
        + (words & 0xffff) * k[3]
}
