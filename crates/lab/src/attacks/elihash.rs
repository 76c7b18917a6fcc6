//! EliMAC's proposition 1 as printed, for messages of different numbers of blocks; and its remark
//! 1, on blocks without numbers.

use tagmac::EliMac;
use tagmac::cipher::{Aes128, Cipher, CipherBlock};
use tagmac::hashes::PlainFamilies;
use tagmac::isa::Level;

use super::attack::{Attack, AttackOptions};
use super::field::product128;
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use super::small_aes::SmallAes;
use crate::blocks::{encrypt, padded};

/// The row of the table.
pub const MIXED_LENGTHS: Attack = Attack {
    name: "elihash-mixed-lengths",
    about: "EliMAC over I(S, M) = S M: zero blocks in front of a short message keep its tag",
    source: "EliMAC, proposition 1 and section 4.3; docs/design/errata.md",
    how: "Multiplication is XOR-universal, which is all that the proposition requires of I, and \
         I(S, 0) = 0. So one to three blocks of zeros in front of m add nothing to the hash: m, if \
         shorter than a block, keeps its tag. The library's families have no likely value I(S, M), \
         and resist.",
    run,
};

/// The row of the table.
pub const REMARK_1: Attack = Attack {
    name: "elihash-remark-1",
    about: "EliHash over pairs, I(H(K, X), X') without a number: swap two pairs, or add one twice",
    source: "EliMAC, section 3, remark 1; docs/design/errata.md",
    how: "The remark replaces the number i by any value X, with a more complex proof. But a xor \
         ignores the order of its terms, and equal terms cancel. The attack uses AES of 7 and 4 \
         rounds for H and I, and messages of pairs and a last block: swap two pairs, or add a pair \
         twice, and the tag stays. Only sets of different pairs could be hashed this way.",
    run: remark_1,
};

/// Returns EliMAC over pairs (X, X') of blocks and a last block, which always has 10*: the remark's
/// hash, with EliMAC-AES's rounds for H and I.
fn of_pairs(random: &mut Random) -> Tags {
    let (aes, level) = (SmallAes::aes(), Level::best());
    let (h, i) = (aes.expand(&random.array(), 7), aes.expand(&[0; 16], 4));
    let e = Aes128::new(&random.array(), level);
    Box::new(move |_, message| {
        let (pairs, last) = message.split_at(message.len() / 32 * 32);
        let mut sum = [0; 16];
        for pair in pairs.chunks_exact(32) {
            let [x, y]: [[u8; 16]; 2] =
                [0, 16].map(|at| *pair[at..].first_chunk().expect("a block"));
            let s = h.encrypt(&x);
            sum = sum.xor(&i.encrypt(&s.xor(&y)));
        }
        encrypt(&e, &sum.xor(&padded(last)), level).to_vec()
    })
}

/// Makes one query, then swaps two of four pairs.
fn swap_pairs(game: &mut Game, random: &mut Random) -> bool {
    let mut pairs: [[u8; 32]; 4] = core::array::from_fn(|_| random.array());
    let tag = game.ask(pairs.as_flattened());
    let (one, other) = (random.below(2), 2 + random.below(2));
    pairs.swap(one, other);
    game.forges(pairs.as_flattened(), &tag)
}

/// Makes one query, then puts a pair twice before the others.
fn add_pair_twice(game: &mut Game, random: &mut Random) -> bool {
    let (pair, message) = (random.array::<32>(), random.bytes(40));
    let tag = game.ask(&message);
    game.forges(&[&pair[..], &pair, &message].concat(), &tag)
}

fn remark_1(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 500,
        expected,
        formula: "a xor has no order, and x ^ x = 0",
    };
    use Expected::{Always, Never};
    use Role::{Attack, Control};
    vec![
        trial("EliHash over pairs, two swapped", Attack, Always).play(of_pairs, swap_pairs),
        trial("EliHash over pairs, one added twice", Attack, Always).play(of_pairs, add_pair_twice),
        trial("EliMAC-AES128, pairs swapped", Control, Never)
            .play(real("ELIMAC-AES128"), swap_pairs),
        trial("EliMAC-AES128, a pair added twice", Control, Never)
            .play(real("ELIMAC-AES128"), add_pair_twice),
    ]
}

/// Makes one query, then forges with one to three blocks of zeros in front.
fn prepend(game: &mut Game, random: &mut Random) -> bool {
    let short = random.below(16);
    let message = random.bytes(short);
    let tag = game.ask(&message);
    let zeros = 1 + random.below(3);
    game.forges(&[&vec![0; 16 * zeros], &message[..]].concat(), &tag)
}

/// Random subkeys and I(S, M) = S M in GF(2^128).
#[derive(Clone)]
struct Product([u128; 3]);

impl Product {
    fn new(random: &mut Random) -> Self {
        Product(core::array::from_fn(|_| u128::from_be_bytes(random.array())))
    }
}

impl PlainFamilies for Product {
    type Block = [u8; 16];
    const MU: u64 = 3;

    fn h(&self, i: u64) -> [u8; 16] {
        self.0[i as usize - 1].to_be_bytes()
    }

    fn i(&self, s: &[u8; 16], m: &[u8; 16]) -> [u8; 16] {
        product128(u128::from_be_bytes(*s), u128::from_be_bytes(*m)).to_be_bytes()
    }
}

/// I(S, M) = S (S ^ M), which satisfies the condition that the proposition lacks.
#[derive(Clone)]
struct Quadratic(Product);

impl PlainFamilies for Quadratic {
    type Block = [u8; 16];
    const MU: u64 = 3;

    fn h(&self, i: u64) -> [u8; 16] {
        self.0.h(i)
    }

    fn i(&self, s: &[u8; 16], m: &[u8; 16]) -> [u8; 16] {
        let sum = u128::from_be_bytes(*s) ^ u128::from_be_bytes(*m);
        self.0.i(s, &sum.to_be_bytes())
    }
}

fn elimac<F: PlainFamilies<Block = [u8; 16]> + 'static>(families: F, k2: [u8; 16]) -> Tags {
    let mac = EliMac::<_, Aes128>::from_families(families, &k2);
    Box::new(move |_, message| mac.tag(message).expect("short").as_bytes().to_vec())
}

fn run(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 1000,
        expected,
        formula: "I(S, 0) = 0 for every S",
    };
    vec![
        trial("EliMAC with I(S, M) = S M", Role::Attack, Expected::Always)
            .play(|random| elimac(Product::new(random), random.array()), prepend),
        trial("EliMAC with I(S, M) = S (S ^ M)", Role::Control, Expected::Never)
            .play(|random| elimac(Quadratic(Product::new(random)), random.array()), prepend),
        trial("EliMAC-AES128", Role::Control, Expected::Never).play(real("ELIMAC-AES128"), prepend),
    ]
}
