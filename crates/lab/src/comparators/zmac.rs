//! ZMAC (Iwata, Minematsu, Peyrin, Seurin, CRYPTO 2017, as remembered), with Deoxys-BC-256.
//!
//! Our choices: a tweak is an index of one byte followed by t = 120 bits, so a block of the message
//! has n + t = 248 bits. Let Ll = E^9(0, 0) and Lr = E^9(1, 0). For each block (Xl, Xr), where a
//! sum of strings of n and t bits takes the first t bits of the longer one:
//!
//! ```text
//! C = E^8(x^(i-1) Lr ^ Xr, x^(i-1) Ll ^ Xl)      U = x (U ^ C)      V = V ^ C ^ Xr
//! Tag = E^j(V, U) ^ E^(j+1)(V, U) || E^(j+2)(V, U) ^ E^(j+3)(V, U)
//! ```
//!
//! If a message is empty or not a multiple of n + t bits, 10* is added and j = 4; otherwise j = 0.

use tagmac::Tag;
use tagmac::cipher::Field;
use tagmac::isa::{Block, CipherBlock, Isa, Kernel, Level, Levels};

use crate::batch::{Aligned, BATCH, Weighted};
use crate::blocks::{padded, xor_of};
use crate::deoxys::Deoxys;
use crate::parallel::{MASKS, Mode, Parallel, Sums};

/// n/8 + t/8.
const BLOCK_BYTES: usize = 31;

/// ZMAC with Deoxys-BC-256.
#[derive(Clone)]
pub struct Zmac {
    cipher: Deoxys,
    ll: Block,
    lr: Block,
}

impl Zmac {
    /// Makes ZMAC under a key.
    pub fn with_level(key: &[u8; 16], level: Level) -> Parallel<Self> {
        let cipher = Deoxys::new(key);
        let [ll, lr] = level.run(MaskBlocks(&cipher));
        Parallel::new(Zmac { cipher, ll, lr }, level)
    }
}

/// Ll and Lr.
struct MaskBlocks<'a>(&'a Deoxys);

impl Kernel for MaskBlocks<'_> {
    type Out = [Block; 2];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [Block; 2] {
        let mut one = [0; 15];
        one[14] = 1;
        [[0; 15], one].map(
            #[inline(always)]
            |t| self.0.encrypt_one(isa, &tweak(9, &t), &[0; 16]),
        )
    }
}

/// Returns a tweak: an index and its rest.
#[inline(always)]
fn tweak(index: u8, t: &[u8; 15]) -> Block {
    let mut tweak = [index; 16];
    tweak[1..].copy_from_slice(t);
    tweak
}

/// Returns the first t bits of a block.
#[inline(always)]
fn first(block: &Block) -> &[u8; 15] {
    block.first_chunk().expect("15 of 16 bytes")
}

impl Mode for Zmac {
    type Word = Block;
    type Digest = (Block, Block, u8);
    type Nonce = ();
    const LEVELS: Levels = Levels::All;
    const BLOCK_BYTES: usize = BLOCK_BYTES;
    const TAG_BYTES: usize = 32;
    const MASK_STEPS: &'static [u32] = &[1, 1];

    #[inline(always)]
    fn first_masks(&self) -> [Block; MASKS] {
        [self.ll, self.lr, [0; 16]]
    }

    /// In the sums, V is `xor` with a last byte that does not count, and U is x times `weighted`.
    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sums: &mut Sums<Block>, _at: u64, bytes: &[u8]) {
        let Sums { mut xor, mut masks, .. } = *sums;
        let mut weighted = Weighted::new(sums.weighted);
        masks.with_each_batch::<Self>(
            bytes,
            #[inline(always)]
            |bytes, [ll, lr, _]| {
                let (mut tweaks, mut c) = (Aligned([[0; 16]; BATCH]), Aligned([[0; 16]; BATCH]));
                for (j, block) in bytes.as_chunks::<BLOCK_BYTES>().0.iter().enumerate() {
                    let (xl, xr) = block.split_at(16);
                    let xr = Block::zero_filled(xr);
                    c.0[j] = ll[j].xor(&Block::zero_filled(xl));
                    tweaks.0[j] = tweak(8, first(&lr[j].xor(&xr)));
                    xor = xor.xor(&xr);
                }
                let c = &mut c.0[..ll.len()];
                self.cipher.encrypt(isa, &tweaks.0[..ll.len()], c);
                weighted.add(c);
                xor = xor.xor(&xor_of(isa, c));
            },
        );
        let blocks = sums.blocks + (bytes.len() / BLOCK_BYTES) as u64;
        *sums = Sums { xor, weighted: weighted.sum(), blocks, masks };
    }

    #[inline(always)]
    fn finish<I: Isa>(
        &self,
        isa: I,
        mut sums: Sums<Block>,
        at: u64,
        last: &[u8],
    ) -> (Block, Block, u8) {
        let is_padded = at == 0 || !last.is_empty();
        if is_padded {
            self.absorb(isa, &mut sums, at, &padded::<[u8; BLOCK_BYTES]>(last));
        }
        (sums.weighted.times_x(), sums.xor, 4 * is_padded as u8)
    }

    #[inline(always)]
    fn tag<I: Isa>(&self, isa: I, (): &(), (u, v, j): (Block, Block, u8)) -> Tag {
        let tweaks = [0, 1, 2, 3].map(
            #[inline(always)]
            |k| tweak(j + k, first(&v)),
        );
        let mut y = [u; 4];
        self.cipher.encrypt(isa, &tweaks, &mut y);
        let halves = [y[0].xor(&y[1]), y[2].xor(&y[3])];
        Tag::try_from(halves.as_flattened()).expect("32 bytes")
    }
}
