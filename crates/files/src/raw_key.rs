//! A key's bytes, with its algorithm.

use tagmac::Error;
use tagmac_any::Algorithm;
use zeroize::Zeroizing;

/// A key as it is stored.
pub struct RawKey {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The bytes.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl RawKey {
    /// A key of `bytes`. Refuses a length that the algorithm does not take.
    pub fn new(algorithm: Algorithm, bytes: Zeroizing<Vec<u8>>) -> Result<RawKey, Error> {
        algorithm.check_key(bytes.len())?;
        Ok(RawKey { algorithm, bytes })
    }
}
