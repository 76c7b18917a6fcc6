//! The crate twox-hash: XXH3 with AVX2, SSE2 or NEON. On x86-64 the choice is made at run time.
//!
//! XXH3 is not a MAC, even with a secret: it shows what a hash without security costs.

use twox_hash::XxHash3_128;

use crate::info::{Library, Visit};

/// Bytes of a secret, as in the default one. The library needs 136 or more.
const SECRET_BYTES: usize = 192;

pub(crate) fn all(visit: &mut impl Visit) {
    let library = Library { name: "twox-hash", version: env!("PEERS_TWOX_HASH_VERSION").into() };
    let call = "oneshot_with_secret; a shorter key is repeated to 192 bytes";
    let info =
        library.info("XXH3-128, secret (not a MAC)", "XXH3-128", [SECRET_BYTES, 0, 16], call);
    visit.peer(info, |key, _| {
        let secret: Vec<u8> = key.iter().copied().cycle().take(SECRET_BYTES).collect();
        move |message: &[u8]| {
            let hash = XxHash3_128::oneshot_with_secret(&secret, message);
            hash.expect("192 bytes are enough").to_be_bytes()
        }
    });
}
