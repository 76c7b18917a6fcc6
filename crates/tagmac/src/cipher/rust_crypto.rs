//! Adapts RustCrypto's block ciphers.

use ::cipher::array::{Array, ArraySize};
use ::cipher::typenum::Unsigned;
use ::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, Key, KeyInit};

use super::CipherBlock;
use super::traits::{BlockCipher, CipherKey, Decrypt};
use crate::isa::Isa;

/// A block cipher that implements the traits of the crate `cipher` 0.5, such as those of `aes`
/// 0.9, `camellia` or `des`.
///
/// It runs in constant time if that cipher does, and its key schedule is wiped if the crate's
/// feature `zeroize` is on. [`Aes128`](super::Aes128) and the other ciphers here are faster than
/// AES through this adapter. The key has the crate's `KeySize`; keys that the crate refuses as weak
/// are accepted here.
///
/// ```
/// use tagmac::cipher::RustCrypto;
/// use tagmac::{Pmac, PmacAes128};
///
/// let mac = Pmac::<RustCrypto<aes::Aes128>>::new(&[7; 16]);
/// assert_eq!(mac.tag(b"message")?, PmacAes128::new(&[7; 16]).tag(b"message")?);
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct RustCrypto<C>(C);

crate::error::silent!(RustCrypto<C: Sized>);

/// N bytes.
type Bytes<N> = <N as ArraySize>::ArrayType<u8>;

impl<C> BlockCipher for RustCrypto<C>
where
    C: BlockCipherEncrypt + KeyInit + Clone + Send + Sync,
    Bytes<C::BlockSize>: CipherBlock,
    Bytes<C::KeySize>: CipherKey,
{
    const NAME: &'static str = "RustCrypto";
    const KEY_BYTES: usize = C::KeySize::USIZE;
    type Block = Bytes<C::BlockSize>;
    type Key = Bytes<C::KeySize>;

    fn new(key: &Self::Key) -> Self {
        let key: &Key<C> = key.as_ref().try_into().expect("a key of this length");
        RustCrypto(C::new(key))
    }

    #[inline]
    fn encrypt(&self, blocks: &mut [Self::Block]) {
        let bytes = CipherBlock::flatten_mut(blocks);
        self.0.encrypt_blocks(Array::slice_as_chunks_mut(bytes).0);
    }
}

impl<C> Decrypt for RustCrypto<C>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit + Clone + Send + Sync,
    Bytes<C::BlockSize>: CipherBlock,
    Bytes<C::KeySize>: CipherKey,
{
    fn decrypt_one<I: Isa>(&self, _isa: I, block: &Self::Block) -> Self::Block {
        let mut decrypted = *block;
        self.0.decrypt_blocks(Array::slice_as_chunks_mut(decrypted.as_mut()).0);
        decrypted
    }
}
