//! PMAC2 (Chakraborty, Chattopadhyay, Jha, Nandi 2021), as in section 6 of the EliMAC paper.
//!
//! 10* always, M = M_0 .. M_l, L = E_K1(0):
//!
//! ```text
//! y   = sum over i < l of x^(l-1-i) E_K1(M_i ^ x^i L)
//! Tag = E_K2(y ^ M_l)
//! ```

use tagmac::Tag;
use tagmac::cipher::{Cipher, CipherBlock, Field};
use tagmac::isa::{Isa, Level, Levels};

use crate::batch::{Aligned, BATCH, Weighted};
use crate::blocks::{encrypt, encrypt_vectors, masked, padded};
use crate::parallel::{MASKS, Mode, Parallel, Sums, whole};

/// PMAC2 with the cipher C.
#[derive(Clone)]
pub struct Pmac2<C: Cipher> {
    k1: C,
    k2: C,
    l: C::Block,
}

impl<C: Cipher<Block: Field + PartialEq>> Pmac2<C> {
    /// Makes PMAC2 under two keys.
    pub fn with_level(k1: &C::Key, k2: &C::Key, level: Level) -> Parallel<Self> {
        let (k1, k2) = (C::new(k1, level), C::new(k2, level));
        let l = encrypt(&k1, &C::Block::ZERO, level);
        Parallel::new(Pmac2 { k1, k2, l }, level)
    }
}

impl<C: Cipher<Block: Field + PartialEq>> Mode for Pmac2<C> {
    type Word = C::Block;
    type Digest = C::Block;
    type Nonce = ();
    const LEVELS: Levels = C::LEVELS;
    const BLOCK_BYTES: usize = C::Block::BYTES;
    const TAG_BYTES: usize = C::Block::BYTES;
    const MASK_STEPS: &'static [u32] = &[1];

    #[inline(always)]
    fn first_masks(&self) -> [C::Block; MASKS] {
        [self.l, C::Block::ZERO, C::Block::ZERO]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<C::Block>, _at: u64, bytes: &[u8]) {
        let (lanes, keys) = (C::lanes(isa), self.k1.keys(isa));
        let (mut weighted, mut masks) = (Weighted::new(sums.weighted), sums.masks);
        masks.with_each_batch::<Self>(
            bytes,
            #[inline(always)]
            |blocks, [masks, ..]| {
                let mut y = Aligned([C::Block::ZERO; BATCH]);
                let y = &mut y.0[..masks.len()];
                encrypt_vectors::<I, C>(
                    isa,
                    &keys,
                    y,
                    #[inline(always)]
                    |j, n| masked(lanes, blocks, masks, j, n),
                );
                weighted.add(y);
            },
        );
        (sums.weighted, sums.masks) = (weighted.sum(), masks);
        sums.blocks += (bytes.len() / C::Block::BYTES) as u64;
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, _: I, sums: Sums<C::Block>, _: u64, last: &[u8]) -> C::Block {
        sums.weighted.xor(&padded(last))
    }

    #[inline(always)]
    fn tag<I: Isa>(&self, isa: I, (): &(), digest: C::Block) -> Tag {
        whole(&self.k2.encrypt_one(isa, &digest))
    }
}
