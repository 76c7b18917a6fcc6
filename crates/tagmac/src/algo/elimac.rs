//! EliMAC-AES (Dobraunig, Mennink, Neves, "EliMAC: Speeding Up LightMAC by around 20%", 2023;
//! Algorithm 1 and section 6).
//!
//! For M = M_1 .. M_l in blocks of 128 bits, of which the last has 0 to 127 bits:
//!
//! ```text
//! S   = I(H(K1, 1), M_1) ^ .. ^ I(H(K1, l-1), M_{l-1})
//! Tag = first t bits of AES_K2(S ^ (M_l || 10*))
//! H(K, i) = AES7_K(<i>)        I(K, M) = AES4_0(K ^ M)
//! ```
//!
//! AES_a is AES with `a` rounds, the last without MixColumns, under the first a + 1 round keys;
//! `<i>` is the 32-bit big-endian i four times. Fast because a block costs 11 rounds, and 4 where
//! the subkey H(K1, i) is cached: subkeys do not depend on the message.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

#[cfg(feature = "alloc")]
use zeroize::Zeroize;

use super::xor::{self, Adder, Numbered, Terms, Truncation, XorDigest, XorSum};
use crate::bits::Bits;
use crate::cipher::{Aes, Aes128, Cipher, Keys};
use crate::error::{Error, silent};
use crate::hash::Hash;
#[cfg(feature = "alloc")]
use crate::isa::Kernel;
use crate::isa::{Block, Isa, Lanes, Level};
use crate::mac::{Mac, deterministic};
use crate::tag::Tag;

/// `<i>`: the counter's low four bytes, high byte first, four times.
const FORM: Block = [3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0];

/// Blocks before the last one: i is a positive 32-bit number.
const MAX_BLOCKS: u64 = (1 << 32) - 1;

/// The most bits of a message: a last block that is not full after them.
pub(crate) const LIMIT_BITS: u64 = (MAX_BLOCKS + 1) * 128 - 1;

/// EliMAC-AES under a key.
///
/// Deterministic; tags of 1 to 128 bits; messages shorter than 2^36 bytes. The two keys must be
/// independent. The fastest of the
/// xor MACs on long messages once its subkeys are cached.
///
/// ```
/// use tagmac::EliMac;
/// let mac = EliMac::new(&[1; 16], &[2; 16]);
/// let tag = mac.tag(b"message")?;
/// assert_eq!(mac.with_cache(4096).tag(b"message")?, tag);
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct EliMac {
    h: Aes<7>,
    i: Aes<4>,
    e: Aes128,
    level: Level,
    truncation: Truncation<Block>,
    /// H(K1, i) from i = 1.
    #[cfg(feature = "alloc")]
    subkeys: Vec<Block>,
}

impl Drop for EliMac {
    fn drop(&mut self) {
        #[cfg(feature = "alloc")]
        self.subkeys.zeroize();
    }
}

impl EliMac {
    /// EliMAC-AES128 on the best rung of this CPU.
    pub fn new(k1: &[u8; 16], k2: &[u8; 16]) -> Self {
        EliMac::on(k1, k2, Level::best())
    }

    /// EliMAC-AES128 on a rung of your choice.
    pub fn on(k1: &[u8; 16], k2: &[u8; 16], level: Level) -> Self {
        EliMac {
            h: Aes::expand(k1, level),
            i: Aes::expand(&[0; 16], level),
            e: Aes128::new(k2, level),
            level,
            truncation: Truncation::none(),
            #[cfg(feature = "alloc")]
            subkeys: Vec::new(),
        }
    }

    /// The same key with tags of the first `bits` bits, 1 to 128.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
        self.truncation = Truncation::to(bits)?;
        Ok(self)
    }

    /// The same key with the subkeys of the first `message_bytes` of a message kept, 16 bytes for
    /// each 16 bytes, allocated at once. Tags do not change.
    #[cfg(feature = "alloc")]
    pub fn with_cache(mut self, message_bytes: usize) -> Self {
        let blocks = (message_bytes / 16).min(MAX_BLOCKS as usize);
        self.subkeys.zeroize();
        self.subkeys = alloc::vec![[0; 16]; blocks];
        self.level.run(FillCache { h: &self.h, subkeys: self.subkeys.as_flattened_mut() });
        self
    }
}

deterministic!(EliMac);
silent!(EliMac);

/// Fills the cache, vector by vector.
#[cfg(feature = "alloc")]
struct FillCache<'a> {
    h: &'a Aes<7>,
    subkeys: &'a mut [u8],
}

#[cfg(feature = "alloc")]
impl Kernel for FillCache<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let mut source = Computed { h: self.h, i: 1 };
        let ready = source.ready(isa);
        for subkeys in self.subkeys.chunks_mut(16 * I::LANES) {
            let [last] = source.next(isa, &ready);
            isa.store_lanes(last, subkeys);
        }
    }
}

/// Where subkeys come from.
trait Subkeys {
    /// What a rung needs to make them.
    type Ready<I: Isa>: Copy;
    /// Prepares a rung.
    fn ready<I: Isa>(&self, isa: I) -> Self::Ready<I>;
    /// Those of the next `N * LANES` blocks.
    fn next<I: Isa, const N: usize>(&mut self, isa: I, ready: &Self::Ready<I>) -> [I::V; N];
    /// Those of the next `n` blocks, at most `LANES`; the other lanes do not matter.
    fn next_lanes<I: Isa>(&mut self, isa: I, ready: &Self::Ready<I>, n: usize) -> I::V;
}

/// H(K1, i) on the fly.
struct Computed<'a> {
    h: &'a Aes<7>,
    i: u64,
}

impl<'a> Subkeys for Computed<'a> {
    type Ready<I: Isa> = (Keys<'a, I, 7>, I::Form);

    #[inline(always)]
    fn ready<I: Isa>(&self, isa: I) -> Self::Ready<I> {
        (self.h.on(isa), isa.form(&FORM))
    }

    #[inline(always)]
    fn next<I: Isa, const N: usize>(&mut self, isa: I, (keys, form): &Self::Ready<I>) -> [I::V; N] {
        let mut counter = isa.counter(self.i);
        let mut x = [keys.whitening(); N];
        for x in &mut x {
            *x = isa.xor(*x, isa.encode(counter, *form));
            counter = isa.advance(counter);
        }
        self.i += (N * I::LANES) as u64;
        keys.rounds(isa, x)
    }

    #[inline(always)]
    fn next_lanes<I: Isa>(&mut self, isa: I, ready: &Self::Ready<I>, n: usize) -> I::V {
        let first = self.i;
        let [subkeys] = self.next(isa, ready);
        self.i = first + n as u64;
        subkeys
    }
}

/// H(K1, i) from the cache.
#[cfg(feature = "alloc")]
struct Cached<'a>(&'a [Block]);

#[cfg(feature = "alloc")]
impl Subkeys for Cached<'_> {
    type Ready<I: Isa> = ();

    #[inline(always)]
    fn ready<I: Isa>(&self, _isa: I) {}

    #[inline(always)]
    fn next<I: Isa, const N: usize>(&mut self, isa: I, _ready: &()) -> [I::V; N] {
        let (now, rest) = self.0.split_at(I::LANES * N);
        self.0 = rest;
        let now = now.as_flattened();
        let mut x = [isa.splat(&[0; 16]); N];
        for (v, x) in x.iter_mut().enumerate() {
            *x = isa.load(&now[16 * I::LANES * v..][..16 * I::LANES]);
        }
        x
    }

    #[inline(always)]
    fn next_lanes<I: Isa>(&mut self, isa: I, _ready: &(), n: usize) -> I::V {
        let (now, rest) = self.0.split_at(n);
        self.0 = rest;
        isa.load_lanes(now.as_flattened())
    }
}

/// The terms I(H(K1, i), M_i).
struct EliTerms<'a, S> {
    i: &'a Aes<4>,
    subkeys: S,
    data: &'a [u8],
}

impl<'a, S: Subkeys> Terms for EliTerms<'a, S> {
    type Lanes<I: Isa> = I;
    type Ready<I: Isa> = (Keys<'a, I, 4>, S::Ready<I>);
    type Sum<I: Isa> = I::V;

    #[inline(always)]
    fn on<I: Isa>(isa: I) -> I {
        isa
    }

    #[inline(always)]
    fn sum<I: Isa>(isa: I, _ready: &Self::Ready<I>) -> I::V {
        isa.splat(&[0; 16])
    }

    #[inline(always)]
    fn total<I: Isa>(isa: I, _ready: &Self::Ready<I>, sum: I::V) -> <I::Narrow as Lanes>::V {
        isa.fold(sum)
    }

    #[inline(always)]
    fn ready<I: Isa>(&self, isa: I) -> Self::Ready<I> {
        (self.i.on(isa), self.subkeys.ready(isa))
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(
        &mut self,
        isa: I,
        (keys, subkeys): &Self::Ready<I>,
        sum: &mut I::V,
    ) {
        let (now, rest) = self.data.split_at(16 * I::LANES * N);
        self.data = rest;
        let mut x: [I::V; N] = self.subkeys.next(isa, subkeys);
        for (v, x) in x.iter_mut().enumerate() {
            // The zero key's first round key is zero.
            *x = isa.xor(*x, isa.load(&now[16 * I::LANES * v..][..16 * I::LANES]));
        }
        *sum = keys.add_rounds(isa, *sum, x);
    }

    #[inline(always)]
    fn add_lanes<I: Isa>(
        &mut self,
        isa: I,
        (keys, subkeys): &Self::Ready<I>,
        sum: &mut I::V,
        n: usize,
    ) {
        let (now, rest) = self.data.split_at(16 * n);
        self.data = rest;
        let x = isa.xor(self.subkeys.next_lanes(isa, subkeys, n), isa.load_lanes(now));
        let [x] = keys.rounds(isa, [x]);
        *sum = isa.xor(*sum, isa.keep_lanes(x, n));
    }
}

impl Numbered for EliTerms<'_, Computed<'_>> {
    #[inline(always)]
    fn number(&self) -> u64 {
        self.subkeys.i
    }

    #[inline(always)]
    fn places<I: Isa>(&self, isa: I, (_, (_, form)): &Self::Ready<I>) -> [I::V; 8] {
        xor::places(isa, *form)
    }

    #[inline(always)]
    fn add_group<I: Isa>(
        &mut self,
        isa: I,
        (keys, (subkeys, _)): &Self::Ready<I>,
        places: &[I::V; 8],
        sum: &mut I::V,
    ) {
        let (now, rest) = self.data.split_at(16 * I::LANES * 8);
        self.data = rest;
        let first = isa
            .xor(xor::number(isa, self.subkeys.i, isa.narrow().form(&FORM)), subkeys.whitening());
        self.subkeys.i += 8 * I::LANES as u64;
        let mut x = *places;
        for x in &mut x {
            *x = isa.xor(*x, first);
        }
        let mut x = subkeys.rounds(isa, x);
        for (v, x) in x.iter_mut().enumerate() {
            *x = isa.xor(*x, isa.load(&now[16 * I::LANES * v..][..16 * I::LANES]));
        }
        *sum = keys.add_rounds(isa, *sum, x);
    }
}

impl Hash for EliMac {
    type Sum = XorSum;
    type Digest = XorDigest;
    type Held = Block;
    const BITS: bool = true;
    const HOLDS_LAST: bool = false;

    #[inline(always)]
    fn level(&self) -> Level {
        self.level
    }

    #[inline(always)]
    fn block(&self) -> usize {
        16
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        LIMIT_BITS
    }

    #[inline(always)]
    fn empty(&self) -> XorSum {
        XorSum::EMPTY
    }

    #[inline(always)]
    fn held(&self) -> Block {
        [0; 16]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sum: &mut XorSum, at: u64, blocks: &[u8]) {
        let first = at / 16;
        #[cfg(feature = "alloc")]
        let (first, blocks) = {
            let cached = self.subkeys.get(first as usize..).unwrap_or_default();
            let (now, later) = blocks.split_at(blocks.len().min(16 * cached.len()));
            if !now.is_empty() {
                let terms = EliTerms { i: &self.i, subkeys: Cached(cached), data: now };
                let mut adder = Adder::new(isa, terms);
                adder.all(now.len() / 16);
                debug_assert!(adder.terms.data.is_empty());
                adder.add_to(sum);
            }
            (first + now.len() as u64 / 16, later)
        };
        if !blocks.is_empty() {
            let subkeys = Computed { h: &self.h, i: first + 1 };
            let mut adder = Adder::new(isa, EliTerms { i: &self.i, subkeys, data: blocks });
            adder.numbered(blocks.len() / 16);
            debug_assert!(adder.terms.data.is_empty());
            adder.add_to(sum);
        }
    }

    #[inline(always)]
    fn join(&self, left: &mut XorSum, right: &XorSum) {
        left.join(right);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sum: &XorSum, _at: u64, tail: Bits<'_>) -> XorDigest {
        XorDigest(isa.narrow().first_lane(sum.with_last(isa, tail)))
    }
}

impl Mac for EliMac {
    type Hash = Self;
    type Nonce = ();
    type Pad = ();

    #[inline(always)]
    fn hash(&self) -> &Self {
        self
    }

    fn tag_bits(&self) -> usize {
        self.truncation.bits()
    }

    #[inline(always)]
    fn seal<I: Isa>(&self, isa: I, _nonce: &(), _pad: &mut (), digest: XorDigest) -> Tag {
        self.truncation.seal(isa, &self.e, &digest)
    }
}
