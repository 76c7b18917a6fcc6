//! MARVIN (Simplicio and others 2009), as drawn in EliMAC's appendix A, and its two forgeries.
//!
//! ```text
//! R   = E_K(c) ^ c
//! tag = E_K(R ^ lengths ^ Theta(M_1 ^ mask_1) ^ .. ^ Theta(M_l ^ mask_l))
//! ```

use tagmac::cipher::{Aes128, Cipher};
use tagmac::isa::Level;

use super::attack::{Attack, AttackOptions};
use super::field::product128;
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use super::small_aes::SmallAes;
use crate::blocks::encrypt;

/// The row of the table.
pub const A1: Attack = Attack {
    name: "marvin-a1",
    about: "MARVIN with a keyed Theta, XOR-universal and linear: swap two blocks",
    source: "EliMAC, appendix A.1",
    how: "Theta(X) = L X with a secret L satisfies all conditions of MARVIN's theorem, though \
         MARVIN's own Theta has no key. But Theta(M_i ^ mask_i) ^ Theta(M_j ^ mask_j) is L (M_i ^ \
         M_j ^ ..), the same for both orders. XOR-universality concerns two values, while the \
         attack cancels a sum of four.",
    run: a1,
};

/// The row of the table.
pub const A2: Attack = Attack {
    name: "marvin-a2",
    about: "MARVIN with Theta(X) = X^7 or X^3 and PMAC's masks: make the same change to eight or \
         four blocks",
    source: "EliMAC, appendix A.2; docs/design/errata.md",
    how: "If the masks of eight blocks are a coset of a subgroup, the third derivative of X^7 \
         along it is constant. Then the content of the blocks does not matter as long as they are \
         equal. The printed pairs lack one block: only the masks of blocks 4 to 11 are a coset, \
         not those of 3 to 10.",
    run: a2,
};

/// The masks of the blocks, from block 1 on.
#[derive(Clone, Copy)]
pub enum Masks {
    /// MARVIN's own: R (x^w)^i with w = 8.
    Powers,
    /// PMAC's: R times the Gray codeword of i plus this number.
    Gray(u128),
}

/// Returns MARVIN of whole blocks with the given Theta. The constant c is 2a; the lengths are the
/// message's length in bits.
pub fn marvin(key: &[u8; 16], masks: Masks, theta: impl Fn(u128) -> u128 + 'static) -> Tags {
    let (cipher, level) = (Aes128::new(key, Level::best()), Level::best());
    let e = move |block: u128| u128::from_be_bytes(encrypt(&cipher, &block.to_be_bytes(), level));
    let r = e(0x2a) ^ 0x2a;
    Box::new(move |_, message| {
        let (mut power, mut sum) = (r, r ^ (8 * message.len() as u128));
        for (i, block) in (1..).zip(message.as_chunks().0) {
            power = product128(power, 1 << 8);
            let mask = match masks {
                Masks::Powers => power,
                Masks::Gray(later) => product128((i + later) ^ (i + later) >> 1, r),
            };
            sum ^= theta(u128::from_be_bytes(*block) ^ mask);
        }
        e(sum).to_be_bytes().to_vec()
    })
}

/// Makes one query, then swaps two of eight blocks.
fn swap(game: &mut Game, random: &mut Random) -> bool {
    let mut message: [[u8; 16]; 8] = core::array::from_fn(|_| random.array());
    let tag = game.ask(message.as_flattened());
    let (one, other) = (random.below(4), 4 + random.below(4));
    message.swap(one, other);
    game.forges(message.as_flattened(), &tag)
}

fn a1(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 500,
        expected,
        formula: "L (M_i ^ M_j) in either order",
    };
    let linear = |random: &mut Random| {
        let l = u128::from_be_bytes(random.array());
        marvin(&random.array(), Masks::Powers, move |x| product128(l, x))
    };
    let rounds = |random: &mut Random| {
        let aes = SmallAes::aes().expand(&[0; 16], 4);
        marvin(&random.array(), Masks::Powers, move |x| {
            u128::from_be_bytes(aes.encrypt(&x.to_be_bytes()))
        })
    };
    vec![
        trial("MARVIN, Theta(X) = L X", Role::Attack, Expected::Always).play(linear, swap),
        trial("MARVIN, Theta of 4 rounds of AES", Role::Control, Expected::Never)
            .play(rounds, swap),
        trial("EliMAC-AES128", Role::Control, Expected::Never).play(real("ELIMAC-AES128"), swap),
    ]
}

/// Makes one query on a message of equal blocks, then makes the same change to those from `FIRST`
/// on.
fn change<const FIRST: usize, const BLOCKS: usize>(game: &mut Game, random: &mut Random) -> bool {
    let [alpha, delta]: [[u8; 16]; 2] = [random.array(), random.array()];
    let mut message = vec![alpha; FIRST - 1 + BLOCKS];
    let tag = game.ask(message.as_flattened());
    for block in &mut message[FIRST - 1..] {
        block.iter_mut().zip(&delta).for_each(|(byte, delta)| *byte ^= delta);
    }
    game.forges(message.as_flattened(), &tag)
}

/// Returns X^e in GF(2^128).
pub fn power(x: u128, e: u32) -> u128 {
    (1..e).fold(x, |y, _| product128(y, x))
}

fn a2(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 50,
        expected,
        formula: "are the masks a coset of a subgroup?",
    };
    type Change = fn(&mut Game, &mut Random) -> bool;
    let theta = |e, later, target, role, expected, change: Change| {
        trial(target, role, expected).play(
            |random| marvin(&random.array(), Masks::Gray(later), move |x| power(x, e)),
            change,
        )
    };
    use Expected::{Always, Never};
    use Role::{Attack, Control};
    vec![
        theta(7, 0, "X^7, blocks 4 to 11, one more than printed", Attack, Always, change::<4, 8>),
        theta(7, 0, "X^7, blocks 3 to 10, as printed", Attack, Never, change::<3, 8>),
        theta(7, 1, "X^7, blocks 3 to 10, masks from gamma_2", Attack, Always, change::<3, 8>),
        theta(3, 0, "X^3, blocks 2 to 5, one more than printed", Attack, Always, change::<2, 4>),
        theta(3, 0, "X^3, blocks 1 to 4, as printed", Attack, Never, change::<1, 4>),
        trial("PMAC-AES128, blocks 4 to 11 of 12", Control, Never)
            .play(real("PMAC-AES128"), change::<4, 8>),
        trial("EliMAC-AES128, blocks 4 to 11", Control, Never)
            .play(real("ELIMAC-AES128"), change::<4, 8>),
    ]
}
