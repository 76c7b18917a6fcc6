//! A key that is in hand.

use tagmac::Error;
use tagmac_any::Algorithm;
use zeroize::Zeroizing;

/// A key with its algorithm.
pub struct Key {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The bytes.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl Key {
    /// A key of `bytes`. Refuses a length that the algorithm does not take.
    pub fn new(algorithm: Algorithm, bytes: Zeroizing<Vec<u8>>) -> Result<Key, Error> {
        algorithm.check_key(bytes.len())?;
        Ok(Key { algorithm, bytes })
    }
}
