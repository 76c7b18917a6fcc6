//! Known answers, which a construction must reproduce on a level before it runs there. Each
//! construction has its own, so that a program contains only the kernels of the MACs that it uses.
//!
//! An answer is the xor of the tags of three messages with the lengths [`LENGTHS`]. Their byte i is
//! 167 i + floor(i / 256). Together they cover every path of the kernels: whole bitsliced batches
//! of PRESENT, and tails of each kind. The bytes of keys count from 0, and those of nonces from 32.
//! `reference/` computes the answers.

use crate::cipher::Cipher;
use crate::error::Error;
use crate::isa::{KnownAnswer, Level};
use crate::tag::Tag;

/// The lengths of the messages in bytes.
const LENGTHS: [usize; 3] = [2405, 4157, 9797];

/// The keys, concatenated.
pub(super) const KEYS: [u8; 64] = {
    let mut keys = [0; 64];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = i as u8;
        i += 1;
    }
    keys
};

/// The first key for C.
pub(super) fn key<C: Cipher>() -> C::Key {
    let Ok(key) = C::Key::try_from(&KEYS[..C::KEY_BYTES]) else { unreachable!("its length") };
    key
}

/// The nonce.
pub(super) const NONCE: [u8; 16] = 0x202122232425262728292a2b2c2d2e2f_u128.to_be_bytes();

/// The highest level up to `level` on which the MAC reproduces its known answer. `make` returns the
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
    // If the tag is shorter than the answer, the cipher has a shorter block.
    found[..bytes] == [0; 16][..bytes]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algo::{Cmac, EliMac, LightMac, Pmac, Poly1305, Poly1305Aes, Umac};
    use crate::cipher::aes::LongAes;
    use crate::cipher::{Aes128, Aes192, Aes256, Cipher, Field, Present80, Present128};
    use crate::isa::ASKED;

    fn asks<M>(name: &str, make: impl FnOnce(Level) -> M) {
        let before = ASKED.get();
        drop(make(Level::best()));
        assert!(ASKED.get() > before, "{name}: expected a known answer, found none");
    }

    fn modes_ask<C: Cipher<Block: Field>>() {
        let cipher = |level| C::from_slice(&KEYS[..C::KEY_BYTES], level).expect("its key");
        asks(C::NAME, |level| Pmac::from_cipher(cipher(level), level));
        asks(C::NAME, |level| LightMac::from_ciphers(cipher(level), cipher(level), 24, level));
        asks(C::NAME, |level| Cmac::from_cipher(cipher(level), level));
    }

    #[test]
    fn every_mac_has_a_known_answer() {
        modes_ask::<Aes128>();
        modes_ask::<Aes192>();
        modes_ask::<Aes256>();
        modes_ask::<LongAes>();
        modes_ask::<Present80>();
        modes_ask::<Present128>();
        let [short, long] = [KEYS.first_chunk().expect("64"), KEYS.last_chunk().expect("64")];
        asks("EliMAC", |level| EliMac::with_level(short, long, level));
        asks("UMAC-32", |level| Umac::<Aes128, 1>::with_level(short, level));
        asks("UMAC-64", |level| Umac::<Aes128, 2>::with_level(short, level));
        asks("UMAC-96", |level| Umac::<Aes128, 3>::with_level(short, level));
        asks("UMAC-128", |level| Umac::<Aes128, 4>::with_level(short, level));
        let key = KEYS.first_chunk().expect("64");
        asks("Poly1305", |level| Poly1305::with_level(key, level));
        asks("Poly1305-AES", |level| Poly1305Aes::with_level(key, level));
    }
}
