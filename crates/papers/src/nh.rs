//! NH and its variants (Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC: Fast and Secure Message
//! Authentication", 1999, sections 4 to 6).

use alloc::vec;
use alloc::vec::Vec;

use tagmac::isa::Level;

use crate::silent;
use crate::umac99::{NhError, NhKey, NhShape, passing};

/// NH, NHS, NH^T or NH^T2 under a key, depending on its [`NhShape`].
///
/// With message words m and key words k of w bits, in pairs of neighbours, and everything mod 2^2w:
///
/// ```text
/// NH_K(M)         = sum over i of (m_{2i-1} + k_{2i-1} mod 2^w) (m_{2i} + k_{2i} mod 2^w)
/// NHS_K(M)        = the same, the sums taken as signed numbers
/// NH^T_K(M)       = NH_{K from word 1 on}(M) || NH_{K from word 3 on}(M) || ..          t of them
/// NH^T2_{K||L}(M) = NH_La(NH_Ka(M_1) || NH_Ka(M_2) ..) || NH_Lb(NH_Kb(M_1) || NH_Kb(M_2) ..)
/// ```
///
/// Two different messages, chosen without knowing the key, have the same hash with a probability
/// of at most
///
/// | family | bound | from |
/// |---|---|---|
/// | NH\[n, w\] | 2^-w, and reached | theorem 4.2 |
/// | NHS\[n, w\] | 2^-(w-1), and nearly reached | theorems 4.5 and 4.8 |
/// | NH^T\[n, w, t\] | 2^-wt | theorem 5.1 |
/// | NHS^T\[n, w, t\] | 2^-(w-1)t | theorem 5.2 |
/// | NH^T2\[n, m, w\] | 2^-(2w-2) | theorem 5.3 |
/// | NHS^T2\[n, m, w\] | 2^-(2w-4) | theorem 5.4 |
///
/// if the key is random. [`NhShape::collision_bits`] returns the proven bound for each shape,
/// including strides and any number of streams. `tests/all/collisions.rs` compares the bounds with
/// a search of all keys for w = 4. The bounds hold for all messages, of any lengths (proposition
/// 6.1): [`hash`](Nh::hash) pads the last block with zeros and ends with the length.
///
/// ```
/// use tagmac_papers::{Nh, NhShape};
/// let key = [0x2a; 48]; // Use random bytes instead.
/// let nh = Nh::new(NhShape::new(8, 32)?, &key, &[])?;
/// assert_eq!(nh.hash(b"message").len(), 8 + 2);
///
/// // NHS^T with three streams, with a bound of 2^-93.
/// let shape = NhShape::new(8, 32)?.signed().toeplitz(3, 2)?;
/// assert_eq!((shape.key_bytes(), shape.collision_bits()), (48, 93));
/// let nhs = Nh::new(shape, &key, &[])?;
/// assert_eq!(nhs.hash(b"message").len(), 3 * 8 + 2);
///
/// // NH^T2: two levels, for longer blocks with shorter keys.
/// let shape = NhShape::new(4, 32)?.toeplitz(2, 2)?.two_level(4)?;
/// let t2 = Nh::new(shape, &key, &key)?;
/// assert_eq!(shape.block_bytes(), 64);
/// assert_ne!(t2.hash(b"message"), t2.hash(b"massage"));
/// # Ok::<(), tagmac_papers::NhError>(())
/// ```
#[derive(Clone)]
pub struct Nh {
    key: NhKey,
    level: Level,
}

silent!(Nh);

impl Nh {
    /// Returns the hash under the first [`key_bytes`](NhShape::key_bytes) bytes of `k` and the
    /// first [`second_key_bytes`](NhShape::second_key_bytes) of `l`, on the best level of this CPU.
    ///
    /// # Errors
    ///
    /// [`NhError::KeyMaterial`] if one of them is too short.
    pub fn new(shape: NhShape, k: &[u8], l: &[u8]) -> Result<Self, NhError> {
        Nh::with_level(shape, k, l, Level::best())
    }

    /// As [`new`](Nh::new), on a given level.
    ///
    /// # Errors
    ///
    /// As [`new`](Nh::new).
    pub fn with_level(shape: NhShape, k: &[u8], l: &[u8], level: Level) -> Result<Self, NhError> {
        Ok(Nh { key: NhKey::new(shape, k, l)?, level: passing(level) })
    }

    /// Returns the parameters.
    pub fn shape(&self) -> &NhShape {
        self.key.shape()
    }

    /// Returns the hash of a message of any length: the hashes of its blocks, of
    /// [`hash_bytes`](NhShape::hash_bytes) each, and two bytes with its length modulo the block.
    ///
    /// # Panics
    ///
    /// If memory is exhausted.
    pub fn hash(&self, message: &[u8]) -> Vec<u8> {
        let shape = self.shape();
        let hashes = message.len().div_ceil(shape.block_bytes()) * shape.hash_bytes();
        let mut out = vec![0; hashes + 2];
        self.key.hash(self.level, false, message, &mut out[..hashes]);
        out[hashes..].copy_from_slice(&shape.length(message.len() as u64));
        out
    }

    /// Writes the hash of a single block to `out`, which must have exactly
    /// [`hash_bytes`](NhShape::hash_bytes) bytes. The block is padded with zeros to whole groups of
    /// words, so a block and the same block padded with zeros collide.
    ///
    /// # Errors
    ///
    /// [`NhError::BlockLength`] unless the block has 1 to [`block_bytes`](NhShape::block_bytes)
    /// bytes, or if `out` has the wrong length.
    pub fn block(&self, block: &[u8], out: &mut [u8]) -> Result<(), NhError> {
        let shape = self.shape();
        for (range, found) in [
            (1..=shape.block_bytes(), block.len()),
            (shape.hash_bytes()..=shape.hash_bytes(), out.len()),
        ] {
            if !range.contains(&found) {
                return Err(NhError::BlockLength { min: *range.start(), max: *range.end(), found });
            }
        }
        self.key.hash(self.level, false, block, out);
        Ok(())
    }
}
