//! Other libraries' MACs, for comparison only; never shipped.
//!
//! [`all`] shows each peer to a [`Visit`]: its description, and a function that sets up a key and
//! returns the call that applications make. [`prove`] checks a peer against published tags. Each
//! library has a cargo feature of its name. C libraries are linked if pkg-config finds them;
//! [`missing`] lists the others. [`bursts`] has the calls
//! for many messages.
//!
//! All libraries choose their instructions at run time, so compiler flags make no difference. A C
//! function that fails panics, which is right for tests and benchmarks.

pub mod adversarial;
#[cfg(feature = "aegis")]
mod aegis;
#[cfg(feature = "blake3")]
mod blake3;
mod burst;
#[cfg(feature = "highway")]
mod highway;
mod info;
#[cfg(linked = "ipsec-mb")]
mod ipsec_mb;
mod known;
#[cfg(linked = "nettle")]
mod nettle;
#[cfg(linked = "openssl")]
mod openssl;
#[cfg(feature = "ring")]
mod ring;
#[cfg(feature = "rustcrypto")]
mod rustcrypto;
#[cfg(linked = "sodium")]
mod sodium;
#[cfg(linked = "tomcrypt")]
mod tomcrypt;
#[cfg(feature = "xxh3")]
mod xxh3;

pub use burst::Burst;
pub use info::{Info, Visit};
pub use known::{Wrong, prove};
#[cfg(linked = "nettle")]
pub use nettle::{NettlePoly1305Aes, NettleUmac};
#[cfg(linked = "openssl")]
pub use openssl::{OpensslPoly1305, OpensslPoly1305Aes};

/// Visits all peers of this build, library by library.
#[allow(unused_variables, reason = "a build without libraries shows none")]
pub fn all(visit: &mut impl Visit) {
    #[cfg(linked = "openssl")]
    openssl::all(visit);
    #[cfg(linked = "nettle")]
    nettle::all(visit);
    #[cfg(linked = "sodium")]
    sodium::all(visit);
    #[cfg(linked = "tomcrypt")]
    tomcrypt::all(visit);
    #[cfg(feature = "rustcrypto")]
    rustcrypto::all(visit);
    #[cfg(feature = "ring")]
    ring::all(visit);
    #[cfg(feature = "blake3")]
    blake3::all(visit);
    #[cfg(feature = "aegis")]
    aegis::all(visit);
    #[cfg(feature = "highway")]
    highway::all(visit);
    #[cfg(feature = "xxh3")]
    xxh3::all(visit);
}

/// Returns the calls that tag many messages, each under its own raw key.
pub fn bursts() -> Vec<Burst> {
    #[allow(unused_mut, reason = "a build without libraries has none")]
    let mut all = Vec::new();
    #[cfg(linked = "ipsec-mb")]
    ipsec_mb::all(&mut all);
    all
}

/// Returns the MACs for adversarial vectors, library by library.
pub fn subjects() -> Vec<adversarial::Subject> {
    #[allow(unused_mut, reason = "a build without libraries has none")]
    let mut all = Vec::new();
    #[cfg(linked = "nettle")]
    nettle::subjects(&mut all);
    #[cfg(linked = "openssl")]
    openssl::subjects(&mut all);
    #[cfg(linked = "tomcrypt")]
    tomcrypt::subjects(&mut all);
    #[cfg(feature = "rustcrypto")]
    rustcrypto::subjects(&mut all);
    all
}

/// Returns the libraries that this build lacks, with reasons: "nettle: no nettle.pc of version 3.6
/// or later".
pub fn missing() -> Vec<String> {
    let linked = [
        ("OpenSSL", option_env!("PEERS_OPENSSL")),
        ("nettle", option_env!("PEERS_NETTLE")),
        ("libsodium", option_env!("PEERS_SODIUM")),
        ("libtomcrypt", option_env!("PEERS_TOMCRYPT")),
        // Only x86-64 has it.
        ("intel-ipsec-mb", option_env!("PEERS_IPSEC_MB").filter(|_| cfg!(target_arch = "x86_64"))),
    ];
    let crates = [
        ("RustCrypto", cfg!(feature = "rustcrypto"), "rustcrypto"),
        ("ring", cfg!(feature = "ring"), "ring"),
        ("blake3", cfg!(feature = "blake3"), "blake3"),
        ("aegis", cfg!(feature = "aegis"), "aegis"),
        ("highway", cfg!(feature = "highway"), "highway"),
        ("twox-hash", cfg!(feature = "xxh3"), "xxh3"),
    ];
    let linked = linked.into_iter().filter_map(|(name, why)| Some(format!("{name}: {}", why?)));
    let crates = crates.into_iter().filter(|(_, there, _)| !there);
    let crates = crates.map(|(name, _, it)| format!("{name}: built without the feature '{it}'"));
    linked.chain(crates).collect()
}
