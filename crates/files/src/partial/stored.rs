//! Where a partial is.

use std::io::Read;
use std::path::PathBuf;

use zeroize::Zeroizing;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::read_error::ReadError;
use crate::{memory, open};

/// A partial that is kept somewhere, by somebody. Each is read twice.
pub trait Stored {
    /// What to call it in a message.
    fn name(&self) -> String;

    /// Its first bytes, at most `most`.
    fn read(&self, most: u64) -> Result<Zeroizing<Vec<u8>>, Error>;
}

/// A file.
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
