//! The attack that reaches EliMAC's bound.

use std::sync::LazyLock;

use tagmac::cipher::{BlockCipher, CipherBlock};
use tagmac::hashes::Families;
use tagmac::isa::{Isa, Lanes, Levels, ScalarBlocks};
use tagmac::{Bits, EliMac};

use super::attack::{Attack, AttackOptions};
use super::field::product16;
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use super::toy::Toy;

/// The row of the table.
pub const ELIMAC: Attack = Attack {
    name: "elimac-tight",
    about: "messages of two blocks collide as often as EliMAC's theorem 1 allows, and then forge",
    source: "EliMAC, section 4.3 and theorems 1 and 2",
    how: "Blocks of 16 bits, uniform subkeys and I(S, M) = S M, so eps = 2^-16. Two messages (M1, \
         M2) and (M1', M2') collide for one subkey, (M2 ^ M2') / (M1 ^ M1'). The messages here \
         have a different one for each pair, so exactly q (q - 1) / 2 of the 2^16 subkeys give a \
         collision, which reaches the theorem's bound. Then add a constant to both last blocks, \
         request one tag and forge the other.",
    run,
};

/// I(S, M) = S M in GF(2^16), with subkeys for blocks 1 and 2.
#[derive(Clone)]
pub struct Product(pub [u16; 2]);

impl Families for Product {
    type Block = [u8; 2];
    const LEVELS: Levels = Levels::Words;
    type Lanes<I: Isa> = ScalarBlocks<[u8; 2]>;
    type Keys<'a, I: Isa> = &'a Product;
    const MU: u64 = 2;

    #[inline(always)]
    fn lanes<I: Isa>(_: I) -> Self::Lanes<I> {
        ScalarBlocks::new()
    }

    #[inline(always)]
    fn keys<I: Isa>(&self, _: I) -> &Product {
        self
    }

    #[inline(always)]
    fn counter_layout<I: Isa>(_: I) -> <Self::Lanes<I> as Lanes>::CounterLayout {
        ScalarBlocks::<[u8; 2]>::new().be_prefix(2)
    }

    #[inline(always)]
    fn whiten<I: Isa>(_: I, _: &&Product, number: [u8; 2]) -> [u8; 2] {
        number
    }

    #[inline(always)]
    fn subkeys<I: Isa, const N: usize>(
        _: I,
        keys: &&Product,
        numbers: [[u8; 2]; N],
    ) -> [[u8; 2]; N] {
        numbers.map(|number| keys.0[usize::from(number[1]) - 1].to_be_bytes())
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(
        _: I,
        _: &&Product,
        sum: [u8; 2],
        subkeys: [[u8; 2]; N],
        blocks: [[u8; 2]; N],
    ) -> [u8; 2] {
        subkeys.iter().zip(&blocks).fold(sum, |sum, (subkey, block)| {
            let term = product16(u16::from_be_bytes(*subkey), u16::from_be_bytes(*block));
            CipherBlock::xor(&sum, &term.to_be_bytes())
        })
    }
}

/// The maximum of messages.
pub const MESSAGES: usize = 128;

/// Returns messages (M1, z) of a block and 15 bits, which are padded to (M1, 2z + 1).
///
/// The z are pairs (a, a^3) over GF(2^7). No two have the xor of two others, because a^3 is almost
/// perfectly nonlinear. M1 is the root of 2z. So the subkey of a pair, (2z ^ 2z') / (M1 ^ M1') = M1
/// ^ M1', is the root of 2z ^ 2z', which differs for each pair.
pub fn messages() -> Vec<[u16; 2]> {
    // x^7 + x + 1.
    let product7 = |a: u16, b: u16| {
        (0..7).rev().fold(0u16, |sum, bit| {
            let doubled = (sum << 1 & 0x7f) ^ ((sum >> 6) * 0x3);
            doubled ^ ((b >> bit & 1) * a)
        })
    };
    let z = |a: u16| a << 7 | product7(a, product7(a, a));
    (0..MESSAGES as u16).map(|a| [root(2 * z(a)), z(a)]).collect()
}

/// Returns the square root in GF(2^16).
pub fn root(x: u16) -> u16 {
    (1..16).fold(x, |x, _| product16(x, x))
}

/// Returns the message's 31 bits.
pub fn bits([block, z]: [u16; 2]) -> Vec<u8> {
    ((block as u32) << 16 | (z as u32) << 1).to_be_bytes().to_vec()
}

/// The constant that is added to both last blocks: a bit that is 0 in every z.
pub const ADDED: u16 = 1 << 14;

/// Makes q + 1 queries, with messages that `of` makes from a first block and a number for the last
/// one.
pub fn collide(
    messages: &[[u16; 2]],
    of: impl Fn([u16; 2]) -> Vec<u8>,
) -> impl FnMut(&mut Game, &mut Random) -> bool {
    move |game, _| {
        let mut seen: Vec<(Vec<u8>, [u16; 2])> =
            messages.iter().map(|message| (game.ask(&of(*message)), *message)).collect();
        seen.sort_unstable();
        let Some(pair) = seen.windows(2).find(|pair| pair[0].0 == pair[1].0) else {
            return false;
        };
        let [one, other] = [&pair[0], &pair[1]].map(|(_, [m, z])| of([*m, z ^ ADDED]));
        let tag = game.ask(&one);
        game.forges(&other, &tag)
    }
}

/// E: one toy permutation. Collisions do not depend on which one it is.
#[derive(Clone)]
pub struct Fixed;

impl BlockCipher for Fixed {
    const NAME: &'static str = "FIXED16";
    const KEY_BYTES: usize = 0;
    type Block = [u8; 2];
    type Key = [u8; 0];

    fn new(_: &[u8; 0]) -> Self {
        Fixed
    }

    fn encrypt(&self, blocks: &mut [[u8; 2]]) {
        static TOY: LazyLock<Toy> = LazyLock::new(|| Toy::new(&[1; 8]));
        TOY.encrypt(blocks);
    }
}

/// Returns the library's EliMAC over blocks of 16 bits. Messages are one bit short of whole bytes.
pub fn toy(subkeys: [u16; 2]) -> Tags {
    let mac = EliMac::<Product, Fixed>::from_families(Product(subkeys), &[]);
    Box::new(move |_, message| {
        let bits = Bits::new(message, 8 * message.len() - 1).expect("all but one bit");
        mac.tag(bits).expect("short").as_bytes().to_vec()
    })
}

/// Returns EliMAC-AES for the same messages, with zeros in front of the first block.
pub fn aes(random: &mut Random) -> Tags {
    let tags = real("ELIMAC-AES128")(random);
    Box::new(move |nonce, message| tags(nonce, &[&[0; 14], message].concat()))
}

fn run(_: &AttackOptions) -> Vec<Finding> {
    let mut findings = Vec::new();
    for q in [16, MESSAGES] {
        let (messages, pairs) = (&messages()[..q], (q * (q - 1) / 2) as u64);
        let (mut subkeys, keys) = (0..=u16::MAX, 1 << 16);
        let trial = |target, role, keys, expected| Trial {
            target,
            role,
            keys,
            expected,
            formula: "q (q - 1) / 2 eps, theorem 1",
        };
        let target = format!("EliMAC, n = 16, I(S, M) = S M, q = {q}");
        findings.push(Finding {
            bound: Some(pairs as f64 / keys as f64),
            ..trial(&target, Role::Attack, keys, Expected::Exactly(pairs))
                .play(|_| toy([subkeys.next().expect("2^16 subkeys"); 2]), collide(messages, bits))
        });
        let target = format!("EliMAC-AES128, q = {q}");
        findings.push(
            trial(&target, Role::Control, 100, Expected::Never).play(aes, collide(messages, bits)),
        );
    }
    findings
}
