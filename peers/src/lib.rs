//! Other libraries' MACs, to compare with: never shipped.
//!
//! [`all`] shows each peer to a [`Visit`]: what it is, and how to make the call that applications
//! make, key ready. [`prove`] tells whether a peer gives published tags. A library is behind the
//! cargo feature of its name; those of C are there where pkg-config finds them, and [`missing`]
//! names those that are not.
//!
//! A C function that fails panics: a test or a benchmark has nothing better to do.

mod known;
#[cfg(linked = "nettle")]
mod nettle;
#[cfg(linked = "openssl")]
mod openssl;

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
    /// Of the library at run time where it says so, else at build time.
    pub version: String,
    /// What is computed, by the registry's name of it where it has one: "UMAC-64". Peers of one
    /// function give the same tags.
    pub function: &'static str,
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
    /// The call hides its nonce from the optimiser, as it does the key where a message has one of
    /// its own: what is made of them is made for each message.
    fn peer<M, T>(&mut self, info: Info, make: impl Fn(&[u8], &[u8]) -> M + 'static)
    where
        M: FnMut(&[u8]) -> T + 'static,
        T: AsRef<[u8]> + 'static;
}

/// All peers that this build has, library by library.
pub fn all(visit: &mut impl Visit) {
    #[cfg(linked = "nettle")]
    nettle::all(visit);
    #[cfg(linked = "openssl")]
    openssl::all(visit);
    let _ = visit;
}

/// The libraries that this build lacks, and why: "nettle: no nettle.pc of version 3.6 or later".
pub fn missing() -> Vec<String> {
    let libraries =
        [("nettle", option_env!("PEERS_NETTLE")), ("OpenSSL", option_env!("PEERS_OPENSSL"))];
    let missing = libraries.into_iter().filter_map(|(name, why)| Some((name, why?)));
    missing.map(|(name, why)| format!("{name}: {why}")).collect()
}

/// The bytes of a key or nonce. Panics at another length.
fn exactly<const N: usize>(what: &str, bytes: &[u8]) -> [u8; N] {
    let found = bytes.len();
    bytes.try_into().unwrap_or_else(|_| panic!("{what}: expected {N} bytes, found {found}"))
}
