//! H and I, the two families of hash functions that make up EliHash.

use core::fmt;

use crate::cipher::{Aes, CipherBlock, Keys};
use crate::isa::{Block, Isa, Lanes, Level, Levels, ScalarBlocks};

/// H and I over lanes: `H(K, i)` is subkey i, of n bits, and `I(S, M)` is the hash of block M under
/// subkey S.
///
/// For your own functions implement [`PlainFamilies`]. Its contract applies to this trait too.
pub trait Families: Clone + Send + Sync {
    /// A block, of n bits.
    type Block: CipherBlock;
    /// The levels with their own kernels.
    const LEVELS: Levels;
    /// The vectors of blocks on a level.
    type Lanes<I: Isa>: Lanes<Block = Self::Block, Narrow = Self::Lanes<I::Narrow>>;
    /// The keys, prepared for a level.
    type Keys<'a, I: Isa>: Copy
    where
        Self: 'a;
    /// The paper's mu. Subkeys have the numbers 1 to mu, and a message has at most mu full blocks
    /// and a last block that is not full.
    const MU: u64;
    /// I depends only on the xor of subkey and block.
    const XORS: bool = false;

    /// Returns the vectors of a level.
    fn lanes<I: Isa>(isa: I) -> Self::Lanes<I>;
    /// Prepares the keys, once per range, before the loop.
    fn keys<I: Isa>(&self, isa: I) -> Self::Keys<'_, I>;
    /// Returns the encoding of subkey numbers.
    fn counter_layout<I: Isa>(isa: I) -> <Self::Lanes<I> as Lanes>::CounterLayout;
    /// Adds H's first key to a number or to a mask of numbers.
    fn whiten<I: Isa>(isa: I, keys: &Self::Keys<'_, I>, number: V<Self, I>) -> V<Self, I>;
    /// Computes H(K, i) for each number, written in [`counter_layout`](Families::counter_layout)
    /// and xored with the mask of [`whiten`](Families::whiten).
    fn subkeys<I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'_, I>,
        numbers: [V<Self, I>; N],
    ) -> [V<Self, I>; N];
    /// Xors I of each subkey and its block into `sum`.
    fn add<I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'_, I>,
        sum: V<Self, I>,
        subkeys: [V<Self, I>; N],
        blocks: [V<Self, I>; N],
    ) -> V<Self, I>;
}

/// A vector of the families' blocks on a level.
pub(super) type V<F, I> = <<F as Families>::Lanes<I> as Lanes>::V;

/// Round-reduced AES: `H(K, i) = AES_H(K, <i>)` and `I(S, M) = AES_I(0, S ^ M)` with H and I
/// rounds, the last without MixColumns, under the first round keys of AES-128. `<i>` is the 32-bit
/// big-endian i, repeated four times.
///
/// The paper chooses 7 and 4 rounds (sections 1.4 and 5.1). For other numbers it states conjectures
/// from the known attacks (section 5), which limit mu, the number of subkeys:
///
/// | rounds of H | mu | messages are shorter than |
/// |---|---|---|
/// | 4 or 5 | 2 | 48 bytes |
/// | 6 | 2^4 | 272 bytes |
/// | 7 to 10 | 2^32 - 1 (2^32 has no 32-bit encoding) | 2^36 bytes |
///
/// A longer message is [`Error::TooLong`](crate::Error::TooLong), with that limit. The paper does
/// not discuss 5 rounds, so they count as 4. For I it discusses only 4 rounds; more rounds have no
/// larger differentials on average over round keys.
///
/// Fewer than 4 rounds do not compile:
///
/// ```compile_fail
/// use tagmac::{hashes::AesFamilies, isa::Level};
/// AesFamilies::<3, 4>::new(&[1; 16], Level::best());
/// ```
#[derive(Clone)]
pub struct AesFamilies<const H: usize, const I: usize> {
    h: Aes<H>,
    i: Aes<I>,
}

impl<const H: usize, const I: usize> fmt::Debug for AesFamilies<H, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AesFamilies(..)")
    }
}

/// `<i>`: the counter's low four bytes, high byte first, repeated four times.
pub(in crate::algo) const FORM: Block = [3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0];

impl<const H: usize, const I: usize> AesFamilies<H, I> {
    /// Returns the families under a key, for a level.
    pub fn new(key: &[u8; 16], level: Level) -> Self {
        const { assert!(4 <= H && H <= 10, "the paper has no conjecture for H of fewer rounds") };
        const { assert!(4 <= I && I <= 10, "the paper has no bound for I of fewer rounds") };
        AesFamilies { h: Aes::expand(key, level), i: Aes::expand(&[0; 16], level) }
    }

    /// As [`new`](AesFamilies::new), within a kernel.
    #[inline(always)]
    pub(super) fn new_in<R: Isa>(isa: R, key: &[u8; 16]) -> Self {
        AesFamilies { h: Aes::expand_in(isa, key), i: Aes::expand_in(isa, &[0; 16]) }
    }
}

impl<const H: usize, const I: usize> Families for AesFamilies<H, I> {
    type Block = Block;
    const LEVELS: Levels = Levels::All;
    type Lanes<R: Isa> = R;
    type Keys<'a, R: Isa> = (Keys<'a, R, H>, Keys<'a, R, I>);
    const MU: u64 = match H {
        ..6 => 2,
        6 => 1 << 4,
        _ => u32::MAX as u64,
    };
    const XORS: bool = true;

    #[inline(always)]
    fn lanes<R: Isa>(isa: R) -> R {
        isa
    }

    #[inline(always)]
    fn keys<R: Isa>(&self, isa: R) -> Self::Keys<'_, R> {
        (self.h.prepare(isa), self.i.prepare(isa))
    }

    #[inline(always)]
    fn counter_layout<R: Isa>(isa: R) -> R::CounterLayout {
        isa.counter_layout(&FORM)
    }

    #[inline(always)]
    fn whiten<R: Isa>(isa: R, (h, _): &Self::Keys<'_, R>, number: R::V) -> R::V {
        isa.xor(number, h.whitening())
    }

    #[inline(always)]
    fn subkeys<R: Isa, const N: usize>(
        isa: R,
        (h, _): &Self::Keys<'_, R>,
        numbers: [R::V; N],
    ) -> [R::V; N] {
        h.rounds(isa, numbers)
    }

    #[inline(always)]
    fn add<R: Isa, const N: usize>(
        isa: R,
        (_, i): &Self::Keys<'_, R>,
        sum: R::V,
        mut subkeys: [R::V; N],
        blocks: [R::V; N],
    ) -> R::V {
        for (subkey, block) in subkeys.iter_mut().zip(blocks) {
            // The zero key's first round key is zero.
            *subkey = isa.xor(*subkey, block);
        }
        i.add_rounds(isa, sum, subkeys)
    }
}

/// H and I as plain functions of blocks. Every implementation also implements [`Families`].
///
/// # Contract
///
/// The guarantee of [`EliHash`](super::EliHash) depends on three conditions, which the compiler
/// cannot check. Over a random key, and a random subkey S:
///
/// 1. H is delta-mu-independent: subkeys 1 to mu have mu given values with a probability of at most
///    delta^mu.
/// 2. I is eps-XOR-universal: `I(S, M) ^ I(S, M') = Y` has a probability of at most eps, for all M
///    different from M' and all Y.
/// 3. I has no likely value: `I(S, M) = Y` has a probability of at most eps, for all M and Y.
///
/// **The third condition is not in the paper.** Without it the paper's proposition 1 is false: the
/// hashes of messages of different lengths can differ by a single I, which the second condition
/// does not cover. Multiplication `S M` in GF(2^n), the paper's own example, has `I(S, 0) = 0`.
/// Then a block of zeros changes nothing under any key, and the tag of m is the tag of `0^n || m`
/// (`docs/design/errata.md`; `tests/all/errata.rs` contains this forgery). If I is a permutation of
/// `S ^ M`, as in [`AesFamilies`], the third condition holds with 2^-n.
///
/// # Example
///
/// One multiplication per block satisfies all three conditions: `I(S, M) = S (S ^ M)` in GF(2^128),
/// with eps = 2^-127 and independent random subkeys. Condition 2: `I(S, M) ^ I(S, M')` is `S (M ^
/// M')`, which is Y for one S. Condition 3: `S^2 ^ S M = Y` has at most two solutions S.
///
/// ```
/// use tagmac::{EliMac, hashes::PlainFamilies, cipher::Aes128};
///
/// /// Stored subkeys, and I(S, M) = S (S ^ M).
/// #[derive(Clone)]
/// struct Quadratic(Vec<[u8; 16]>);
///
/// /// The product in GF(2^128), x^128 = x^7 + x^2 + x + 1, in constant time.
/// fn product(a: u128, b: u128) -> u128 {
///     (0..128).rev().fold(0, |sum: u128, bit| {
///         let doubled = sum << 1 ^ (sum >> 127).wrapping_neg() & 0x87;
///         doubled ^ (b >> bit & 1).wrapping_neg() & a
///     })
/// }
///
/// impl PlainFamilies for Quadratic {
///     type Block = [u8; 16];
///     const MU: u64 = 3;
///
///     fn h(&self, i: u64) -> [u8; 16] {
///         self.0[i as usize - 1]
///     }
///
///     fn i(&self, s: &[u8; 16], m: &[u8; 16]) -> [u8; 16] {
///         let (s, m) = (u128::from_be_bytes(*s), u128::from_be_bytes(*m));
///         product(s, s ^ m).to_be_bytes()
///     }
/// }
///
/// // Use random bytes instead.
/// let families = Quadratic(vec![[3; 16], [5; 16], [7; 16]]);
/// let mac = EliMac::<_, Aes128>::from_families(families, &[2; 16]);
/// let tag = mac.tag(b"up to three blocks, and some bytes")?;
/// assert!(mac.verify(b"up to three blocks, and some bytes", &tag).is_ok());
/// assert!(mac.tag(&[0; 64]).is_err(), "four full blocks");
/// # Ok::<(), tagmac::Error>(())
/// ```
pub trait PlainFamilies: Clone + Send + Sync {
    /// A block, of n bits, at least 64.
    type Block: CipherBlock;
    /// The paper's mu, at least 1. Subkeys have the numbers 1 to mu, and a message has at most mu
    /// full blocks and a last block that is not full.
    const MU: u64;

    /// Computes H(K, i), of condition 1.
    fn h(&self, i: u64) -> Self::Block;
    /// Computes I(S, M), of conditions 2 and 3.
    fn i(&self, s: &Self::Block, m: &Self::Block) -> Self::Block;
}

impl<P: PlainFamilies> Families for P {
    type Block = <P as PlainFamilies>::Block;
    const LEVELS: Levels = Levels::Words;
    type Lanes<I: Isa> = ScalarBlocks<<P as PlainFamilies>::Block>;
    type Keys<'a, I: Isa>
        = &'a P
    where
        Self: 'a;
    const MU: u64 = <P as PlainFamilies>::MU;

    #[inline(always)]
    fn lanes<I: Isa>(_isa: I) -> Self::Lanes<I> {
        ScalarBlocks::new()
    }

    #[inline(always)]
    fn keys<I: Isa>(&self, _isa: I) -> &P {
        self
    }

    #[inline(always)]
    fn counter_layout<I: Isa>(_isa: I) -> <Self::Lanes<I> as Lanes>::CounterLayout {
        const { assert!(<P as PlainFamilies>::Block::BYTES >= 8, "a number takes 64 bits") };
        ScalarBlocks::<<P as PlainFamilies>::Block>::new().be_prefix(8)
    }

    #[inline(always)]
    fn whiten<I: Isa>(_isa: I, _keys: &&P, number: V<Self, I>) -> V<Self, I> {
        number
    }

    #[inline(always)]
    fn subkeys<I: Isa, const N: usize>(
        _isa: I,
        keys: &&P,
        mut numbers: [V<Self, I>; N],
    ) -> [V<Self, I>; N] {
        for x in &mut numbers {
            let number = x.as_ref().first_chunk().expect("8 bytes at least");
            *x = keys.h(u64::from_be_bytes(*number));
        }
        numbers
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(
        _isa: I,
        keys: &&P,
        mut sum: V<Self, I>,
        subkeys: [V<Self, I>; N],
        blocks: [V<Self, I>; N],
    ) -> V<Self, I> {
        for (subkey, block) in subkeys.iter().zip(&blocks) {
            sum = sum.xor(&keys.i(subkey, block));
        }
        sum
    }
}
