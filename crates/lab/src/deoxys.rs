//! Deoxys-BC-256, which its designers now call Deoxys-TBC-256: a block cipher with a tweak (Jean,
//! Nikolić, Peyrin, Seurin, Deoxys v1.41).
//!
//! Fourteen AES rounds, the last with MixColumns too. With TK1_0 the tweak, TK2_0 the key, the byte
//! permutation h and a step of an LFSR on every byte:
//!
//! ```text
//! STK_i = TK1_i ^ TK2_i ^ RC_i      TK1_{i+1} = h(TK1_i)      TK2_{i+1} = LFSR(h(TK2_i))
//! ```

use tagmac::isa::{Block, CipherBlock, Isa};

/// Rounds.
const ROUNDS: usize = 14;
/// Byte i of h(x) is byte `H[i]` of x.
const H: [usize; 16] = [1, 6, 11, 12, 5, 10, 15, 0, 9, 14, 3, 4, 13, 2, 7, 8];
/// What the second row of RC_i holds.
const ROUND_CONSTANTS: [u8; ROUNDS + 1] =
    [0x2f, 0x5e, 0xbc, 0x63, 0xc6, 0x97, 0x35, 0x6a, 0xd4, 0xb3, 0x7d, 0xfa, 0xef, 0xc5, 0x91];

/// Tweaks and blocks that a call takes at once.
pub const BATCH: usize = 64;

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

impl Deoxys {
    /// The key schedule.
    pub fn new(key: &Block) -> Self {
        let mut tk2 = *key;
        let keys = ROUND_CONSTANTS.map(|c| {
            let now = tk2.xor(&[1, 2, 4, 8, c, c, c, c, 0, 0, 0, 0, 0, 0, 0, 0]);
            tk2 = h(&tk2).map(|x| x << 1 | (x >> 7 ^ x >> 5) & 1);
            now
        });
        Deoxys { keys }
    }

    /// Encrypts up to [`BATCH`] blocks, each under the tweak of its place, which is used up.
    #[inline(always)]
    pub fn encrypt<I: Isa>(&self, isa: I, tweaks: &mut [Block], blocks: &mut [Block]) {
        self.round(isa, 0, tweaks, blocks, |isa, x, k| isa.xor(x, k));
        for round in 1..=ROUNDS {
            for tweak in &mut *tweaks {
                *tweak = h(tweak);
            }
            self.round(isa, round, tweaks, blocks, |isa, x, k| isa.aes(x, k));
        }
    }

    /// Encrypts one block.
    #[inline(always)]
    pub fn encrypt_one<I: Isa>(&self, isa: I, tweak: &Block, block: &Block) -> Block {
        let (mut tweak, mut block) = ([*tweak], [*block]);
        self.encrypt(isa.narrow(), &mut tweak, &mut block);
        block[0]
    }

    #[inline(always)]
    fn round<I: Isa>(
        &self,
        isa: I,
        round: usize,
        tweaks: &[Block],
        blocks: &mut [Block],
        f: impl Fn(I, I::V, I::V) -> I::V,
    ) {
        let key = isa.splat(&self.keys[round]);
        for (tweaks, blocks) in tweaks.chunks(I::LANES).zip(blocks.chunks_mut(I::LANES)) {
            let key = isa.xor(key, isa.load_lanes(tweaks.as_flattened()));
            let x = isa.load_lanes(blocks.as_flattened());
            isa.store_lanes(f(isa, x, key), blocks.as_flattened_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tagmac::isa::{Kernel, Level};

    struct Encrypt(Deoxys, Vec<Block>, Vec<Block>);

    impl Kernel for Encrypt {
        type Out = Vec<Block>;

        #[inline(always)]
        fn run<I: Isa>(mut self, isa: I) -> Vec<Block> {
            self.0.encrypt(isa, &mut self.1, &mut self.2);
            self.2
        }
    }

    /// A batch is its blocks one by one, on every level.
    #[test]
    fn batches() {
        let cipher = Deoxys::new(&[7; 16]);
        let tweaks: Vec<Block> = (0..BATCH as u8).map(|i| [i; 16]).collect();
        let blocks: Vec<Block> = (0..BATCH as u8).map(|i| [3 * i; 16]).collect();
        let one_by_one = |level: Level| -> Vec<Block> {
            let pairs = tweaks.iter().zip(&blocks);
            let run = |(t, b): (&Block, &Block)| {
                level.run(Encrypt(cipher.clone(), vec![*t], vec![*b]))[0]
            };
            pairs.map(run).collect()
        };
        let expected = one_by_one(Level::best());
        for level in Level::all() {
            assert_eq!(one_by_one(level), expected, "{level}");
            for n in [1, 2, 5, 15, 63, 64] {
                let (t, b) = (tweaks[..n].to_vec(), blocks[..n].to_vec());
                assert_eq!(level.run(Encrypt(cipher.clone(), t, b)), expected[..n], "{level}, {n}");
            }
        }
    }
}
