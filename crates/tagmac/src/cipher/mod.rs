//! Block ciphers over lanes.

mod aes;
#[allow(dead_code, unused_imports)] // Until a MAC uses it.
mod present;

pub(crate) use aes::{Aes, Keys};
pub use aes::{Aes128, Aes192, Aes256};

use zeroize::Zeroize;

use crate::error::Error;
use crate::isa::{Isa, Level};

/// A block cipher of 16-byte blocks, evaluated on vectors of blocks.
///
/// The first key is added outside: it goes into the mask that the mode adds anyway.
pub trait Cipher: Clone + Send + Sync + Sized {
    /// The cipher's name, as in the names of MACs.
    const NAME: &'static str;
    /// Bytes of a key.
    const KEY_BYTES: usize;
    /// A key. Its length is known, so nothing can fail.
    type Key: AsRef<[u8]> + Zeroize;
    /// The key schedule on a rung.
    type Keys<'a, I: Isa>: Copy;

    /// Makes the key schedule.
    fn new(key: &Self::Key, level: Level) -> Self;
    /// Makes the key schedule of a key whose length is not known.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] unless it is [`KEY_BYTES`](Cipher::KEY_BYTES) long.
    fn from_slice(key: &[u8], level: Level) -> Result<Self, Error>;
    /// Prepares the key schedule: once per range, before the loop.
    fn keys<I: Isa>(&self, isa: I) -> Self::Keys<'_, I>;
    /// The mask with the first round key in it.
    fn whiten<I: Isa>(isa: I, keys: &Self::Keys<'_, I>, mask: I::V) -> I::V;
    /// E_K of each block of `x`, to which [`whiten`](Cipher::whiten)'s mask was added.
    fn encrypt_whitened<I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'_, I>,
        x: [I::V; N],
    ) -> [I::V; N];

    /// `sum` and E_K of each block of `x`, to which [`whiten`](Cipher::whiten)'s mask was added,
    /// xored together.
    #[inline(always)]
    fn add_whitened<I: Isa, const N: usize>(
        isa: I,
        keys: &Self::Keys<'_, I>,
        sum: I::V,
        x: [I::V; N],
    ) -> I::V {
        let x = Self::encrypt_whitened(isa, keys, x);
        x.into_iter().fold(
            sum,
            #[inline(always)]
            |sum, x| isa.xor(sum, x),
        )
    }

    /// E_K of one block on the one-block rung.
    #[inline(always)]
    fn encrypt_one<I: Isa>(&self, isa: I, x: I::V) -> I::V {
        let keys = self.keys(isa);
        let [y] = Self::encrypt_whitened(isa, &keys, [Self::whiten(isa, &keys, x)]);
        y
    }
}
