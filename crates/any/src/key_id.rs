//! What tells keys apart and says nothing about them.

use core::fmt;

use tagmac::internals::derive_only;
use tagmac::save::Purpose;

/// The public id of a key: the first 8 bytes of what is [derived](tagmac::save::derive()) from it for
/// [`Purpose::KeyId`]. It covers the algorithm, and is no tag of anything. `Display` writes
/// lower-case hex.
///
/// ```
/// use tagmac_any::{Algorithm, AnyMac};
/// let pmac = Algorithm::default();
/// let id = pmac.key_id(&[7; 16]);
/// assert_eq!(id, AnyMac::new(pmac, &[7; 16])?.key_id());
/// assert_ne!(id, pmac.key_id(&[8; 16]));
/// assert_eq!(id.to_string().len(), 16);
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId([u8; KeyId::BYTES]);

impl KeyId {
    /// Bytes of an id.
    pub const BYTES: usize = 8;

    /// The id of the key of the MAC of this name.
    pub(crate) fn new(algorithm: &str, key: &[u8]) -> KeyId {
        let derived = derive_only(Purpose::KeyId, algorithm, key);
        KeyId(*derived.first_chunk().expect("32 bytes"))
    }

    /// The bytes, as files have them.
    pub fn as_bytes(&self) -> &[u8; KeyId::BYTES] {
        &self.0
    }
}

/// An id that was read somewhere, of whatever key.
impl From<[u8; KeyId::BYTES]> for KeyId {
    fn from(bytes: [u8; KeyId::BYTES]) -> KeyId {
        KeyId(bytes)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}
