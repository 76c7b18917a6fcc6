//! Storage of partials.

use std::io::Read;
use std::path::PathBuf;

use zeroize::Zeroizing;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::read_error::ReadError;
use crate::{memory, open};

/// A stored partial. Each is read twice.
pub trait Stored {
    /// Returns its name in messages.
    fn name(&self) -> String;

    /// Reads its first bytes, at most `most`.
    fn read(&self, most: u64) -> Result<Zeroizing<Vec<u8>>, Error>;
}

/// A partial in a file.
impl Stored for PathBuf {
    fn name(&self) -> String {
        Escaped::name(self).to_string()
    }

    fn read(&self, most: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
        let failed = |error: ReadError| Error::file(self, error);
        let (file, facts) = open::regular(self).map_err(failed)?;
        let room = usize::try_from(facts.len().min(most)).unwrap_or(usize::MAX);
        let room = memory::reserved(room).map_err(|error| failed(error.into()))?;
        let mut bytes = Zeroizing::new(room);
        (&file).take(most).read_to_end(&mut bytes).map_err(|error| failed(error.into()))?;
        Ok(bytes)
    }
}
