//! A MAC under a key, and what it takes to store things under that key.

use tagmac::isa::Level;
use tagmac::save::Sealer;
use tagmac_any::{AnyMac, KeyId, Parts};

use crate::error::{Error, NoParts};
use crate::key::Key;

/// A MAC under a key. Clones share the MAC.
#[derive(Clone)]
pub struct Mac {
    /// The MAC.
    pub mac: AnyMac,
    /// What seals sums that belong to the key.
    pub sealer: Sealer,
}

impl Mac {
    /// The MAC of a key, with tags of `bits` bits, at a level.
    pub fn new(key: &Key, bits: usize, level: Level) -> Result<Mac, Error> {
        let mac =
            AnyMac::with_options(key.algorithm, &key.bytes, bits, level).map_err(Error::key)?;
        let sealer = Sealer::new(key.algorithm.name(), &key.bytes);
        Ok(Mac { mac, sealer })
    }

    /// The calls on parts.
    pub fn parts(&self) -> Result<Parts<'_>, NoParts> {
        self.mac.parts().ok_or_else(|| NoParts(self.mac.algorithm()))
    }

    /// The key's public id.
    pub fn key_id(&self) -> KeyId {
        self.mac.key_id()
    }
}
