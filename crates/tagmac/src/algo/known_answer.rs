//! Known answers: what a construction must get right on a level before it runs there. Each has its
//! own, so that a program holds the kernels of those MACs alone that it uses.
//!
//! An answer is the xor of the tags of three messages, of [`LENGTHS`], whose byte i is 167 i +
//! floor(i / 256). They take every path of the kernels: whole bitsliced batches of PRESENT, and tails
//! of each kind. Keys count from 0, and nonces from 32. The answers are those of `reference/`.

use crate::error::Error;
use crate::isa::{KnownAnswer, Level};
use crate::tag::Tag;

/// Bytes of the messages.
const LENGTHS: [usize; 3] = [2405, 4157, 9797];

/// The keys, one after the other.
pub(super) const KEYS: [u8; 64] = {
    let mut keys = [0; 64];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = i as u8;
        i += 1;
    }
    keys
};
/// The nonce.
pub(super) const NONCE: [u8; 16] = 0x202122232425262728292a2b2c2d2e2f_u128.to_be_bytes();

/// This level, or the highest below it on which the MAC gives its known answer. `make` makes the
/// function from messages to tags.
#[inline(always)]
pub(super) fn passing<F: Fn(&[u8]) -> Result<Tag, Error>>(
    known: &'static KnownAnswer,
    level: Level,
    make: impl Fn(Level) -> F + Copy,
) -> Level {
    level.passing(
        &known.test,
        #[inline(always)]
        |level| is_right(known.answer, &make(level)),
    )
}

#[cold]
#[inline(never)]
fn is_right(answer: u128, tag: &dyn Fn(&[u8]) -> Result<Tag, Error>) -> bool {
    let mut message = [0; LENGTHS[2]];
    for (i, byte) in message.iter_mut().enumerate() {
        *byte = (i * 167 + i / 256) as u8;
    }
    let (mut found, mut bytes) = (answer.to_be_bytes(), 0);
    for length in LENGTHS {
        let Ok(tag) = tag(&message[..length]) else { return false };
        bytes = tag.as_bytes().len();
        found.iter_mut().zip(tag.as_bytes()).for_each(|(found, byte)| *found ^= byte);
    }
    // A tag shorter than the answer is one of a shorter block.
    found[..bytes] == [0; 16][..bytes]
}
