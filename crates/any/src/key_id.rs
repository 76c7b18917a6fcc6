//! Public ids, which distinguish keys and reveal nothing about them.

use core::fmt;

use tagmac::internals::derive_only;
use tagmac::save::Purpose;

/// The public id of a key: the first 8 bytes of the key [derived](tagmac::save::derive()) from it
/// for [`Purpose::KeyId`]. It depends on the algorithm too, and is never a tag. `Display` writes
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

    /// The id of `key` for the algorithm with this name.
    pub(crate) fn new(algorithm: &str, key: &[u8]) -> KeyId {
        let derived = derive_only(Purpose::KeyId, algorithm, key);
        KeyId(*derived.first_chunk().expect("32 bytes"))
    }

    /// The bytes, as stored in files.
    pub fn as_bytes(&self) -> &[u8; KeyId::BYTES] {
        &self.0
    }
}

/// An id from a file; nothing is checked.
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
