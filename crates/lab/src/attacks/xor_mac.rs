//! XOR-MAC with a random IV, and a repeated IV.

use tagmac::Mac;
use tagmac::cipher::Aes128;
use tagmac::isa::Level;

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial};
use super::random::Random;
use crate::comparators::XorMac;

/// The row of the table.
pub const RANDOM_IV: Attack = Attack {
    name: "xor-mac-random-iv",
    about: "XOR-MAC with a random IV: three tags under one IV reveal a fourth message's",
    source: "PMAC, section 4.4 (the XOR MAC: IV is a counter or random value)",
    how: "A tag is a xor of terms for pieces and one for the IV. Under one IV the tags of (a, b), \
         (a', b) and (a, b') xor to the tag of (a', b'). With a counter no two tags share an IV; \
         with a random IV they may. Three messages, requested 32 times each, share an IV of 8 bits \
         under about every third key. With an IV of 64 bits this would need about 2^43 requests \
         for each.",
    run: random_iv,
};

/// The number of requests for each of three messages.
const TIMES: u32 = 32;

/// Requests three messages under drawn IVs, and forges under an IV that all three had.
fn share(bits: u32) -> impl FnMut(&mut Game, &mut Random) -> bool {
    move |game, random| {
        let [a, b, c, d] = core::array::from_fn(|_| random.array::<8>());
        let message = |one: [u8; 8], other: [u8; 8]| [one, other].concat();
        let tags = [message(a, b), message(c, b), message(a, d)].map(|message| {
            let ask = |_| {
                let iv = (random.next_u64() >> (64 - bits)).to_be_bytes();
                (iv, game.ask_with(&iv, &message))
            };
            (0..TIMES).map(ask).collect::<Vec<_>>()
        });
        let [first, others @ ..] = &tags;
        let shared = first.iter().find_map(|(iv, tag)| {
            let of = |tags: &[([u8; 8], Vec<u8>)]| {
                tags.iter().find(|(other, _)| other == iv).map(|(_, tag)| tag.clone())
            };
            Some((*iv, [tag.clone(), of(&others[0])?, of(&others[1])?]))
        });
        shared.is_some_and(|(iv, tags)| {
            let sum: Vec<u8> = (0..16).map(|i| tags[0][i] ^ tags[1][i] ^ tags[2][i]).collect();
            game.forges_with(&iv, &message(c, d), &sum)
        })
    }
}

fn xor_mac(random: &mut Random) -> Tags {
    let mac = XorMac::<Aes128, 8>::with_level(&random.array(), Level::best());
    Box::new(move |iv, message| {
        let iv = iv.try_into().expect("8 bytes");
        mac.tag_with(iv, message).expect("short").as_bytes().to_vec()
    })
}

fn random_iv(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, keys, expected| Trial {
        target,
        role,
        keys,
        expected,
        formula: "an IV that is in all three lists of 32 draws",
    };
    let one = 1.0 - (1.0 - 1.0 / 256.0f64).powi(TIMES as i32);
    let expected = 1.0 - (1.0 - one.powi(3)).powi(256);
    vec![
        trial("XOR-MAC, IV of 8 random bits", Role::Attack, 4000, Expected::About(expected))
            .play(xor_mac, share(8)),
        trial("XOR-MAC, IV of 64 random bits", Role::Control, 500, Expected::Never)
            .play(xor_mac, share(64)),
    ]
}
