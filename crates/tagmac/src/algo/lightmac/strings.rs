//! Terms of LightMAC for every counter: of any number of bits, in any order. Blocks of the message
//! need not end on bytes, so each is cut out by itself and written down before it is loaded.

use super::{LightMac, Message};
use crate::algo::xor::{Terms, VOf};
use crate::cipher::{Cipher, CipherBlock};
use crate::isa::{Isa, Lanes};

/// The widest rung's lanes.
const MOST: usize = 16;

/// The terms E_K1(i_s || M_i).
pub(super) struct StringTerms<'a, C: Cipher> {
    pub(super) mac: &'a LightMac<C>,
    pub(super) message: Message<'a>,
    /// The next block is number `i`.
    pub(super) i: u64,
}

impl<C: Cipher> StringTerms<'_, C> {
    /// i_s || M_i for the next block.
    #[inline(always)]
    fn next(&mut self) -> C::Block {
        let mac = self.mac;
        // Block number 2^s is written 0^s: its one falls off, here or at the end.
        let i = self.i & u64::MAX.checked_shr(64 - mac.s.min(64) as u32).unwrap_or(0);
        let number = if mac.gray { i ^ i >> 1 } else { i };
        let number = ((number as u128) << (128 - mac.s)).to_be_bytes();
        let mut block: C::Block = self.message.take(mac.s, mac.r());
        for (byte, number) in block.as_mut().iter_mut().zip(number) {
            *byte |= number;
        }
        self.i += 1;
        block
    }
}

impl<'a, C: Cipher> Terms for StringTerms<'a, C> {
    type Lanes<I: Isa> = C::Lanes<I>;
    type Ready<I: Isa> = C::Keys<'a, I>;
    type Sum<I: Isa> = C::Sum<'a, I>;

    #[inline(always)]
    fn on<I: Isa>(isa: I) -> C::Lanes<I> {
        C::lanes(isa)
    }

    #[inline(always)]
    fn ready<I: Isa>(&self, isa: I) -> C::Keys<'a, I> {
        self.mac.k1.keys(isa)
    }

    #[inline(always)]
    fn sum<I: Isa>(isa: I, keys: &C::Keys<'a, I>) -> C::Sum<'a, I> {
        C::sum(isa, keys)
    }

    #[inline(always)]
    fn add<I: Isa, const N: usize>(
        &mut self,
        isa: I,
        keys: &C::Keys<'a, I>,
        sum: &mut C::Sum<'a, I>,
    ) {
        for _ in 0..N {
            self.add_lanes(isa, keys, sum, C::Lanes::<I>::LANES);
        }
    }

    #[inline(always)]
    fn add_lanes<I: Isa>(
        &mut self,
        isa: I,
        keys: &C::Keys<'a, I>,
        sum: &mut C::Sum<'a, I>,
        n: usize,
    ) {
        let lanes = C::lanes(isa);
        let mut blocks = [C::Block::ZERO; MOST];
        for block in &mut blocks[..n] {
            *block = self.next();
        }
        let whitening = C::whiten(isa, keys, lanes.splat(&C::Block::ZERO));
        let x = lanes.xor(lanes.load_lanes(C::Block::flatten(&blocks[..n])), whitening);
        C::add_whitened_lanes(isa, keys, sum, x, n);
    }

    #[inline(always)]
    fn total<I: Isa>(
        isa: I,
        keys: &C::Keys<'a, I>,
        sum: &mut C::Sum<'a, I>,
    ) -> VOf<Self, I::Narrow> {
        C::total(isa, keys, sum)
    }
}
