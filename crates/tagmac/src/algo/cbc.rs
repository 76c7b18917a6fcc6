//! The CBC chain of CMAC and of the CBC MAC with three keys in the crate `tagmac-papers`:
//!
//! ```text
//! Y_0 = 0      Y_i = E_K(X_i ^ Y_{i-1})
//! ```
//!
//! Each block depends on the previous one, so only the latency of a block counts. The next block
//! and the first round key are added to the last round's key ([`Cipher::encrypt_chained`]): a block
//! costs its rounds and no additional latency.

use crate::cipher::{Cipher, CipherBlock, V};
use crate::isa::{Isa, Lanes, Levels};

/// Returns whether one block at a time of a cipher takes vectors of one block. Otherwise it takes all
/// that a level has.
pub(super) const fn is_narrow<C: Cipher>() -> bool {
    matches!(C::ONE_BLOCK_LEVELS, Levels::Narrow)
}

/// Absorbs whole blocks. `x` is the next input of E_K, already whitened, and so is the result.
#[inline(always)]
pub(super) fn absorb<I: Isa, C: Cipher>(
    isa: I,
    keys: &C::Keys<'_, I>,
    mut x: V<C, I>,
    blocks: &[u8],
) -> V<C, I> {
    let lanes = C::lanes(isa);
    for block in blocks.chunks_exact(C::Block::BYTES) {
        let next = C::whiten(isa, keys, lanes.splat(&C::Block::zero_filled(block)));
        [x] = C::encrypt_chained(isa, keys, [x], [next]);
    }
    x
}

/// The length of the message without its last block. That block may be full; it is empty only if
/// the message is.
#[inline(always)]
pub(super) fn before_last<B: CipherBlock>(bytes: usize) -> usize {
    bytes.saturating_sub(1) / B::BYTES * B::BYTES
}

/// A CBC chain and the bytes after it: up to a block, because the last block is treated
/// differently. CMAC and other MACs with one chain are built from it. **Secret**: anyone who sees
/// it can forge. Wiped on drop.
///
/// ```text
/// Y_0 = 0      Y_i = E_K(X_i ^ Y_{i-1})
/// ```
///
/// This is the CBC MAC, which is secure only for messages of one length:
///
/// ```
/// use tagmac::cipher::{Aes128, Cipher, CipherBlock};
/// use tagmac::hazmat::Chain;
/// use tagmac::isa::{Isa, Kernel, Level};
///
/// struct CbcMac<'a>(&'a Aes128, &'a [u8]);
///
/// impl Kernel for CbcMac<'_> {
///     type Out = [u8; 16];
///
///     #[inline(always)]
///     fn run<I: Isa>(self, isa: I) -> [u8; 16] {
///         let CbcMac(cipher, message) = self;
///         let mut chain = Chain::new(&[]);
///         chain.update(isa, cipher, message);
///         cipher.encrypt_one(isa, &chain.value().xor(chain.held()))
///     }
/// }
///
/// let level = Level::best();
/// let cipher = Aes128::new(&[7; 16], level);
/// let tag = level.run(CbcMac(&cipher, &[1; 16]));
/// // With messages of several lengths there is a forgery.
/// let longer = [[1; 16], tag.xor(&[1; 16])];
/// assert_eq!(level.run(CbcMac(&cipher, longer.as_flattened())), tag);
/// ```
#[derive(Clone)]
pub struct Chain<B: CipherBlock> {
    pub(super) y: B,
    pub(super) held: B,
    pub(super) bytes: usize,
}

impl<B: CipherBlock> Drop for Chain<B> {
    fn drop(&mut self) {
        self.y.zeroize();
        self.held.zeroize();
    }
}

impl<B: CipherBlock> Chain<B> {
    /// Starts a chain with its first input, which must fit in a block.
    ///
    /// # Panics
    ///
    /// If it does not fit.
    #[inline(always)]
    pub fn new(first: &[u8]) -> Self {
        assert!(first.len() <= B::BYTES, "an input that fits in a block");
        Chain { y: B::ZERO, held: B::zero_filled(first), bytes: first.len() }
    }

    /// Returns Y after all blocks before the held one.
    #[inline(always)]
    pub fn value(&self) -> &B {
        &self.y
    }

    /// Returns the last block so far, which is not in Y yet. Only its first
    /// [`held_bytes`](Chain::held_bytes) bytes are valid; the others are left over from earlier
    /// blocks.
    #[inline(always)]
    pub fn held(&self) -> &B {
        &self.held
    }

    /// Returns the length of the held block in bytes. It is 0 only if there was no input.
    #[inline(always)]
    pub fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether `bytes` more bytes fit in the held block.
    #[inline(always)]
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        bytes <= B::BYTES - self.bytes
    }

    /// Adds bytes for which [`has_room`](Chain::has_room) is true.
    #[inline(always)]
    pub(super) fn hold(&mut self, data: &[u8]) {
        self.held.as_mut()[self.bytes..][..data.len()].copy_from_slice(data);
        self.bytes += data.len();
    }

    /// Appends to the input. Runs inside a kernel.
    #[inline(always)]
    pub fn update<I: Isa, C>(&mut self, isa: I, cipher: &C, data: &[u8])
    where
        C: Cipher<Block = B>,
    {
        if self.has_room(data.len()) {
            return self.hold(data);
        }
        if const { is_narrow::<C>() } {
            self.update_on(isa.narrow(), cipher, data);
        } else {
            self.update_on(isa, cipher, data);
        }
    }

    #[inline(always)]
    fn update_on<I: Isa, C>(&mut self, isa: I, cipher: &C, data: &[u8])
    where
        C: Cipher<Block = B>,
    {
        let (lanes, keys) = (C::lanes(isa), cipher.keys(isa));
        let (fill, data) = data.split_at(B::BYTES - self.bytes);
        self.hold(fill);
        let (blocks, last) = data.split_at(before_last::<B>(data.len()));
        let x = C::whiten(isa, &keys, lanes.splat(&self.y.xor(&self.held)));
        let x = absorb::<_, C>(isa, &keys, x, blocks);
        let [y] = C::encrypt_whitened(isa, &keys, [x]);
        self.y = lanes.lane0(y);
        self.bytes = 0;
        self.hold(last);
    }
}
