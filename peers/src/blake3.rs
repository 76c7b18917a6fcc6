//! The crate blake3, with its assembly for each level of x86-64, chosen at run time.

use crate::info::{Library, Visit, exactly};

pub(crate) fn all(visit: &mut impl Visit) {
    let library = Library { name: "blake3", version: env!("PEERS_BLAKE3_VERSION").into() };
    let call = "keyed_hash on one thread";
    visit.peer(library.info("BLAKE3, keyed", "BLAKE3", [32, 0, 32], call), |key, _| {
        let key = exactly(key);
        move |message: &[u8]| *::blake3::keyed_hash(&key, message).as_bytes()
    });
}
