//! EliMAC's proposition 1 as printed: messages of different numbers of blocks.

use tagmac::EliMac;
use tagmac::cipher::Aes128;
use tagmac::hashes::PlainFamilies;

use super::attack::{Attack, Options};
use super::field::product128;
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;

/// The row of the table.
pub const MIXED_LENGTHS: Attack = Attack {
    name: "elihash-mixed-lengths",
    about: "EliMAC over I(S, M) = S M: zero blocks in front of a short message change no tag",
    source: "EliMAC, proposition 1 and section 4.3; docs/errata.md",
    how: "Multiplication is XOR-universal, all that the proposition asks of I, and has I(S, 0) = \
          0. So one to three blocks of zeros in front of m add nothing to the hash, and the tag \
          of m, shorter than a block, is theirs. The library's families have no likely value I(S, \
          M), and resist.",
    run,
};

/// One query, and a forgery with one to three blocks of zeros in front.
fn prepend(game: &mut Game, random: &mut Random) -> bool {
    let short = random.below(16);
    let message = random.bytes(short);
    let tag = game.ask(&message);
    let zeros = 1 + random.below(3);
    game.forges(&[&vec![0; 16 * zeros], &message[..]].concat(), &tag)
}

/// Random subkeys, and I(S, M) = S M in GF(2^128).
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

/// I(S, M) = S (S ^ M), which keeps the condition that the proposition lacks.
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

fn run(_: &Options) -> Vec<Finding> {
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
