//! PMAC (Black and Rogaway, "PMAC: A Parallelizable Message Authentication Code", 2001, Figure 1).
//!
//! With L = E_K(0) and the Gray code gamma_i = i ^ (i >> 1), for M = M_1 .. M_m:
//!
//! ```text
//! Sigma = E_K(M_1 ^ gamma_1 L) ^ .. ^ E_K(M_{m-1} ^ gamma_{m-1} L) ^ pad(M_m)
//! Tag   = first tau bits of E_K(Sigma ^ (L/x if M_m is full))
//! ```
//!
//! Fast because the offsets cost one xor per vector: for i = 32g + j with 0 < j < 32 the code
//! splits, gamma_i = gamma_{32g} ^ gamma_j, so the offsets of 32 blocks (a period) are one base
//! and a table that is the same in all periods. Only the period's last block, j = 32, needs a
//! correction: gamma_{32g+32} = gamma_{32g} ^ gamma_32 ^ 2^5 ^ 2^(5+z), z = ntz(g + 1).

use zeroize::Zeroize;

use super::xor::{Adder, Terms, Truncation, XorDigest, XorSum};
use crate::bits::Bits;
use crate::cipher::{Aes128, Aes192, Aes256, Cipher};
use crate::error::{Error, silent};
use crate::hash::Hash;
use crate::isa::{Block, Isa, Kernel, Level, xor_blocks};
use crate::mac::{Mac, deterministic};
use crate::tag::Tag;

/// Blocks whose offsets share a base.
const PERIOD: usize = 32;
/// log2 of [`PERIOD`].
const PERIOD_LOG: usize = 5;
/// Powers of x kept with the key; higher ones are needed once in 2^STORED blocks and recomputed.
const STORED: usize = 16;

/// PMAC under a key.
///
/// Deterministic; any bit length; tags of 1 to 128 bits, 128 unless
/// [`with_tag_bits`](Pmac::with_tag_bits) says less.
///
/// ```
/// use tagmac::Pmac;
/// let mac = Pmac::aes128(&[7; 16]);
/// let tag = mac.tag(b"message")?;
/// assert!(mac.verify(b"message", &tag).is_ok());
/// assert!(mac.verify(b"massage", &tag).is_err());
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct Pmac<C: Cipher> {
    cipher: C,
    level: Level,
    truncation: Truncation,
    /// L/x.
    l_inv: Block,
    /// L(i) = L x^i.
    l: [Block; STORED],
    /// gamma_j L for j = 1..=32.
    gamma_l: [[u8; 16]; PERIOD],
}

impl<C: Cipher> Drop for Pmac<C> {
    fn drop(&mut self) {
        self.l_inv.zeroize();
        self.l.zeroize();
        self.gamma_l.zeroize();
    }
}

/// a x in GF(2^128), the first bit of a string being the coefficient of x^127.
fn times_x(a: Block) -> Block {
    let a = u128::from_be_bytes(a);
    (a << 1 ^ (0u128.wrapping_sub(a >> 127) & 0x87)).to_be_bytes()
}

/// a / x in GF(2^128).
fn over_x(a: Block) -> Block {
    let a = u128::from_be_bytes(a);
    (a >> 1 ^ (0u128.wrapping_sub(a & 1) & (1 << 127 | 0x43))).to_be_bytes()
}

impl Pmac<Aes128> {
    /// PMAC-AES128 on the best rung of this CPU.
    pub fn aes128(key: &[u8; 16]) -> Self {
        Pmac::new(key, Level::best())
    }
}

impl Pmac<Aes192> {
    /// PMAC-AES192 on the best rung of this CPU.
    pub fn aes192(key: &[u8; 24]) -> Self {
        Pmac::new(key, Level::best())
    }
}

impl Pmac<Aes256> {
    /// PMAC-AES256 on the best rung of this CPU.
    pub fn aes256(key: &[u8; 32]) -> Self {
        Pmac::new(key, Level::best())
    }
}

struct EncryptZero<'a, C>(&'a C);

impl<C: Cipher> Kernel for EncryptZero<'_, C> {
    type Out = Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Block {
        let isa = isa.narrow();
        isa.first_lane(self.0.encrypt_one(isa, isa.splat(&[0; 16])))
    }
}

impl<C: Cipher> Pmac<C> {
    /// PMAC with the cipher C on a rung of your choice.
    pub fn new(key: &C::Key, level: Level) -> Self {
        Pmac::of_cipher(C::new(key, level), level)
    }

    /// PMAC with a cipher under its key, which was made for the same rung.
    pub(crate) fn of_cipher(cipher: C, level: Level) -> Self {
        // Filled in place: what is moved leaves a copy behind that nothing wipes.
        let (l_inv, l, gamma_l) = ([0; 16], [[0; 16]; STORED], [[0; 16]; PERIOD]);
        let mut mac = Pmac { cipher, level, truncation: Truncation::NONE, l_inv, l, gamma_l };
        mac.l[0] = level.run(EncryptZero(&mac.cipher));
        mac.l_inv = over_x(mac.l[0]);
        for i in 1..STORED {
            mac.l[i] = times_x(mac.l[i - 1]);
        }
        mac.gamma_l[0] = mac.l[0];
        for j in 1..PERIOD {
            let power = (j + 1).trailing_zeros() as usize;
            mac.gamma_l[j] = xor_blocks(&mac.gamma_l[j - 1], &mac.l[power]);
        }
        mac
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

    /// L(i) = L x^i.
    #[inline(always)]
    fn l(&self, i: usize) -> Block {
        match self.l.get(i) {
            Some(l) => *l,
            None => self.l_above(i),
        }
    }

    #[cold]
    fn l_above(&self, i: usize) -> Block {
        (STORED..=i).fold(self.l[STORED - 1], |l, _| times_x(l))
    }

    /// gamma_{32g} L.
    #[inline(always)]
    fn base(&self, period: u64) -> Block {
        let gamma = period << PERIOD_LOG ^ period << (PERIOD_LOG - 1);
        let mut base = [0; 16];
        let mut left = gamma;
        while left != 0 {
            base = xor_blocks(&base, &self.l(left.trailing_zeros() as usize));
            left &= left - 1;
        }
        base
    }
}

deterministic!(Pmac<C: Cipher>);
silent!(Pmac<C: Cipher>);

/// The terms E_K(M_i ^ gamma_i L).
struct PmacTerms<'a, C: Cipher> {
    mac: &'a Pmac<C>,
    data: &'a [u8],
    /// The next block is number 32 period + j + 1.
    period: u64,
    j: usize,
    /// gamma_{32 period} L.
    base: Block,
}

impl<'a, C: Cipher> PmacTerms<'a, C> {
    /// The next `n` blocks and their table entries.
    #[inline(always)]
    fn next(&mut self, n: usize) -> (&'a [u8], &'a [u8]) {
        let (now, rest) = self.data.split_at(16 * n);
        let offsets = &self.mac.gamma_l[self.j..][..n];
        self.data = rest;
        self.j += n;
        (now, offsets.as_flattened())
    }

    /// Goes to the next period: the correction for this one's last block.
    #[inline(always)]
    fn next_period(&mut self) -> Block {
        self.j = 0;
        self.period += 1;
        let z = self.period.trailing_zeros() as usize;
        let correction = xor_blocks(&self.mac.l[PERIOD_LOG], &self.mac.l(PERIOD_LOG + z));
        self.base = xor_blocks(&self.base, &xor_blocks(&self.mac.gamma_l[PERIOD - 1], &correction));
        correction
    }
}

impl<'a, C: Cipher> Terms for PmacTerms<'a, C> {
    type Ready<I: Isa> = C::Keys<'a, I>;

    #[inline(always)]
    fn ready<I: Isa>(&self, isa: I) -> C::Keys<'a, I> {
        self.mac.cipher.keys(isa)
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(&mut self, isa: I, keys: &C::Keys<'a, I>, sum: I::V) -> I::V {
        let base = C::whiten(isa, keys, isa.splat(&self.base));
        let (now, offsets) = self.next(I::LANES * N);
        let mut x = [base; N];
        for (v, x) in x.iter_mut().enumerate() {
            let range = 16 * I::LANES * v..16 * I::LANES * (v + 1);
            *x = isa.xor3(isa.load(&now[range.clone()]), isa.load(&offsets[range]), base);
        }
        if self.j == PERIOD {
            x[N - 1] = isa.xor(x[N - 1], isa.last_lane(&self.next_period()));
        }
        C::add_whitened(isa, keys, sum, x)
    }

    #[inline(always)]
    fn lanes<I: Isa>(&mut self, isa: I, keys: &C::Keys<'a, I>, n: usize) -> I::V {
        let mut base = self.base;
        let (now, offsets) = self.next(n);
        let mut offsets = isa.load_lanes(offsets);
        if self.j == PERIOD {
            // One block, whose offset is the next period's base.
            self.next_period();
            (base, offsets) = (self.base, isa.splat(&[0; 16]));
        }
        let base = C::whiten(isa, keys, isa.splat(&base));
        let x = isa.xor3(isa.load_lanes(now), offsets, base);
        let [x] = C::encrypt_whitened(isa, keys, [x]);
        x
    }
}

impl<C: Cipher> Hash for Pmac<C> {
    type Sum = XorSum;
    type Digest = XorDigest;
    type Held = Block;
    const BITS: bool = true;
    const HOLDS_LAST: bool = true;

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
        u64::MAX
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
        // A flight never crosses a period.
        const { assert!(PERIOD.is_multiple_of(I::VECTORS * I::LANES)) };
        let mut left = blocks.len() / 16;
        if left == 0 {
            return;
        }
        let first = at / 16;
        let period = first / PERIOD as u64;
        let j = (first % PERIOD as u64) as usize;
        let base = self.base(period);
        let mut terms = PmacTerms { mac: self, data: blocks, period, j, base };
        let ready = terms.ready(isa);
        let mut adder = Adder::new(isa);
        loop {
            if terms.j == 0 {
                while left >= PERIOD {
                    for _ in 0..PERIOD / (I::VECTORS * I::LANES) {
                        adder.flight(&mut terms, &ready);
                    }
                    left -= PERIOD;
                }
            }
            // The period's last block goes alone.
            let run = left.min(PERIOD - 1 - terms.j);
            adder.all(&mut terms, &ready, run);
            left -= run;
            if left == 0 {
                break;
            }
            adder.lanes(&mut terms, &ready, 1);
            left -= 1;
        }
        debug_assert!(terms.data.is_empty());
        adder.add_to(sum);
    }

    #[inline(always)]
    fn join(&self, left: &mut XorSum, right: &XorSum) {
        left.join(right);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sum: &XorSum, _at: u64, tail: Bits<'_>) -> XorDigest {
        let narrow = isa.narrow();
        let x = sum.with_last(isa, tail);
        let full = tail.bits() == 128;
        let x = if full { narrow.xor(x, narrow.splat(&self.l_inv)) } else { x };
        XorDigest(narrow.first_lane(x))
    }
}

impl<C: Cipher> Mac for Pmac<C> {
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
        self.truncation.seal(isa, &self.cipher, &digest)
    }
}
