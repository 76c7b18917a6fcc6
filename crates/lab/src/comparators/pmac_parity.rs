//! PMAC with Parity (Yasuda, CT-RSA 2012; only the abstract could be read, the rest is our choice).
//!
//! 10* always, M = X_1 Y_1 X_2 Y_2 .. and a last block, L_j = E_Kj(0):
//!
//! ```text
//! S  ^= E_K1(X_i ^ x^(i-1) L_1) ^ E_K2(Y_i ^ x^(i-1) L_2) ^ E_K3(X_i ^ Y_i ^ x^(i-1) L_3)
//! Tag = E_K4(S ^ last)
//! ```
//!
//! A block without a partner before the last block only has the term of X_i.

use tagmac::Tag;
use tagmac::cipher::{Cipher, CipherBlock, Field};
use tagmac::isa::{Isa, Level, Levels};

use crate::batch::{Aligned, BATCH};
use crate::blocks::{encrypt, encrypt_vectors, masked, padded, xor_of};
use crate::parallel::{MASKS, Mode, Parallel, Sums, whole};

/// PMAC with Parity with the cipher C.
#[derive(Clone)]
pub struct PmacParity<C: Cipher> {
    keys: [C; 4],
    first: [C::Block; MASKS],
}

impl<C: Cipher<Block: Field + PartialEq>> PmacParity<C> {
    /// Makes PMAC with Parity under four keys.
    pub fn with_level(keys: [&C::Key; 4], level: Level) -> Parallel<Self> {
        let keys = keys.map(|key| C::new(key, level));
        let first = [0, 1, 2].map(|j| encrypt(&keys[j], &C::Block::ZERO, level));
        Parallel::new(PmacParity { keys, first }, level)
    }
}

impl<C: Cipher<Block: Field + PartialEq>> Mode for PmacParity<C> {
    type Word = C::Block;
    type Digest = C::Block;
    type Nonce = ();
    const LEVELS: Levels = C::LEVELS;
    const BLOCK_BYTES: usize = 2 * C::Block::BYTES;
    const TAG_BYTES: usize = C::Block::BYTES;
    const MASK_STEPS: &'static [u32] = &[1, 1, 1];

    #[inline(always)]
    fn first_masks(&self) -> [C::Block; MASKS] {
        self.first
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<C::Block>, _at: u64, pairs: &[u8]) {
        let lanes = C::lanes(isa);
        let keys = self.keys.each_ref().map(
            #[inline(always)]
            |cipher| cipher.keys(isa),
        );
        let Sums { mut xor, mut masks, .. } = *sums;
        masks.with_each_batch::<Self>(
            pairs,
            #[inline(always)]
            |pairs, masks| {
                let mut terms = Aligned([[C::Block::ZERO; BATCH]; 3]);
                let count = masks[0].len();
                for (j, pair) in pairs.chunks_exact(2 * C::Block::BYTES).enumerate() {
                    let (x, y) = pair.split_at(C::Block::BYTES);
                    let (x, y) = (C::Block::zero_filled(x), C::Block::zero_filled(y));
                    (terms.0[0][j], terms.0[1][j], terms.0[2][j]) = (x, y, x.xor(&y));
                }
                for (k, masks) in masks.into_iter().enumerate() {
                    let blocks = C::Block::flatten(&terms.0[k]);
                    let mut y = Aligned([C::Block::ZERO; BATCH]);
                    let y = &mut y.0[..count];
                    encrypt_vectors::<I, C>(
                        isa,
                        &keys[k],
                        y,
                        #[inline(always)]
                        |j, n| masked(lanes, blocks, masks, j, n),
                    );
                    xor = xor.xor(&xor_of(lanes, y));
                }
            },
        );
        (sums.xor, sums.masks) = (xor, masks);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sums: Sums<C::Block>, _: u64, last: &[u8]) -> C::Block {
        let mut xor = sums.xor;
        let mut last = last;
        if let Some((x, rest)) = last.split_at_checked(C::Block::BYTES) {
            let x = C::Block::zero_filled(x).xor(&sums.masks.now[0]);
            xor = xor.xor(&self.keys[0].encrypt_one(isa, &x));
            last = rest;
        }
        xor.xor(&padded(last))
    }

    #[inline(always)]
    fn tag<I: Isa>(&self, isa: I, (): &(), digest: C::Block) -> Tag {
        whole(&self.keys[3].encrypt_one(isa, &digest))
    }
}
