//! The crate aegis with its C code (libaegis), which chooses AES-NI, VAES or AVX-512 at run time.
//! The crate's Rust code chooses them by compiler flags only, and in version 0.9.20 its tag of the
//! empty message differs from the draft's.
//!
//! Tags have 32 bytes, as the documentation recommends. All messages may share a nonce
//! (`aegis128l_mac_init`); then the state is made once and copied. With a counter the state is made
//! again for each message.

use std::hint::black_box;

use aegis::{aegis128l::Aegis128LMac, aegis128x2::Aegis128X2Mac, aegis128x4::Aegis128X4Mac};

use crate::info::{Info, Library, Visit, counter, exactly};

pub(crate) fn all(visit: &mut impl Visit) {
    let library = Library { name: "aegis", version: env!("PEERS_AEGIS_VERSION").into() };
    /// The nonce belongs to the set-up: all messages share it.
    const CALL: &str = "update, finalize_and_reset, which copies the state that key and nonce made";
    const COUNTING: &str = "new_with_nonce with the next nonce, update, finalize";
    macro_rules! peers {
        ($($name:literal, $function:literal, $mac:ident;)*) => {$(
            visit.peer(library.info($name, $function, [16, 16, 32], CALL), |key, nonce| {
                let mut mac = $mac::<32>::new_with_nonce(&exactly(key), &exactly(nonce));
                move |message: &[u8]| {
                    mac.update(message);
                    mac.finalize_and_reset()
                }
            });
            let name = concat!($name, ", a nonce each");
            let info = library.info(name, $function, [16, 16, 32], COUNTING);
            visit.peer(Info { repeats: false, ..info }, |key, nonce| {
                let key = exactly(key);
                let mut nonces = counter(exactly(nonce));
                move |message: &[u8]| {
                    let mut mac = $mac::<32>::new_with_nonce(black_box(&key), &nonces());
                    mac.update(message);
                    mac.finalize()
                }
            });
        )*};
    }
    peers! {
        "AEGIS-128L MAC", "AEGIS-128L-MAC", Aegis128LMac;
        "AEGIS-128X2 MAC", "AEGIS-128X2-MAC", Aegis128X2Mac;
        "AEGIS-128X4 MAC", "AEGIS-128X4-MAC", Aegis128X4Mac;
    }
}
