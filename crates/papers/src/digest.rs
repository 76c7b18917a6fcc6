//! CBC3 as RustCrypto's `Mac`: `Keyed<Cbc3<C>>` of [`tagmac::digest`].

use core::ops::Mul;

use ::digest::array::{ArraySize, AssocArraySize};
use ::digest::consts::U3;
use ::digest::typenum::Prod;
use tagmac::cipher::Cipher;
use tagmac::digest::{Algorithm, DeterministicMac, Message, Restart};
use tagmac::hazmat::Chain;
use tagmac::isa::{Isa, Kernel, Level, Levels};

use crate::cbc3::Cbc3;

/// A message of [`Cbc3`] that arrives in pieces, for RustCrypto's traits.
#[derive(Clone)]
pub struct Cbc3Stream<C: Cipher> {
    mac: Cbc3<C>,
    chain: Chain<C::Block>,
}

struct Update<'a, C: Cipher> {
    mac: &'a Cbc3<C>,
    chain: &'a mut Chain<C::Block>,
    data: &'a [u8],
}

impl<C: Cipher> Kernel for Update<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.mac.update(isa, self.chain, self.data);
    }
}

struct Close<'a, C: Cipher> {
    mac: &'a Cbc3<C>,
    chain: &'a Chain<C::Block>,
}

impl<C: Cipher> Kernel for Close<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        self.mac.finish_bytes(isa, self.chain)
    }
}

/// The lengths of C's key and block in bytes.
type KeyBytes<C> = <<C as Cipher>::Key as AssocArraySize>::Size;
type BlockBytes<C> = <<C as Cipher>::Block as AssocArraySize>::Size;

impl<C> Algorithm for Cbc3<C>
where
    C: Cipher<Key: AssocArraySize>,
    KeyBytes<C>: Mul<U3, Output: ArraySize>,
{
    type KeySize = Prod<KeyBytes<C>, U3>;
    type Message = Cbc3Stream<C>;

    fn begin(key: &[u8]) -> Self::Message {
        let level = Level::best();
        let [k1, k2, k3] = [0, 1, 2].map(|i| {
            let key = &key[i * C::KEY_BYTES..][..C::KEY_BYTES];
            C::from_slice(key, level).expect("a key of the cipher's length")
        });
        let mac = Cbc3::from_ciphers(k1, k2, k3, level);
        Cbc3Stream { mac, chain: Chain::new(&[]) }
    }
}

impl<C> DeterministicMac for Cbc3<C>
where
    C: Cipher<Block: AssocArraySize, Key: AssocArraySize>,
    KeyBytes<C>: Mul<U3, Output: ArraySize>,
{
    type TagSize = BlockBytes<C>;
}

impl<C: Cipher> Message for Cbc3Stream<C> {
    fn update(&mut self, data: &[u8]) {
        let Cbc3Stream { mac, chain } = self;
        mac.level().run(Update { mac, chain, data });
    }

    fn finish(&mut self, out: &mut [u8]) {
        let Cbc3Stream { mac, chain } = self;
        out.copy_from_slice(mac.level().run(Close { mac, chain }).as_ref());
    }
}

impl<C: Cipher> Restart for Cbc3Stream<C> {
    /// The old message is wiped.
    fn restart(&mut self) {
        self.chain = Chain::new(&[]);
    }
}
