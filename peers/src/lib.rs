//! Other libraries' MACs, to compare with: never shipped.
//!
//! [`all`] shows each peer to a [`Visit`]: what it is, and how to make the call that applications
//! make, key ready. [`prove`] tells whether a peer gives published tags. A library is behind the
//! cargo feature of its name; those of C are there where pkg-config finds them, and [`missing`]
//! names those that are not.
//!
//! All choose their instructions when the program runs, so that nothing hangs on the compiler's
//! flags. A C function that fails panics: a test or a benchmark has nothing better to do.

#[cfg(feature = "aegis")]
mod aegis;
#[cfg(feature = "blake3")]
mod blake3;
#[cfg(feature = "highway")]
mod highway;
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

pub use known::{Wrong, prove};
#[cfg(linked = "nettle")]
pub use nettle::{NettlePoly1305Aes, NettleUmac};
#[cfg(linked = "openssl")]
pub use openssl::{OpensslPoly1305, OpensslPoly1305Aes};

/// What a peer is.
#[derive(Clone, Debug)]
pub struct Info {
    /// As shown: "OpenSSL HMAC-SHA256". No two peers have the same.
    pub name: &'static str,
    /// "OpenSSL", "nettle", "RustCrypto".
    pub library: &'static str,
    /// Of the library at run time where it says so, else at build time: "3.0.19".
    pub version: String,
    /// What is computed, by the registry's name of it where it has one: "UMAC-64". Peers of one
    /// function give the same tags.
    pub function: &'static str,
    /// What one call does with a message: "EVP_MAC_init without a key, update, final".
    pub call: &'static str,
    /// Bytes of the key.
    pub key_bytes: usize,
    /// Bytes of the nonce, 0 if there is none.
    pub nonce_bytes: usize,
    /// Bytes of a tag.
    pub tag_bytes: usize,
    /// Bytes of the longest message that is taken, `u64::MAX` without a limit.
    pub longest: u64,
    /// Whether each call is under the nonce that was given. Else it is so for the first alone, the
    /// next is under the nonce that follows, and tags do not repeat.
    pub repeats: bool,
}

/// Sees peers.
pub trait Visit {
    /// A peer. `make` takes a key and a nonce of the lengths that `info` has, and gives the call
    /// with its key ready, from message to tag.
    ///
    /// A call that takes a nonce, or a key of its own, for each message hides it from the
    /// optimiser: what is made of it is made for each message.
    fn peer<M, T>(&mut self, info: Info, make: impl Fn(&[u8], &[u8]) -> M + 'static)
    where
        M: FnMut(&[u8]) -> T + 'static,
        T: AsRef<[u8]> + 'static;
}

/// All peers that this build has, library by library.
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
}

/// The libraries that this build lacks, and why: "nettle: no nettle.pc of version 3.6 or later".
pub fn missing() -> Vec<String> {
    let linked = [
        ("OpenSSL", option_env!("PEERS_OPENSSL")),
        ("nettle", option_env!("PEERS_NETTLE")),
        ("libsodium", option_env!("PEERS_SODIUM")),
        ("libtomcrypt", option_env!("PEERS_TOMCRYPT")),
    ];
    let crates = [
        ("RustCrypto", cfg!(feature = "rustcrypto"), "rustcrypto"),
        ("ring", cfg!(feature = "ring"), "ring"),
        ("blake3", cfg!(feature = "blake3"), "blake3"),
        ("aegis", cfg!(feature = "aegis"), "aegis"),
        ("highway", cfg!(feature = "highway"), "highway"),
    ];
    let linked = linked.into_iter().filter_map(|(name, why)| Some(format!("{name}: {}", why?)));
    let crates = crates.into_iter().filter(|(_, there, _)| !there);
    let crates = crates.map(|(name, _, it)| format!("{name}: built without the feature '{it}'"));
    linked.chain(crates).collect()
}

/// A library and its version, from which its peers' [`Info`]s are made.
#[allow(dead_code, reason = "a build without libraries has none")]
struct Library {
    name: &'static str,
    version: String,
}

#[allow(dead_code, reason = "a build without libraries has none")]
impl Library {
    /// A peer whose tags repeat, with bytes of key, nonce and tag.
    fn info(
        &self,
        name: &'static str,
        function: &'static str,
        [key_bytes, nonce_bytes, tag_bytes]: [usize; 3],
        call: &'static str,
    ) -> Info {
        // SHA-256 counts bits in 64, after a block of key; GCM counts them in 64.
        let longest = match function {
            "HMAC-SHA256" => (1 << 61) - 65,
            "GMAC-AES128" => (1 << 61) - 1,
            _ => u64::MAX,
        };
        let (library, version) = (self.name, self.version.clone());
        Info {
            name,
            library,
            version,
            function,
            call,
            key_bytes,
            nonce_bytes,
            tag_bytes,
            longest,
            repeats: true,
        }
    }
}

/// The bytes of a key or nonce. Panics at another length.
#[allow(dead_code, reason = "a build without libraries has no keys")]
fn exactly<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let found = bytes.len();
    bytes.try_into().unwrap_or_else(|_| panic!("key or nonce: expected {N} bytes, found {found}"))
}
