//! Poly1305-AES with one key per message: `AES_k(nonce)` in lanes, and the hashes one at a time,
//! because r has no key schedule.

use super::super::poly1305::{Poly1305Aes, Poly1305Hash};
use super::lanes::{Schedule, gather, store};
use super::window::MAX_GROUP;
use super::{Batch, ManyKeys, RawKeys};
use crate::batch::BatchError;
use crate::error::Error;
use crate::isa::{Isa, SelfTest};
use crate::mac::Mac;
use crate::tag::Tag;
use crate::wipe::wipe;

impl ManyKeys for Poly1305Aes {
    /// The key k || r, and the nonce.
    type RawKey<'k> = (&'k [u8; 32], &'k [u8; 16]);
    type Parameters = ();
    const SELF_TEST_PARAMETERS: () = ();
    const TRUNCATES: bool = false;

    fn tag_one(
        set: &RawKeys<Self>,
        (key, nonce): Self::RawKey<'_>,
        message: &[u8],
    ) -> Result<Tag, Error> {
        Poly1305Aes::with_level(key, set.level).tag_with(nonce, message)
    }

    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey<'_> {
        let (key, rest) = bytes.split_first_chunk().expect("32 of 64 bytes");
        (key, rest.first_chunk().expect("16 of 32 bytes"))
    }

    fn self_test() -> &'static SelfTest {
        static TEST: SelfTest = SelfTest::new();
        &TEST
    }

    #[inline(always)]
    fn tag_groups<I: Isa, const N: usize>(
        isa: I,
        batch: Batch<'_, '_, Self>,
    ) -> Result<(), BatchError> {
        let Batch { set, keys, messages, tags } = batch;
        let size = N * I::LANES;
        let mut schedule = Schedule::<I, N, 10>::new(isa);
        let mut pads = [[0; 16]; MAX_GROUP];
        let groups = keys.chunks(size).zip(messages.chunks(size)).zip(tags.chunks_mut(size));
        for ((keys, messages), tags) in groups {
            // The last key fills the lanes that have no message.
            let key = |i: usize| keys[i.min(keys.len() - 1)];
            let nonces = gather(
                isa,
                #[inline(always)]
                |i| key(i).1,
            );
            let made = schedule.expand_and_encrypt(
                #[inline(always)]
                |i| &key(i).0[..16],
                nonces,
            );
            store(isa, made, &mut pads);
            for (((key, _), message), (pad, tag)) in
                keys.iter().zip(messages).zip(pads.iter().zip(tags))
            {
                let (_, r) = key.split_last_chunk().expect("32 bytes");
                let pad = u128::from_le_bytes(*pad);
                *tag = Poly1305Hash::tag_once(isa, r, set.level, message, pad);
            }
        }
        wipe(&mut pads, [0; 16]);
        Ok(())
    }
}
