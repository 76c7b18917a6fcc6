//! Breaks an EliMAC that reuses one subkey for several blocks.

use tagmac::EliMac;
use tagmac::cipher::Aes128;
use tagmac::hashes::PlainFamilies;

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use super::small_aes::{Rounds, SmallAes};

/// The row of the table.
pub const CHUNKS: Attack = Attack {
    name: "elimac-jedisct1",
    about: "EliMAC with one subkey for each ten blocks: swap two, and the tag stays",
    source: "a public implementation loads one subkey per pass of its loop; EliMAC, algorithm 1",
    how: "The hash is a xor of I(S, M_i). With the same S for two blocks, their order does not \
         matter. The idea is implemented on the library's EliMAC with other families; no code was \
         copied.",
    run,
};

/// Makes one query, then swaps two of the first ten blocks.
fn swap(game: &mut Game, random: &mut Random) -> bool {
    let tail = random.below(40);
    let mut message = random.bytes(160 + tail);
    let tag = game.ask(&message);
    let (one, other) = (random.below(5), 5 + random.below(5));
    let (left, right) = message.split_at_mut(16 * other);
    left[16 * one..16 * one + 16].swap_with_slice(&mut right[..16]);
    game.forges(&message, &tag)
}

/// EliMAC-AES's H and I in plain code, with one subkey for each `CHUNK` blocks.
#[derive(Clone)]
struct Chunks<const CHUNK: u64> {
    h: Rounds,
    i: Rounds,
}

impl<const CHUNK: u64> Chunks<CHUNK> {
    fn new(k1: &[u8; 16]) -> Self {
        let aes = SmallAes::aes();
        Chunks { h: aes.expand(k1, 7), i: aes.expand(&[0; 16], 4) }
    }
}

impl<const CHUNK: u64> PlainFamilies for Chunks<CHUNK> {
    type Block = [u8; 16];
    const MU: u64 = u32::MAX as u64;

    fn h(&self, i: u64) -> [u8; 16] {
        let number = ((i - 1) / CHUNK + 1) as u32;
        let mut block = [0; 16];
        block.as_chunks_mut().0.fill(number.to_be_bytes());
        self.h.encrypt(&block)
    }

    fn i(&self, s: &[u8; 16], m: &[u8; 16]) -> [u8; 16] {
        self.i.encrypt(&core::array::from_fn(|i| s[i] ^ m[i]))
    }
}

/// Returns EliMAC with one subkey for each `CHUNK` blocks.
pub fn elimac<const CHUNK: u64>(k1: &[u8; 16], k2: &[u8; 16]) -> Tags {
    let mac = EliMac::<_, Aes128>::from_families(Chunks::<CHUNK>::new(k1), k2);
    Box::new(move |_, message| mac.tag(message).expect("short").as_bytes().to_vec())
}

fn run(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 200,
        expected,
        formula: "I(S, M) ^ I(S, M') in either order",
    };
    vec![
        trial("EliMAC, a subkey for ten blocks", Role::Attack, Expected::Always)
            .play(|random| elimac::<10>(&random.array(), &random.array()), swap),
        trial("EliMAC-AES128", Role::Control, Expected::Never).play(real("ELIMAC-AES128"), swap),
    ]
}
