//! Streams of any MAC that leave the process, sealed.

use tagmac::save::{SaveError, Sealer};

use crate::mac::AnyMac;
use crate::stream::AnyStream;

/// What a stream is saved for, before the key's id.
const PURPOSE: &[u8] = b"any stream 1";

impl AnyStream {
    /// Seals all that is known of the message so far, with the nonce, see
    /// [`Stream::save`](tagmac::Stream::save): where there is a nonce, **only one of the streams that
    /// begin alike may be tagged**.
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
    /// [`SaveError::NoSavedState`] for CMAC, HMAC and the UMAC of 1999, which keep their states to
    /// themselves, and as [`Stream::save`](tagmac::Stream::save).
    pub fn save(&self, sealer: &Sealer) -> Result<Vec<u8>, SaveError> {
        self.inner.save(sealer, &[PURPOSE, self.id.as_bytes()])
    }
}

impl AnyMac {
    /// The stream that [`AnyStream::save`] sealed, of this MAC under this key.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] if the state was altered or is of another MAC or key,
    /// [`SaveError::Saved`] if the tags have another length, [`SaveError::NoSavedState`] for CMAC and
    /// HMAC.
    pub fn restore(&self, sealer: &Sealer, saved: &[u8]) -> Result<AnyStream, SaveError> {
        let inner = self.mac.clone().restore(sealer, &[PURPOSE, self.id.as_bytes()], saved)?;
        Ok(AnyStream { id: self.id, inner })
    }
}
