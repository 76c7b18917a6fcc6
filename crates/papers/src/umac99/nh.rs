//! NH and NHS (sections 4.2 and 4.4): with message words m and key words k of w bits,
//!
//! ```text
//! NH  = sum over pairs (a, b) of (m_a + k_a mod 2^w) (m_b + k_b mod 2^w)  mod 2^2w
//! ```
//!
//! NHS interprets the sums as signed numbers. Pairs are neighbours, or (j, j + 4) in each group of
//! eight words. The product of a pair is a clause.
//!
//! The definition is a plain loop for all parameters. The pairs of the paper's named sets have fast
//! code. Neighbours of 32 bits are the halves of a 64-bit word, multiplied by one instruction.
//! Strided pairs of 16 bits are at the same position in two vectors; one instruction, designed for
//! audio and image filters, multiplies two pairs and adds the products. Streams share the message's
//! loads (Toeplitz).

use tagmac::isa::Words;

use super::shape::{MAX_UNIT_BYTES, NhShape};

/// The word of `W` bits in the first bytes of `p`. Words of four bits have one byte each.
#[inline(always)]
fn word<const W: usize>(p: &[u8], big_endian: bool) -> u64 {
    let mut bytes = [0; 8];
    let n = W.div_ceil(8);
    bytes[..n].copy_from_slice(&p[..n]);
    if big_endian { u64::from_be_bytes(bytes) >> (64 - 8 * n) } else { u64::from_le_bytes(bytes) }
}

/// A number mod 2^W, up to 2^W, or if `signed` from -2^(W-1).
#[inline(always)]
fn taken<const W: usize>(x: u64, signed: bool) -> i128 {
    let above = 64 - W;
    if signed { (((x << above) as i64) >> above) as i128 } else { ((x << above) >> above) as i128 }
}

/// The product of two sums of words, mod 2^128.
#[inline(always)]
fn clause<const W: usize>(a: u64, b: u64, signed: bool) -> u128 {
    taken::<W>(a, signed).wrapping_mul(taken::<W>(b, signed)) as u128
}

/// The clauses of one group of words: two words, or eight with strides.
#[inline(always)]
fn group<const W: usize>(shape: &NhShape, key: &[u8], words: [u64; 8]) -> u128 {
    let mut sums = words;
    for (sum, key) in sums.iter_mut().zip(key[..shape.unit_bytes()].chunks_exact(W.div_ceil(8))) {
        *sum = sum.wrapping_add(word::<W>(key, shape.big_endian));
    }
    if !shape.strided {
        return clause::<W>(sums[0], sums[1], shape.signed);
    }
    let mut sum = 0u128;
    for j in 0..4 {
        sum = sum.wrapping_add(clause::<W>(sums[j], sums[j + 4], shape.signed));
    }
    sum
}

/// NH of whole groups, mod 2^128, by the definition.
#[inline(always)]
fn plain<const W: usize>(shape: &NhShape, key: &[u8], data: &[u8]) -> u128 {
    let bytes = shape.unit_bytes();
    let mut sum = 0u128;
    for (key, data) in key.chunks_exact(bytes).zip(data.chunks_exact(bytes)) {
        let mut words = [0; 8];
        for (word, data) in words.iter_mut().zip(data.chunks_exact(W.div_ceil(8))) {
            *word = self::word::<W>(data, shape.big_endian);
        }
        sum = sum.wrapping_add(group::<W>(shape, key, words));
    }
    sum
}

/// An implementation of NH for words of `W` bits.
pub(super) trait Family: Copy {
    const W: usize;
    /// Returns the parameters, with constants for those that the family fixes, so that compilers
    /// see them.
    fn known(shape: &NhShape) -> NhShape;

    /// NH of whole groups, by the definition.
    #[inline(always)]
    fn plain(self, shape: &NhShape, key: &[u8], data: &[u8]) -> u128 {
        match Self::W {
            4 => plain::<4>(shape, key, data),
            16 => plain::<16>(shape, key, data),
            32 => plain::<32>(shape, key, data),
            _ => plain::<64>(shape, key, data),
        }
    }

    /// The clauses of one group of words, by the definition.
    #[inline(always)]
    fn group(self, shape: &NhShape, key: &[u8], words: [u64; 8]) -> u128 {
        match Self::W {
            4 => group::<4>(shape, key, words),
            16 => group::<16>(shape, key, words),
            32 => group::<32>(shape, key, words),
            _ => group::<64>(shape, key, words),
        }
    }
}

/// A family with the arithmetic `A`: the words of a level, or none.
pub(super) trait Sums<A>: Family {
    /// NH of whole groups in `T` streams, correct mod 2^2w.
    fn sums<const T: usize>(self, a: A, shape: &NhShape, key: &[u8], data: &[u8]) -> [u128; T];
}

/// By the definition, for all parameters.
#[derive(Clone, Copy)]
pub(super) struct Plain<const W: usize>;

impl<const W: usize> Family for Plain<W> {
    const W: usize = W;

    #[inline(always)]
    fn known(shape: &NhShape) -> NhShape {
        NhShape { word_bits: W, ..*shape }
    }
}

impl<const W: usize> Sums<()> for Plain<W> {
    #[inline(always)]
    fn sums<const T: usize>(self, _: (), shape: &NhShape, key: &[u8], data: &[u8]) -> [u128; T] {
        let mut sums = [0; T];
        for (s, sum) in sums.iter_mut().enumerate() {
            *sum = plain::<W>(shape, &key[s * shape.shift_bytes()..], data);
        }
        sums
    }
}

/// The pairing of two vectors of message and key.
pub(super) trait Pairs: Copy {
    const W: usize;
    const SIGNED: bool;
    const STRIDED: bool;
    /// The shift between the keys of neighbouring streams in bytes: a group.
    const SHIFT: usize;
    /// Loads two vectors of message or key.
    fn load<A: Words>(a: A, p: &[u8]) -> (A::W, A::W);
    /// Their clauses, added up within each position of a vector.
    fn clauses<A: Words>(a: A, m: (A::W, A::W), k: (A::W, A::W)) -> A::W;
    fn add<A: Words>(a: A, x: A::W, y: A::W) -> A::W;
    /// The sum of all positions, mod 2^2w in its low bits.
    fn fold<A: Words>(a: A, sum: A::W) -> u64;
}

/// Neighbouring words of 32 bits.
#[derive(Clone, Copy)]
pub(super) struct Neighbours32<const SIGNED: bool>;

impl<const SIGNED: bool> Pairs for Neighbours32<SIGNED> {
    const W: usize = 32;
    const SIGNED: bool = SIGNED;
    const STRIDED: bool = false;
    const SHIFT: usize = 8;

    #[inline(always)]
    fn load<A: Words>(a: A, p: &[u8]) -> (A::W, A::W) {
        let (low, high) = p.split_at(16 * A::LANES);
        (a.blocks(low), a.blocks(high))
    }

    #[inline(always)]
    fn clauses<A: Words>(a: A, m: (A::W, A::W), k: (A::W, A::W)) -> A::W {
        let (x, y) = (a.add32(m.0, k.0), a.add32(m.1, k.1));
        if SIGNED {
            a.add(a.mul32_signed(x, a.high32(x)), a.mul32_signed(y, a.high32(y)))
        } else {
            a.add(a.mul32(x, a.high32(x)), a.mul32(y, a.high32(y)))
        }
    }

    #[inline(always)]
    fn add<A: Words>(a: A, x: A::W, y: A::W) -> A::W {
        a.add(x, y)
    }

    #[inline(always)]
    fn fold<A: Words>(a: A, sum: A::W) -> u64 {
        a.sum(sum)
    }
}

/// Signed words of 16 bits, strided. A group is a block of 16 bytes, and its halves are multiplied.
#[derive(Clone, Copy)]
pub(super) struct Strided16;

impl Pairs for Strided16 {
    const W: usize = 16;
    const SIGNED: bool = true;
    const STRIDED: bool = true;
    const SHIFT: usize = 16;

    #[inline(always)]
    fn load<A: Words>(a: A, p: &[u8]) -> (A::W, A::W) {
        a.deinterleave(p)
    }

    #[inline(always)]
    fn clauses<A: Words>(a: A, m: (A::W, A::W), k: (A::W, A::W)) -> A::W {
        a.madd16(a.add16(m.0, k.0), a.add16(m.1, k.1))
    }

    #[inline(always)]
    fn add<A: Words>(a: A, x: A::W, y: A::W) -> A::W {
        a.add32(x, y)
    }

    #[inline(always)]
    fn fold<A: Words>(a: A, sum: A::W) -> u64 {
        a.sum(a.add32(sum, a.high32(sum)))
    }
}

/// Vector code for streams with keys one group apart. Blocks of the first level have `N` words, or
/// any number if `N` is 0.
#[derive(Clone, Copy)]
pub(super) struct Fast<P, const W: usize, const N: usize>(pub(super) P);

impl<P: Pairs, const W: usize, const N: usize> Family for Fast<P, W, N> {
    const W: usize = W;

    #[inline(always)]
    fn known(shape: &NhShape) -> NhShape {
        NhShape {
            word_bits: W,
            words: if N == 0 { shape.words } else { N },
            signed: P::SIGNED,
            strided: P::STRIDED,
            big_endian: false,
            shift: 8 * P::SHIFT / W,
            ..*shape
        }
    }
}

impl<A: Words, P: Pairs, const W: usize, const N: usize> Sums<A> for Fast<P, W, N> {
    #[inline(always)]
    fn sums<const T: usize>(self, a: A, shape: &NhShape, key: &[u8], data: &[u8]) -> [u128; T] {
        const { assert!(P::W == W && W <= 32, "the pairs have words of this size, and sums of 64 bits") };
        let (mut words, whole) = vectors::<A, P, T>(a, key, data);
        let (mut key, mut data) = (&key[whole..], &data[whole..]);
        if data.len() >= 32 {
            let (narrow, whole) = vectors::<A::Narrow, P, T>(a.narrow(), key, data);
            for (word, narrow) in words.iter_mut().zip(narrow) {
                *word = word.wrapping_add(narrow);
            }
            (key, data) = (&key[whole..], &data[whole..]);
        }
        if !data.is_empty() {
            for (s, word) in words.iter_mut().enumerate() {
                *word = word.wrapping_add(plain::<W>(shape, &key[s * P::SHIFT..], data) as u64);
            }
        }
        let mut sums = [0; T];
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = word as u128;
        }
        sums
    }
}

/// The sums of all whole pairs of vectors, and their length in bytes.
#[inline(always)]
fn vectors<A: Words, P: Pairs, const T: usize>(a: A, key: &[u8], data: &[u8]) -> ([u64; T], usize) {
    let step = 32 * A::LANES;
    let keys = step + P::SHIFT * (T - 1);
    let mut sums = [a.splat(0); T];
    for (i, data) in data.chunks_exact(step).enumerate() {
        let m = P::load(a, data);
        let key = &key[i * step..][..keys];
        for (s, sum) in sums.iter_mut().enumerate() {
            let k = P::load(a, &key[s * P::SHIFT..][..step]);
            *sum = P::add(a, *sum, P::clauses(a, m, k));
        }
    }
    let mut folded = [0; T];
    for (folded, sum) in folded.iter_mut().zip(sums) {
        *folded = P::fold(a, sum);
    }
    (folded, data.len() / step * step)
}

/// NH of 1 byte up to a block of the first level, padded with zeros to whole groups, in `T`
/// streams: mod 2^2w.
#[inline(always)]
pub(super) fn level<F: Sums<A>, A, const T: usize>(
    family: F,
    a: A,
    shape: &NhShape,
    key: &[u8],
    data: &[u8],
) -> [u128; T] {
    let (whole, last) = data.split_at(data.len() / shape.unit_bytes() * shape.unit_bytes());
    let mut sums: [u128; T] = family.sums(a, shape, key, whole);
    if !last.is_empty() {
        let mut padded = [0; MAX_UNIT_BYTES];
        padded[..last.len()].copy_from_slice(last);
        let (padded, key) = (&padded[..shape.unit_bytes()], &key[whole.len()..]);
        for (s, sum) in sums.iter_mut().enumerate() {
            *sum = sum.wrapping_add(family.plain(shape, &key[s * shape.shift_bytes()..], padded));
        }
    }
    for sum in &mut sums {
        *sum &= u128::MAX >> (128 - 2 * F::W);
    }
    sums
}
