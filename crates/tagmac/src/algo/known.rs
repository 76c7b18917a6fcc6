//! What a rung must get right before its first use: the tag of a message that takes every path of
//! the kernels, by each MAC. The answers are those of `reference/`.

use super::{EliMac, LightMac, Pmac, Poly1305Aes, Umac128};
use crate::cipher::{Aes128, flights_hold};
use crate::isa::Level;
use crate::mac::Mac;

/// Byte i is 167 i + floor(i / 256).
static MESSAGE: [u8; 4133] = {
    let mut message = [0; 4133];
    let mut i = 0;
    while i < message.len() {
        message[i] = (i * 167 + i / 256) as u8;
        i += 1;
    }
    message
};

/// Bytes 0, 1, 2 and so on.
const K1: [u8; 16] = 0x000102030405060708090a0b0c0d0e0f_u128.to_be_bytes();
/// K1 and K2.
const K1_K2: [u8; 32] = {
    let mut key = [0; 32];
    let mut i = 0;
    while i < key.len() {
        key[i] = i as u8;
        i += 1;
    }
    key
};
const NONCE: [u8; 16] = 0x202122232425262728292a2b2c2d2e2f_u128.to_be_bytes();
const K2: [u8; 16] = 0x101112131415161718191a1b1c1d1e1f_u128.to_be_bytes();

const PMAC: u128 = 0xb5a81d9524b959999d02e3da7ba9a466;
const POLY1305_AES: u128 = 0x1e261d3096cac1540d7fe71aa3bf74e1;
const UMAC_128: u128 = 0xdd5315dda6512081729d2256603257e7;
const LIGHTMAC_S32: u128 = 0xa9875cb6ba179385666f32dee460a60b;
const ELIMAC: u128 = 0x20a9c19cf159533b669cb2075f967dbf;

/// Whether the MACs give their known answers on a rung.
pub(crate) fn answers_hold(level: Level) -> bool {
    let is = |tag: Result<crate::Tag, crate::Error>, known: u128| {
        tag.is_ok_and(|tag| tag.as_bytes() == known.to_be_bytes())
    };
    let elimac = EliMac::on(&K1, &K2, level);
    let light = LightMac::<Aes128>::on(&K1, &K2, 32, level);
    is(Pmac::<Aes128>::on(&K1, level).tag(&MESSAGE), PMAC)
        && light.is_ok_and(|mac| is(mac.tag(&MESSAGE), LIGHTMAC_S32))
        && is(elimac.tag(&MESSAGE), ELIMAC)
        && is(Poly1305Aes::on(&K1_K2, level).tag_with(&NONCE, &MESSAGE), POLY1305_AES)
        && is(Umac128::on(&K1, level).tag_with(&NONCE.into(), &MESSAGE), UMAC_128)
        && cached_answers_hold(elimac)
        && flights_hold(level)
        && umac99_holds(level)
}

#[cfg(feature = "umac99")]
fn umac99_holds(level: Level) -> bool {
    super::umac99::kernels_hold(level, &MESSAGE)
}

#[cfg(not(feature = "umac99"))]
fn umac99_holds(_: Level) -> bool {
    true
}

#[cfg(feature = "alloc")]
fn cached_answers_hold(elimac: EliMac) -> bool {
    elimac.with_cache(1000).tag(&MESSAGE).is_ok_and(|tag| tag.as_bytes() == ELIMAC.to_be_bytes())
}

#[cfg(not(feature = "alloc"))]
fn cached_answers_hold(_: EliMac) -> bool {
    true
}
