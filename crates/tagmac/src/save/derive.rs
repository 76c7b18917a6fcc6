//! Derives all other values from a MAC's key K.
//!
//! ```text
//! derived = HKDF-Expand(HKDF-Extract(salt = label, K), info = algorithm's name, 32 bytes)
//! ```
//!
//! This is RFC 5869 with SHA-256. K is HKDF's input keying material and never its HMAC key, so no
//! derived value is a tag under K, not even if the MAC is HMAC-SHA256. `docs/formats/key-file.md`
//! has the argument for each MAC.

use hmac::digest::CtOutput;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::wipe::with_stack_wiped;

/// The purpose of a derived key. Each purpose has its own label, HKDF's salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// The public key ID: its first 8 bytes.
    KeyId,
    /// The key of a [`Sealer`](super::Sealer), which encrypts saved state.
    Sealing,
    /// The key of the HMAC-SHA256 at the end of a manifest.
    Manifest,
    /// The key of the HMAC-SHA256 that makes leaf tags.
    Leaf,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Purpose; 4] =
        [Purpose::KeyId, Purpose::Sealing, Purpose::Manifest, Purpose::Leaf];

    /// Returns HKDF's salt. The trailing digit is a version: raise it whenever the derivation
    /// changes.
    pub fn label(self) -> &'static str {
        match self {
            Purpose::KeyId => "tagmac key id 2",
            Purpose::Sealing => "tagmac sealing key 2",
            Purpose::Manifest => "tagmac manifest key 2",
            Purpose::Leaf => "tagmac leaf key 2",
        }
    }
}

/// Derives 32 bytes from the key of the MAC with this name. Different names derive different values
/// from the same key bytes.
///
/// ```
/// use tagmac::save::{Purpose, derive};
/// let sealing = derive(Purpose::Sealing, "PMAC-AES128", &[7; 16]);
/// assert_ne!(sealing, derive(Purpose::Manifest, "PMAC-AES128", &[7; 16]));
/// assert_ne!(sealing, derive(Purpose::Sealing, "CMAC-AES128", &[7; 16]));
/// ```
pub fn derive(purpose: Purpose, algorithm: &str, key: &[u8]) -> Zeroizing<[u8; 32]> {
    with_stack_wiped(|| derive_only(purpose, algorithm, key))
}

/// As [`derive()`], for callers that wipe the stack themselves.
pub fn derive_only(purpose: Purpose, algorithm: &str, key: &[u8]) -> Zeroizing<[u8; 32]> {
    hkdf(purpose.label().as_bytes(), key, algorithm.as_bytes())
}

/// HKDF's first block of output, T(1). Wipes both intermediate values, which the crate hkdf does
/// not.
fn hkdf(salt: &[u8], key: &[u8], info: &[u8]) -> Zeroizing<[u8; 32]> {
    let extracted = hmac(salt, &[key]);
    let expanded = hmac(extracted.as_bytes(), &[info, &[1]]);
    let mut derived = Zeroizing::new([0; 32]);
    derived.copy_from_slice(expanded.as_bytes());
    derived
}

/// HMAC-SHA256 of the concatenated strings. Wiped on drop.
fn hmac(key: &[u8], strings: &[&[u8]]) -> CtOutput<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length");
    strings.iter().for_each(|string| mac.update(string));
    mac.finalize()
}

#[cfg(test)]
mod tests {
    use hmac::Hmac;
    use hmac::digest::CtOutput;
    use sha2::Sha256;
    use zeroize::ZeroizeOnDrop;

    /// RFC 5869, appendix A: the first blocks of test cases 1 and 3.
    #[test]
    fn the_vectors_of_the_rfc() {
        let salt: Vec<u8> = (0x00..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let one = [
            0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a, 0x90, 0x43, 0x4f, 0x64, 0xd0, 0x36,
            0x2f, 0x2a, 0x2d, 0x2d, 0x0a, 0x90, 0xcf, 0x1a, 0x5a, 0x4c, 0x5d, 0xb0, 0x2d, 0x56,
            0xec, 0xc4, 0xc5, 0xbf,
        ];
        assert_eq!(*super::hkdf(&salt, &[0x0b; 22], &info), one);
        let three = [
            0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f, 0x71, 0x5f, 0x80, 0x2a, 0x06, 0x3c,
            0x5a, 0x31, 0xb8, 0xa1, 0x1f, 0x5c, 0x5e, 0xe1, 0x87, 0x9e, 0xc3, 0x45, 0x4e, 0x5f,
            0x3c, 0x73, 0x8d, 0x2d,
        ];
        assert_eq!(*super::hkdf(&[], &[0x0b; 22], &[]), three);
    }

    /// Wiping depends on a feature of hmac, which a change of dependencies could lose.
    #[test]
    fn outputs_are_wiped() {
        fn wiped<T: ZeroizeOnDrop>() {}
        wiped::<CtOutput<Hmac<Sha256>>>();
    }
}
