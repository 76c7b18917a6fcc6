//! L3-HASH (RFC 4418, section 5.4): 16 bytes to 4 in each stream.

use crate::isa::{Words, opaque_word};

/// 2^36 - 5.
const P36: u64 = (1 << 36) - 5;

/// A stream's keys: eight numbers mod 2^36 - 5, and the bytes that hide the result.
#[derive(Clone, Copy)]
pub(super) struct L3Key {
    k1: [u64; 8],
    k2: u32,
}

/// A number mod 2^36 - 5, from any.
#[inline(always)]
fn reduced(a: u64) -> u64 {
    // 2^36 = 5 mod p; what is above fits in 28 bits, so one fold leaves less than 2p.
    let a = (a & ((1 << 36) - 1)) + 5 * (a >> 36);
    let less_p = a.wrapping_sub(P36);
    let below = (less_p >> 63).wrapping_neg();
    less_p ^ (less_p ^ a) & below
}

impl L3Key {
    pub(super) const ZERO: L3Key = L3Key { k1: [0; 8], k2: 0 };

    pub(super) fn new(k1: &[u8; 64], k2: &[u8; 4]) -> L3Key {
        let mut key = L3Key { k1: [0; 8], k2: u32::from_be_bytes(*k2) };
        for (number, bytes) in key.k1.iter_mut().zip(k1.as_chunks().0) {
            *number = reduced(u64::from_be_bytes(*bytes));
        }
        key
    }

    /// The hash of `high 2^64 + low`.
    #[inline(always)]
    pub(super) fn hash(&self, high: u64, low: u64) -> u32 {
        let [k1, k2, k3, k4, ..] = self.k1;
        self.finish(dot(high, [k1, k2, k3, k4]) + self.dot_low(low))
    }

    /// The hash of a number below 2^64.
    #[inline(always)]
    pub(super) fn hash_low(&self, low: u64) -> u32 {
        self.finish(self.dot_low(low))
    }

    /// As [`hash_low`](L3Key::hash_low) in each word.
    #[inline(always)]
    pub(super) fn hash_low_each<A: Words>(&self, a: A, low: A::W) -> A::W {
        let [.., k5, k6, k7, k8] = self.k1;
        let keys = [a.splat(k5), a.splat(k6), a.splat(k7), a.splat(k8)];
        hash_words(a, low, keys, a.splat(self.k2 as u64))
    }

    /// As [`hash_low`](L3Key::hash_low), under the first key in the first word of a vector of two, and
    /// under the second key in the second.
    #[inline(always)]
    pub(super) fn hash_low_pair<A: Words>(a: A, [one, other]: [&L3Key; 2], low: A::W) -> A::W {
        let [.., one5, one6, one7, one8] = one.k1;
        let [.., other5, other6, other7, other8] = other.k1;
        let (k5, k6) = a.deinterleave_pair(a.load(&[one5, one6]), a.load(&[other5, other6]));
        let (k7, k8) = a.deinterleave_pair(a.load(&[one7, one8]), a.load(&[other7, other8]));
        hash_words(a, low, [k5, k6, k7, k8], a.load(&[one.k2 as u64, other.k2 as u64]))
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

/// The sum of four 16-bit words, highest first, times keys: below 2^54.
#[inline(always)]
fn dot(words: u64, k: [u64; 4]) -> u64 {
    // Gathered in a vector they take longer.
    opaque_word(words >> 48) * k[0]
        + opaque_word(words >> 32 & 0xffff) * k[1]
        + opaque_word(words >> 16 & 0xffff) * k[2]
        + (words & 0xffff) * k[3]
}

/// As [`L3Key::hash_low`] in each word, with the words' keys.
#[inline(always)]
fn hash_words<A: Words>(a: A, low: A::W, k1: [A::W; 4], k2: A::W) -> A::W {
    let sixteen = a.splat(0xffff);
    let words = [
        a.shr(low, 48),
        a.and(a.shr(low, 32), sixteen),
        a.and(a.shr(low, 16), sixteen),
        a.and(low, sixteen),
    ];
    // Keys have 36 bits: the low 32 and the others.
    let mut halves = [(a.splat(0), a.splat(0)); 2];
    for (i, (word, k)) in words.into_iter().zip(k1).enumerate() {
        let (sum, high) = &mut halves[i % 2];
        *sum = a.add(*sum, a.mul32(word, k));
        *high = a.add(*high, a.mul32(word, a.high32(k)));
    }
    let [(one, one_high), (other, other_high)] = halves;
    let high = a.shl(a.add(one_high, other_high), 32);
    let sum = a.add(a.add(one, other), high);
    // As `reduced`.
    let over = a.shr(sum, 36);
    let sum = a.add(a.and(sum, a.splat((1 << 36) - 1)), a.add(over, a.shl(over, 2)));
    let less_p = a.add(sum, a.splat(P36.wrapping_neg()));
    // All ones where that is negative.
    let below = a.xor(a.add(a.shr(less_p, 63), a.splat(u64::MAX)), a.splat(u64::MAX));
    let sum = a.or(a.and(sum, below), a.and_not(less_p, below));
    a.xor(a.and(sum, a.splat(u32::MAX as u64)), k2)
}
