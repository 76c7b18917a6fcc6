//! Deoxys-BC-256, now called Deoxys-TBC-256 by its designers: a tweakable block cipher (Jean,
//! Nikolić, Peyrin, Seurin, Deoxys v1.41).
//!
//! It has fourteen AES rounds; the last one has MixColumns too. With the tweak as TK1_0, the key as
//! TK2_0, the byte permutation h, and a step of an LFSR on every byte:
//!
//! ```text
//! STK_i = TK1_i ^ TK2_i ^ RC_i      TK1_{i+1} = h(TK1_i)      TK2_{i+1} = LFSR(h(TK2_i))
//! ```

use tagmac::isa::{Block, CipherBlock, Isa};

use crate::batch::{Aligned, BATCH};
use crate::blocks::load;

/// Rounds.
const ROUNDS: usize = 14;
/// Byte i of h(x) is byte `H[i]` of x.
const H: [usize; 16] = [1, 6, 11, 12, 5, 10, 15, 0, 9, 14, 3, 4, 13, 2, 7, 8];
/// The second row of RC_i.
const ROUND_CONSTANTS: [u8; ROUNDS + 1] =
    [0x2f, 0x5e, 0xbc, 0x63, 0xc6, 0x97, 0x35, 0x6a, 0xd4, 0xb3, 0x7d, 0xfa, 0xef, 0xc5, 0x91];

/// The order of h: this many applications are the identity.
const PERIOD: usize = 8;

/// Deoxys-BC-256 under a key of 16 bytes.
#[derive(Clone)]
pub struct Deoxys {
    /// TK2_i ^ RC_i.
    keys: [Block; ROUNDS + 1],
}

#[inline(always)]
fn h(x: &Block) -> Block {
    H.map(
        #[inline(always)]
        |i| x[i],
    )
}

/// Returns a block with its halves exchanged.
#[inline(always)]
fn exchanged(x: &Block) -> Block {
    u128::from_ne_bytes(*x).rotate_left(64).to_ne_bytes()
}

impl Deoxys {
    /// Computes the key schedule.
    pub fn new(key: &Block) -> Self {
        let mut tk2 = *key;
        let keys = ROUND_CONSTANTS.map(|c| {
            let now = tk2.xor(&[1, 2, 4, 8, c, c, c, c, 0, 0, 0, 0, 0, 0, 0, 0]);
            tk2 = h(&tk2).map(|x| x << 1 | (x >> 7 ^ x >> 5) & 1);
            now
        });
        Deoxys { keys }
    }

    /// Encrypts up to [`BATCH`] blocks, each under the tweak at its index.
    #[inline(always)]
    pub fn encrypt<I: Isa>(&self, isa: I, tweaks: &[Block], blocks: &mut [Block]) {
        // h^4 exchanges the halves of a block, so h^8 is the identity.
        let mut turned = Aligned([[[0; 16]; BATCH]; PERIOD]);
        let turned = &mut turned.0;
        turned[0][..tweaks.len()].copy_from_slice(tweaks);
        for i in 1..PERIOD {
            let (known, next) = turned.split_at_mut(i);
            let next = next[0][..tweaks.len()].iter_mut();
            match i.checked_sub(PERIOD / 2) {
                None => next.zip(&known[i - 1]).for_each(|(next, last)| *next = h(last)),
                Some(i) => next.zip(&known[i]).for_each(|(next, first)| *next = exchanged(first)),
            }
        }
        for (v, blocks) in blocks.chunks_mut(I::LANES).enumerate() {
            let key = |round: usize| {
                let tweaks = &turned[round % PERIOD][v * I::LANES..][..blocks.len()];
                isa.xor(isa.splat(&self.keys[round]), load(isa, tweaks.as_flattened()))
            };
            let mut x = isa.xor(load(isa, blocks.as_flattened()), key(0));
            for round in 1..=ROUNDS {
                x = isa.aes(x, key(round));
            }
            isa.store_lanes(x, blocks.as_flattened_mut());
        }
    }

    /// Encrypts one block.
    #[inline(always)]
    pub fn encrypt_one<I: Isa>(&self, isa: I, tweak: &Block, block: &Block) -> Block {
        let mut block = [*block];
        self.encrypt(isa.narrow(), &[*tweak], &mut block);
        block[0]
    }
}
