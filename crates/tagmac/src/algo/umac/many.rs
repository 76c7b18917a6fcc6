//! Many short messages at once: their pads together, and their hashes side by side.

use core::slice;

use super::Umac;
use super::nh::CHUNK;
use super::pad::{UmacNonce, hidden, pad_in, pad_of, pads_in_block};
use super::uhash::{UmacDigest, UmacHash};
use crate::algo::many::have_equal_lengths;
use crate::batch::{digest, one_by_one};
use crate::cipher::Cipher;
use crate::construction::PADS_AT_ONCE;
use crate::isa::{Block, CipherBlock, Isa, MAX_WORDS, Words, fetch_alike};
use crate::tag::Tag;
use crate::wipe::wipe;

/// The maximum length in bytes of messages that are hashed side by side. Longer ones fill vectors
/// by themselves.
const MAX_SIDE_BY_SIDE: usize = 512;

impl<const T: usize> UmacHash<T> {
    /// The digests of messages of one length and at most one chunk, one message per word of a
    /// vector, as numbers to xor with pads.
    #[inline(always)]
    fn numbers<I: Isa>(&self, isa: I, messages: &[&[u8]], numbers: &mut [u128; MAX_WORDS]) {
        let (a, n) = (isa.words(), 2 * <I::Words as Words>::LANES);
        let words: [_; T] = self.key.nh.hash_each(a, messages);
        // Big-endian words of 32 bits, starting with the first stream's.
        let mut halves = [a.splat(0); 2];
        for (s, (word, l3)) in words.into_iter().zip(&self.key.l3).enumerate() {
            let hash = a.shl(l3.hash_low_each(a, word), 32 * (1 - s as u32 % 2));
            halves[s / 2] = a.or(halves[s / 2], hash);
        }
        let [low, high] = halves;
        a.interleave_numbers((a.swap_bytes(low), a.swap_bytes(high)), &mut numbers[..n]);
    }
}

impl<C: Cipher<Block = Block>, const T: usize> Umac<C, T> {
    /// The tags of up to [`PADS_AT_ONCE`] messages, of at most one chunk where AES is an instruction.
    #[inline(always)]
    pub(super) fn tag_together<I: Isa>(
        &self,
        isa: I,
        nonces: &[UmacNonce],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) {
        let n = 2 * <I::Words as Words>::LANES;
        if I::AES_INSTRUCTIONS
            && (messages.len() < n
                || messages[0].len() > MAX_SIDE_BY_SIDE
                || !have_equal_lengths(messages))
        {
            // A separate pad costs nothing: it is computed in parallel with the hash.
            return one_by_one(self, nonces, messages, tags);
        }
        let (key, keys) = (&self.hash.key, self.cipher.keys(isa));
        let mut whitening = C::whitening(isa, &keys);
        let mut blocks = [Block::ZERO; PADS_AT_ONCE];
        for (block, nonce) in blocks.iter_mut().zip(nonces) {
            *block = pad_of(nonce, pads_in_block::<T>()).0.xor(&whitening);
        }
        wipe(slice::from_mut(&mut whitening), [0; 16]);
        C::encrypt_blocks(isa, &keys, &mut blocks[..nonces.len()]);
        let mut numbers = [0; MAX_WORDS];
        let mut later = messages;
        let groups = messages.chunks(n).zip(tags.chunks_mut(n)).zip(nonces.chunks(n));
        for (((messages, tags), nonces), pads) in groups.zip(blocks.chunks(n)) {
            if const { I::AES_INSTRUCTIONS } {
                later = &later[messages.len()..];
                fetch_alike(later, n);
                if messages.len() < n {
                    one_by_one(self, nonces, messages, tags);
                    continue;
                }
                self.hash.numbers(isa, messages, &mut numbers);
                for (((tag, nonce), pad), number) in
                    tags.iter_mut().zip(nonces).zip(pads).zip(&numbers)
                {
                    let (_, place) = pad_of(nonce, pads_in_block::<T>());
                    *tag = Tag::from_number(isa, number ^ pad_in::<T>(pad, place), 32 * T as u16);
                }
            } else {
                let messages = messages.iter().zip(nonces);
                for ((tag, (message, nonce)), pad) in tags.iter_mut().zip(messages).zip(pads) {
                    let digest = if message.len() <= CHUNK {
                        UmacDigest::of_chunk(isa.words(), &key.nh, &key.l3, message)
                    } else {
                        digest(isa, &self.hash, message)
                    };
                    let (_, place) = pad_of(nonce, pads_in_block::<T>());
                    *tag = Tag::from_block(hidden(isa, &digest, pad, place), 32 * T as u16);
                }
            }
        }
        wipe(&mut numbers, 0);
        wipe(&mut blocks, [0; 16]);
    }
}
