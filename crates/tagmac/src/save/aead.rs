//! The AEAD that protects sums outside the process: XChaCha20-Poly1305 of the crate
//! chacha20poly1305, from draft-irtf-cfrg-xchacha-03, section 2.3, and RFC 8439, section 2.8.
//!
//! Its associated data encodes a list: each item is prefixed with its length in 8 bytes, so
//! different lists are different bytes.

use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305};
use zeroize::Zeroizing;

use super::error::SaveError;
use super::sealer::{NONCE, Sealer, TAG};
use crate::nonce::fill_random;

impl Sealer {
    /// Encrypts a secret and binds it to `associated_data`: a purpose, a name, a position.
    ///
    /// # Errors
    ///
    /// [`SaveError::Mac`] with [`Error::NoRandomBytes`](crate::Error::NoRandomBytes) if the
    /// system's random generator failed.
    pub fn seal(&self, associated_data: &[&[u8]], secret: &[u8]) -> Result<Vec<u8>, SaveError> {
        let mut nonce = [0; NONCE];
        fill_random(&mut nonce)?;
        let mut sealed = Vec::with_capacity(secret.len() + Sealer::OVERHEAD);
        self.seal_into(&mut sealed, &nonce, associated_data, secret);
        Ok(sealed)
    }

    /// As [`seal`](Sealer::seal), under a given nonce, which must be random and unused. Appends to
    /// `out`.
    pub(crate) fn seal_into(
        &self,
        out: &mut Vec<u8>,
        nonce: &[u8; NONCE],
        associated_data: &[&[u8]],
        secret: &[u8],
    ) {
        // Reserve first, so that a reallocation cannot leave parts of the secret in an old buffer.
        out.reserve(secret.len() + Sealer::OVERHEAD);
        out.extend_from_slice(nonce);
        let at = out.len();
        out.extend_from_slice(secret);
        let associated_data = joined(associated_data);
        let text = InOutBuf::from(&mut out[at..]);
        let tag = self.cipher().encrypt_inout_detached(nonce.into(), &associated_data, text);
        out.extend_from_slice(&tag.expect("the limit of 256 GiB is out of reach"));
    }

    /// Returns the secret that was given to [`seal`](Sealer::seal) with the same `associated_data`.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] if it was altered, or was sealed under another key or with other
    /// associated data; [`SaveError::NoMemory`] if memory for the result is exhausted.
    pub fn open(
        &self,
        associated_data: &[&[u8]],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, SaveError> {
        let (nonce, rest) = sealed.split_first_chunk().ok_or(SaveError::Seal)?;
        let (encrypted, tag) = rest.split_last_chunk().ok_or(SaveError::Seal)?;
        let mut text = Zeroizing::new(Vec::new());
        text.try_reserve_exact(encrypted.len()).map_err(|_| SaveError::NoMemory)?;
        text.resize(encrypted.len(), 0);
        let buffer = InOutBuf::new(encrypted, &mut text).expect("two buffers of one length");
        self.decrypt(nonce, associated_data, buffer, tag)?;
        Ok(text)
    }

    /// As [`open`](Sealer::open), in place. The bytes become secret: wipe them after use. On error
    /// they are unchanged.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] as [`open`](Sealer::open).
    pub fn open_in_place<'a>(
        &self,
        associated_data: &[&[u8]],
        sealed: &'a mut [u8],
    ) -> Result<&'a mut [u8], SaveError> {
        let (nonce, rest) = sealed.split_first_chunk_mut().ok_or(SaveError::Seal)?;
        let (text, tag) = rest.split_last_chunk_mut().ok_or(SaveError::Seal)?;
        self.decrypt(nonce, associated_data, InOutBuf::from(&mut *text), tag)?;
        Ok(text)
    }

    /// Decrypts, if the tag is right.
    fn decrypt(
        &self,
        nonce: &[u8; NONCE],
        associated_data: &[&[u8]],
        text: InOutBuf<'_, '_, u8>,
        tag: &[u8; TAG],
    ) -> Result<(), SaveError> {
        self.cipher()
            .decrypt_inout_detached(nonce.into(), &joined(associated_data), text, tag.into())
            .map_err(|_| SaveError::Seal)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&**self.0).into())
    }
}

/// Encodes the items, each prefixed with its length.
fn joined(associated_data: &[&[u8]]) -> Vec<u8> {
    let mut joined = Vec::new();
    for item in associated_data {
        joined.extend_from_slice(&(item.len() as u64).to_le_bytes());
        joined.extend_from_slice(item);
    }
    joined
}

#[cfg(test)]
mod tests {
    use chacha20::XChaCha20;
    use chacha20::cipher::{KeyIvInit, StreamCipher};
    use zeroize::ZeroizeOnDrop;

    use super::*;
    use crate::algo::Poly1305;

    /// Computes the same AEAD from other parts: the cipher of the crate chacha20, and this crate's
    /// Poly1305.
    fn sealed(
        key: &[u8; 32],
        nonce: &[u8; NONCE],
        associated_data: &[u8],
        secret: &[u8],
    ) -> Vec<u8> {
        let mut cipher = XChaCha20::new(key.into(), nonce.into());
        let (mut first, mut text) = ([0; 64], secret.to_vec());
        cipher.apply_keystream(&mut first);
        cipher.apply_keystream(&mut text);
        let padded = |bytes: &[u8]| [bytes, &[0; 16][..bytes.len().wrapping_neg() % 16]].concat();
        let lengths = [associated_data.len(), text.len()].map(|len| (len as u64).to_le_bytes());
        let message = [padded(associated_data), padded(&text), lengths.concat()].concat();
        let mac = Poly1305::new(first.first_chunk().unwrap());
        let tag = mac.tag(&message).unwrap();
        [nonce, &text[..], tag.as_bytes()].concat()
    }

    #[test]
    fn it_is_xchacha20_poly1305() {
        let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
        let bytes: Vec<u8> = (0..600u32).map(|i| (i * i / 8) as u8).collect();
        for length in [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 600] {
            for data in [0, 1, 8, 16, 40, 63, 64, 65, 300] {
                let (nonce, msg) = ([length as u8; NONCE], &bytes[..length]);
                let mut found = b"before".to_vec();
                sealer.seal_into(&mut found, &nonce, &[&bytes[..data], b"x"], msg);
                let items = [&bytes[..data], b"x"];
                let aad = items.map(|item| [&(item.len() as u64).to_le_bytes(), item].concat());
                let expected = sealed(&sealer.0, &nonce, &aad.concat(), msg);
                assert_eq!(found, [b"before", &expected[..]].concat());
                assert_eq!(*sealer.open(&items, &expected).unwrap(), msg);
            }
        }
    }

    /// Seals made by `reference/partials.py`, which implements the cipher and the MAC
    /// independently.
    #[test]
    fn known_answers() {
        let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
        let nonce: [u8; NONCE] = core::array::from_fn(|i| 0x40 + i as u8);
        let text: Vec<u8> = (0..70).collect();
        for (length, expected) in [
            (0, "32fd12eb8e197b379d8f8439b20f6e8a"),
            (
                70,
                "de637bc0932d1808ee07749dac51df3ddf40889767e1ad7ee8d03763cf99e19e\
                 ec1f1b7f938ebff068e53f7b79053bb637599e176e2ad095e9a2567c1cd3cef5\
                 52db6f73189c9c67bf98b600c8cfd411170c6d8f1e20",
            ),
        ] {
            let mut sealed = Vec::new();
            sealer.seal_into(&mut sealed, &nonce, &[b"purpose", b"", b"a name"], &text[..length]);
            let found: String = sealed[NONCE..].iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, expected);
        }
    }

    /// draft-irtf-cfrg-xchacha-03, appendix A.3.1. Its associated data is not a list, so it tests
    /// the two AEADs directly.
    #[test]
    fn the_example_of_the_draft() {
        let key = core::array::from_fn(|i| 0x80 + i as u8);
        let nonce: [u8; NONCE] = core::array::from_fn(|i| 0x40 + i as u8);
        let text = *b"Ladies and Gentlemen of the class of '99: If I could offer you only one \
                      tip for the future, sunscreen would be it.";
        let data = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];
        let start = [
            0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b, 0x95, 0x76, 0x57, 0x94, 0x93, 0xc0,
            0xe9, 0x39,
        ];
        let expected = [
            0xc0, 0x87, 0x59, 0x24, 0xc1, 0xc7, 0x98, 0x79, 0x47, 0xde, 0xaf, 0xd8, 0x78, 0x0a,
            0xcf, 0x49,
        ];
        let mut found = text;
        let cipher = Sealer(Zeroizing::new(key).into()).cipher();
        let tag = cipher.encrypt_inout_detached((&nonce).into(), &data, (&mut found[..]).into());
        assert_eq!((&found[..16], &*tag.unwrap()), (&start[..], &expected[..]));
        assert_eq!(sealed(&key, &nonce, &data, &text)[NONCE..], [&found[..], &expected].concat());
    }

    #[test]
    fn every_altered_bit_is_refused_and_nothing_is_decrypted() {
        let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
        for text in [&b"twenty bytes of text"[..], b""] {
            let sealed = sealer.seal(&[b"a", b"b"], text).unwrap();
            for bit in 0..8 * sealed.len() {
                let mut altered = sealed.clone();
                altered[bit / 8] ^= 1 << (bit % 8);
                let before = altered.clone();
                assert_eq!(sealer.open_in_place(&[b"a", b"b"], &mut altered), Err(SaveError::Seal));
                assert_eq!(altered, before);
            }
            for length in 0..sealed.len() {
                assert_eq!(sealer.open(&[b"a", b"b"], &sealed[..length]), Err(SaveError::Seal));
            }
            for other in [&[&b"ab"[..], b""][..], &[b"a"], &[b"a", b"b", b""], &[]] {
                assert_eq!(sealer.open(other, &sealed), Err(SaveError::Seal));
            }
        }
    }
    /// Wiping depends on a feature of the crate, which a change of dependencies could lose.
    #[test]
    fn keys_are_wiped() {
        fn wiped<T: ZeroizeOnDrop>() {}
        wiped::<XChaCha20Poly1305>();
    }
}
