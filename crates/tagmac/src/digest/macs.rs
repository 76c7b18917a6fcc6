//! The deterministic MACs, as implementations of RustCrypto's `Mac`.

use core::marker::PhantomData;
use core::ops::Add;

use ::digest::array::{ArraySize, AssocArraySize};
use ::digest::consts::{U16, U32};
use ::digest::typenum::Sum;
use ::digest::{FixedOutput, FixedOutputReset, MacMarker, Output, OutputSizeUser, Reset, Update};
use zeroize::Zeroizing;

use super::keyed::{Algorithm, Keyed, Message, Owned};
use crate::algo::{Cmac, CmacStream, EliMac, LightMac, Pmac};
use crate::cipher::{Cipher, CipherBlock, Field};
use crate::construction::Construction;
use crate::stream::Stream;

/// A deterministic MAC with a key of one length. The [module](super) lists them.
pub trait DeterministicMac: Algorithm<Message: Restart> {
    /// The length of a tag in bytes, which is that of a block.
    type TagSize: ArraySize;
}

/// A message that can be restarted under the same key.
pub trait Restart: Message {
    /// Starts an empty message again.
    fn restart(&mut self);
}

impl<M: DeterministicMac> OutputSizeUser for Keyed<M> {
    type OutputSize = M::TagSize;
}

impl<M: DeterministicMac> Update for Keyed<M> {
    fn update(&mut self, data: &[u8]) {
        self.message.update(data);
    }
}

impl<M: DeterministicMac> FixedOutput for Keyed<M> {
    fn finalize_into(mut self, out: &mut Output<Self>) {
        self.message.finish(out);
    }
}

impl<M: DeterministicMac> Reset for Keyed<M> {
    fn reset(&mut self) {
        self.message.restart();
    }
}

impl<M: DeterministicMac> FixedOutputReset for Keyed<M> {
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        self.message.finish(out);
        self.message.restart();
    }
}

impl<M: DeterministicMac> MacMarker for Keyed<M> {}

impl<M: Construction<Nonce = ()>> Message for Stream<Owned<M>> {
    fn update(&mut self, data: &[u8]) {
        Stream::update(self, data);
    }

    fn finish(&mut self, out: &mut [u8]) {
        let tag = self.finalize().unwrap_or_else(|error| panic!("{error}"));
        out.copy_from_slice(tag.as_bytes());
    }
}

impl<M: Construction<Nonce = ()>> Restart for Stream<Owned<M>> {
    fn restart(&mut self) {
        Stream::restart(self);
    }
}

/// The lengths of C's key and block in bytes.
type KeyBytes<C> = <<C as Cipher>::Key as AssocArraySize>::Size;
type BlockBytes<C> = <<C as Cipher>::Block as AssocArraySize>::Size;

/// The key at index `i` of a string of keys.
fn key<C: Cipher>(keys: &[u8], i: usize) -> Zeroizing<C::Key> {
    let key = C::Key::try_from(&keys[i * C::KEY_BYTES..][..C::KEY_BYTES]);
    Zeroizing::new(key.ok().expect("a key of the cipher's length"))
}

impl<C> Algorithm for Pmac<C>
where
    C: Cipher<Block: Field, Key: AssocArraySize>,
{
    type KeySize = KeyBytes<C>;
    type Message = Stream<Owned<Self>>;

    fn begin(keys: &[u8]) -> Self::Message {
        Stream::new(Owned(Pmac::<C>::new(&key::<C>(keys, 0))), &())
    }
}

impl<C> DeterministicMac for Pmac<C>
where
    C: Cipher<Block: Field + AssocArraySize, Key: AssocArraySize>,
{
    type TagSize = BlockBytes<C>;
}

/// LightMAC with the cipher C and a counter of S bits, 1 to n/2: a [`LightMac`] with the counter's
/// length in its type. `Keyed<LightMacS<Aes128, 64>>` is LIGHTMAC-AES128-S64 of the registry.
///
/// ```
/// use tagmac::LightMacAes128;
/// use tagmac::cipher::Aes128;
/// use tagmac::digest::{KeyInit, Keyed, LightMacS, Mac};
///
/// let keys = [[1; 16], [2; 16]];
/// let mac = <Keyed<LightMacS<Aes128, 32>> as KeyInit>::new_from_slice(keys.as_flattened())?;
/// let tag = mac.chain_update(b"message").finalize().into_bytes();
/// let own = LightMacAes128::new(&keys[0], &keys[1], 32)?;
/// assert_eq!(tag[..], *own.tag(b"message")?.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LightMacS<C, const S: usize>(PhantomData<C>);

impl<C, const S: usize> Algorithm for LightMacS<C, S>
where
    C: Cipher<Key: AssocArraySize>,
    KeyBytes<C>: Add<KeyBytes<C>, Output: ArraySize>,
{
    type KeySize = Sum<KeyBytes<C>, KeyBytes<C>>;
    type Message = Stream<Owned<LightMac<C>>>;

    fn begin(keys: &[u8]) -> Self::Message {
        const { assert!(1 <= S && S <= 4 * C::Block::BYTES, "a counter has 1 to n/2 bits") };
        let mac = LightMac::<C>::new(&key::<C>(keys, 0), &key::<C>(keys, 1), S);
        Stream::new(Owned(mac.expect("1 to n/2 bits")), &())
    }
}

impl<C, const S: usize> DeterministicMac for LightMacS<C, S>
where
    C: Cipher<Block: AssocArraySize, Key: AssocArraySize>,
    KeyBytes<C>: Add<KeyBytes<C>, Output: ArraySize>,
{
    type TagSize = BlockBytes<C>;
}

impl Algorithm for EliMac {
    type KeySize = U32;
    type Message = Stream<Owned<Self>>;

    fn begin(key: &[u8]) -> Self::Message {
        let ([k1, k2], []) = key.as_chunks() else { unreachable!("32 bytes") };
        Stream::new(Owned(EliMac::new(k1, k2)), &())
    }
}

impl DeterministicMac for EliMac {
    type TagSize = U16;
}

impl<C> Algorithm for Cmac<C>
where
    C: Cipher<Block: Field, Key: AssocArraySize>,
{
    type KeySize = KeyBytes<C>;
    type Message = CmacStream<Owned<Self>, C>;

    fn begin(keys: &[u8]) -> Self::Message {
        CmacStream::new(Owned(Cmac::<C>::new(&key::<C>(keys, 0))))
    }
}

impl<C> DeterministicMac for Cmac<C>
where
    C: Cipher<Block: Field + AssocArraySize, Key: AssocArraySize>,
{
    type TagSize = BlockBytes<C>;
}

impl<C: Cipher<Block: Field>> Message for CmacStream<Owned<Cmac<C>>, C> {
    fn update(&mut self, data: &[u8]) {
        CmacStream::update(self, data);
    }

    fn finish(&mut self, out: &mut [u8]) {
        out.copy_from_slice(self.finalize().as_bytes());
    }
}

impl<C: Cipher<Block: Field>> Restart for CmacStream<Owned<Cmac<C>>, C> {
    fn restart(&mut self) {
        CmacStream::restart(self);
    }
}
