//! Short messages, each under its own key. Of each key, only the parts that these messages need are
//! derived: a message of 16 bytes needs 9 of the 78 blocks of UMAC-64's key.

use super::key;
use super::l3::L3Key;
use super::nh::{CHUNK, NhKey, STREAMS, units_for};
use super::pad::{UmacNonce, hidden, pad_of, pads_in_block};
use super::uhash::UmacDigest;
use crate::isa::{Block, Isa};
use crate::tag::Tag;
use crate::wipe::wipe;

/// The hash keys of `N` messages of at most one chunk, in `T` streams. Wiped on drop.
pub(in crate::algo) struct HashKeys<const T: usize, const N: usize> {
    nh: [NhKey; N],
    l3: [[L3Key; T]; N],
}

impl<const T: usize, const N: usize> Drop for HashKeys<T, N> {
    #[inline(never)]
    fn drop(&mut self) {
        self.nh.iter_mut().for_each(NhKey::wipe);
        wipe(self.l3.as_flattened_mut(), L3Key::ZERO);
    }
}

impl<const T: usize, const N: usize> HashKeys<T, N> {
    /// The maximum length of a message in bytes.
    pub(in crate::algo) const MAX_LEN: usize = CHUNK;
    /// KDF's input for the key of the pads.
    pub(in crate::algo) const PADS: Block = key::input(0, 1);
    /// The blocks of L3-HASH, which come before those of NH: two for each stream, which end its
    /// first key, and one with all second keys.
    const L3: usize = 2 * T + 1;

    /// No keys.
    pub(in crate::algo) const ZERO: Self =
        HashKeys { nh: [const { NhKey::ZERO }; N], l3: [[L3Key::ZERO; T]; N] };

    /// The number of blocks of KDF that a message of `bytes` bytes needs.
    pub(in crate::algo) fn blocks(bytes: usize) -> usize {
        const { assert!(T >= 1 && T <= STREAMS, "UMAC has one to four streams") };
        Self::L3 + units_for::<T>(bytes)
    }

    /// KDF's input for a block.
    #[inline(always)]
    pub(in crate::algo) fn input(block: usize) -> Block {
        match block {
            // Of the four blocks of a stream, the first two are for messages over 16 MiB.
            _ if block < 2 * T => key::input(3, (block / 2 * 4 + block % 2 + 3) as u64),
            _ if block < Self::L3 => key::input(4, 1),
            _ => key::input(1, (block - Self::L3 + 1) as u64),
        }
    }

    /// Sets a block of each message's key from KDF's outputs.
    #[inline(always)]
    pub(in crate::algo) fn set(&mut self, block: usize, outputs: &[Block]) {
        if block >= Self::L3 {
            for (key, output) in self.nh.iter_mut().zip(outputs) {
                key.set(block - Self::L3, output);
            }
            return;
        }
        for (streams, output) in self.l3.iter_mut().zip(outputs) {
            if block < 2 * T {
                streams[block / 2].set_low(block % 2, output);
            } else {
                for (key, k2) in streams.iter_mut().zip(output.as_chunks().0) {
                    key.set_k2(k2);
                }
            }
        }
    }

    /// The cipher's input for the pad of a nonce.
    #[inline(always)]
    pub(in crate::algo) fn pad_input(nonce: &UmacNonce) -> Block {
        pad_of(nonce, pads_in_block::<T>()).0
    }

    /// The tag of a message under key `i`. `pad` is the cipher's output for the nonce.
    #[inline(always)]
    pub(in crate::algo) fn tag<I: Isa>(
        &self,
        isa: I,
        i: usize,
        message: &[u8],
        nonce: &UmacNonce,
        pad: &Block,
    ) -> Tag {
        let (nh, l3) = (&self.nh[i], &self.l3[i]);
        let digest = UmacDigest::<T>::of_chunk(isa.words(), nh, l3, message);
        let (_, place) = pad_of(nonce, pads_in_block::<T>());
        Tag::from_block(hidden(isa, &digest, pad, place), 32 * T as u16)
    }
}
