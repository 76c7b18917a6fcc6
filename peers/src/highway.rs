//! The crate highway: HighwayHash with SSE 4.1, AVX2 or NEON. On x86-64 the choice is made at run
//! time.

use highway::{HighwayHash, HighwayHasher, Key};

use crate::info::{Library, Visit, exactly};

pub(crate) fn all(visit: &mut impl Visit) {
    let library = Library { name: "highway", version: env!("PEERS_HIGHWAY_VERSION").into() };
    let call = "a copy of the HighwayHasher, hash64";
    let info = library.info("HighwayHash-64", "HIGHWAYHASH-64", [32, 0, 8], call);
    visit.peer(info, |key, _| {
        let key: [u8; 32] = exactly(key);
        let words = key.as_chunks().0;
        let hasher = HighwayHasher::new(Key(std::array::from_fn(|i| u64::from_le_bytes(words[i]))));
        move |message: &[u8]| hasher.clone().hash64(message).to_le_bytes()
    });
}
