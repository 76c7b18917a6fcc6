//! The AEAD that sums leave the process under.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use super::error::SaveError;
use super::{Purpose, Writer, derive};
use crate::error::silent;
use crate::nonce::fill_random;

/// Bytes of a random nonce.
const NONCE: usize = 24;
/// Bytes of the AEAD's tag.
const TAG: usize = 16;

/// Seals and opens what belongs to a key of a MAC: XChaCha20-Poly1305 with random nonces, under a
/// key that is [derived](derive()) from the MAC's for [`Purpose::Sealing`].
///
/// ```
/// use tagmac::save::Sealer;
/// let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
/// let sealed = sealer.seal(&[b"notes", b"1"], b"a secret")?;
/// assert_eq!(&*sealer.open(&[b"notes", b"1"], &sealed)?, b"a secret");
/// assert!(sealer.open(&[b"notes", b"2"], &sealed).is_err());
/// assert!(Sealer::new("PMAC-AES128", &[8; 16]).open(&[b"notes", b"1"], &sealed).is_err());
/// # Ok::<(), tagmac::save::SaveError>(())
/// ```
#[derive(Clone)]
pub struct Sealer(XChaCha20Poly1305);

silent!(Sealer);

impl Sealer {
    /// Bytes that a seal adds: a nonce of 24 before what is sealed, a tag of 16 after it.
    pub const OVERHEAD: usize = NONCE + TAG;

    /// For the key of the MAC of this name. Names separate keys that are the same bytes.
    pub fn new(name: &str, key: &[u8]) -> Sealer {
        let key = derive(Purpose::Sealing, name, key);
        Sealer(XChaCha20Poly1305::new((&*key).into()))
    }

    /// Encrypts what is secret and binds it to `associated_data`: a purpose, a name, a place.
    ///
    /// # Errors
    ///
    /// [`SaveError::Mac`] with [`Error::NoRandomBytes`](crate::Error::NoRandomBytes) if the system
    /// has none for the nonce.
    pub fn seal(&self, associated_data: &[&[u8]], secret: &[u8]) -> Result<Vec<u8>, SaveError> {
        let mut sealed = vec![0; NONCE + secret.len()];
        let (nonce, text) = sealed.split_at_mut(NONCE);
        fill_random(nonce)?;
        text.copy_from_slice(secret);
        let nonce = XNonce::try_from(&*nonce).expect("24 bytes");
        let tag =
            self.0.encrypt_inout_detached(&nonce, joined(associated_data).as_bytes(), text.into());
        sealed.extend_from_slice(&tag.expect("less than 256 GiB"));
        Ok(sealed)
    }

    /// What [`seal`](Sealer::seal) was given, for the same `associated_data`.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] if it was altered, sealed under another key or with other associated data.
    pub fn open(
        &self,
        associated_data: &[&[u8]],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, SaveError> {
        let mut bytes = Zeroizing::new(sealed.to_vec());
        let length = self.open_in_place(associated_data, &mut bytes)?.len();
        bytes.drain(..NONCE);
        bytes.truncate(length);
        Ok(bytes)
    }

    /// The same where the sealed bytes are, which become secret by it: wipe them after use. Bytes
    /// that are refused stay as they are.
    ///
    /// # Errors
    ///
    /// As [`open`](Sealer::open).
    pub fn open_in_place<'a>(
        &self,
        associated_data: &[&[u8]],
        sealed: &'a mut [u8],
    ) -> Result<&'a mut [u8], SaveError> {
        let (nonce, rest) = sealed.split_at_mut_checked(NONCE).ok_or(SaveError::Seal)?;
        let (text, tag) = rest.split_last_chunk_mut::<TAG>().ok_or(SaveError::Seal)?;
        let nonce = XNonce::try_from(&*nonce).expect("24 bytes");
        self.0
            .decrypt_inout_detached(
                &nonce,
                joined(associated_data).as_bytes(),
                (&mut *text).into(),
                &(*tag).into(),
            )
            .map_err(|_| SaveError::Seal)?;
        Ok(text)
    }
}

/// Each with its length before it, so that no two lists are the same bytes.
fn joined(associated_data: &[&[u8]]) -> Writer {
    let mut joined = Writer::default();
    for item in associated_data {
        joined.length_prefixed(item);
    }
    joined
}
