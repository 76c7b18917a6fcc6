//! The ways in which modes use a block cipher: many blocks at once, one block, or a chain.

use tagmac::cipher::{Cipher, Encrypt, V};
use tagmac::isa::{CipherBlock, Isa, Kernel, Lanes, Level, Levels};

/// Vectors per step of an unrolled loop.
const UNROLL: usize = 8;

/// Adds E_K of `count` blocks to a sum: `input(j, n)` returns blocks j to j + n - 1 as a vector.
/// Runs inside a kernel.
#[inline(always)]
pub fn add_vectors<'a, I: Isa, C: Cipher + 'a>(
    isa: I,
    keys: &C::Keys<'a, I>,
    sum: &mut C::Sum<'a, I>,
    count: usize,
    mut input: impl FnMut(usize, usize) -> V<C, I>,
) {
    let (lanes, step) = (C::lanes(isa), C::Lanes::<I>::LANES);
    let whitening = C::whiten(isa, keys, lanes.splat(&C::Block::ZERO));
    let mut j = 0;
    if C::Lanes::<I>::UNROLL == UNROLL {
        while j + UNROLL * step <= count {
            let mut x = [whitening; UNROLL];
            for x in &mut x {
                *x = lanes.xor(*x, input(j, step));
                j += step;
            }
            C::add_whitened(isa, keys, sum, x);
        }
    }
    while j + step <= count {
        C::add_whitened(isa, keys, sum, [lanes.xor(input(j, step), whitening)]);
        j += step;
    }
    if j < count {
        let x = lanes.xor(input(j, count - j), whitening);
        C::add_whitened_lanes(isa, keys, sum, x, count - j);
    }
}

/// Writes E_K of blocks to `out`; `input` is as in [`add_vectors`]. Runs inside a kernel.
#[inline(always)]
pub fn encrypt_vectors<I: Isa, C: Cipher>(
    isa: I,
    keys: &C::Keys<'_, I>,
    out: &mut [C::Block],
    mut input: impl FnMut(usize, usize) -> V<C, I>,
) {
    let (lanes, step) = (C::lanes(isa), C::Lanes::<I>::LANES);
    let whitening = C::whiten(isa, keys, lanes.splat(&C::Block::ZERO));
    let (mut j, mut left) = (0, out);
    if C::Lanes::<I>::UNROLL == UNROLL {
        while left.len() >= UNROLL * step {
            let mut x = [whitening; UNROLL];
            for x in &mut x {
                *x = lanes.xor(*x, input(j, step));
                j += step;
            }
            let (now, rest) = left.split_at_mut(UNROLL * step);
            let y = C::encrypt_whitened(isa, keys, x);
            for (y, now) in y.into_iter().zip(now.chunks_exact_mut(step)) {
                lanes.store_lanes(y, C::Block::flatten_mut(now));
            }
            left = rest;
        }
    }
    for now in left.chunks_mut(step) {
        let x = lanes.xor(input(j, now.len()), whitening);
        lanes.store_lanes(x, C::Block::flatten_mut(now));
        j += step;
    }
    C::encrypt_blocks(isa, keys, left);
}

/// An `input` for [`add_vectors`] and [`encrypt_vectors`]: block ^ mask.
#[inline(always)]
pub fn masked<L: Lanes>(lanes: L, blocks: &[u8], masks: &[L::Block], j: usize, n: usize) -> L::V {
    let bytes = L::Block::BYTES * j..L::Block::BYTES * (j + n);
    let masks = load(lanes, &L::Block::flatten(masks)[bytes.clone()]);
    lanes.xor(load(lanes, &blocks[bytes]), masks)
}

/// Loads a vector of blocks, or of fewer.
#[inline(always)]
pub fn load<L: Lanes>(lanes: L, blocks: &[u8]) -> L::V {
    if blocks.len() == L::Block::BYTES * L::LANES {
        lanes.load(blocks)
    } else {
        lanes.load_lanes(blocks)
    }
}

/// Returns the xor of blocks.
#[inline(always)]
pub fn xor_of<L: Lanes>(lanes: L, blocks: &[L::Block]) -> L::Block {
    let mut sum = lanes.splat(&L::Block::ZERO);
    for blocks in blocks.chunks(L::LANES) {
        sum = lanes.xor(sum, load(lanes, L::Block::flatten(blocks)));
    }
    lanes.narrow().lane0(lanes.xor_lanes(sum))
}

/// Returns the whole blocks of some bytes.
#[inline(always)]
pub fn blocks<B: CipherBlock>(bytes: &[u8]) -> impl Iterator<Item = B> {
    bytes.chunks_exact(B::BYTES).map(
        #[inline(always)]
        |block| B::zero_filled(block),
    )
}

/// Returns less than a block of bytes with `10*` after it.
#[inline(always)]
pub fn padded<B: CipherBlock>(last: &[u8]) -> B {
    B::zero_filled(last).xor(&B::one_at(8 * last.len()))
}

/// Returns E_K of one block.
pub fn encrypt<C: Cipher>(cipher: &C, block: &C::Block, level: Level) -> C::Block {
    level.run(Encrypt(cipher, block))
}

/// The end of a chain over X_1 .. X_m, and the xor of all its values: Y_i = E_K(X_i ^ Y_{i-1}), Y_0
/// = 0.
#[derive(Clone, Copy)]
pub struct Chained<B> {
    /// Y_m.
    pub last: B,
    /// Y_1 ^ .. ^ Y_m.
    pub xor: B,
}

/// Computes chains under several ciphers, side by side, over whole blocks and then a last one.
pub fn chains<C: Cipher, const N: usize>(
    ciphers: [&C; N],
    blocks: &[u8],
    last: &C::Block,
    level: Level,
) -> [Chained<C::Block>; N] {
    level.run(Chains { ciphers, blocks, last })
}

struct Chains<'a, C: Cipher, const N: usize> {
    ciphers: [&'a C; N],
    blocks: &'a [u8],
    last: &'a C::Block,
}

impl<C: Cipher, const N: usize> Kernel for Chains<'_, C, N> {
    const LEVELS: Levels = Levels::Narrow;
    type Out = [Chained<C::Block>; N];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Out {
        let isa = isa.narrow();
        let lanes = C::lanes(isa);
        let mut chains = [Chained { last: C::Block::ZERO, xor: C::Block::ZERO }; N];
        let mut blocks = blocks::<C::Block>(self.blocks);
        let (first, last) = match blocks.next() {
            Some(first) => (first, Some(*self.last)),
            None => (*self.last, None),
        };
        let keys = self.ciphers.map(
            #[inline(always)]
            |cipher| cipher.keys(isa),
        );
        let zero = lanes.splat(&C::Block::ZERO);
        let (mut x, mut xor): ([V<C, I::Narrow>; N], _) = ([zero; N], [zero; N]);
        for (x, keys) in x.iter_mut().zip(&keys) {
            *x = C::whiten(isa, keys, lanes.splat(&first));
        }
        for block in blocks.chain(last) {
            for ((x, xor), keys) in x.iter_mut().zip(&mut xor).zip(&keys) {
                // The next block is xored into the last round key, so only the rounds wait for each
                // other.
                let next = C::whiten(isa, keys, lanes.splat(&block));
                [*x] = C::encrypt_chained(isa, keys, [*x], [next]);
                *xor = lanes.xor3(*xor, *x, next);
            }
        }
        for (((chain, keys), x), xor) in chains.iter_mut().zip(&keys).zip(x).zip(xor) {
            let [y] = C::encrypt_whitened(isa, keys, [x]);
            *chain = Chained { last: lanes.lane0(y), xor: lanes.lane0(lanes.xor(xor, y)) };
        }
        chains
    }
}
