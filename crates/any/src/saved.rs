//! Saves and restores the streams of any MAC.

use tagmac::save::{SaveError, Sealer};

use crate::mac::AnyMac;
use crate::stream::AnyStream;

/// Associated data of saved streams, followed by the key's id.
const PURPOSE: &[u8] = b"any stream 1";

impl AnyStream {
    /// Returns the state of the message so far, encrypted and authenticated, see
    /// [`Stream::save`](tagmac::Stream::save). With a nonce, **tag only one of the streams that
    /// continue the same state**.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use tagmac_any::{Algorithm, AnyMac, KeyFile};
    /// let key = KeyFile::generate(Algorithm::default(), SystemTime::now())?;
    /// let mac = AnyMac::new(key.algorithm(), key.key())?;
    /// let mut stream = mac.stream(&[])?;
    /// stream.update(b"before ");
    /// let saved = stream.save(&key.sealer())?;
    ///
    /// let mut stream = mac.restore(&key.sealer(), &saved)?;
    /// stream.update(b"and after");
    /// assert_eq!(stream.tag()?, mac.tag(&[], b"before and after")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SaveError::NoSavedState`] for CMAC, HMAC and the UMAC of 1999, whose states cannot be
    /// saved. Otherwise as [`Stream::save`](tagmac::Stream::save).
    pub fn save(&self, sealer: &Sealer) -> Result<Vec<u8>, SaveError> {
        self.inner.save(sealer, &[PURPOSE, self.id.as_bytes()])
    }
}

impl AnyMac {
    /// Restores a stream that [`AnyStream::save`] saved, of this MAC and key.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] if the state was changed or belongs to another MAC or key,
    /// [`SaveError::Saved`] if its tags have another length, [`SaveError::NoSavedState`] for CMAC
    /// and HMAC.
    pub fn restore(&self, sealer: &Sealer, saved: &[u8]) -> Result<AnyStream, SaveError> {
        let inner = self.mac.clone().restore(sealer, &[PURPOSE, self.id.as_bytes()], saved)?;
        Ok(AnyStream { id: self.id, inner })
    }
}
