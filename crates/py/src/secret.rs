//! A key's bytes, and the sealer of what leaves the process under it.

use std::sync::OnceLock;

use tagmac::save::Sealer;
use tagmac_any::KeyFile;

/// A key's bytes, shared by all objects under the key.
pub struct Secret {
    file: KeyFile,
    /// Made on first use: few keys seal.
    sealer: OnceLock<Sealer>,
}

impl Secret {
    /// The secret of a key.
    pub fn new(file: KeyFile) -> Secret {
        Secret { file, sealer: OnceLock::new() }
    }

    /// The key with the other fields of a key file.
    pub fn file(&self) -> &KeyFile {
        &self.file
    }

    /// The sealer of sums, made on first use.
    pub fn sealer(&self) -> &Sealer {
        self.sealer.get_or_init(|| self.file.sealer())
    }
}
