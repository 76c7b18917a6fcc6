//! The parameters of a UMAC of 1999, and its keys: K and L of the hash, and the PRF's key. A
//! primitive of the PRF derives them, or the caller supplies them.

use alloc::vec;

use tagmac::isa::Level;
use zeroize::Zeroize;

use super::levels::NhKey;
use super::prf::{PrfKey, Umac99Prf};
use super::shape::NhShape;
use super::{NhError, Umac99, Umac99Set, passing};

/// The uses of derived keys.
const USE_K: u8 = 0;
const USE_L: u8 = 1;
/// The first use for the PRFs of streams, where each stream has one.
pub(super) const USE_PRF: u8 = 128;

/// The parameters of a UMAC of 1999 without a name.
///
/// ```
/// use tagmac::Mac;
/// use tagmac_papers::{NhShape, Umac99Parameters, Umac99Prf};
/// // Words of 64 bits, which the authors tried on the Alpha.
/// let shape = NhShape::new(128, 64)?;
/// let mac = Umac99Parameters::new(shape, Umac99Prf::Cbc3Aes128).key(&[7; 16]);
/// let tag = mac.tag_with(&[1; 8], b"message")?;
/// assert!(mac.verify_with(&[1; 8], b"message", &tag).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Umac99Parameters {
    pub(super) shape: NhShape,
    pub(super) prf: Umac99Prf,
    pub(super) keys_by: Umac99Prf,
    pub(super) min_length_to_hash: usize,
}

impl From<Umac99Set> for Umac99Parameters {
    fn from(set: Umac99Set) -> Self {
        Umac99Parameters::new(set.shape(), set.prf())
    }
}

impl Umac99Parameters {
    /// Returns parameters with a hash and a PRF. All messages are hashed, and the
    /// PRF's own primitive derives the keys.
    pub fn new(shape: NhShape, prf: Umac99Prf) -> Self {
        Umac99Parameters { shape, prf, keys_by: prf, min_length_to_hash: 0 }
    }

    /// Leaves messages shorter than `bytes` bytes unhashed: they go directly to the PRF, with their
    /// length (section 2.2, min-length-to-hash).
    ///
    /// # Errors
    ///
    /// [`NhError::MinLengthToHash`] if `bytes` is more than a block.
    pub fn min_length_to_hash(self, bytes: usize) -> Result<Self, NhError> {
        let max = self.shape.block_bytes();
        if bytes > max {
            return Err(NhError::MinLengthToHash { max, found: bytes });
        }
        Ok(Umac99Parameters { min_length_to_hash: bytes, ..self })
    }

    /// Derives keys by the primitive of another PRF: HMAC-SHA1 with a counter, or RC6 or AES-128
    /// with output feedback.
    #[must_use]
    pub fn keys_by(self, prf: Umac99Prf) -> Self {
        Umac99Parameters { keys_by: prf, ..self }
    }

    /// Returns the MAC under a key, with its longest tag, on the best level of this CPU.
    pub fn key(self, key: &[u8; 16]) -> Umac99 {
        self.key_with_level(key, Level::best())
    }

    /// As [`key`](Umac99Parameters::key), on a given level.
    pub fn key_with_level(self, key: &[u8; 16], level: Level) -> Umac99 {
        let derived = |usage, bytes| {
            let mut out = vec![0; bytes];
            self.keys_by.derive(key, usage, &mut out, level);
            out
        };
        let mut k = derived(USE_K, self.shape.key_bytes());
        let mut l = derived(USE_L, self.shape.second_key_bytes());
        let mut prf = derived(USE_PRF, self.prf.key_bytes());
        let mac = self.subkeys_with_level(&k, &l, &prf, level).expect("keys of the right length");
        k.zeroize();
        l.zeroize();
        prf.zeroize();
        mac
    }

    /// Returns the MAC under given keys: K and L of the hash, of [`NhShape::key_bytes`] and
    /// [`NhShape::second_key_bytes`], and the PRF's key of [`Umac99Prf::key_bytes`]. All must be
    /// random. Additional bytes are not used.
    ///
    /// # Errors
    ///
    /// [`NhError::KeyMaterial`] if one of them is too short.
    pub fn subkeys(self, k: &[u8], l: &[u8], prf: &[u8]) -> Result<Umac99, NhError> {
        self.subkeys_with_level(k, l, prf, Level::best())
    }

    /// As [`subkeys`](Umac99Parameters::subkeys), on a given level.
    ///
    /// # Errors
    ///
    /// As [`subkeys`](Umac99Parameters::subkeys).
    pub fn subkeys_with_level(
        self,
        k: &[u8],
        l: &[u8],
        prf: &[u8],
        level: Level,
    ) -> Result<Umac99, NhError> {
        let (expected, found) = (self.prf.key_bytes(), prf.len());
        let prf = prf.get(..expected).ok_or(NhError::KeyMaterial { expected, found })?;
        let level = passing(level);
        Ok(Umac99 {
            key: NhKey::new(self.shape, k, l)?,
            prf: PrfKey::new(self.prf, prf, level),
            min_length_to_hash: self.min_length_to_hash,
            tag_bytes: self.prf.output_bytes(),
            max_tag_bytes: self.prf.output_bytes(),
            level,
        })
    }
}

impl Umac99 {
    /// Returns the MAC for a named set on the best level of this CPU, with its longest tag.
    pub fn new(set: Umac99Set, key: &[u8; 16]) -> Self {
        Umac99::with_level(set, key, Level::best())
    }

    /// Returns the MAC for a named set on a given level.
    pub fn with_level(set: Umac99Set, key: &[u8; 16], level: Level) -> Self {
        Umac99Parameters::from(set).key_with_level(key, level)
    }
}
