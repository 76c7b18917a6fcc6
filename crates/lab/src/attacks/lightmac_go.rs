//! Breaks the padding of the LightMAC authors' Go code.

use tagmac::cipher::{Aes128, Cipher, CipherBlock};
use tagmac::isa::Level;

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use crate::blocks::encrypt;

/// The row of the table.
pub const PADDING: Attack = Attack {
    name: "lightmac-go-padding",
    about: "the LightMAC authors' Go code pads some messages only: m and m || 80 have one tag",
    source: "KULeuven-COSIC/lightmac 1376e8b, go/lightmac/lightmac.go; docs/design/errata.md",
    how: "In that code a full last block has no padding. A message that the byte 80 fills up to a \
         full last block, of 15, 27, 39 .. bytes with AES and s = 32, is padded with that byte. It \
         then equals the message that ends with the byte. Algorithm 1 of the paper always pads.",
    run,
};

/// Returns LightMAC with AES and s = 32, padded as in that code.
pub fn go_code(k1: &[u8; 16], k2: &[u8; 16]) -> Tags {
    let level = Level::best();
    let [e1, e2] = [k1, k2].map(|key| Aes128::new(key, level));
    Box::new(move |_, message| {
        let full = |length: usize| length >= 16 && (length - 16).is_multiple_of(12);
        let mut padded = message.to_vec();
        if !full(padded.len()) {
            padded.push(0x80);
            while !full(padded.len()) {
                padded.push(0);
            }
        }
        let (pieces, last) = padded.split_at(padded.len() - 16);
        let mut sum: [u8; 16] = last.try_into().expect("16 bytes");
        for (piece, i) in pieces.chunks(12).zip(1u32..) {
            let mut block = [0; 16];
            block[..4].copy_from_slice(&i.to_be_bytes());
            block[4..].copy_from_slice(piece);
            sum = CipherBlock::xor(&sum, &encrypt(&e1, &block, level));
        }
        encrypt(&e2, &sum, level).to_vec()
    })
}

/// Makes one query, then forges with the byte 80 appended.
fn append(game: &mut Game, random: &mut Random) -> bool {
    let blocks = random.below(5);
    let mut message = random.bytes(15 + 12 * blocks);
    let tag = game.ask(&message);
    message.push(0x80);
    game.forges(&message, &tag)
}

fn run(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 1000,
        expected,
        formula: "the padded messages are equal",
    };
    vec![
        trial("LightMAC, padded as in Go", Role::Attack, Expected::Always)
            .play(|random| go_code(&random.array(), &random.array()), append),
        trial("LIGHTMAC-AES128-S32", Role::Control, Expected::Never)
            .play(real("LIGHTMAC-AES128-S32"), append),
    ]
}
