//! PMAC1 (Rogaway, ASIACRYPT 2004, as remembered: the paper could not be read).
//!
//! With L = E_K(0) and M = M_1 .. M_m, where the last block may be full:
//!
//! ```text
//! Sigma = E_K(M_1 ^ x L) ^ .. ^ E_K(M_{m-1} ^ x^(m-1) L) ^ pad(M_m)
//! Tag   = E_K(Sigma ^ x^m L (x + 1))      if M_m is full
//!         E_K(Sigma ^ x^m L (x^2 + 1))    if not
//! ```

use tagmac::Tag;
use tagmac::cipher::{Cipher, CipherBlock, Field};
use tagmac::isa::{Isa, Level, Levels};

use crate::blocks::{add_vectors, encrypt, masked, padded};
use crate::parallel::{MASKS, Mode, Parallel, Sums, whole};

/// PMAC1 with the cipher C.
#[derive(Clone)]
pub struct Pmac1<C: Cipher> {
    cipher: C,
    /// x L.
    first: C::Block,
}

impl<C: Cipher<Block: Field + PartialEq>> Pmac1<C> {
    /// Makes PMAC1 under a key.
    pub fn with_level(key: &C::Key, level: Level) -> Parallel<Self> {
        let cipher = C::new(key, level);
        let first = encrypt(&cipher, &C::Block::ZERO, level).times_x();
        Parallel::new(Pmac1 { cipher, first }, level)
    }
}

impl<C: Cipher<Block: Field + PartialEq>> Mode for Pmac1<C> {
    type Word = C::Block;
    type Digest = C::Block;
    type Nonce = ();
    const LEVELS: Levels = C::LEVELS;
    const BLOCK_BYTES: usize = C::Block::BYTES;
    const TAG_BYTES: usize = C::Block::BYTES;
    const LAST_BLOCK_DISTINCT: bool = true;
    const MASK_STEPS: &'static [u32] = &[1];

    #[inline(always)]
    fn first_masks(&self) -> [C::Block; MASKS] {
        [self.first, C::Block::ZERO, C::Block::ZERO]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<C::Block>, _at: u64, bytes: &[u8]) {
        let (lanes, keys) = (C::lanes(isa), self.cipher.keys(isa));
        let (mut sum, mut masks) = (C::sum(isa, &keys), sums.masks);
        masks.with_each_batch::<Self>(
            bytes,
            #[inline(always)]
            |blocks, [masks, ..]| {
                add_vectors::<I, C>(
                    isa,
                    &keys,
                    &mut sum,
                    masks.len(),
                    #[inline(always)]
                    |j, n| masked(lanes, blocks, masks, j, n),
                );
            },
        );
        sums.add_xor(lanes, C::finish(isa, &keys, &mut sum));
        sums.masks = masks;
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, _: I, sums: Sums<C::Block>, _: u64, last: &[u8]) -> C::Block {
        let [mask, ..] = sums.masks.now;
        let (last, factor) = if last.len() == C::Block::BYTES {
            (C::Block::zero_filled(last), mask.times_x())
        } else {
            (padded(last), mask.times_x().times_x())
        };
        sums.xor.xor(&last).xor(&mask).xor(&factor)
    }

    #[inline(always)]
    fn tag<I: Isa>(&self, isa: I, (): &(), digest: C::Block) -> Tag {
        whole(&self.cipher.encrypt_one(isa, &digest))
    }
}
