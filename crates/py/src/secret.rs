//! A key's bytes, and what seals that which leaves the process under it.

use std::sync::OnceLock;

use tagmac::save::Sealer;
use tagmac_any::KeyFile;

/// The bytes of a key, which all that is under it shares.
pub struct Secret {
    file: KeyFile,
    /// Made once it is needed: few keys seal.
    sealer: OnceLock<Sealer>,
}

impl Secret {
    /// That of a key.
    pub fn new(file: KeyFile) -> Secret {
        Secret { file, sealer: OnceLock::new() }
    }

    /// The key with what a key file has.
    pub fn file(&self) -> &KeyFile {
        &self.file
    }

    /// What seals sums under the key.
    pub fn sealer(&self) -> &Sealer {
        self.sealer.get_or_init(|| self.file.sealer())
    }
}
