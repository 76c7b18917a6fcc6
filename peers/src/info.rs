//! What a peer is, and who sees it.

/// What a peer is.
#[derive(Clone, Debug)]
pub struct Info {
    /// As shown: "OpenSSL HMAC-SHA256". No two peers have the same. One that counts its nonces
    /// beside one that is given them has its name with ", counting" after it.
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
    /// Whether each call is under the nonce that was given. Else it is so for the first alone, and
    /// the next is under the nonce that follows, as a big-endian number.
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

/// A library and its version, from which its peers' [`Info`]s are made.
#[allow(dead_code, reason = "a build without libraries has none")]
pub(crate) struct Library {
    pub(crate) name: &'static str,
    pub(crate) version: String,
}

#[allow(dead_code, reason = "a build without libraries has none")]
impl Library {
    /// A peer whose tags repeat, with bytes of key, nonce and tag.
    pub(crate) fn info(
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
pub(crate) fn exactly<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let found = bytes.len();
    bytes.try_into().unwrap_or_else(|_| panic!("key or nonce: expected {N} bytes, found {found}"))
}

/// Nonces from `first` on, as big-endian numbers: what an application that counts them itself does.
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
