//! UMAC with one key per message: the parts of the keys that short messages need, and the pads, in
//! lanes. The hashes are computed one at a time.

use super::super::umac::{HashKeys, Umac, UmacNonce};
use super::blocks::MIN_GROUP;
use super::lanes::{Schedule, gather, store, xor};
use super::window::MAX_GROUP;
use super::{Batch, ManyKeys, RawKeys};
use crate::batch::BatchError;
use crate::cipher::Aes128;
use crate::error::Error;
use crate::isa::{Block, Isa, SelfTest};
use crate::mac::Mac;
use crate::tag::Tag;
use crate::wipe::wipe;

/// The maximum length in bytes of messages that fill less than half a group.
const FEW_MAX_LEN: usize = 512;

impl<const T: usize> ManyKeys for Umac<Aes128, T> {
    /// The key, and the nonce.
    type RawKey<'k> = (&'k [u8; 16], UmacNonce);
    type Parameters = ();
    const SELF_TEST_PARAMETERS: () = ();
    const TAG_BITS: usize = 32 * T;
    const TRUNCATES: bool = false;

    fn tag_one(
        set: &RawKeys<Self>,
        (key, nonce): Self::RawKey<'_>,
        message: &[u8],
    ) -> Result<Tag, Error> {
        Self::with_level(key, set.level).tag_with(&nonce, message)
    }

    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey<'_> {
        let [key, nonce, ..] = bytes.as_chunks().0 else { unreachable!("64 bytes") };
        (key, UmacNonce::from(*nonce))
    }

    fn self_test() -> &'static SelfTest {
        static TESTS: [SelfTest; 4] = [const { SelfTest::new() }; 4];
        &TESTS[T - 1]
    }

    #[inline(always)]
    fn tag_groups<I: Isa, const N: usize>(
        isa: I,
        batch: Batch<'_, '_, Self>,
    ) -> Result<(), BatchError> {
        let Batch { set, keys, messages, tags } = batch;
        let max_len = HashKeys::<T, MAX_GROUP>::MAX_LEN;
        set.one_by_one(keys, messages, tags, 0, Some(max_len))?;
        let mut work = Work::<I, N, T>::new(isa);
        let mut short = (0..messages.len()).filter(|i| messages[*i].len() <= max_len);
        loop {
            let (mut places, mut n) = ([0; MAX_GROUP], 0);
            for place in short.by_ref().take(N * I::LANES) {
                (places[n], n) = (place, n + 1);
            }
            let longest = places[..n].iter().map(|place| messages[*place].len()).max().unwrap_or(0);
            // A group takes as long with few messages as with many.
            if n < MIN_GROUP || 2 * n < N * I::LANES && longest > FEW_MAX_LEN {
                return set.one_by_one_at(keys, messages, tags, &places[..n]);
            }
            work.tag_group(keys, messages, tags, &places[..n], longest);
        }
    }
}

/// The secrets of a group. Wiped on drop.
struct Work<I: Isa, const N: usize, const T: usize> {
    isa: I,
    schedule: Schedule<I, N, 10>,
    hash_keys: HashKeys<T, MAX_GROUP>,
    /// One output of each key.
    blocks: [Block; MAX_GROUP],
    pad_keys: [Block; MAX_GROUP],
}

impl<I: Isa, const N: usize, const T: usize> Drop for Work<I, N, T> {
    fn drop(&mut self) {
        wipe(&mut self.blocks, [0; 16]);
        wipe(&mut self.pad_keys, [0; 16]);
    }
}

impl<I: Isa, const N: usize, const T: usize> Work<I, N, T> {
    #[inline(always)]
    fn new(isa: I) -> Self {
        let (schedule, none) = (Schedule::new(isa), [[0; 16]; MAX_GROUP]);
        Work { isa, schedule, hash_keys: HashKeys::ZERO, blocks: none, pad_keys: none }
    }

    /// Tags the messages at `places`, of at most `longest` bytes.
    #[inline(always)]
    fn tag_group(
        &mut self,
        keys: &[(&[u8; 16], UmacNonce)],
        messages: &[&[u8]],
        tags: &mut [Tag],
        places: &[usize],
        longest: usize,
    ) {
        let (isa, last) = (self.isa, places.len() - 1);
        // The last message's key fills the lanes that have no message.
        let key = |i: usize| &keys[places[i.min(last)]];
        let splat = |block: &Block| [isa.splat(block); N];
        let pad_keys = self.schedule.expand_and_encrypt(
            #[inline(always)]
            |i| key(i).0,
            splat(&HashKeys::<T, MAX_GROUP>::PADS),
        );
        store(isa, pad_keys, &mut self.pad_keys);
        for block in 0..HashKeys::<T, MAX_GROUP>::blocks(longest) {
            let input = splat(&HashKeys::<T, MAX_GROUP>::input(block));
            let made = self.schedule.encrypt(xor(isa, self.schedule.whitening(), input));
            store(isa, made, &mut self.blocks);
            self.hash_keys.set(block, &self.blocks[..N * I::LANES]);
        }
        let mut inputs = [[0; 16]; MAX_GROUP];
        for (i, input) in inputs[..N * I::LANES].iter_mut().enumerate() {
            *input = HashKeys::<T, MAX_GROUP>::pad_input(&key(i).1);
        }
        let inputs = gather(
            isa,
            #[inline(always)]
            |i| &inputs[i],
        );
        let pads = self.schedule.expand_and_encrypt(
            #[inline(always)]
            |i| &self.pad_keys[i],
            inputs,
        );
        store(isa, pads, &mut self.blocks);
        for (i, (place, pad)) in places.iter().zip(&self.blocks).enumerate() {
            let nonce = &keys[*place].1;
            tags[*place] = self.hash_keys.tag(isa, i, messages[*place], nonce, pad);
        }
    }
}
