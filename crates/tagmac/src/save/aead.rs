//! The AEAD that sums leave the process under.
//!
//! ```text
//! block || stream = XChaCha20(key, nonce)                     the first block has 64 bytes
//! encrypted       = text xor stream
//! tag             = Poly1305(block[..32], pad(data) || pad(encrypted) || |data| || |encrypted|)
//! ```
//!
//! XChaCha20-Poly1305, from draft-irtf-cfrg-xchacha-03, section 2.3, and RFC 8439, section 2.8. `data`
//! is the associated data, `pad` fills up with zeros to 16 bytes, and lengths have 8. The cipher is the
//! crate chacha20's, and Poly1305 is this crate's: most seals are of some hundred bytes, and take a
//! third of the time that they take with the crate chacha20poly1305 0.11.

use chacha20::XChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use zeroize::Zeroizing;

use super::error::SaveError;
use super::sealer::{NONCE, Sealer, TAG};
use crate::algo::Poly1305;
use crate::nonce::fill_random;
use crate::stream::Stream;
use crate::tag::Tag;

impl Sealer {
    /// Encrypts what is secret and binds it to `associated_data`: a purpose, a name, a place.
    ///
    /// # Errors
    ///
    /// [`SaveError::Mac`] with [`Error::NoRandomBytes`](crate::Error::NoRandomBytes) if the system
    /// has none for the nonce.
    pub fn seal(&self, associated_data: &[&[u8]], secret: &[u8]) -> Result<Vec<u8>, SaveError> {
        let mut nonce = [0; NONCE];
        fill_random(&mut nonce)?;
        let mut sealed = Vec::with_capacity(secret.len() + Sealer::OVERHEAD);
        self.seal_into(&mut sealed, &nonce, associated_data, secret);
        Ok(sealed)
    }

    /// The same under a nonce that is random and was never used, appended.
    pub(crate) fn seal_into(
        &self,
        out: &mut Vec<u8>,
        nonce: &[u8; NONCE],
        associated_data: &[&[u8]],
        secret: &[u8],
    ) {
        // Once it has room, nothing of the secret is left behind in a buffer that moved.
        out.reserve(secret.len() + Sealer::OVERHEAD);
        out.extend_from_slice(nonce);
        let at = out.len();
        out.extend_from_slice(secret);
        let (stream, mac) = self.begin(nonce);
        stream.apply(&mut out[at..]);
        let tag = tag(&mac, associated_data, &out[at..]);
        out.extend_from_slice(tag.as_bytes());
    }

    /// What [`seal`](Sealer::seal) was given, for the same `associated_data`. Bytes that are refused are
    /// not copied, however many they are.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] if it was altered, sealed under another key or with other associated data.
    pub fn open(
        &self,
        associated_data: &[&[u8]],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, SaveError> {
        let (nonce, rest) = sealed.split_first_chunk().ok_or(SaveError::Seal)?;
        let (encrypted, found) = rest.split_last_chunk().ok_or(SaveError::Seal)?;
        let stream = self.check(nonce, associated_data, encrypted, found)?;
        let mut text = Zeroizing::new(encrypted.to_vec());
        stream.apply(&mut text);
        Ok(text)
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
        let (nonce, rest) = sealed.split_first_chunk_mut().ok_or(SaveError::Seal)?;
        let (text, found) = rest.split_last_chunk_mut().ok_or(SaveError::Seal)?;
        self.check(nonce, associated_data, text, found)?.apply(text);
        Ok(text)
    }

    /// What decrypts, if the tag is right.
    fn check(
        &self,
        nonce: &[u8; NONCE],
        associated_data: &[&[u8]],
        encrypted: &[u8],
        found: &[u8; TAG],
    ) -> Result<Keystream, SaveError> {
        let (stream, mac) = self.begin(nonce);
        // Two tags compare in a time that depends on no byte of theirs.
        if Tag::new(found, 8 * TAG) != Ok(tag(&mac, associated_data, encrypted)) {
            return Err(SaveError::Seal);
        }
        Ok(stream)
    }

    /// What encrypts, and the MAC whose key is in the block before it.
    fn begin(&self, nonce: &[u8; NONCE]) -> (Keystream, Poly1305) {
        let mut cipher = XChaCha20::new((&*self.0).into(), nonce.into());
        let mut blocks = Zeroizing::new([0; BLOCKS]);
        cipher.apply_keystream(&mut *blocks);
        let mac = Poly1305::new(blocks.first_chunk().expect("4 blocks"));
        (Keystream { blocks, cipher }, mac)
    }
}

/// Bytes of four blocks, which the cipher makes side by side in the time of one.
const BLOCKS: usize = 256;

/// The cipher after its first blocks, and these. The first is the MAC's key, the others suffice for most
/// of what is sealed.
struct Keystream {
    blocks: Zeroizing<[u8; BLOCKS]>,
    cipher: XChaCha20,
}

impl Keystream {
    fn apply(mut self, text: &mut [u8]) {
        let (start, rest) = text.split_at_mut(text.len().min(BLOCKS - 64));
        for (byte, key) in start.iter_mut().zip(&self.blocks[64..]) {
            *byte ^= key;
        }
        self.cipher.apply_keystream(rest);
    }
}

/// The tag of what was encrypted, and of the associated data: each item with its length before it, so
/// that no two lists are the same bytes.
fn tag(mac: &Poly1305, associated_data: &[&[u8]], encrypted: &[u8]) -> Tag {
    let mut stream = Stream::new(mac, &());
    let mut length = 0;
    for item in associated_data {
        stream.update(&(item.len() as u64).to_le_bytes()).update(item);
        length += 8 + item.len();
    }
    stream.update(fill(length)).update(encrypted).update(fill(encrypted.len()));
    stream.update(&(length as u64).to_le_bytes());
    stream.update(&(encrypted.len() as u64).to_le_bytes());
    stream.tag().expect("Poly1305 has no limit in reach")
}

/// The zeros that fill a length up to whole blocks.
fn fill(length: usize) -> &'static [u8] {
    &[0; 16][..length.wrapping_neg() % 16]
}

#[cfg(test)]
mod tests {
    use chacha20poly1305::aead::{Aead, KeyInit, Payload};
    use chacha20poly1305::{XChaCha20Poly1305, XNonce};

    use super::*;

    /// Another implementation makes the same seals, of all lengths around blocks.
    #[test]
    fn it_is_xchacha20_poly1305() {
        let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
        let other = XChaCha20Poly1305::new((&*sealer.0).into());
        let bytes: Vec<u8> = (0..600u32).map(|i| (i * i / 8) as u8).collect();
        for length in [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 600] {
            for data in [0, 1, 8, 16, 40, 63, 64, 65, 300] {
                let (nonce, msg) = ([length as u8; NONCE], &bytes[..length]);
                let mut sealed = b"before".to_vec();
                sealer.seal_into(&mut sealed, &nonce, &[&bytes[..data], b"x"], msg);
                let items = [&bytes[..data], b"x"];
                let aad = items.map(|item| [&(item.len() as u64).to_le_bytes(), item].concat());
                let payload = Payload { msg, aad: &aad.concat() };
                let expected = other.encrypt(&XNonce::from(nonce), payload).unwrap();
                assert_eq!(sealed, [b"before", &nonce[..], &expected].concat());
                let opened = sealer.open(&items, &sealed[6..]).unwrap();
                assert_eq!(*opened, msg);
            }
        }
    }

    /// draft-irtf-cfrg-xchacha-03, appendix A.3.1: its associated data is no list, so the tag is made
    /// of the parts of a seal.
    #[test]
    fn the_example_of_the_draft() {
        let key = Zeroizing::new(core::array::from_fn(|i| 0x80 + i as u8));
        let nonce: [u8; NONCE] = core::array::from_fn(|i| 0x40 + i as u8);
        let mut text = *b"Ladies and Gentlemen of the class of '99: If I could offer you only one \
                          tip for the future, sunscreen would be it.";
        let (stream, mac) = Sealer(key).begin(&nonce);
        stream.apply(&mut text);
        let start = [
            0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b, 0x95, 0x76, 0x57, 0x94, 0x93, 0xc0,
            0xe9, 0x39,
        ];
        assert_eq!(text[..16], start);
        let data = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];
        let lengths = [12u64, 114].map(u64::to_le_bytes).concat();
        let whole = [&data, fill(12), &text, fill(114), &lengths].concat();
        let expected = [
            0xc0, 0x87, 0x59, 0x24, 0xc1, 0xc7, 0x98, 0x79, 0x47, 0xde, 0xaf, 0xd8, 0x78, 0x0a,
            0xcf, 0x49,
        ];
        assert_eq!(mac.tag(&whole).unwrap().as_bytes(), expected);
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
}
