//! The crate ring, with assembly from BoringSSL and OpenSSL, chosen at run time.

use ring::hmac::{HMAC_SHA256, Key, sign};

use crate::info::{Library, Visit};

pub(crate) fn all(visit: &mut impl Visit) {
    let library = Library { name: "ring", version: env!("PEERS_RING_VERSION").into() };
    let call = "hmac::sign under a Key, whose two blocks are hashed";
    visit.peer(library.info("ring HMAC-SHA256", "HMAC-SHA256", [32, 0, 32], call), |key, _| {
        let key = Key::new(HMAC_SHA256, key);
        move |message: &[u8]| sign(&key, message)
    });
}
