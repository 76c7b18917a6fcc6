//! Universal hashes that the UMAC paper names besides NH (sections 1.3, 3 and 4.3), on words of w =
//! 32 bits. A key is as long as the message.
//!
//! ```text
//! NH      = sum of ((m_1 + k_1) mod 2^w) ((m_2 + k_2) mod 2^w) ..      mod 2^2w
//! MH      = sum of m_i k_i                                             mod 2^2w
//! MMH     = MH                                         mod p           mod 2^w
//! NMH     = NH                                         mod p           mod 2^w
//! NMH*    = sum of (m_1 + k_1) (m_2 + k_2) ..          mod p
//! square  = sum of (m_i + k_i)^2                       mod p
//! ```
//!
//! The hashes of its related work, and EliMAC's multilinear hash, are on bytes.
//!
//! p = 2^32 + 15 is the first prime above 2^w. The paper says that MH is MMH without its last two
//! reductions, and NH is NMH without them. p is that of Halevi and Krawczyk (FSE 1997), and the
//! square hash that of Etzel, Patel and Ramzan (CRYPTO 1999), both as remembered.

use tagmac::cipher::CipherBlock;

use crate::field::times;

/// The first prime above 2^32.
pub const P: u64 = (1 << 32) + 15;

/// A word: a number, or its bytes, lowest first.
pub trait Word: Copy {
    /// Returns the number.
    fn number(self) -> u32;
}

impl Word for u32 {
    #[inline(always)]
    fn number(self) -> u32 {
        self
    }
}

impl Word for [u8; 4] {
    #[inline(always)]
    fn number(self) -> u32 {
        u32::from_le_bytes(self)
    }
}

/// Returns pairs of words with their pairs of keys. NH and its relatives need an even number of
/// words.
#[inline(always)]
fn pairs<W: Word>(key: &[W], message: &[W]) -> impl Iterator<Item = ([u32; 2], [u32; 2])> {
    let ((key, []), (message, [])) = (key.as_chunks(), message.as_chunks()) else {
        panic!("the number of words must be even, found {}", message.len())
    };
    assert_eq!(key.len(), message.len(), "key and message must have the same number of words");
    message.iter().map(|m: &[W; 2]| m.map(W::number)).zip(key.iter().map(|k| k.map(W::number)))
}

/// Returns words with their keys.
#[inline(always)]
fn words<W: Word>(key: &[W], message: &[W]) -> impl Iterator<Item = (u64, u64)> {
    assert_eq!(key.len(), message.len(), "key and message must have the same number of words");
    message.iter().zip(key).map(|(m, k)| (u64::from(m.number()), u64::from(k.number())))
}

/// Returns a sum modulo 2^64.
#[inline(always)]
fn sum(terms: impl Iterator<Item = u64>) -> u64 {
    terms.fold(0, u64::wrapping_add)
}

/// Applies the last two reductions of MMH and NMH.
#[inline(always)]
fn reduce(sum: u64) -> u32 {
    (sum % P) as u32
}

/// Returns MH, which is MMH without its last two reductions.
#[inline(always)]
pub fn mh<W: Word>(key: &[W], message: &[W]) -> u64 {
    sum(words(key, message).map(|(m, k)| m * k))
}

/// Returns MMH.
#[inline(always)]
pub fn mmh<W: Word>(key: &[W], message: &[W]) -> u32 {
    reduce(mh(key, message))
}

/// Returns NH.
#[inline(always)]
pub fn nh<W: Word>(key: &[W], message: &[W]) -> u64 {
    nh_variant(key, message, Inner::AddMod, Outer::Add)
}

/// Returns NMH.
#[inline(always)]
pub fn nmh<W: Word>(key: &[W], message: &[W]) -> u32 {
    reduce(nh(key, message))
}

/// Returns NMH*, with all arithmetic modulo p.
#[inline(always)]
pub fn nmh_star<W: Word>(key: &[W], message: &[W]) -> u64 {
    let term = |m: u32, k: u32| u128::from(m) + u128::from(k);
    let terms = pairs(key, message).map(|(m, k)| term(m[0], k[0]) * term(m[1], k[1]));
    (terms.fold(0, |sum, term| (sum + term) % u128::from(P))) as u64
}

/// Returns the square hash.
#[inline(always)]
pub fn square_hash<W: Word>(key: &[W], message: &[W]) -> u64 {
    let square = |(m, k): (u64, u64)| u128::from(m + k).pow(2);
    words(key, message).map(square).fold(0, |sum, term| (sum + term) % u128::from(P)) as u64
}

/// NH's operation on a word and its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// (m + k) mod 2^w, as NH does.
    AddMod,
    /// m + k, which keeps the bound (section 4.3).
    Add,
    /// m xor k, which breaks the bound.
    Xor,
}

/// NH's sum of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outer {
    /// Modulo 2^2w, as NH does.
    Add,
    /// Xor, which breaks the bound.
    Xor,
}

/// Returns NH, or a variant of it (section 4.3).
#[inline(always)]
pub fn nh_variant<W: Word>(key: &[W], message: &[W], inner: Inner, outer: Outer) -> u64 {
    let join = |m: u32, k: u32| match inner {
        Inner::AddMod => u64::from(m.wrapping_add(k)),
        Inner::Add => u64::from(m) + u64::from(k),
        Inner::Xor => u64::from(m ^ k),
    };
    let terms = pairs(key, message).map(|(m, k)| join(m[0], k[0]).wrapping_mul(join(m[1], k[1])));
    match outer {
        Outer::Add => sum(terms),
        Outer::Xor => terms.fold(0, |sum, term| sum ^ term),
    }
}

/// Returns the multilinear hash of Gilbert, MacWilliams and Sloane (EliMAC, section 1.2): the sum
/// of K_i M_i over GF(2^128), in PMAC's field. The key is as long as the message.
pub fn multilinear(key: &[u8], message: &[u8]) -> [u8; 16] {
    let (keys, blocks) = (key.as_chunks::<16>().0, message.as_chunks::<16>().0);
    keys.iter().zip(blocks).fold([0; 16], |sum, (key, block)| sum.xor(&times(key, block)))
}

/// Returns Bernstein's hash127: r^(n+1) + m_1 r^n + .. + m_n r mod 2^127 - 1. The m_i are signed
/// words of 32 bits and r is a number below 2^127, all with the lowest byte first.
pub fn hash127(key: &[u8; 16], message: &[u8]) -> [u8; 16] {
    const P: u128 = (1 << 127) - 1;
    let add = |a: u128, b: u128| (a + b) % P;
    // By doubling, because a product of two 127-bit numbers fits no type.
    let times = |a: u128, b: u128| {
        (0..127).rev().fold(0, |sum, bit| {
            let doubled = add(sum, sum);
            if b >> bit & 1 == 1 { add(doubled, a) } else { doubled }
        })
    };
    let r = (u128::from_le_bytes(*key) & P) % P;
    let sum = message.as_chunks().0.iter().fold(r, |sum, word: &[u8; 4]| {
        let word = i128::from(i32::from_le_bytes(*word)).rem_euclid(P as i128) as u128;
        times(add(sum, word), r)
    });
    sum.to_le_bytes()
}

/// Returns Krawczyk's cryptographic CRC (CRYPTO 1994): M(x) x^64 mod p(x), highest bit first. The
/// key is p without its leading term. The theorem requires an irreducible p, which is not checked
/// here.
pub fn cryptographic_crc(key: &[u8; 8], message: &[u8]) -> [u8; 8] {
    let p = u64::from_be_bytes(*key);
    let sum = message.iter().fold(0u64, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte) << 56, |crc, _| {
            crc << 1 ^ (p & (crc >> 63).wrapping_neg())
        })
    });
    sum.to_be_bytes()
}

/// Buckets of [`bucket_hash`]. The paper has 140 or more; here there are few, so that the value
/// fits into a tag.
const BUCKETS: usize = 8;

/// Returns Rogaway's bucket hash (CRYPTO 1995): each word is xored into three different buckets.
/// The word of the key is the index of their triple, mod 56. The key is as long as the message.
pub fn bucket_hash(key: &[u8], message: &[u8]) -> [u8; 4 * BUCKETS] {
    let triples: Vec<[usize; 3]> = (0..BUCKETS)
        .flat_map(|a| (a + 1..BUCKETS).flat_map(move |b| (b + 1..BUCKETS).map(move |c| [a, b, c])))
        .collect();
    let mut buckets = [[0; 4]; BUCKETS];
    for (key, word) in key.as_chunks().0.iter().zip(message.as_chunks::<4>().0) {
        for bucket in triples[u32::from_le_bytes(*key) as usize % triples.len()] {
            buckets[bucket].iter_mut().zip(word).for_each(|(byte, more)| *byte ^= more);
        }
    }
    let mut value = [0; 4 * BUCKETS];
    value.copy_from_slice(buckets.as_flattened());
    value
}
