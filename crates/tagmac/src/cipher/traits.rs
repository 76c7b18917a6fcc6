//! The interfaces of block ciphers for modes: over vectors, and as plain functions of blocks.

use zeroize::Zeroize;

use super::known_answers::KnownAnswers;
use crate::error::Error;
use crate::isa::{CipherBlock, Isa, Kernel, Lanes, Level, Levels, ScalarBlocks};

/// A key of a block cipher: an array of bytes.
pub trait CipherKey: AsRef<[u8]> + Zeroize + for<'a> TryFrom<&'a [u8]> {}

impl<K: AsRef<[u8]> + Zeroize + for<'a> TryFrom<&'a [u8]>> CipherKey for K {}

/// A block cipher under its key, evaluated on vectors of blocks.
///
/// The first round key is added outside, as part of the mask that the mode adds anyway. For a
/// cipher without vector code, implement [`BlockCipher`].
pub trait Cipher: Clone + Send + Sync + Sized {
    /// The cipher's name in the names of MACs.
    const NAME: &'static str;
    /// The length of a key in bytes.
    const KEY_BYTES: usize;
    /// Messages of few blocks are faster on the one-block level.
    const HAS_NARROW_PATH: bool = false;
    /// The known answers of modes under this cipher, which are checked before a level is used.
    /// `None` for ciphers of other crates.
    #[doc(hidden)]
    const KNOWN_ANSWERS: Option<&'static KnownAnswers> = None;
    /// A block, of n bits.
    type Block: CipherBlock;
    /// A key. Its type has a fixed length, so making a cipher cannot fail.
    type Key: CipherKey;
    /// The levels with their own kernels.
    const LEVELS: Levels;
    /// The levels with their own kernels for one block at a time.
    const ONE_BLOCK_LEVELS: Levels = Levels::Narrow;
    /// The vectors of blocks on a level.
    type Lanes<I: Isa>: Lanes<Block = Self::Block, Narrow = Self::Lanes<I::Narrow>>;
    /// The key schedule on a level.
    type Keys<'a, I: Isa>: Copy
    where
        Self: 'a;
    /// An accumulator for the xor of E_K over many blocks.
    type Sum<'a, I: Isa>
    where
        Self: 'a;

    /// Computes the key schedule.
    fn new(key: &Self::Key, level: Level) -> Self;

    /// Computes the key schedule within a kernel on `level`. So a MAC can be made where it stays: a
    /// schedule that is moved waits until all of it is stored, which takes as long as a block.
    #[inline(always)]
    fn new_in<I: Isa>(isa: I, key: &Self::Key, level: Level) -> Self {
        let _ = isa;
        Self::new(key, level)
    }

    /// Computes the key schedule of a key of any length.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] unless the length is [`KEY_BYTES`](Cipher::KEY_BYTES).
    fn from_slice(key: &[u8], level: Level) -> Result<Self, Error> {
        let (min, max, found) = (Self::KEY_BYTES, Self::KEY_BYTES, key.len());
        let wrong = |_| Error::KeyLength { min, max, found };
        let mut key = Self::Key::try_from(key).map_err(wrong)?;
        let cipher = Self::new(&key, level);
        key.zeroize();
        Ok(cipher)
    }

    /// Returns the vectors of a level.
    fn lanes<I: Isa>(isa: I) -> Self::Lanes<I>;
    /// Prepares the key schedule, once per range, before the loop.
    fn keys<I: Isa>(&self, isa: I) -> Self::Keys<'_, I>;
    /// Adds the first round key to a mask.
    fn whiten<I: Isa>(isa: I, keys: &Self::Keys<'_, I>, mask: V<Self, I>) -> V<Self, I>;
    /// Returns E_K of each block of `x`, to which the mask of [`whiten`](Cipher::whiten) was added.
    fn encrypt_whitened<I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'_, I>,
        x: [V<Self, I>; N],
    ) -> [V<Self, I>; N];

    /// Returns E_K of each block of `x`, xored with `next`: a step of a chain. Only the latency
    /// from `x` matters, so a cipher should add `next` before the end of its last round if it can.
    #[inline(always)]
    fn encrypt_chained<I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'_, I>,
        x: [V<Self, I>; N],
        next: [V<Self, I>; N],
    ) -> [V<Self, I>; N] {
        let mut y = Self::encrypt_whitened(isa, keys, x);
        for (y, next) in y.iter_mut().zip(next) {
            *y = Self::lanes(isa).xor(*y, next);
        }
        y
    }

    /// Returns a mask that is only the first round key.
    #[inline(always)]
    fn whitening<I: Isa>(isa: I, keys: &Self::Keys<'_, I>) -> Self::Block {
        let lanes = Self::lanes(isa);
        lanes.lane0(Self::whiten(isa, keys, lanes.splat(&Self::Block::ZERO)))
    }
    /// Replaces each of many blocks, to which a mask was added, by E_K of it.
    #[inline(always)]
    fn encrypt_blocks<I: Isa>(isa: I, keys: &Self::Keys<'_, I>, blocks: &mut [Self::Block]) {
        vectors(
            Self::lanes(isa),
            blocks,
            #[inline(always)]
            |x| {
                let [y] = Self::encrypt_whitened(isa, keys, [x]);
                y
            },
        );
    }

    /// Returns the xor of no blocks.
    fn sum<'a, I: Isa>(isa: I, keys: &Self::Keys<'a, I>) -> Self::Sum<'a, I>
    where
        Self: 'a;
    /// Xors E_K of each block of `x` into the sum. The mask of [`whiten`](Cipher::whiten) was
    /// already added to `x`.
    fn add_whitened<'a, I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'a, I>,
        sum: &mut Self::Sum<'a, I>,
        x: [V<Self, I>; N],
    ) where
        Self: 'a;
    /// As [`add_whitened`](Cipher::add_whitened), for only the first `n` lanes of `x`.
    fn add_whitened_lanes<'a, I: Isa>(
        isa: I,
        keys: &Self::Keys<'a, I>,
        sum: &mut Self::Sum<'a, I>,
        x: V<Self, I>,
        n: usize,
    ) where
        Self: 'a;
    /// Returns the xor as one block.
    fn finish<'a, I: Isa>(
        isa: I,
        keys: &Self::Keys<'a, I>,
        sum: &mut Self::Sum<'a, I>,
    ) -> V<Self, I::Narrow>
    where
        Self: 'a;

    /// Returns E_K of one block.
    #[inline(always)]
    fn encrypt_one<I: Isa>(&self, isa: I, block: &Self::Block) -> Self::Block {
        let isa = isa.narrow();
        let (lanes, keys) = (Self::lanes(isa), self.keys(isa));
        let x = Self::whiten(isa, &keys, lanes.splat(block));
        let [y] = Self::encrypt_whitened(isa, &keys, [x]);
        lanes.lane0(y)
    }
}

/// Applies a function to vectors of blocks. The vectors are independent of each other.
#[inline(always)]
pub(crate) fn vectors<L: Lanes>(lanes: L, blocks: &mut [L::Block], f: impl Fn(L::V) -> L::V) {
    let (whole, rest) = blocks.split_at_mut(blocks.len() / L::LANES * L::LANES);
    for blocks in whole.chunks_exact_mut(L::LANES) {
        let y = f(lanes.load(L::Block::flatten(blocks)));
        lanes.store_lanes(y, L::Block::flatten_mut(blocks));
    }
    if !rest.is_empty() {
        let y = f(lanes.load_lanes(L::Block::flatten(rest)));
        lanes.store_lanes(y, L::Block::flatten_mut(rest));
    }
}

/// A cipher that can also decrypt. MACs do not need it; the crate `tagmac-papers` does, for PMAC's
/// parsimony.
///
/// Any [`Cipher`] can implement it. An implementation for a [`BlockCipher`] ignores the level:
///
/// ```
/// use tagmac::cipher::{BlockCipher, Decrypt};
/// use tagmac::isa::Isa;
/// # #[derive(Clone)]
/// # struct Xtea;
/// # impl Xtea {
/// #     fn decrypt(&self, block: &[u8; 8]) -> [u8; 8] { *block }
/// # }
/// # impl BlockCipher for Xtea {
/// #     const NAME: &'static str = "XTEA";
/// #     const KEY_BYTES: usize = 16;
/// #     type Block = [u8; 8];
/// #     type Key = [u8; 16];
/// #     fn new(_: &[u8; 16]) -> Self { Xtea }
/// #     fn encrypt(&self, _: &mut [[u8; 8]]) {}
/// # }
///
/// impl Decrypt for Xtea {
///     fn decrypt_one<I: Isa>(&self, _: I, block: &[u8; 8]) -> [u8; 8] {
///         self.decrypt(block)
///     }
/// }
/// ```
pub trait Decrypt: Cipher {
    /// Returns the block that E_K maps to this one. Runs inside a kernel.
    fn decrypt_one<I: Isa>(&self, isa: I, block: &Self::Block) -> Self::Block;
}

/// Computes E_K of a block outside of any kernel.
///
/// ```
/// use tagmac::cipher::{Aes128, Cipher, Encrypt};
/// use tagmac::isa::Level;
/// let level = Level::best();
/// let cipher = Aes128::new(&[7; 16], level);
/// let block = level.run(Encrypt(&cipher, &[1; 16]));
/// assert_ne!(block, [1; 16]);
/// ```
pub struct Encrypt<'a, C: Cipher>(pub &'a C, pub &'a C::Block);

impl<C: Cipher> Kernel for Encrypt<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        self.0.encrypt_one(isa, self.1)
    }
}

/// A vector of a cipher's blocks on a level.
pub type V<C, I> = <<C as Cipher>::Lanes<I> as Lanes>::V;

/// A block cipher under its key, as a plain function of blocks in memory. Implement this to add a
/// cipher.
///
/// Every implementation is also a [`Cipher`], so it works in all modes; see the [module](super) for
/// an example. A call has up to eight blocks. With `#[inline(always)]`, `encrypt` is compiled for
/// each level.
pub trait BlockCipher: Clone + Send + Sync {
    /// The cipher's name in the names of MACs.
    const NAME: &'static str;
    /// The length of a key in bytes.
    const KEY_BYTES: usize;
    /// A block, of n bits: `[u8; 8]`, `[u8; 16]`.
    type Block: CipherBlock;
    /// A key: `[u8; KEY_BYTES]`.
    type Key: CipherKey;

    /// Computes the key schedule.
    fn new(key: &Self::Key) -> Self;
    /// Replaces each block by E_K of it.
    fn encrypt(&self, blocks: &mut [Self::Block]);
}

impl<B: BlockCipher> Cipher for B {
    const NAME: &'static str = <B as BlockCipher>::NAME;
    const KEY_BYTES: usize = <B as BlockCipher>::KEY_BYTES;
    type Block = <B as BlockCipher>::Block;
    type Key = <B as BlockCipher>::Key;
    const LEVELS: Levels = Levels::Words;
    type Lanes<I: Isa> = ScalarBlocks<<B as BlockCipher>::Block>;
    type Keys<'a, I: Isa>
        = &'a B
    where
        Self: 'a;
    type Sum<'a, I: Isa>
        = <B as BlockCipher>::Block
    where
        Self: 'a;

    fn new(key: &<B as BlockCipher>::Key, _level: Level) -> Self {
        <B as BlockCipher>::new(key)
    }

    #[inline(always)]
    fn lanes<I: Isa>(_isa: I) -> ScalarBlocks<<B as BlockCipher>::Block> {
        ScalarBlocks::new()
    }

    #[inline(always)]
    fn keys<I: Isa>(&self, _isa: I) -> &B {
        self
    }

    #[inline(always)]
    fn whiten<I: Isa>(_isa: I, _keys: &&B, mask: V<Self, I>) -> V<Self, I> {
        mask
    }

    #[inline(always)]
    fn encrypt_whitened<I: Isa, const N: usize>(
        isa: I,
        keys: &&B,
        mut x: [V<Self, I>; N],
    ) -> [V<Self, I>; N] {
        // Compiled once for each level, not in every kernel.
        isa.run_outlined(
            #[inline(always)]
            || keys.encrypt(&mut x),
        );
        x
    }

    #[inline(always)]
    fn encrypt_blocks<I: Isa>(isa: I, keys: &&B, blocks: &mut [Self::Block]) {
        for blocks in blocks.chunks_mut(8) {
            isa.run_outlined(
                #[inline(always)]
                || keys.encrypt(blocks),
            );
        }
    }

    #[inline(always)]
    fn sum<'a, I: Isa>(_isa: I, _keys: &&'a B) -> Self::Sum<'a, I>
    where
        Self: 'a,
    {
        CipherBlock::ZERO
    }

    #[inline(always)]
    fn add_whitened<'a, I: Isa, const N: usize>(
        isa: I,
        keys: &&'a B,
        sum: &mut Self::Sum<'a, I>,
        x: [V<Self, I>; N],
    ) where
        Self: 'a,
    {
        for x in Self::encrypt_whitened(isa, keys, x) {
            *sum = sum.xor(&x);
        }
    }

    #[inline(always)]
    fn add_whitened_lanes<'a, I: Isa>(
        isa: I,
        keys: &&'a B,
        sum: &mut Self::Sum<'a, I>,
        x: V<Self, I>,
        n: usize,
    ) where
        Self: 'a,
    {
        if n > 0 {
            Self::add_whitened(isa, keys, sum, [x]);
        }
    }

    #[inline(always)]
    fn finish<'a, I: Isa>(_isa: I, _keys: &&'a B, sum: &mut Self::Sum<'a, I>) -> V<Self, I::Narrow>
    where
        Self: 'a,
    {
        *sum
    }
}
