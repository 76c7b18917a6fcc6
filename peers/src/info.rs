//! The description of a peer, and the visitor of peers.

/// A description of a peer.
#[derive(Clone, Debug)]
pub struct Info {
    /// The name shown, such as "OpenSSL HMAC-SHA256"; unique. If a library has two peers of a
    /// function and one of them counts its nonces, that one's name ends with ", counting".
    pub name: &'static str,
    /// The library: "OpenSSL", "nettle", "RustCrypto".
    pub library: &'static str,
    /// The version: "3.0.19". It is the run-time version if the library reports one, else the
    /// build-time one.
    pub version: String,
    /// The function that it computes, by its name in the registry if it has one: "UMAC-64". Peers
    /// of the same function return the same tags.
    pub function: &'static str,
    /// A description of one call: "EVP_MAC_init without a key, update, final".
    pub call: &'static str,
    /// Bytes of the key.
    pub key_bytes: usize,
    /// Bytes of the nonce; 0 without one.
    pub nonce_bytes: usize,
    /// Bytes of a tag.
    pub tag_bytes: usize,
    /// Bytes of the longest message; `u64::MAX` if there is no limit.
    pub longest: u64,
    /// True if every call uses the given nonce. Otherwise only the first call does, and each later
    /// one uses the next nonce as a big-endian number.
    pub repeats: bool,
}

/// Visits peers.
pub trait Visit {
    /// Visits a peer. `make` accepts a key and a nonce of the lengths in `info`, sets up the key,
    /// and returns the function from message to tag.
    ///
    /// If each message has its own nonce or key, the call hides it from the optimiser, so that the
    /// work on it is done for each message.
    fn peer<M, T>(&mut self, info: Info, make: impl Fn(&[u8], &[u8]) -> M + 'static)
    where
        M: FnMut(&[u8]) -> T + 'static,
        T: AsRef<[u8]> + 'static;
}

/// A library and its version, for its peers' [`Info`]s.
#[allow(dead_code, reason = "a build without libraries has none")]
pub(crate) struct Library {
    pub(crate) name: &'static str,
    pub(crate) version: String,
}

#[allow(dead_code, reason = "a build without libraries has none")]
impl Library {
    /// Describes a peer whose tags repeat, with bytes of key, nonce and tag.
    pub(crate) fn info(
        &self,
        name: &'static str,
        function: &'static str,
        [key_bytes, nonce_bytes, tag_bytes]: [usize; 3],
        call: &'static str,
    ) -> Info {
        // HMAC hashes a block of key first; SHA-256 and GCM count bits in 64.
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

/// Returns the bytes of a key or nonce. Panics at another length.
#[allow(dead_code, reason = "a build without libraries has no keys")]
pub(crate) fn exactly<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let found = bytes.len();
    bytes.try_into().unwrap_or_else(|_| panic!("key or nonce: expected {N} bytes, found {found}"))
}

/// Returns nonces from `first` on as big-endian numbers, like an application with its own counter.
#[allow(dead_code, reason = "a build without libraries has no nonces")]
pub(crate) fn counter<const N: usize>(first: [u8; N]) -> impl FnMut() -> [u8; N] {
    let mut block = [0; 16];
    block[16 - N..].copy_from_slice(&first);
    let mut next = u128::from_be_bytes(block);
    move || {
        let nonce = exactly(&next.to_be_bytes()[16 - N..]);
        next = next.wrapping_add(1);
        nonce
    }
}
