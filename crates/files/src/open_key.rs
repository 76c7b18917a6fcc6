//! An open key: its MAC, and the sealer for everything stored under it.

use tagmac::isa::Level;
use tagmac::save::Sealer;
use tagmac_any::{AnyMac, KeyId, Parts};

use crate::error::{Error, NoParts};
use crate::raw_key::RawKey;

/// An open key. Clones share the MAC.
#[derive(Clone)]
pub struct OpenKey {
    /// The MAC under the key.
    pub mac: AnyMac,
    /// Seals sums that belong to the key.
    pub sealer: Sealer,
}

impl OpenKey {
    /// Opens a key for tags of `bits` bits, at a level.
    pub fn new(raw: &RawKey, bits: usize, level: Level) -> Result<OpenKey, Error> {
        let mac =
            AnyMac::with_options(raw.algorithm, &raw.bytes, bits, level).map_err(Error::key)?;
        let sealer = Sealer::new(raw.algorithm.name(), &raw.bytes);
        Ok(OpenKey { mac, sealer })
    }

    /// Returns the MAC's operations on parts.
    pub fn parts(&self) -> Result<Parts<'_>, NoParts> {
        self.mac.parts().ok_or_else(|| NoParts(self.mac.algorithm()))
    }

    /// Rounds a number of bytes down to whole blocks of the MAC.
    pub fn whole_blocks(&self, bytes: u64) -> Result<u64, NoParts> {
        let block = self.parts()?.block() as u64;
        Ok(bytes / block * block)
    }

    /// Returns the key's public ID.
    pub fn key_id(&self) -> KeyId {
        self.mac.key_id()
    }
}
