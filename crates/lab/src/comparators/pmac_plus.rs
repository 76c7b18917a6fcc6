//! PMAC_Plus (Yasuda, CRYPTO 2011, as remembered: the paper could not be read).
//!
//! 10* always, M = M_1 .. M_l, D0 = E_K1(0), D1 = E_K1(1):
//!
//! ```text
//! Y_i = E_K1(M_i ^ x^i D0 ^ x^2i D1)
//! Tag = E_K2(sum of Y_i) ^ E_K3(sum of x^(l-i+1) Y_i)
//! ```

use tagmac::Tag;
use tagmac::cipher::{Cipher, CipherBlock, Field};
use tagmac::isa::{Isa, Lanes, Level, Levels};

use crate::batch::{Aligned, BATCH, Weighted};
use crate::blocks::{encrypt, encrypt_vectors, load, masked, padded, xor_of};
use crate::field::number;
use crate::parallel::{MASKS, Mode, Parallel, Sums, whole};

/// PMAC_Plus with the cipher C.
#[derive(Clone)]
pub struct PmacPlus<C: Cipher> {
    k1: C,
    k2: C,
    k3: C,
    /// x D0 and x^2 D1.
    first: [C::Block; 2],
}

impl<C: Cipher<Block: Field + PartialEq>> PmacPlus<C> {
    /// Makes PMAC_Plus under three keys.
    pub fn with_level(keys: [&C::Key; 3], level: Level) -> Parallel<Self> {
        let [k1, k2, k3] = keys.map(|key| C::new(key, level));
        let d0 = encrypt(&k1, &C::Block::ZERO, level);
        let d1 = encrypt(&k1, &number(1), level);
        let first = [d0.times_x(), d1.times_x().times_x()];
        Parallel::new(PmacPlus { k1, k2, k3, first }, level)
    }
}

impl<C: Cipher<Block: Field + PartialEq>> Mode for PmacPlus<C> {
    type Word = C::Block;
    type Digest = Sums<C::Block>;
    type Nonce = ();
    const LEVELS: Levels = C::LEVELS;
    const BLOCK_BYTES: usize = C::Block::BYTES;
    const TAG_BYTES: usize = C::Block::BYTES;
    const MASK_STEPS: &'static [u32] = &[1, 2];

    #[inline(always)]
    fn first_masks(&self) -> [C::Block; MASKS] {
        [self.first[0], self.first[1], C::Block::ZERO]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<C::Block>, _at: u64, bytes: &[u8]) {
        let (lanes, keys) = (C::lanes(isa), self.k1.keys(isa));
        let Sums { mut xor, mut masks, .. } = *sums;
        let mut weighted = Weighted::new(sums.weighted);
        masks.with_each_batch::<Self>(
            bytes,
            #[inline(always)]
            |blocks, [d0, d1, _]| {
                let mut y = Aligned([C::Block::ZERO; BATCH]);
                let y = &mut y.0[..d0.len()];
                encrypt_vectors::<I, C>(
                    isa,
                    &keys,
                    y,
                    #[inline(always)]
                    |j, n| {
                        let d1 = load(lanes, C::Block::flatten(&d1[j..][..n]));
                        lanes.xor(masked(lanes, blocks, d0, j, n), d1)
                    },
                );
                xor = xor.xor(&xor_of(lanes, y));
                weighted.add(y);
            },
        );
        (sums.xor, sums.weighted, sums.masks) = (xor, weighted.sum(), masks);
        sums.blocks += (bytes.len() / C::Block::BYTES) as u64;
    }

    #[inline(always)]
    fn finish<I: Isa>(
        &self,
        isa: I,
        mut sums: Sums<C::Block>,
        _: u64,
        last: &[u8],
    ) -> Sums<C::Block> {
        let [d0, d1, _] = sums.masks.advance::<Self>();
        let y = self.k1.encrypt_one(isa, &padded::<C::Block>(last).xor(&d0).xor(&d1));
        sums.xor = sums.xor.xor(&y);
        sums.weighted = sums.weighted.times_x().xor(&y);
        sums
    }

    #[inline(always)]
    fn tag<I: Isa>(&self, isa: I, (): &(), sums: Sums<C::Block>) -> Tag {
        let one = self.k2.encrypt_one(isa, &sums.xor);
        whole(&one.xor(&self.k3.encrypt_one(isa, &sums.weighted.times_x())))
    }
}
