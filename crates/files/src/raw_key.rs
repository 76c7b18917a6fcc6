//! The bytes of a key, and its algorithm.

use tagmac::Error;
use tagmac_any::Algorithm;
use zeroize::Zeroizing;

/// A key as it is stored.
pub struct RawKey {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The key's bytes.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl RawKey {
    /// Creates a key. Fails if the algorithm does not accept keys of this length.
    pub fn new(algorithm: Algorithm, bytes: Zeroizing<Vec<u8>>) -> Result<RawKey, Error> {
        algorithm.check_key(bytes.len())?;
        Ok(RawKey { algorithm, bytes })
    }
}
