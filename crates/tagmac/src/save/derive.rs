//! Everything that is made from a MAC's key K besides tags.
//!
//! ```text
//! derived = HKDF-Expand(HKDF-Extract(salt = label, K), info = algorithm's name, 32 bytes)
//! ```
//!
//! RFC 5869 with SHA-256. K is HKDF's message and never its HMAC key, so that nothing here is a tag
//! under K, not even where the MAC is HMAC-SHA256. `docs/key-file.md` has the argument for each MAC.

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

/// What a derived key is for. Each purpose has a label of its own, HKDF's salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// The public id: its first 8 bytes.
    KeyId,
    /// The key of a [`Sealer`](super::Sealer), for all that is encrypted.
    Sealing,
    /// The key of the HMAC-SHA256 that closes a manifest.
    Manifest,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Purpose; 3] = [Purpose::KeyId, Purpose::Sealing, Purpose::Manifest];

    /// HKDF's salt. Its digit is the version: it changes when what follows from it does.
    pub fn label(self) -> &'static str {
        match self {
            Purpose::KeyId => "tagmac key id 2",
            Purpose::Sealing => "tagmac sealing key 2",
            Purpose::Manifest => "tagmac manifest key 2",
        }
    }
}

/// 32 bytes derived from the key of the MAC of this name. Names separate keys that are the same
/// bytes.
///
/// ```
/// use tagmac::save::{Purpose, derive};
/// let sealing = derive(Purpose::Sealing, "PMAC-AES128", &[7; 16]);
/// assert_ne!(sealing, derive(Purpose::Manifest, "PMAC-AES128", &[7; 16]));
/// assert_ne!(sealing, derive(Purpose::Sealing, "CMAC-AES128", &[7; 16]));
/// ```
pub fn derive(purpose: Purpose, algorithm: &str, key: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut derived = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(purpose.label().as_bytes()), key)
        .expand(algorithm.as_bytes(), &mut *derived)
        .expect("HKDF gives up to 8160 bytes");
    derived
}
