//! What modes do with a block cipher: many blocks at once, one block, a chain.

use tagmac::cipher::{Cipher, V};
use tagmac::isa::{CipherBlock, Isa, Kernel, Lanes, Level};

/// Blocks that a call of the cipher takes at once: enough to fill every pipeline.
const BATCH_BLOCKS: usize = 64;

/// Gives `fold` E_K of each input, in order. Runs inside a kernel.
#[inline(always)]
pub fn encrypt_each<I: Isa, C: Cipher>(
    isa: I,
    cipher: &C,
    mut inputs: impl Iterator<Item = C::Block>,
    mut fold: impl FnMut(&C::Block),
) {
    let keys = cipher.keys(isa);
    let whitening = C::whitening(isa, &keys);
    let mut batch = [C::Block::ZERO; BATCH_BLOCKS];
    loop {
        let mut filled = 0;
        for (block, input) in batch.iter_mut().zip(&mut inputs) {
            *block = input.xor(&whitening);
            filled += 1;
        }
        C::encrypt_blocks(isa, &keys, &mut batch[..filled]);
        batch[..filled].iter().for_each(&mut fold);
        if filled < BATCH_BLOCKS {
            return;
        }
    }
}

/// The whole blocks in some bytes.
#[inline(always)]
pub fn blocks<B: CipherBlock>(bytes: &[u8]) -> impl Iterator<Item = B> {
    bytes.chunks_exact(B::BYTES).map(
        #[inline(always)]
        |block| B::zero_filled(block),
    )
}

/// Less than a block of bytes with `10*` after it.
#[inline(always)]
pub fn padded<B: CipherBlock>(last: &[u8]) -> B {
    B::zero_filled(last).xor(&B::one_at(8 * last.len()))
}

/// A message with `10*` after it, always, to a multiple of `block` bytes.
pub fn padded_message(message: &[u8], block: usize) -> Vec<u8> {
    let mut padded = [message, &[0x80]].concat();
    padded.resize(padded.len().next_multiple_of(block), 0);
    padded
}

/// E_K of one block.
pub fn encrypt<C: Cipher>(cipher: &C, block: &C::Block, level: Level) -> C::Block {
    level.run(EncryptOne { cipher, block })
}

struct EncryptOne<'a, C: Cipher> {
    cipher: &'a C,
    block: &'a C::Block,
}

impl<C: Cipher> Kernel for EncryptOne<'_, C> {
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        self.cipher.encrypt_one(isa, self.block)
    }
}

/// The end of a chain over whole blocks, and the xor of all that it gave:
/// Y_i = E_K(X_i ^ Y_{i-1}), Y_0 = 0.
pub struct Chained<B> {
    /// Y_m.
    pub last: B,
    /// Y_1 ^ .. ^ Y_m.
    pub xor: B,
}

/// Takes a chain over whole blocks.
pub fn chain<C: Cipher>(cipher: &C, blocks: &[u8], level: Level) -> Chained<C::Block> {
    level.run(Chain { cipher, blocks })
}

struct Chain<'a, C: Cipher> {
    cipher: &'a C,
    blocks: &'a [u8],
}

impl<C: Cipher> Kernel for Chain<'_, C> {
    type Out = Chained<C::Block>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Chained<C::Block> {
        let isa = isa.narrow();
        let (lanes, keys) = (C::lanes(isa), self.cipher.keys(isa));
        let zero = lanes.splat(&C::Block::ZERO);
        let (mut y, mut xor): (V<C, I::Narrow>, V<C, I::Narrow>) = (zero, zero);
        for block in blocks::<C::Block>(self.blocks) {
            let x = lanes.xor(y, C::whiten(isa, &keys, lanes.splat(&block)));
            [y] = C::encrypt_whitened(isa, &keys, [x]);
            xor = lanes.xor(xor, y);
        }
        Chained { last: lanes.lane0(y), xor: lanes.lane0(xor) }
    }
}
