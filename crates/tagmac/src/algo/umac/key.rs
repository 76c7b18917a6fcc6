//! The keys of UMAC, all derived from one key (RFC 4418, section 3.2).

use core::slice;

use super::l3::L3Key;
use super::nh::{self, NhKey, STREAMS};
use super::poly::PolyKey;
use crate::cipher::Cipher;
use crate::isa::{Block, CipherBlock, Isa, Kernel, Level, Levels};
use crate::wipe::wipe;

/// The keys of the hash: all streams' NH keys, which overlap, and each stream's own keys. Wiped on
/// drop.
#[derive(Clone)]
pub struct HashKey {
    pub(super) nh: NhKey,
    pub(super) poly64: [PolyKey<u64>; STREAMS],
    pub(super) poly128: [PolyKey<u128>; STREAMS],
    pub(super) l3: [L3Key; STREAMS],
}

impl Drop for HashKey {
    #[inline(never)]
    fn drop(&mut self) {
        self.nh.wipe();
        wipe(&mut self.poly64, PolyKey::ZERO);
        wipe(&mut self.poly128, PolyKey::ZERO);
        wipe(&mut self.l3, L3Key::ZERO);
    }
}

/// The number of key blocks for each use: the pads, NH, POLY, L3-HASH and its last step.
type Uses = [usize; 5];

/// The maximum number of key blocks: that of UMAC-128 with a cipher that has a key of 32 bytes.
const MAX_BLOCKS: usize = 2 + nh::KEY_BYTES / 16 + 24 * STREAMS / 16 + 4 * STREAMS + 1;

/// KDF: AES_K(use || i), i = 1, 2, .., for each use in turn. All blocks are encrypted at once, so
/// that vectors are full.
struct Derive<'a, C> {
    cipher: &'a C,
    uses: &'a Uses,
    out: &'a mut [Block],
    nh: &'a mut NhKey,
}

impl<C: Cipher<Block = Block>> Kernel for Derive<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let keys = self.cipher.keys(isa);
        let mut whitening = C::whitening(isa, &keys);
        let mut rest = &mut *self.out;
        for (number, blocks) in (0u128..).zip(self.uses) {
            let (now, later) = rest.split_at_mut(*blocks);
            for (i, block) in (1u128..).zip(now) {
                *block = (number << 64 | i).to_be_bytes().xor(&whitening);
            }
            rest = later;
        }
        wipe(slice::from_mut(&mut whitening), [0; 16]);
        C::encrypt_blocks(isa, &keys, self.out);
        let [pads, nh, ..] = *self.uses;
        for (i, unit) in self.out[pads..][..nh].iter().enumerate() {
            self.nh.set(i, unit);
        }
    }
}

impl HashKey {
    /// Derives the keys of `streams` streams, with zeros for the others, and as much of the key of
    /// the pads as `pads_key` can hold.
    pub(super) fn derive<C: Cipher<Block = Block>>(
        cipher: &C,
        level: Level,
        streams: usize,
        pads_key: &mut [u8],
    ) -> HashKey {
        let mut key = HashKey {
            nh: NhKey::ZERO,
            poly64: [PolyKey::<u64>::ZERO; STREAMS],
            poly128: [PolyKey::<u128>::ZERO; STREAMS],
            l3: [L3Key::ZERO; STREAMS],
        };
        let nh = nh::CHUNK / 16 + streams - 1;
        let poly = (24 * streams).div_ceil(16);
        let uses = [pads_key.len().div_ceil(16), nh, poly, 4 * streams, 1];
        let mut blocks = [[0; 16]; MAX_BLOCKS];
        let blocks = &mut blocks[..uses.iter().sum()];
        level.run(Derive { cipher, uses: &uses, out: blocks, nh: &mut key.nh });

        let (pads, rest) = blocks.split_at(uses[0]);
        pads_key.copy_from_slice(&pads.as_flattened()[..pads_key.len()]);
        let (poly, rest) = rest[nh..].split_at(poly);
        let (l3, l3_xor) = rest.split_at(4 * streams);
        let poly = poly.as_flattened().as_chunks::<24>().0;
        let l3 = l3.as_flattened().as_chunks().0;
        let l3_xor = l3_xor.as_flattened().as_chunks().0;
        for s in 0..streams {
            let (k64, k128) = poly[s].split_first_chunk().expect("24 bytes");
            let k64 = u64::from_be_bytes(*k64) & 0x01ffffff_01ffffff;
            let k128 = u128::from_be_bytes(*k128.first_chunk().expect("16 bytes"))
                & 0x01ffffff_01ffffff_01ffffff_01ffffff;
            key.poly64[s] = PolyKey::new(k64);
            key.poly128[s] = PolyKey::new(k128);
            key.l3[s] = L3Key::new(&l3[s], &l3_xor[s]);
        }
        wipe(blocks, [0; 16]);
        key
    }
}
