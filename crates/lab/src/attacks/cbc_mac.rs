//! Raw CBC-MAC: the tag of a message is a state that a longer message can continue.

use tagmac::cipher::Aes128;
use tagmac::isa::Level;
use tagmac_papers::Cbc3;

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use crate::comparators::CbcMac;

/// The row of the table.
pub const EXTENSION: Attack = Attack {
    name: "cbc-mac-extension",
    about: "raw CBC-MAC: two tags reveal the tag of a third message",
    source: "PMAC, on performance: the basic CBC MAC has to be modified for messages of several \
             lengths",
    how: "t1 is the tag of m1, t2 that of m2 = (b, rest). CBC-MAC of m1 || (b ^ t1, rest) reaches \
         t1, xors it away again and continues as for m2: its tag is t2.",
    run,
};

/// Makes two queries and forges the concatenation of both messages.
fn extend(game: &mut Game, random: &mut Random) -> bool {
    let (blocks, more) = (1 + random.below(4), random.below(4));
    let (first, mut second) = (random.bytes(16 * blocks), random.bytes(16 * (1 + more)));
    let (t1, t2) = (game.ask(&first), game.ask(&second));
    second.iter_mut().zip(&t1).for_each(|(byte, tag)| *byte ^= tag);
    game.forges(&[first, second].concat(), &t2)
}

/// Returns the lab's CBC-MAC.
fn raw(random: &mut Random) -> Tags {
    let mac = CbcMac::<Aes128>::with_level(&random.array(), Level::best());
    Box::new(move |_, message| mac.tag(message).expect("whole blocks").to_vec())
}

fn run(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 1000,
        expected,
        formula: "the chain's state is the tag",
    };
    vec![
        trial("raw CBC-MAC-AES128", Role::Attack, Expected::Always).play(raw, extend),
        trial("CMAC-AES128", Role::Control, Expected::Never).play(real("CMAC-AES128"), extend),
        trial("CBC3-AES128", Role::Control, Expected::Never).play(
            |random| {
                let [k1, k2, k3] = [random.array(), random.array(), random.array()];
                let mac = Cbc3::<Aes128>::new(&k1, &k2, &k3);
                Box::new(move |_, message| mac.tag(message).as_bytes().to_vec())
            },
            extend,
        ),
        trial("PMAC-AES128", Role::Control, Expected::Never).play(real("PMAC-AES128"), extend),
    ]
}
