//! LightMAC (Luykx, Preneel, Tischhauser, Yasuda, "A MAC Mode for Lightweight Block Ciphers",
//! 2016; equation (8)).
//!
//! With an s-bit counter, n = 128 and M = M_1 .. M_l in blocks of n - s bits, of which the last
//! has 0 to n - s - 1 bits:
//!
//! ```text
//! V   = E_K1(1_s || M_1) ^ .. ^ E_K1((l-1)_s || M_{l-1})
//! Tag = first t bits of E_K2(V ^ (M_l || 10*))
//! ```
//!
//! i_s is the big-endian s-bit integer; block number 2^s is written 0^s. Messages are at most
//! 2^s (n - s) bits long. Fast because a vector's pieces of n - s bits come by one load and one
//! permutation of bytes, and its counters by one addition and one shuffle.

use super::xor::{self, Adder, Numbered, Terms, Truncation, XorDigest, XorSum};
use crate::bits::Bits;
use crate::cipher::{Aes128, Aes192, Aes256, Cipher};
use crate::error::{Error, silent};
use crate::hash::Hash;
use crate::isa::{Block, Isa, Level, ZERO};
use crate::mac::{Mac, deterministic};
use crate::tag::Tag;

/// LightMAC under a key, with a counter of s bits.
///
/// Deterministic; tags of 1 to 128 bits. The two keys must be independent. A short counter is faster and limits the message to
/// 2^s (128 - s) bits; the number of tags that a key may give hardly depends on their messages'
/// lengths.
///
/// ```
/// use tagmac::LightMac;
/// let mac = LightMac::aes128(&[1; 16], &[2; 16], 32)?;
/// let tag = mac.tag(b"message")?;
/// assert!(mac.verify(b"message", &tag).is_ok());
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct LightMac<C: Cipher> {
    k1: C,
    k2: C,
    level: Level,
    truncation: Truncation,
    counter_bytes: usize,
}

/// The most bits of a message with a counter of `s` bits: 2^s (128 - s), where that is a `u64`.
pub(crate) const fn limit_bits(s: usize) -> u64 {
    let bits = (128 - s as u128) << s;
    if bits > u64::MAX as u128 { u64::MAX } else { bits as u64 }
}

impl LightMac<Aes128> {
    /// LightMAC-AES128 with a counter of `s` bits on the best rung of this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is a multiple of 8 from 8 to 64.
    pub fn aes128(k1: &[u8; 16], k2: &[u8; 16], s: usize) -> Result<Self, Error> {
        LightMac::new(k1, k2, s, Level::best())
    }
}

impl LightMac<Aes192> {
    /// LightMAC-AES192 with a counter of `s` bits on the best rung of this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is a multiple of 8 from 8 to 64.
    pub fn aes192(k1: &[u8; 24], k2: &[u8; 24], s: usize) -> Result<Self, Error> {
        LightMac::new(k1, k2, s, Level::best())
    }
}

impl LightMac<Aes256> {
    /// LightMAC-AES256 with a counter of `s` bits on the best rung of this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is a multiple of 8 from 8 to 64.
    pub fn aes256(k1: &[u8; 32], k2: &[u8; 32], s: usize) -> Result<Self, Error> {
        LightMac::new(k1, k2, s, Level::best())
    }
}

impl<C: Cipher> LightMac<C> {
    /// LightMAC with the cipher C and a counter of `s` bits on a rung of your choice.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is a multiple of 8 from 8 to 64.
    pub fn new(k1: &C::Key, k2: &C::Key, s: usize, level: Level) -> Result<Self, Error> {
        LightMac::of_ciphers(C::new(k1, level), C::new(k2, level), s, level)
    }

    /// LightMAC with the ciphers under their keys, which were made for the same rung.
    pub(crate) fn of_ciphers(k1: C, k2: C, s: usize, level: Level) -> Result<Self, Error> {
        if !s.is_multiple_of(8) || !(8..=64).contains(&s) {
            return Err(Error::CounterBits { found: s });
        }
        Ok(LightMac { k1, k2, level, truncation: Truncation::NONE, counter_bytes: s / 8 })
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

    /// The length of the counter in bits.
    pub fn s(&self) -> usize {
        8 * self.counter_bytes
    }

    /// The big-endian counter in front of the block.
    #[inline(always)]
    fn form(&self) -> Block {
        // Byte i is byte s/8 - 1 - i of the little-endian counter: a window into a fixed ramp.
        const RAMP: [u8; 24] = {
            let mut ramp = [ZERO; 24];
            let mut i = 0;
            while i < 8 {
                ramp[i] = 7 - i as u8;
                i += 1;
            }
            ramp
        };
        *RAMP[8 - self.counter_bytes..].first_chunk().expect("16 of 24 bytes")
    }
}

deterministic!(LightMac<C: Cipher>);
silent!(LightMac<C: Cipher>);

/// The terms E_K1(i_s || M_i).
struct LightTerms<'a, C: Cipher> {
    mac: &'a LightMac<C>,
    data: &'a [u8],
    /// The next block is number `i` and starts at byte `at` of the data.
    i: u64,
    at: usize,
}

/// What a rung needs for them.
#[derive(Clone, Copy)]
struct Ready<I: Isa, K> {
    keys: K,
    whitening: I::V,
    spread: I::Spread,
    form: I::Form,
}

impl<'a, C: Cipher> Terms for LightTerms<'a, C> {
    type Ready<I: Isa> = Ready<I, C::Keys<'a, I>>;

    #[inline(always)]
    fn ready<I: Isa>(&self, isa: I) -> Ready<I, C::Keys<'a, I>> {
        let keys = self.mac.k1.keys(isa);
        Ready {
            keys,
            whitening: C::whiten(isa, &keys, isa.splat(&[0; 16])),
            spread: isa.spread(self.mac.block()),
            form: isa.form(&self.mac.form()),
        }
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(
        &mut self,
        isa: I,
        ready: &Ready<I, C::Keys<'a, I>>,
        sum: I::V,
    ) -> I::V {
        let mut counter = isa.counter(self.i);
        let mut x: [I::V; N] = isa.load_spread(self.data, self.at, ready.spread);
        for x in &mut x {
            *x = isa.xor3(*x, isa.encode(counter, ready.form), ready.whitening);
            counter = isa.advance(counter);
        }
        self.i += (N * I::LANES) as u64;
        self.at += N * I::LANES * self.mac.block();
        C::add_whitened(isa, &ready.keys, sum, x)
    }

    #[inline(always)]
    fn lanes<I: Isa>(&mut self, isa: I, ready: &Ready<I, C::Keys<'a, I>>, n: usize) -> I::V {
        let pieces = isa.load_spread_lanes(self.data, self.at, n, ready.spread);
        let counters = isa.encode(isa.counter(self.i), ready.form);
        let x = isa.xor3(pieces, counters, ready.whitening);
        self.i += n as u64;
        self.at += n * self.mac.block();
        let [x] = C::encrypt_whitened(isa, &ready.keys, [x]);
        x
    }
}

impl<C: Cipher> Numbered for LightTerms<'_, C> {
    #[inline(always)]
    fn number(&self) -> u64 {
        self.i
    }

    #[inline(always)]
    fn places<I: Isa>(&self, isa: I, ready: &Self::Ready<I>) -> [I::V; 8] {
        xor::places(isa, ready.form)
    }

    #[inline(always)]
    fn add_group<I: Isa>(
        &mut self,
        isa: I,
        ready: &Self::Ready<I>,
        places: &[I::V; 8],
        sum: I::V,
    ) -> I::V {
        let first = xor::number(isa, self.i, &self.mac.form());
        let mask = isa.xor(first, ready.whitening);
        let mut x: [I::V; 8] = isa.load_spread(self.data, self.at, ready.spread);
        for (x, place) in x.iter_mut().zip(places) {
            *x = isa.xor3(*x, *place, mask);
        }
        self.i += 8 * I::LANES as u64;
        self.at += 8 * I::LANES * self.mac.block();
        C::add_whitened(isa, &ready.keys, sum, x)
    }
}

impl<C: Cipher> Hash for LightMac<C> {
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
        16 - self.counter_bytes
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        limit_bits(self.s())
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
        if blocks.is_empty() {
            return;
        }
        let step = self.block();
        let mut terms = LightTerms { mac: self, data: blocks, i: at / step as u64 + 1, at: 0 };
        let (mut adder, ready) = (Adder::new(isa), terms.ready(isa));
        // Pieces are loaded by whole blocks that end with them, so the first one goes alone.
        adder.lanes(&mut terms, &ready, 1);
        adder.numbered(&mut terms, &ready, blocks.len() / step - 1);
        debug_assert!(terms.at == blocks.len());
        adder.add_to(sum);
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

impl<C: Cipher> Mac for LightMac<C> {
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
        self.truncation.seal(isa, &self.k2, &digest)
    }
}
